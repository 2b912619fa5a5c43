//===- ExplainTest.cpp - critical paths, parts of bubbles, changes --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Explain.h"
#include "../Rounds.h"
#include "RandomSchedules.h"

#include <cmath>
#include <numeric>

using namespace veeline::schedule;

static constexpr SimulationOptions allTransfers[] = {
    {}, {.contention = true}, {Transfers::Rendezvous, false}};

static double lengthOf(const std::vector<CriticalStep> &path) {
  return path.back().end - path.front().start;
}

static double sumOf(const PathShares &shares) {
  return std::accumulate(shares.kinds.begin(), shares.kinds.end(),
                         shares.messages);
}

static double sumOf(const PathParts &parts) {
  return parts.work + parts.fill + parts.drain + parts.between + parts.messages;
}

static double sumOf(const BubbleParts &parts) {
  return parts.blocking + parts.messages + parts.order + parts.memory +
         parts.fillAndDrain + parts.imbalance;
}

/// Whether a message of one operation is what another one needs.
static bool feeds(const Problem &problem, const Op &from, const Op &to,
                  bool gradient) {
  for (const Edge &edge : problem.edges)
    if (gradient ? edge.carriesGradient && edge.to == from.chunk &&
                       edge.from == to.chunk && to.kind != OpKind::Forward
                 : edge.from == from.chunk && edge.to == to.chunk &&
                       to.kind == OpKind::Forward)
      return from.microbatch == to.microbatch &&
             gradient == (from.kind != OpKind::Forward);
  return false;
}

/// Operations start after the one before them on their stage, or after a
/// message that they need or, in a rendezvous, that their stage passes on.
static void expectDependency(const Problem &problem, const Schedule &schedule,
                             bool blocks, const CriticalStep &before,
                             const CriticalStep &step) {
  auto opAt = [&](int stage, int at) { return schedule.stages[stage][at]; };
  if (!step.isMessage() && !before.isMessage()) {
    EXPECT_EQ(before.stage, step.stage);
    EXPECT_EQ(before.step + before.size, step.step);
    return;
  }
  if (blocks) {
    auto touches = [](const CriticalStep &one, int stage) {
      return one.stage == stage || one.source == stage;
    };
    EXPECT_TRUE(touches(before, step.stage) || touches(before, step.source));
    return;
  }
  if (step.isMessage()) {
    if (before.isMessage()) {
      EXPECT_EQ(before.source, step.source);
      EXPECT_EQ(before.stage, step.stage);
    } else {
      EXPECT_EQ(before.stage, step.source);
      EXPECT_LE(before.step, step.step);
      EXPECT_LT(step.step, before.step + before.size);
    }
    return;
  }
  EXPECT_EQ(before.stage, step.stage);
  bool isNeeded = false;
  for (int i = 0; i < step.size; ++i)
    isNeeded |= feeds(problem, opAt(before.source, before.step),
                      opAt(step.stage, step.step + i), before.gradient);
  EXPECT_TRUE(isNeeded);
}

static void expectPath(const Problem &problem, const Schedule &schedule,
                       const Simulation &simulation,
                       const Explanation &result) {
  const std::vector<CriticalStep> &path = result.path;
  ASSERT_FALSE(path.empty());
  EXPECT_EQ(path.front().start, 0);
  EXPECT_EQ(path.back().end, simulation.makespan);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const CriticalStep &step = path[i];
    if (!step.isMessage()) {
      EXPECT_EQ(step.start, simulation.start[step.stage][step.step]);
      EXPECT_EQ(step.end, simulation.end[step.stage][step.step]);
      EXPECT_EQ(step.waited > 0, step.cause != WaitCause::None);
    }
    if (i == 0)
      continue;
    EXPECT_NEAR(path[i - 1].end, step.start, 1e-9 * simulation.makespan);
    expectDependency(problem, schedule,
                     simulation.options.transfers == Transfers::Rendezvous,
                     path[i - 1], step);
  }
}

static void expectSums(const Explanation &result) {
  double tolerance = 1e-9 * std::max(1.0, result.value);
  EXPECT_NEAR(lengthOf(result.path), result.value, tolerance);
  EXPECT_NEAR(sumOf(result.shares), result.value, tolerance);
  EXPECT_NEAR(sumOf(result.parts), result.value, tolerance);
  EXPECT_NEAR(sumOf(result.bubble), result.bubbleTime, tolerance);
  const BubbleParts &parts = result.bubble;
  for (double part : {parts.blocking, parts.messages, parts.order, parts.memory,
                      parts.fillAndDrain, parts.imbalance})
    EXPECT_GE(part, 0);
}

