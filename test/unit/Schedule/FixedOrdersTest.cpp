//===- FixedOrdersTest.cpp - schedules whose order is a rule --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Figures.h"
#include "Reference.h"
#include "TestUtilities.h"

#include <algorithm>
#include <array>
#include <functional>

using namespace veeline::schedule;

/// Calls `body(p, v, m)` for every p to 8, m to 20 and the v of `name` to 4.
static void forAllSizes(std::string_view name,
                        const std::function<void(int p, int v, int m)> &body) {
  const Generator &generator = **findGenerator(name);
  int most = generator.maxChunksPerStage > 0 ? generator.maxChunksPerStage : 4;
  for (int p = 1; p <= 8; ++p)
    for (int v = generator.minChunksPerStage; v <= most; ++v)
      for (int m = 1; m <= 20; ++m)
        body(p, v, m);
}

static std::string at(int p, int v, int m) {
  return "p=" + std::to_string(p) + " v=" + std::to_string(v) +
         " m=" + std::to_string(m);
}

/// Time that the worst stage waits, of the makespan and of its own span.
struct WaitingTime {
  double makespan, span;
};
static WaitingTime waitingOf(const Simulation &result) {
  WaitingTime waiting{0, 0};
  for (const StageStatistics &stage : result.stages) {
    waiting.makespan = std::max(waiting.makespan, result.makespan - stage.busy);
    waiting.span =
        std::max(waiting.span, stage.lastEnd - stage.firstStart - stage.busy);
  }
  return waiting;
}

// The table of the paper's implementation, with 0-based microbatches.
TEST(EagerOneForwardOneBackward, Order) {
  EXPECT_EQ(orderOf("eager-1f1b", 3, 1, 6),
            (Lines{"F0 F1 F2 F3 F4 BW0 F5 BW1 BW2 BW3 BW4 BW5",
                   "F0 F1 F2 BW0 F3 BW1 F4 BW2 F5 BW3 BW4 BW5",
                   "F0 BW0 F1 BW1 F2 BW2 F3 BW3 F4 BW4 F5 BW5"}));
  EXPECT_EQ(orderOf("eager-1f1b", 3, 1, 1), (Lines{3, "F0 BW0"}));
}

TEST(EagerOneForwardOneBackward, ClosedForms) {
  forAllSizes("eager-1f1b", [](int p, int v, int m) {
    Simulation result =
        simulated("eager-1f1b", makeProblem("eager-1f1b", p, v, m, 3, 2, 2));
    EXPECT_NEAR(result.bubbleMakespan, (p - 1.0) / (m + p - 1), 1e-9)
        << at(p, v, m);
    for (int stage = 0; stage < p; ++stage)
      EXPECT_EQ(result.stages[stage].peakMemory,
                std::min(2 * (p - stage) - 1, m) * activationUnit);
  });
}

// Its purpose: transfers cost less than with 1F1B.
TEST(EagerOneForwardOneBackward, HidesTransfers) {
  double eager =
      simulated("eager-1f1b", makeProblem("eager-1f1b", 4, 1, 16, 2, 2, 2, 1))
          .makespan;
  double plain =
      simulated("1f1b", makeProblem("1f1b", 4, 1, 16, 2, 2, 2, 1)).makespan;
  EXPECT_LT(eager, plain - 4);
}

TEST(Interleaved, RemainderJoinsTheLastGroup) {
  EXPECT_EQ(orderOf("interleaved-1f1b", 2, 2, 3),
            (Lines{"0F0 0F1 0F2 2F0 2F1 2F2 2BW0 2BW1 2BW2 0BW0 0BW1 0BW2",
                   "1F0 1F1 1F2 3F0 3BW0 3F1 3BW1 3F2 3BW2 1BW0 1BW1 1BW2"}));
  EXPECT_EQ(orderOf("interleaved-1f1b", 2, 2, 5)[1],
            "1F0 1F1 3F0 3F1 3BW0 1F2 3BW1 1F3 1BW0 1F4 1BW1 3F2 3BW2 3F3 3BW3 "
            "3F4 3BW4 1BW2 1BW3 1BW4")
      << "groups of 2 and 3; warm-up of (v-1)*3 = 3, then in turn";
}

