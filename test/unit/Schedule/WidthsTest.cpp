//===- WidthsTest.cpp - stages of several ranks ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Widths.h"
#include "../Rounds.h"
#include "TestUtilities.h"
#include "veeline/Schedule/Asynchronous.h"
#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/Explain.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Limits.h"

#include <map>
#include <numeric>

using namespace veeline::schedule;

namespace {

Problem makeWide(std::string_view name, int v, int m, std::vector<int> widths) {
  Problem problem = makeProblem(name, static_cast<int>(widths.size()), v, m);
  problem.widths = std::move(widths);
  return problem;
}

/// Calls `check` with random problems, `rounds` for each generator, and with
/// the schedule of each, if there is one. Stages have up to three ranks. If
/// `isLimited`, every second problem keeps its limits.
template <typename Check>
void forWideSchedules(int rounds, bool isLimited, Check check) {
  Random random = makeRandom();
  for (int round = 0; round < rounds; ++round)
    for (const Generator &generator : generators()) {
      int p = randomInt(random, 1, 3), m = randomInt(random, 4, 9);
      Problem problem = randomProblem(random, generator.name, p, m);
      for (int stage = 0; stage < p; ++stage)
        problem.widths.push_back(randomInt(random, 1, 3));
      if (!isLimited || round % 2 == 0)
        problem.memoryLimits.clear();
      Expected<Schedule> schedule =
          generate(generator.name, problem, quickly());
      if (schedule)
        check(generator, problem, *schedule);
      else if (!isLimited) {
        EXPECT_EQ(schedule.error().kind, ErrorKind::NotApplicable)
            << generator.name << ": " << schedule.error().str();
      }
    }
}

/// The order of PipeDream's round robin. Each rank has as many microbatches in
/// flight as there are ranks from its stage on, divided among those of the
/// stage; then one forward and one backward in turn.
std::string roundRobin(const Problem &problem, int rank) {
  int stage = problem.stageOfRank(rank), w = problem.width(stage);
  int member = rank - problem.firstRankOf(stage);
  int behind = problem.ranks() - problem.firstRankOf(stage);
  std::string line;
  auto add = [&](const char *kind, int microbatch) {
    line += (line.empty() ? "" : " ") + std::string(kind) +
            std::to_string(microbatch);
  };
  int next = member;
  for (int i = member; i < problem.microbatches; i += w) {
    for (; next < std::min(problem.microbatches, i + behind); next += w)
      add("F", next);
    add("BW", i);
  }
  return line;
}

TEST(Widths, RoundRobinOfPipeDream) {
  for (const std::vector<int> &widths :
       {std::vector<int>{2, 1, 1}, {1, 2}, {3, 1}, {2, 2}, {1, 3, 2}, {4}})
    for (int m : {4, 5, 9, 16}) {
      Problem problem = makeWide("1f1b", 1, m, widths);
      Expected<Schedule> schedule = generate("1f1b", problem);
      ASSERT_TRUE(schedule) << schedule.error().str();
      std::vector<std::string> lines = orderLines(problem, *schedule);
      ASSERT_EQ(lines.size(), static_cast<size_t>(problem.ranks()));
      for (int rank = 0; rank < problem.ranks(); ++rank)
        EXPECT_EQ(lines[rank], roundRobin(problem, rank));
    }
}

/// Ranks with the same work are busy all the time, except in fill and drain.
TEST(Widths, RanksShareTheWork) {
  Problem problem = makeWide("1f1b", 1, 24, {3, 1});
  problem.chunks[0] = makeChunk(1, 3, 3, 3);
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_TRUE(schedule);
  Expected<Simulation> simulation = simulate(problem, *schedule);
  ASSERT_TRUE(simulation);
  ASSERT_EQ(simulation->stages.size(), 4u);
  EXPECT_EQ(simulation->stages[3].busy, 72);
  EXPECT_LE(simulation->makespan, 72 + 3 + 6 + 3);
  // Each of the three holds two microbatches, as the first of two stages would.
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_EQ(simulation->stages[rank].peakMemory, 2 * activationUnit);
}

/// For every schedule, placement and widths: `generate` verifies its result,
/// and messages that block cannot deadlock either.
TEST(Widths, EverySchedule) {
  int generated = 0;
  auto check = [&](const Generator &generator, const Problem &problem,
                   const Schedule &schedule) {
    ++generated;
    Status verified = verify(problem, schedule);
    EXPECT_TRUE(verified) << generator.name;
    Expected<std::vector<Message>> messages =
        communicationOrder(problem, schedule);
    ASSERT_TRUE(messages);
    Status right = verifyCommunication(problem, schedule, *messages);
    EXPECT_TRUE(right) << generator.name;
    EXPECT_TRUE(
        simulate(problem, schedule, {.transfers = Transfers::Rendezvous}));
  };
  forWideSchedules(12, /*isLimited=*/false, check);
  EXPECT_GT(generated, 200);
}

TEST(Widths, WrongRanks) {
  Problem problem = makeWide("1f1b", 1, 4, {2, 1});
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_TRUE(schedule);
  auto messageOf = [&](const Schedule &wrong) {
    Status status = verify(problem, wrong);
    return status ? std::string() : status.error().message;
  };
  Schedule swapped = *schedule;
  std::swap(swapped.stages[0], swapped.stages[1]);
  EXPECT_EQ(messageOf(swapped),
            "rank 0 (of stage 0), step 0: F of chunk 0, microbatch 1 belongs "
            "to rank 1 (of stage 0)");
  Schedule short1 = *schedule;
  short1.stages[1].clear();
  EXPECT_EQ(messageOf(short1),
            "rank 1 (of stage 0) never runs F of chunk 0, microbatch 1");
  Schedule few = *schedule;
  few.stages.pop_back();
  EXPECT_EQ(messageOf(few), "the schedule has 2 ranks, the problem 3");
}

TEST(Widths, Problems) {
  auto messageOf = [](const Problem &problem) {
    Status status = check(problem);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(messageOf(makeWide("1f1b", 1, 4, {4, 1})), "");
  Problem problem = makeWide("1f1b", 1, 4, {2, 1});
  problem.widths = {2};
  EXPECT_EQ(messageOf(problem),
            "numbers of ranks are given for 1 stage, but there are 2");
  problem.widths = {2, 0};
  EXPECT_EQ(messageOf(problem), "stage 1 has 0 ranks; a stage has at least 1");
  problem.widths = {5, 1};
  EXPECT_EQ(messageOf(problem),
            "stage 0 has 5 ranks for 4 microbatches, so that some would have "
            "nothing to do; take more microbatches or fewer ranks");
  problem.widths = {2, 1};
  limitMemory(problem, 8);
  EXPECT_EQ(messageOf(problem), "");
  problem.memoryLimits.push_back(0);
  EXPECT_EQ(messageOf(problem),
            "memory limits are given for 3 stages, but there are 2");
}

/// The most that one rank holds, counted by hand.
std::int64_t peakOf(const Problem &problem, const std::vector<Op> &ops) {
  std::int64_t held = 0, peak = 0;
  for (const Op &op : ops) {
    held += problem.chunks[op.chunk].memory(op.kind);
    peak = std::max(peak, held);
  }
  return peak;
}

/// The peak of each stage's worst rank.
std::vector<std::int64_t> peaksOf(const Problem &problem,
                                  const Schedule &schedule) {
  std::vector<std::int64_t> peaks(problem.stages());
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    std::int64_t &peak = peaks[problem.stageOfRank(rank)];
    peak = std::max(peak, peakOf(problem, schedule.stages[rank]));
  }
  return peaks;
}

/// 1f1b has one order, which is accepted with exactly what its ranks hold.
TEST(Widths, LimitsOfAnOrder) {
  for (const std::vector<int> &widths :
       {std::vector<int>{2, 1, 1}, {1, 2}, {3, 1}, {2, 3}, {1, 3, 2}}) {
    Problem problem = makeWide("1f1b", 1, 9, widths);
    Expected<Schedule> free = generate("1f1b", problem);
    ASSERT_TRUE(free);
    problem.memoryLimits = peaksOf(problem, *free);
    Expected<Schedule> within = generate("1f1b", problem);
    ASSERT_TRUE(within) << within.error().str();
    EXPECT_EQ(within->stages, free->stages);
    for (int stage = 0; stage < problem.stages(); ++stage) {
      Problem tight = problem;
      --tight.memoryLimits[stage];
      Expected<Schedule> refused = generate("1f1b", tight);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().kind, ErrorKind::OutOfMemory);
      EXPECT_EQ(refused.error().stage, stage);
      EXPECT_EQ(refused.error().leastLimit, problem.memoryLimits[stage]);
      EXPECT_EQ(refused.error().leastOfAnySchedule, activationUnit);
    }
  }
}