// Everything adds up, whatever waits for what.
TEST(Explain, RandomSchedules) {
  Random random = makeRandom();
  const int count = veeline::test::rounds(400, 4);
  int explained = 0, withBlocks = 0, withMessages = 0;
  for (int i = 0; i < count; ++i) {
    Problem problem = randomSmallProblem(random);
    Schedule schedule = randomOrder(random, problem, true);
    // Changes are solved quickly.
    schedule.name = "sequential";
    if (i % 2 == 0)
      addBlocks(random, schedule);
    for (const SimulationOptions &options : allTransfers) {
      Expected<Simulation> simulation = simulate(problem, schedule, options);
      if (!simulation || simulation->makespan <= 0)
        continue;
      for (Objective objective : {Objective::Makespan, Objective::Span}) {
        GeneratorOptions quick = quickly();
        quick.objective = objective;
        Expected<Explanation> result =
            explain(problem, schedule, quick, options);
        ASSERT_TRUE(result) << result.error().str();
        expectSums(*result);
        ++explained;
        if (objective == Objective::Makespan)
          expectPath(problem, schedule, *simulation, *result);
        for (const CriticalStep &step : result->path) {
          withBlocks += step.size == 2;
          withMessages += step.isMessage();
        }
        EXPECT_NE(toText(problem, schedule, *result).find("verdict: "),
                  std::string::npos);
        if (HasFailure())
          FAIL() << "problem " << i;
      }
    }
  }
  EXPECT_GT(explained, count);
  EXPECT_GT(withBlocks, count / 4);
  EXPECT_GT(withMessages, count / 4);
}

static std::string pathOf(const Problem &problem, const Schedule &schedule,
                          const Explanation &result) {
  std::string text;
  for (const CriticalStep &step : result.path) {
    text += text.empty() ? "" : " ";
    if (step.isMessage())
      text += std::to_string(step.source) + ">" + std::to_string(step.stage);
    else
      text += cellName(problem, schedule.stages[step.stage][step.step]);
  }
  return text;
}

static Explanation explained(const Problem &problem, const Schedule &schedule,
                             const SimulationOptions &options = {}) {
  Expected<Explanation> result = explain(problem, schedule, {}, options);
  EXPECT_TRUE(result) << result.error().str();
  return std::move(*result);
}

TEST(Explain, CriticalPath) {
  Problem problem = makeProblem("1f1b", 3, 1, 4, 1, 1, 1, 0.25);
  Schedule schedule = *generate("1f1b", problem);
  Explanation result = explained(problem, schedule);
  EXPECT_EQ(result.value, simulate(problem, schedule)->makespan);
  expectSums(result);
  EXPECT_GE(result.lowerBound, 12 + 2 * 1.25);
  EXPECT_NEAR(result.gap, result.value / result.lowerBound - 1, 1e-12);
}

// F 2, B 1, W 3, transfer 1; times as in Transfers.Rendezvous:
//   stage 0: F0 [0,2) s [2,3) F1 [3,5) s [5,6) r [12,13) BW0 [13,17)
//            r [17,18) BW1 [18,22)
//   stage 1: r [2,3) F0 [3,5) r [5,6) F1 [6,8) BW0 [8,12) s [12,13)
//            BW1 [13,17) s [17,18)
TEST(Explain, Rendezvous) {
  Problem problem = makeProblem("gpipe", 2, 1, 2, 2, 1, 3, 1);
  Schedule schedule = *generate("gpipe", problem);
  Explanation result =
      explained(problem, schedule, {Transfers::Rendezvous, false});
  EXPECT_EQ(result.value, 22);
  EXPECT_EQ(pathOf(problem, schedule, result),
            "F0 0>1 F1 0>1 F1 BW0 1>0 BW1 1>0 BW1");
  // Stage 0 runs F1 only after it has sent F0, stage 1 BW1 after the gradient
  // of BW0.
  EXPECT_EQ(result.path[2].cause, WaitCause::Send);
  EXPECT_EQ(result.path[2].waited, 1);
  EXPECT_EQ(result.path[4].cause, WaitCause::Forward);
  EXPECT_EQ(result.path[4].waited, 1);
  EXPECT_EQ(result.path[7].cause, WaitCause::Send);
  EXPECT_EQ(result.path[7].waited, 1);
  EXPECT_EQ(result.path[9].cause, WaitCause::Gradient);
  EXPECT_EQ(result.path[9].waited, 1);
  EXPECT_EQ(result.shares.messages, 4);
}