TEST(Interleaved, FewerMicrobatchesThanStages) {
  EXPECT_EQ(
      orderOf("interleaved-1f1b", 3, 2, 1),
      (Lines{"0F0 3F0 3BW0 0BW0", "1F0 4F0 4BW0 1BW0", "2F0 5F0 5BW0 2BW0"}));
}

TEST(Interleaved, ClosedFormsForAnyNumberOfMicrobatches) {
  forAllSizes("interleaved-1f1b", [](int p, int v, int m) {
    Simulation result = simulated(
        "interleaved-1f1b", makeProblem("interleaved-1f1b", p, v, m, 2, 3, 1));
    double steps = m >= p ? v * m + p - 1 : v * p + m - 1;
    EXPECT_NEAR(result.bubbleMakespan, 1 - v * m / steps, 1e-9) << at(p, v, m);
    int group = m < p ? m : p + m % p;
    for (int stage = 0; stage < p; ++stage)
      EXPECT_EQ(result.stages[stage].peakMemory,
                std::min(2 * (p - stage - 1) + (v - 1) * group + 1, v * m) *
                    (activationUnit / v))
          << at(p, v, m);
  });
}

TEST(Interleaved, WarnsOfTheCostOfFewMicrobatches) {
  forAllSizes("interleaved-1f1b", [](int p, int v, int m) {
    Problem problem = makeProblem("interleaved-1f1b", p, v, m);
    Expected<Schedule> schedule = generate("interleaved-1f1b", problem);
    ASSERT_TRUE(schedule);
    ASSERT_EQ(schedule->warnings.size(), m < p ? 1u : 0u) << at(p, v, m);
    if (m >= p)
      return;
    char bubble[64];
    std::snprintf(bubble, sizeof bubble, "the bubble is %.4f, with %d",
                  simulate(problem, *schedule)->bubbleMakespan, p);
    EXPECT_NE(schedule->warnings[0].find(bubble), std::string::npos)
        << schedule->warnings[0];
  });
  Problem problem = makeProblem("interleaved-1f1b", 4, 2, 2);
  EXPECT_EQ(generate("interleaved-1f1b", problem)->warnings[0],
            "2 microbatches are fewer than the 4 stages, so every stage waits "
            "at each change of chunk; with equal chunks and free transfers the "
            "bubble is 0.5556, with 4 microbatches it is 0.2727");
}

/// The rule of the short last group, from its definition: step n of a stage is
/// in a full group, which changes chunk every p steps, or in the last one,
/// which does so every m mod p steps.
static Schedule remainderRule(const Problem &problem) {
  int p = problem.stages(), v = problem.chunksPerStage();
  int m = problem.microbatches;
  int full = m / p * p * v, rest = m % p;
  Schedule schedule{"interleaved-1f1b-remainder", {}};
  schedule.stages.resize(p);
  for (int stage = 0; stage < p; ++stage) {
    std::vector<int> next(2 * v);
    auto add = [&](bool forward, int n) {
      int local = n < full ? n % (p * v) / p : (n - full) / rest;
      local = forward ? local : v - 1 - local;
      int microbatch = next[(forward ? 0 : v) + local]++;
      schedule.stages[stage].push_back(
          {forward ? OpKind::Forward : OpKind::Backward,
           problem.placement.globalChunk(stage, local), microbatch});
    };
    int warmUp = std::min(2 * (p - stage - 1) + (v - 1) * p, v * m);
    for (int n = 0; n < v * m + warmUp; ++n) {
      if (n < v * m)
        add(true, n);
      if (n >= warmUp)
        add(false, n - warmUp);
    }
  }
  return schedule;
}