TEST(Widths, LimitsNameTheRank) {
  Problem problem = makeWide("1f1b", 1, 6, {1, 2, 1});
  problem.memoryLimits = {4 * activationUnit, activationUnit, activationUnit};
  Expected<Schedule> refused = generate("1f1b", problem);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().str(),
            "rank 1 (of stage 1), step 1: F of chunk 1, microbatch 2 exceeds "
            "the memory limit of 1 activation; this order of the rank needs 2 "
            "activations; a schedule that follows costs and limits (auto) can "
            "go down to 1 activation\n"
            "  rank 1 (of stage 1), steps 0..5: F0 [F2] BW0 F4 BW2 BW4");
  // `auto` fits, as the error says.
  Expected<Schedule> fits = generate("auto", problem, quickly());
  ASSERT_TRUE(fits) << fits.error().str();
  for (int stage = 0; stage < 3; ++stage)
    EXPECT_LE(peaksOf(problem, *fits)[stage], problem.memoryLimits[stage]);
  problem.memoryLimits[1] /= 2;
  EXPECT_EQ(generate("auto", problem, quickly()).error().leastOfAnySchedule,
            activationUnit);
}

void expectNoneIsShorter(const Problem &problem, const Schedule &schedule) {
  double makespan = simulate(problem, schedule)->makespan;
  for (const Generator &generator : generators()) {
    Expected<Schedule> other = generate(generator.name, problem, quickly());
    if (other && generator.name != "auto" &&
        generator.semantics == UpdateSemantics::Synchronous) {
      EXPECT_LE(makespan, simulate(problem, *other)->makespan + 1e-9)
          << generator.name;
    }
  }
}