// Forwards of 1, transfers of 5 on links that carry one message at a time:
//   stage 0: F0 [0,1) F1 [1,2) F2 [2,3)   0>1: [1,6) [6,11) [11,16)
//   stage 1: F0 [6,7) F1 [11,12) F2 [16,17) BW [17,20)
TEST(Explain, Contention) {
  Problem problem = makeProblem("gpipe", 2, 1, 3, 1, 1, 0, 5);
  Schedule schedule = *generate("gpipe", problem);
  Explanation result = explained(problem, schedule, {.contention = true});
  EXPECT_EQ(pathOf(problem, schedule, result),
            "F0 0>1 0>1 0>1 F2 BW0 1>0 1>0 1>0 BW2");
  EXPECT_EQ(result.path[4].cause, WaitCause::Link);
  EXPECT_EQ(result.path[4].waited, 4);
  // 34 against 18 with links that carry everything at once, 8 without
  // transfers.
  EXPECT_EQ(result.value, 34);
  EXPECT_EQ(result.bubble.blocking, 16);
  EXPECT_EQ(result.bubble.messages, 10);
}

// F0 [0,4), then B0 and F1 as a block of 9 where a quarter of the shorter one
// is hidden, W0 [13,14), BW1 [14,21).
TEST(Explain, Blocks) {
  Problem problem{*Placement::fromList(1, {0}), 2, {Chunk()}, {}};
  problem.chunks[0] = {.forward = 4, .backwardInput = 6, .backwardWeight = 1};
  problem.overlap = 0.25;
  constexpr OpKind f = OpKind::Forward, b = OpKind::BackwardInput,
                   w = OpKind::BackwardWeight, bw = OpKind::Backward;
  Schedule schedule{"by hand",
                    {{{f, 0, 0}, {b, 0, 0}, {f, 0, 1}, {w, 0, 0}, {bw, 0, 1}}},
                    {{1}}};
  Explanation result = explained(problem, schedule);
  EXPECT_EQ(result.path.size(), 4u);
  auto timeOf = [&](OpKind kind) {
    return result.shares.kinds[static_cast<int>(kind)];
  };
  EXPECT_DOUBLE_EQ(timeOf(f), 4 + 9 * 0.4);
  EXPECT_DOUBLE_EQ(timeOf(b), 9 * 0.6);
  EXPECT_DOUBLE_EQ(timeOf(w), 1);
  EXPECT_DOUBLE_EQ(timeOf(bw), 7);
  EXPECT_EQ(sumOf(result.shares), 21);
}

// Everything that 1F1B loses has a name.
TEST(Explain, PartsOfTheBubble) {
  Problem problem = makeProblem("1f1b", 4, 1, 8);
  BubbleParts even = explained(problem, *generate("1f1b", problem)).bubble;
  EXPECT_EQ(even.fillAndDrain, 9);
  EXPECT_EQ(sumOf(even), 9);

  problem.edges = chainEdges(4, 0.5);
  BubbleParts far = explained(problem, *generate("1f1b", problem)).bubble;
  EXPECT_EQ(far.fillAndDrain, 9);
  EXPECT_EQ(far.messages,
            simulate(problem, *generate("1f1b", problem))->makespan - 33);

  Problem heavy = makeProblem("1f1b", 4, 1, 8);
  heavy.chunks[2].forward = 2;
  Explanation uneven = explained(heavy, *generate("1f1b", heavy));
  EXPECT_NE(uneven.bubbleStage, 2);
  EXPECT_EQ(uneven.bubble.imbalance, 8);

  // One microbatch at a time: 96, where the bound is 33.
  BubbleParts order = explained(problem, *generate("sequential", heavy)).bubble;
  EXPECT_GT(order.order, 50);
}

static const Change *find(const Explanation &explanation, Change::Kind kind) {
  for (const Change &change : explanation.changes)
    if (change.kind == kind)
      return &change;
  return nullptr;
}