TEST(InterleavedRemainder, OfferedExactlyWhereItRuns) {
  const char *name = "interleaved-1f1b-remainder";
  int offered = 0, refused = 0;
  forAllSizes(name, [&](int p, int v, int m) {
    Problem problem = makeProblem(name, p, v, m);
    Schedule expected = remainderRule(problem);
    Expected<Schedule> schedule = generate(name, problem);
    bool runs = bool(simulate(problem, expected));
    if (p <= 4 && m <= 9) {
      EXPECT_EQ(runs, reference::simulate(problem, expected).has_value());
    }
    ASSERT_EQ(bool(schedule), runs) << at(p, v, m);
    if (schedule) {
      EXPECT_EQ(schedule->stages, expected.stages);
      ++offered;
      return;
    }
    EXPECT_EQ(schedule.error().kind, ErrorKind::NotApplicable);
    EXPECT_NE(m % p, 0);
    ++refused;
  });
  EXPECT_GT(offered, 200);
  EXPECT_GT(refused, 50);
}

TEST(InterleavedRemainder, RefusalSaysWhatToDo) {
  const char *name = "interleaved-1f1b-remainder";
  Expected<Schedule> schedule = generate(name, makeProblem(name, 5, 2, 7));
  ASSERT_FALSE(schedule);
  const Error &error = schedule.error();
  EXPECT_EQ(error.kind, ErrorKind::NotApplicable);
  EXPECT_EQ(error.message.find(
                "interleaved-1f1b-remainder deadlocks with 5 stages of 2 "
                "chunks and 7 microbatches; interleaved-1f1b takes any number "
                "of them, and this schedule every multiple of 5; stage "),
            0u)
      << error.message;
  EXPECT_NE(error.message.find("never runs"), std::string::npos);
  EXPECT_FALSE(error.neighbourhood.empty());
}

// p = 4, m = 9: after two groups of 4, a group of 1 that changes chunk at every
// step.
TEST(InterleavedRemainder, Order) {
  EXPECT_EQ(orderOf("interleaved-1f1b-remainder", 4, 2, 9)[0],
            "0F0 0F1 0F2 0F3 4F0 4F1 4F2 4F3 0F4 0F5 "
            "0F6 4BW0 0F7 4BW1 4F4 4BW2 4F5 4BW3 4F6 0BW0 4F7 0BW1 0F8 0BW2 "
            "4F8 0BW3 4BW4 4BW5 4BW6 4BW7 0BW4 0BW5 0BW6 0BW7 4BW8 0BW8");
}

TEST(LoopedBreadthFirst, Order) {
  EXPECT_EQ(orderOf("looped-bfs", 2, 2, 3),
            (Lines{"0F0 0F1 0F2 2F0 2F1 2F2 2BW0 2BW1 2BW2 0BW0 0BW1 0BW2",
                   "1F0 1F1 1F2 3F0 3F1 3F2 3BW0 3BW1 3BW2 1BW0 1BW1 1BW2"}));
}

TEST(LoopedBreadthFirst, ClosedForms) {
  forAllSizes("looped-bfs", [](int p, int v, int m) {
    Simulation result =
        simulated("looped-bfs", makeProblem("looped-bfs", p, v, m, 2, 3, 1));
    double steps = (v - 1) * std::max(m, p) + m + p - 1;
    EXPECT_NEAR(result.bubbleMakespan, 1 - v * m / steps, 1e-9) << at(p, v, m);
    for (const StageStatistics &stage : result.stages)
      EXPECT_EQ(stage.peakMemory, std::int64_t(m) * v * (activationUnit / v));
  });
}

TEST(Hanayo, Order) {
  EXPECT_EQ(orderOf("hanayo", 2, 2, 2),
            (Lines{"0F0 0F1 3F0 3BW0 3F1 3BW1 0BW0 0BW1",
                   "1F0 2F0 1F1 2F1 2BW0 1BW0 2BW1 1BW1"}));
}