/// Every schedule stays within any limits, or names what it needs, which then
/// is enough. `auto` fits whenever one microbatch at a time fits, and is no
/// longer than any other schedule.
TEST(Widths, LimitsOfEverySchedule) {
  Random random = makeRandom();
  int limited = 0, refusals = 0;
  auto check = [&](const Generator &generator, Problem problem,
                   const Schedule &free) {
    // From what one microbatch needs to what the schedule holds without a
    // limit.
    std::vector<std::int64_t> peaks = peaksOf(problem, free);
    for (int stage = 0; stage < problem.stages(); ++stage) {
      std::int64_t least =
          std::min(memoryOfMicrobatch(problem, stage), peaks[stage]);
      problem.memoryLimits.push_back(least + (peaks[stage] - least) *
                                                 randomInt(random, 0, 4) / 4);
    }
    bool isAnyEnough = problem.memoryLimits == peaks;
    ++limited;
    Expected<Schedule> within = generate(generator.name, problem, quickly());
    // Another limit makes another order, which may need more elsewhere.
    for (int raises = 0; !within && raises < 4 * problem.stages(); ++raises) {
      const Error &error = within.error();
      EXPECT_FALSE(isAnyEnough && generator.name == "1f1b");
      EXPECT_NE(generator.name, "auto") << error.str();
      ASSERT_EQ(error.kind, ErrorKind::OutOfMemory)
          << generator.name << ": " << error.str();
      ASSERT_TRUE(error.stage && error.leastLimit) << generator.name;
      ASSERT_GT(*error.leastLimit, problem.memoryLimits[*error.stage]);
      ++refusals;
      problem.memoryLimits[*error.stage] = *error.leastLimit;
      within = generate(generator.name, problem, quickly());
    }
    ASSERT_TRUE(within) << generator.name << ": " << within.error().str();
    std::vector<std::int64_t> held = peaksOf(problem, *within);
    for (int stage = 0; stage < problem.stages(); ++stage)
      EXPECT_LE(held[stage], problem.memoryLimits[stage]) << generator.name;
    if (generator.name == "auto")
      expectNoneIsShorter(problem, *within);
  };
  const int count = veeline::test::rounds(16, 3);
  forWideSchedules(count, /*isLimited=*/false, check);
  EXPECT_GT(limited, 12 * count);
  EXPECT_GT(refusals, 3 * count);
}