TEST(Explain, Changes) {
  Problem problem = makeProblem("1f1b", 3, 1, 4, 1, 1, 1, 0);
  Explanation plain = explained(problem, *generate("1f1b", problem));
  // 18 for 4, 21 for 5.
  EXPECT_EQ(plain.changes.front().kind, Change::Kind::Microbatch);
  EXPECT_NEAR(plain.changes.front().gain, 1 - (21.0 / 5) / (18.0 / 4), 1e-12);
  EXPECT_EQ(find(plain, Change::Kind::Memory)->gain, 0);
  EXPECT_EQ(find(plain, Change::Kind::Transfer)->reason,
            "transfers take no time");
  EXPECT_EQ(find(plain, Change::Kind::Balance)->reason,
            "the stages are equally heavy");
  EXPECT_EQ(find(plain, Change::Kind::Buffers), nullptr);

  problem.chunks[1].forward = 4;
  problem.edges = chainEdges(3, 0.01);
  limitMemory(problem, 3);
  Schedule schedule = *generate("1f1b", problem);
  Explanation uneven = explained(problem, schedule);
  EXPECT_EQ(uneven.changes.front().kind, Change::Kind::Balance);
  EXPECT_GT(find(uneven, Change::Kind::Transfer)->gain, 0);
  EXPECT_NE(toText(problem, schedule, uneven).find("all stages equally heavy"),
            std::string::npos);
}

TEST(Explain, ChangesOfTransfers) {
  Problem problem = makeProblem("1f1b", 3, 1, 4, 1, 1, 1, 0.5);
  Schedule schedule = *generate("1f1b", problem);
  Explanation result =
      explained(problem, schedule, {Transfers::Rendezvous, false});
  const Change *buffers = find(result, Change::Kind::Buffers);
  ASSERT_TRUE(buffers);
  EXPECT_EQ(buffers->makespan, simulate(problem, schedule)->makespan);
  EXPECT_NEAR(buffers->gain, 1 - buffers->makespan / result.value, 1e-12);
  // What is compared is the rendezvous too.
  Problem fast = problem;
  fast.edges = chainEdges(3, 0.25);
  EXPECT_EQ(find(result, Change::Kind::Transfer)->makespan,
            simulate(fast, schedule, {Transfers::Rendezvous, false})->makespan);
}

// Without a limit, a schedule that holds p activations by its own rule may hold
// one more; what is searched has all the memory already.
TEST(Explain, MemoryWithoutLimits) {
  Problem problem = makeProblem("zb-v", 4, 2, 8, 0.5, 0.55, 0.35, 0.1);
  Schedule schedule = *generate("zb-v", problem);
  EXPECT_GT(find(explained(problem, schedule), Change::Kind::Memory)->gain,
            0.01);
  schedule.name = "auto";
  Expected<Explanation> result = explain(problem, schedule, quickly());
  ASSERT_TRUE(result);
  EXPECT_EQ(find(*result, Change::Kind::Memory)->reason,
            "no stage has a limit");
}

// Stage 0 of 1F1B with 2 activations has F2 ready while it waits for BW0:
//   stage 0: F0 [0,1) F1 [1,2) .. BW0 [4,6) F2 [6,7) .. BW1 ..
//   stage 1: F0 [1,2) BW0 [2,4) F1 [4,5) BW1 [5,7) F2 [7,8) BW2 [8,10)
TEST(Explain, MemoryWait) {
  Problem problem = makeProblem("1f1b", 2, 1, 3);
  Schedule schedule = *generate("1f1b", problem);
  EXPECT_FALSE(explained(problem, schedule).memory);
  limitMemory(problem, 2);
  Explanation result = explained(problem, schedule);
  ASSERT_TRUE(result.memory);
  EXPECT_EQ(result.memory->stage, 0);
  EXPECT_EQ(result.memory->longest, 2);
  EXPECT_EQ(cellName(problem, schedule.stages[0][result.memory->blocked]),
            "F2");
  EXPECT_EQ(cellName(problem, schedule.stages[0][result.memory->release]),
            "BW0");
  EXPECT_EQ(result.memory->held, 2 * activationUnit);
  // Before BW1 all forwards have run.
  EXPECT_EQ(result.memory->time, 2);
  // 1F1B would not take F2 earlier, however much memory there is. Another
  // schedule might.
  std::string line = "F2 does not fit beside the 2 activations held until BW0 "
                     "releases some";
  EXPECT_EQ(toText(problem, schedule, result).find(line), std::string::npos);
  for (Change &change : result.changes)
    if (change.kind == Change::Kind::Memory)
      change.gain = 0.1;
  EXPECT_NE(toText(problem, schedule, result).find(line), std::string::npos);
  limitMemory(problem, 3);
  EXPECT_FALSE(explained(problem, schedule).memory);
}