TEST(Hanayo, ClosedForms) {
  forAllSizes("hanayo", [](int p, int v, int m) {
    for (double backward : {2.0, 3.0, 5.0}) {
      Simulation result = simulated(
          "hanayo", makeProblem("hanayo", p, v, m, 1, backward - 1, 1));
      EXPECT_LE(peakOf(result), std::min(p, m) * v * (activationUnit / v))
          << at(p, v, m);
      if (v > 2 || m > p)
        continue;
      double all = 1 + backward;
      EXPECT_NEAR(result.bubbleMakespan,
                  1 - m * all / (p * all + (m - 1) * backward), 1e-9)
          << at(p, v, m) << " backward=" << backward;
    }
  });
}

// A second wave makes the bubble of a short step shorter than 1F1B's, and than
// the first wave's.
TEST(Hanayo, WavesShortenTheBubble) {
  double flush = simulated("1f1b", makeProblem("1f1b", 8, 1, 8, 12, 12, 12))
                     .bubbleMakespan;
  double last = flush;
  for (int v : {2, 4}) {
    double time = 12.0 / v;
    double bubble =
        simulated("hanayo", makeProblem("hanayo", 8, v, 8, time, time, time))
            .bubbleMakespan;
    EXPECT_LT(bubble, last - 0.05) << v;
    last = bubble;
  }
}

// In a long step, one more microbatch costs its own time only, within the
// memory of 1F1B.
TEST(Hanayo, LongStepsHaveNoBubbleInTheMiddle) {
  for (int p = 1; p <= 8; ++p) {
    auto waiting = [&](int m) {
      Simulation result = simulated("hanayo", makeProblem("hanayo", p, 2, m));
      EXPECT_LE(peakOf(result), p * activationUnit);
      return waitingOf(result).makespan;
    };
    EXPECT_NEAR(waiting(12 * p), waiting(24 * p), 1e-9) << "p=" << p;
  }
}

// Every limit that admits one microbatch has an order, and a higher one is no
// worse here. Below, the error names the least limit.
TEST(Hanayo, MemoryLimits) {
  Problem problem = makeProblem("hanayo", 4, 2, 12);
  double last = 1e9;
  for (int limit = 1; limit <= 4; ++limit) {
    limitMemory(problem, limit);
    Simulation result = simulated("hanayo", problem);
    EXPECT_LE(peakOf(result), limit * activationUnit);
    EXPECT_LE(result.makespan, last);
    last = result.makespan;
  }
  EXPECT_LT(last, 100);
  limitMemory(problem, 0.5);
  Expected<Schedule> schedule = generate("hanayo", problem);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().kind, ErrorKind::OutOfMemory);
  EXPECT_EQ(schedule.error().leastLimit, activationUnit);
}

// Figure 3 of the paper, above.
TEST(ZeroBubbleH1, Order) {
  EXPECT_EQ(
      orderOf("zb-h1", 4, 1, 8),
      (Lines{"F0 F1 F2 F3 B0 W0 F4 B1 W1 F5 B2 W2 F6 B3 W3 F7 B4 W4 B5 W5 B6 "
             "W6 B7 W7",
             "F0 F1 F2 B0 F3 B1 W0 F4 B2 W1 F5 B3 W2 F6 B4 W3 F7 B5 W4 B6 W5 "
             "B7 W6 W7",
             "F0 F1 B0 F2 B1 F3 B2 W0 F4 B3 W1 F5 B4 W2 F6 B5 W3 F7 B6 W4 B7 "
             "W5 W6 W7",
             "F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 F5 B5 W2 F6 B6 W3 F7 B7 W4 "
             "W5 W6 W7"}));
  EXPECT_EQ(orderOf("zb-h1", 3, 1, 1), (Lines{3, "F0 B0 W0"}));
}