/// The bounds of each rank hold for every schedule.
TEST(Widths, BoundsOfRanks) {
  int checked = 0;
  auto check = [&](const Generator &generator, const Problem &problem,
                   const Schedule &schedule) {
    ++checked;
    constexpr double slack = 1 + 1e-9;
    Bounds bounds = lowerBounds(problem);
    Simulation simulation = *simulate(problem, schedule);
    ASSERT_EQ(bounds.stages.size(), simulation.stages.size());
    for (std::size_t rank = 0; rank < bounds.stages.size(); ++rank) {
      const StageStatistics &statistics = simulation.stages[rank];
      double span = statistics.lastEnd - statistics.firstStart;
      EXPECT_NEAR(bounds.stages[rank].busy, statistics.busy,
                  1e-9 * statistics.busy);
      EXPECT_LE(bounds.stages[rank].span.time, span * slack);
      EXPECT_LE(bounds.stages[rank].makespan.time, simulation.makespan * slack)
          << generator.name << ", rank " << rank << ", "
          << toString(bounds.stages[rank].makespan.kind);
    }
    EXPECT_LE(bounds.makespan.time, simulation.makespan * slack);
    EXPECT_LE(bounds.span.time, longestSpan(simulation) * slack);
  };
  const int count = veeline::test::rounds(24, 3);
  forWideSchedules(count, /*isLimited=*/true, check);
  EXPECT_GT(checked, 8 * count);
}

/// Three ranks share the work of one stage, and the bound says so, too.
TEST(Widths, BoundsAreMet) {
  Problem problem = makeWide("gpipe", 1, 9, {3});
  Bounds bounds = lowerBounds(problem);
  EXPECT_EQ(bounds.makespan.time, 9);
  EXPECT_EQ(simulate(problem, *generate("gpipe", problem))->makespan, 9);
  problem.microbatches = 10;
  EXPECT_EQ(lowerBounds(problem).stages[0].busy, 12);
  EXPECT_EQ(lowerBounds(problem).stages[2].busy, 9);
  EXPECT_EQ(lowerBounds(problem).makespanStage, 0);
}

/// Computes when messages arrive that queue on links from rank to rank, in the
/// order of each rank's steps, and expects operations to start by them.
void expectContention(const Problem &problem, const Schedule &schedule,
                      const Simulation &simulation) {
  struct Sent {
    double time;
    int rank, step;
  };
  std::vector<Sent> sent;
  for (int rank = 0; rank < problem.ranks(); ++rank)
    for (int step = 0, e = schedule.stages[rank].size(); step < e; ++step)
      sent.push_back({simulation.end[rank][step], rank, step});
  std::stable_sort(sent.begin(), sent.end(), [](const Sent &a, const Sent &b) {
    return std::pair(a.rank, a.step) < std::pair(b.rank, b.step);
  });
  std::map<std::pair<int, int>, double> freeAt;
  std::map<std::array<int, 3>, double> arrivals;
  for (const Sent &one : sent) {
    const Op &op = schedule.stages[one.rank][one.step];
    for (std::size_t i = 0; i < problem.edges.size(); ++i) {
      const Edge &edge = problem.edges[i];
      bool isForward = op.kind == OpKind::Forward && edge.from == op.chunk;
      bool isGradient =
          (op.kind == OpKind::Backward || op.kind == OpKind::BackwardInput) &&
          edge.to == op.chunk && edge.carriesGradient;
      if (!isForward && !isGradient)
        continue;
      int target =
          problem.rankOf(isForward ? edge.to : edge.from, op.microbatch);
      if (target == one.rank)
        continue;
      double &free = freeAt[{one.rank, target}];
      free = std::max(free, one.time) +
             (isForward ? edge.forwardTransfer : edge.backwardTransfer);
      arrivals[{static_cast<int>(i), op.microbatch, isGradient}] = free;
    }
  }
  // An operation starts when its rank is free and its messages are there.
  for (int rank = 0; rank < problem.ranks(); ++rank)
    for (int step = 0, e = schedule.stages[rank].size(); step < e; ++step) {
      const Op &op = schedule.stages[rank][step];
      double start = step > 0 ? simulation.end[rank][step - 1] : 0;
      for (std::size_t i = 0; i < problem.edges.size(); ++i) {
        const Edge &edge = problem.edges[i];
        bool takesGradient = op.kind == OpKind::Backward ||
                             op.kind == OpKind::BackwardInput ||
                             (op.kind == OpKind::BackwardWeight &&
                              !problem.chunks[op.chunk].hasBackwardInput);
        bool isGradient = takesGradient && edge.from == op.chunk;
        if (!isGradient && !(op.kind == OpKind::Forward && edge.to == op.chunk))
          continue;
        auto arrival =
            arrivals.find({static_cast<int>(i), op.microbatch, isGradient});
        if (arrival != arrivals.end())
          start = std::max(start, arrival->second);
      }
      ASSERT_NEAR(simulation.start[rank][step], start, 1e-6 * (1 + start));
    }
}