TEST(Explain, Text) {
  Problem problem = makeProblem("1f1b", 4, 1, 8);
  Schedule schedule = *generate("1f1b", problem);
  EXPECT_EQ(
      toText(problem, schedule, explained(problem, schedule)),
      "critical path: 22 operations, 33.3% F, 66.7% BW\n"
      "from  to  stages  operations\n"
      "   0   4     0-3  F0 on each (4)\n"
      "   4  25       3  BW0 F1 BW1 F2 .. BW6 F7 (14)\n"
      "  25  33     3-0  BW7 on each (4)\n"
      "on stages         72.7% on stage 3, 9.1% on stage 0, 9.1% on stage 1, "
      "9.1% on stage 2\n"
      "made of           24 work of stage 3, 3 of others before it, 6 of "
      "others after it\n"
      "waits on it       3 times for first inputs, longest 3 on stage 3 "
      "before F0\n"
      "                  3 times for gradients, longest 1 on stage 2 before "
      "BW7\n"
      "\n"
      "stage 0 waits 9 of 33\n"
      "         9  100.00%  for fill and drain\n"
      "         9  100.00%  in all\n"
      "\n"
      "what a change would bring\n"
      "  one more microbatch: 3.03% less time a microbatch, bubble 0.2500\n"
      "  no effect: more memory, faster links (transfers take no time), "
      "balance (the stages are equally heavy)\n"
      "\n"
      "verdict: stage 0 waits 9 of 33, for fill and drain; one more "
      "microbatch would help most: 3.03% less time a microbatch\n");
}

// What the verdict names adds up to the bubble, and small parts stand in the
// table.
TEST(Explain, PartsAddUp) {
  Problem problem = makeProblem("1f1b", 4, 1, 8);
  Schedule schedule = *generate("1f1b", problem);
  Explanation result = explained(problem, schedule);
  result.bubbleTime = 10;
  result.bubble = {.messages = 0.09, .order = 9.875, .imbalance = 0.035};
  std::string text = toText(problem, schedule, result);
  EXPECT_NE(text.find("stage 0 waits 10 of 33\n"
                      "     9.875   98.75%  by its order\n"
                      "      0.09    0.90%  for the time of messages\n"
                      "     0.035    0.35%  for stages with more work\n"
                      "        10  100.00%  in all\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("verdict: stage 0 waits 10 of 33: 9.875 by its order and "
                      "0.125 of other causes;"),
            std::string::npos)
      << text;
  result.bubble = {.order = 10};
  EXPECT_NE(
      toText(problem, schedule, result).find("waits 10 of 33, by its order;"),
      std::string::npos);
}

// More memory helps most, so memory is a cause, or the text says why not.
TEST(Explain, VerdictAboutMemory) {
  Problem problem = makeProblem("1f1b", 4, 1, 8);
  Schedule schedule = *generate("1f1b", problem);
  Explanation result = explained(problem, schedule);
  result.changes = {{Change::Kind::Memory, "more", 30, 0.2, 0.2, 0.1}};
  auto has = [&](const char *part) {
    std::string text = toText(problem, schedule, result);
    return text.substr(text.find("verdict")).find(part) != std::string::npos;
  };
  EXPECT_TRUE(has("(there is no limit: its own rule"));
  limitMemory(problem, 4);
  EXPECT_TRUE(has("(the limit is no cause of its own"));
  result.bubble.order = result.bubbleTime / 2;
  EXPECT_TRUE(has("by its order, which the memory limit restricts"));
  EXPECT_FALSE(has("(the limit is"));
  result.bubble.order = 0;
  result.bubble.memory = result.bubbleTime / 2;
  EXPECT_TRUE(has("because of the memory limit"));
  EXPECT_FALSE(has("(the limit is"));
}

// A long path is no long table, and everything is in it.
TEST(Explain, LongPaths) {
  Problem problem = makeProblem("sequential", 4, 1, 50);
  Schedule schedule = *generate("sequential", problem);
  Explanation result = explained(problem, schedule);
  std::string text = toText(problem, schedule, result, 5);
  EXPECT_NE(text.find("\n"
                      "from   to   stages  operations\n"
                      "   0    4      0-3  F0 on each (4)\n"
                      "   4   12      3-0  BW0 on each (4)\n"
                      "  12  588  in 0..3  ... 384 operations more\n"
                      " 588  592      0-3  F49 on each (4)\n"
                      " 592  600      3-0  BW49 on each (4)\n"
                      "on stages"),
            std::string::npos)
      << text;
}

TEST(Explain, RefusesWhatCannotRun) {
  Problem problem = makeProblem("1f1b", 2, 1, 2);
  Schedule schedule = *generate("1f1b", problem);
  schedule.stages[0].pop_back();
  EXPECT_FALSE(explain(problem, schedule));
}