TEST(ZeroBubbleH1, ClosedForms) {
  forAllSizes("zb-h1", [](int p, int v, int m) {
    for (auto [f, b, w] :
         {std::array{1., 1., 1.}, {3., 4., 2.}, {5., 2., 2.}}) {
      Simulation result =
          simulated("zb-h1", makeProblem("zb-h1", p, v, m, f, b, w));
      for (const StageStatistics &stage : result.stages)
        EXPECT_LE(stage.peakMemory, std::min(p, m) * activationUnit);
      if (m < p)
        continue;
      EXPECT_NEAR(waitingOf(result).makespan, (p - 1) * (f + b - w), 1e-9)
          << at(p, v, m);
      EXPECT_EQ(peakOf(result), p * activationUnit);
    }
  });
}

TEST(ZeroBubbleH2, Order) {
  EXPECT_EQ(
      orderOf("zb-h2", 3, 1, 7),
      (Lines{"F0 F1 F2 F3 F4 B0 W0 F5 B1 W1 F6 B2 W2 B3 W3 B4 W4 B5 W5 B6 W6",
             "F0 F1 F2 B0 W0 F3 B1 W1 F4 B2 F5 B3 F6 B4 W2 B5 W3 B6 W4 W5 W6",
             "F0 B0 W0 F1 B1 W1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 W2 W3 W4 W5 "
             "W6"}));
  EXPECT_EQ(orderOf("zb-h2", 3, 1, 1), (Lines{3, "F0 B0 W0"}));
}

TEST(ZeroBubbleH2, ClosedForms) {
  forAllSizes("zb-h2", [](int p, int v, int m) {
    for (auto [f, b, w] :
         {std::array{1., 1., 1.}, {3., 4., 2.}, {5., 2., 2.}}) {
      Simulation result =
          simulated("zb-h2", makeProblem("zb-h2", p, v, m, f, b, w));
      for (const StageStatistics &stage : result.stages)
        EXPECT_LE(stage.peakMemory, std::min(2 * p - 1, m) * activationUnit);
      if (m < 2 * p - 1)
        continue;
      WaitingTime waiting = waitingOf(result);
      double rest = f + b - 2 * w;
      EXPECT_NEAR(waiting.span, (p - 1) * rest, 1e-9) << at(p, v, m);
      EXPECT_NEAR(waiting.makespan, (p - 1) * std::max(f, rest), 1e-9)
          << at(p, v, m);
      EXPECT_EQ(peakOf(result), (2 * p - 1) * activationUnit);
    }
  });
}

// Steps 1 to 8 of the published schedule.
TEST(DualPipeV, Order) {
  EXPECT_EQ(orderOf("dualpipe-v", 2, 2, 5),
            (Lines{"0F0 0F1 0F2 3F0 3B0 3W0 3F1 0F3 3BW1 3F2 0BW0 0F4 3BW2 "
                   "3F3 0BW1 3BW3 3F4 0BW2 3BW4 0B3 0W3 0B4 0W4",
                   "1F0 2F0 1F1 2F1 1F2 2BW0 2F2 1BW0 1F3 2BW1 2F3 1BW1 1F4 "
                   "2BW2 2F4 1BW2 2BW3 1BW3 2B4 1B4 2W4 1W4"}));
}

// With fewer than 2p microbatches the first ones are left out.
TEST(DualPipeV, FewMicrobatches) {
  EXPECT_EQ(orderOf("dualpipe-v", 2, 2, 1),
            (Lines{"0F0 3F0 3BW0 0B0 0W0", "1F0 2F0 2B0 1B0 2W0 1W0"}));
  Lines whole = orderOf("dualpipe-v", 3, 2, 6);
  for (int m = 1; m < 6; ++m) {
    Problem problem = makeProblem("dualpipe-v", 3, 2, 6);
    Schedule schedule = *generate("dualpipe-v", problem);
    for (std::vector<Op> &ops : schedule.stages) {
      std::erase_if(ops, [&](const Op &op) { return op.microbatch < 6 - m; });
      for (Op &op : ops)
        op.microbatch -= 6 - m;
    }
    EXPECT_EQ(orderOf("dualpipe-v", 3, 2, m), orderLines(problem, schedule));
  }
}