TEST(Widths, Contention) {
  int simulated = 0;
  auto check = [&](const Generator &, const Problem &problem,
                   const Schedule &schedule) {
    ++simulated;
    Expected<Simulation> queued =
        simulate(problem, schedule, {.contention = true});
    ASSERT_TRUE(queued);
    expectContention(problem, schedule, *queued);
    EXPECT_GE(queued->makespan + 1e-9, simulate(problem, schedule)->makespan);
  };
  forWideSchedules(9, /*isLimited=*/false, check);
  EXPECT_GT(simulated, 80);
}

/// Messages of two ranks do not wait for each other; those of one do.
TEST(Widths, LinksOfRanks) {
  for (int width : {1, 2}) {
    Problem problem = makeProblem("gpipe", 2, 1, 2, 0, 0, 0, 4);
    problem.chunks[0].forward = width;
    if (width > 1)
      problem.widths = {width, width};
    Expected<Schedule> schedule = generate("gpipe", problem);
    ASSERT_TRUE(schedule);
    double alone = simulate(problem, *schedule)->makespan;
    double queued =
        simulate(problem, *schedule, {.contention = true})->makespan;
    EXPECT_EQ(queued - alone, width > 1 ? 0 : 7);
  }
}

/// Widths of one are the same as no widths.
TEST(Widths, OneRankEach) {
  for (const Generator &generator : generators()) {
    int v = generator.minChunksPerStage;
    Problem problem = makeProblem(generator.name, 3, v, 6, 2, 3, 1, 0.5);
    limitMemory(problem, 4);
    Problem ones = problem;
    ones.widths = {1, 1, 1};
    Expected<Schedule> schedule = generate(generator.name, problem, quickly());
    Expected<Schedule> same = generate(generator.name, ones, quickly());
    ASSERT_EQ(bool(schedule), bool(same)) << generator.name;
    if (!schedule || generator.name == "auto")
      continue;
    EXPECT_EQ(schedule->stages, same->stages) << generator.name;
    EXPECT_EQ(lowerBounds(problem).makespan.time,
              lowerBounds(ones).makespan.time);
    for (bool contention : {false, true})
      EXPECT_EQ(simulate(problem, *schedule, {.contention = contention})->end,
                simulate(ones, *schedule, {.contention = contention})->end);
  }
}

/// A microbatch in the middle of a long step takes the period of the steady
/// state.
TEST(Widths, SteadyState) {
  Random random = makeRandom();
  for (int round = 0; round < 40; ++round) {
    int p = randomInt(random, 1, 4);
    Problem problem = makeProblem("pipedream", p, 1, 1);
    for (Chunk &chunk : problem.chunks) {
      chunk.forward = randomInt(random, 1, 9);
      chunk.backwardWeight = randomInt(random, 1, 9);
    }
    for (Edge &edge : problem.edges)
      edge.forwardTransfer = edge.backwardTransfer = randomInt(random, 0, 3);
    int cycle = 1;
    for (int stage = 0; stage < p; ++stage) {
      problem.widths.push_back(randomInt(random, 1, 3));
      cycle = std::lcm(cycle, problem.widths.back());
    }
    double period = steadyState(problem)->period;
    // From one step to a longer one, fill and drain are the same.
    double ends[2];
    for (int i : {0, 1}) {
      problem.microbatches = (40 + 20 * i) * cycle;
      ends[i] = simulate(problem, *generate("pipedream", problem))->makespan;
    }
    EXPECT_NEAR((ends[1] - ends[0]) / (20 * cycle), period, 1e-9 + period / 50)
        << round;
  }
}