TEST(DualPipeV, ClosedForms) {
  forAllSizes("dualpipe-v", [](int p, int v, int m) {
    for (auto [f, b, w] :
         {std::array{1., 1., 1.}, {3., 3., 2.}, {3., 4., 2.}, {5., 2., 2.}}) {
      Simulation result =
          simulated("dualpipe-v", makeProblem("dualpipe-v", p, v, m, f, b, w));
      EXPECT_LE(peakOf(result), std::min(2 * p + 1, 2 * m) * activationUnit / 2)
          << at(p, v, m);
      if (m < 2 * p)
        continue;
      double waiting = waitingOf(result).makespan;
      EXPECT_LE(waiting, (p - 1) * (f + 2 * b - w) + 1e-9) << at(p, v, m);
      if (f == b) {
        EXPECT_NEAR(waiting, (p - 1) * (2 * f - w), 1e-9) << at(p, v, m);
      }
    }
  });
}

// Figures of another implementation, without overlap: the order is fixed, so
// the simulator has to give the same numbers.
TEST(DualPipeV, FiguresOfPeers) {
  std::vector<Figures> rows = readFigures("dualpipe-v.csv", "dualpipe-v");
  EXPECT_EQ(rows.size(), 48u);
  for (const Figures &row : rows) {
    Simulation result = simulated("dualpipe-v", row.problem("dualpipe-v", 2));
    EXPECT_NEAR(result.bubbleSpan, row.bubbleSpan, 1e-6) << row.line;
    EXPECT_NEAR(result.bubbleMakespan, row.bubbleMakespan, 1e-6) << row.line;
    EXPECT_NEAR(peakActivations(result), row.peak, 1e-9) << row.line;
  }
}

/// Whether the order runs when both operations of a block wait for the inputs
/// of both; by trying over and over.
static bool runsInBlocks(const Problem &problem, const Schedule &schedule) {
  int chunks = problem.numChunks(), m = problem.microbatches;
  // F, B and W done, by chunk and microbatch.
  std::vector<std::array<bool, 3>> done(std::size_t(chunks) * m);
  auto is = [&](int kind, int chunk, int i) {
    return done[chunk * m + i][kind];
  };
  auto isReady = [&](const Op &op) {
    int chunk = op.chunk, i = op.microbatch;
    if (op.kind == OpKind::Forward)
      return chunk == 0 || is(0, chunk - 1, i);
    if (op.kind == OpKind::BackwardWeight)
      return is(1, chunk, i);
    return is(0, chunk, i) && (chunk + 1 == chunks || is(1, chunk + 1, i));
  };
  auto run = [&](const Op &op) {
    std::array<bool, 3> &entry = done[op.chunk * m + op.microbatch];
    entry[0] |= op.kind == OpKind::Forward;
    entry[1] |= op.kind == OpKind::BackwardInput || op.kind == OpKind::Backward;
    entry[2] |=
        op.kind == OpKind::BackwardWeight || op.kind == OpKind::Backward;
  };
  std::vector<std::size_t> next(problem.stages());
  for (bool changed = true; changed;) {
    changed = false;
    for (int stage = 0; stage < problem.stages(); ++stage) {
      const std::vector<Op> &ops = schedule.stages[stage];
      if (next[stage] == ops.size())
        continue;
      const std::vector<int> &blocks = schedule.overlapped[stage];
      bool isBlock = std::binary_search(blocks.begin(), blocks.end(),
                                        static_cast<int>(next[stage]));
      const Op *op = &ops[next[stage]];
      if (!isReady(op[0]) || (isBlock && !isReady(op[1])))
        continue;
      for (int i = 0; i <= isBlock; ++i)
        run(op[i]);
      next[stage] += 1 + isBlock;
      changed = true;
    }
  }
  for (int stage = 0; stage < problem.stages(); ++stage)
    if (next[stage] != schedule.stages[stage].size())
      return false;
  return true;
}

TEST(DualPipeV, Blocks) {
  EXPECT_TRUE(generate("dualpipe-v", makeProblem("dualpipe-v", 2, 2, 4))
                  ->overlapped.empty());
  forAllSizes("dualpipe-v", [](int p, int v, int m) {
    Problem problem = makeProblem("dualpipe-v", p, v, m);
    GeneratorOptions options;
    options.overlapBlocks = true;
    Expected<Schedule> schedule = generate("dualpipe-v", problem, options);
    ASSERT_TRUE(schedule) << schedule.error().str();
    ASSERT_EQ(schedule->overlapped.size(), static_cast<std::size_t>(p));
    for (int stage = 0; stage < p; ++stage) {
      int previous = -2;
      for (int step : schedule->overlapped[stage]) {
        EXPECT_GE(step, previous + 2);
        const Op *op = &schedule->stages[stage][step];
        EXPECT_EQ(op[0].kind, OpKind::Forward);
        EXPECT_EQ(op[1].kind, OpKind::Backward);
        EXPECT_NE(op[0].microbatch, op[1].microbatch);
        EXPECT_NE(op[0].chunk, op[1].chunk);
        previous = step;
      }
      if (m < 2 * p)
        continue;
      int blocks = 2 * (m - 2 * p + stage + 1) + p - 1 - stage;
      EXPECT_EQ(schedule->overlapped[stage].size(),
                static_cast<std::size_t>(blocks - (stage == p - 1)));
    }
    EXPECT_TRUE(runsInBlocks(problem, *schedule)) << at(p, v, m);
  });
}

// The first chunk has no B; its W runs where the order has its W.
TEST(FixedOrders, FirstChunkWithoutBackwardInput) {
  auto firstStage = [](std::string_view name, int v) {
    Problem problem = makeProblem(name, 2, v, 2);
    problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
    Expected<Schedule> schedule = generate(name, problem);
    EXPECT_TRUE(schedule) << schedule.error().str();
    return schedule ? orderLines(problem, *schedule)[0] : "";
  };
  EXPECT_EQ(firstStage("zb-h1", 1), "F0 F1 W0 W1");
  EXPECT_EQ(firstStage("zb-h2", 1), "F0 F1 W0 W1");
  EXPECT_EQ(firstStage("dualpipe-v", 2), "0F0 0F1 3F0 3BW0 3F1 3BW1 0W0 0W1");
}

// The independent verifier accepts every size of these schedules.
TEST(FixedOrders, ValidByTheReference) {
  for (const char *name :
       {"eager-1f1b", "interleaved-1f1b", "looped-bfs", "hanayo", "zb-h1",
        "zb-h2", "dualpipe-v", "pipedream", "pipedream-2bw"})
    forAllSizes(name, [&](int p, int v, int m) {
      Problem problem = makeProblem(name, p, v, m, 2, 2, 1, 1);
      Expected<Schedule> schedule = generate(name, problem);
      ASSERT_TRUE(schedule) << name << " " << at(p, v, m);
      if (p > 4 || m > 9)
        return;
      EXPECT_TRUE(reference::isValid(problem, *schedule))
          << name << " " << at(p, v, m);
    });
}

// A limit that is too low for the fixed order is refused with the least one,
// which is enough.
TEST(FixedOrders, LeastLimit) {
  for (const char *name :
       {"eager-1f1b", "interleaved-1f1b", "interleaved-1f1b-remainder",
        "looped-bfs", "zb-h1", "zb-h2", "dualpipe-v", "pipedream",
        "pipedream-2bw"}) {
    int v = (**findGenerator(name)).minChunksPerStage;
    Problem problem = makeProblem(name, 4, v, 12);
    std::int64_t peak = peakOf(simulated(name, problem));
    problem.memoryLimits.assign(4, peak - 1);
    Expected<Schedule> schedule = generate(name, problem);
    ASSERT_FALSE(schedule) << name;
    EXPECT_EQ(schedule.error().kind, ErrorKind::OutOfMemory);
    EXPECT_EQ(schedule.error().leastLimit, peak) << name;
    problem.memoryLimits.assign(4, peak);
    EXPECT_TRUE(generate(name, problem)) << name;
  }
}