/// The critical path has no gap, over ranks and messages. Its parts and those
/// of the bubble add up, however messages pass.
TEST(Widths, Explanations) {
  Random random = makeRandom();
  int explained = 0;
  for (const Generator &generator : generators())
    for (SimulationOptions options : {SimulationOptions(),
                                      {.contention = true},
                                      {.transfers = Transfers::Rendezvous}}) {
      int p = randomInt(random, 2, 3), m = randomInt(random, 4, 8);
      Problem problem = randomProblem(random, generator.name, p, m);
      for (int stage = 0; stage < p; ++stage)
        problem.widths.push_back(randomInt(random, 1, 3));
      Expected<Schedule> schedule =
          generate(generator.name, problem, quickly());
      if (!schedule)
        continue;
      ++explained;
      double makespan = simulate(problem, *schedule, options)->makespan;
      Expected<Explanation> why =
          explain(problem, *schedule, quickly(), options);
      ASSERT_TRUE(why) << why.error().str();
      double near = 1e-6 * makespan, now = 0, shares = why->shares.messages;
      for (const CriticalStep &step : why->path) {
        EXPECT_NEAR(step.start, now, near) << generator.name;
        now = step.end;
        if (step.isMessage())
          continue;
        EXPECT_LT(step.stage, problem.ranks());
      }
      EXPECT_NEAR(now, makespan, near);
      for (double kind : why->shares.kinds)
        shares += kind;
      EXPECT_NEAR(shares, makespan, near);
      const PathParts &parts = why->parts;
      EXPECT_NEAR(parts.work + parts.fill + parts.drain + parts.between +
                      parts.messages,
                  makespan, near);
      const BubbleParts &bubble = why->bubble;
      EXPECT_NEAR(bubble.blocking + bubble.messages + bubble.order +
                      bubble.memory + bubble.fillAndDrain + bubble.imbalance,
                  why->bubbleTime, near);
      std::string text = toText(problem, *schedule, *why);
      EXPECT_NE(text.find(" rank "), std::string::npos);
      // Only the verdict on the steady state speaks of stages.
      text.resize(std::min(text.size(), text.find("verdict: in the steady")));
      EXPECT_EQ(text.find(" stage 0"), std::string::npos) << text;
    }
  EXPECT_GT(explained, 20);
}

/// Each rank keeps a version for each of its own microbatches in flight.
TEST(Widths, WeightVersions) {
  Problem problem = makeWide("pipedream", 1, 12, {2, 1, 1});
  EXPECT_EQ(*weightVersions(problem, *generate("pipedream", problem)),
            (std::vector<int>{2, 2, 2, 1}));
}

/// What is written reads back.
TEST(Widths, Files) {
  auto check = [](const Generator &, const Problem &problem,
                  const Schedule &schedule) {
    int p = problem.stages();
    bool isWide = problem.ranks() > p;
    Solution solution = *solve(problem, schedule);
    Expected<ImportedSchedule> json = readJson(toJson(solution), "x.json");
    ASSERT_TRUE(json) << json.error().str();
    EXPECT_EQ(json->schedule.stages, schedule.stages);
    EXPECT_EQ(json->problem->widths,
              isWide ? problem.widths : std::vector<int>());
    Expected<ImportedSchedule> csv = readCsv(toCsv(problem, schedule), "x.csv");
    ASSERT_TRUE(csv) << csv.error().str();
    EXPECT_EQ(csv->widths, json->widths);
    EXPECT_EQ(csv->placement.stages(), p);
  };
  forWideSchedules(4, /*isLimited=*/false, check);
}

TEST(Widths, WrongFiles) {
  auto csv = [](const char *text) { return readCsv(text, "x.csv"); };
  // Rows of one stage follow each other. A row without operations is a stage.
  EXPECT_EQ(csv("0F0\n1F0,1F1\n0F1\n").error().message,
            "x.csv:3:1: F of chunk 0, microbatch 1 stands on stage 2, but "
            "other operations of this chunk on stage 0");
  EXPECT_EQ(csv("0F0\n0F1,1F0\n").error().message,
            "x.csv: has 3 forwards; 2 chunks and 2 microbatches (0 to 1) have "
            "4");
  EXPECT_EQ(csv("0F0\n\n0F1\n").error().message.substr(0, 12), "x.csv:3:1: F");
  // The verifier finds ranks whose turns are wrong.
  Expected<ImportedSchedule> swapped = csv("0F1,0B1\n0F0,0B0\n1F0,1B0,1F1,1B1");
  ASSERT_TRUE(swapped) << swapped.error().str();
  EXPECT_EQ(swapped->widths, (std::vector<int>{2, 1}));
  Problem problem = makeWide("1f1b", 1, 2, {2, 1});
  EXPECT_EQ(verify(problem, swapped->schedule).error().message,
            "rank 0 (of stage 0), step 0: F of chunk 0, microbatch 1 belongs "
            "to rank 1 (of stage 0)");
  EXPECT_EQ(readJson("{\"order\": [[\"0F0\"], [\"0F1\"]],\n"
                     " \"stage_replicas\": [1, 1]}",
                     "x.json")
                .error()
                .message,
            "x.json:2:20: /stage_replicas: the order has rows for as many "
            "ranks as [2]");
}

} // namespace
