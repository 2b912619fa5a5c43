//===- AsynchronousTest.cpp - schedules without a flush -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Asynchronous.h"

#include "TestUtilities.h"
#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/Execution.h"
#include "veeline/Schedule/Loop.h"
#include "veeline/Schedule/Simulator.h"

#include <algorithm>
#include <set>

using namespace veeline::schedule;

static Schedule scheduleOf(std::string_view name, const Problem &problem) {
  Expected<Schedule> schedule = generate(name, problem);
  EXPECT_TRUE(schedule) << schedule.error().str();
  return *schedule;
}

TEST(Asynchronous, Orders) {
  for (const char *name : {"pipedream", "pipedream-2bw"}) {
    Problem problem = makeProblem(name, 3, 1, 6);
    EXPECT_EQ(orderLines(problem, scheduleOf(name, problem)),
              (std::vector<std::string>{
                  "F0 F1 F2 BW0 F3 BW1 F4 BW2 F5 BW3 BW4 BW5",
                  "F0 F1 BW0 F2 BW1 F3 BW2 F4 BW3 F5 BW4 BW5",
                  "F0 BW0 F1 BW1 F2 BW2 F3 BW3 F4 BW4 F5 BW5"}));
    for (int p = 1; p <= 8; ++p)
      for (int m = 1; m <= 20; ++m) {
        Problem problem = makeProblem(name, p, 1, m, 2, 2, 1);
        Simulation result = *simulate(problem, scheduleOf(name, problem));
        EXPECT_NEAR(result.bubbleMakespan, (p - 1.0) / (m + p - 1), 1e-9);
        for (int stage = 0; stage < p; ++stage)
          EXPECT_EQ(result.stages[stage].peakMemory,
                    std::min(p - stage, m) * activationUnit);
      }
  }
}

TEST(Asynchronous, Semantics) {
  EXPECT_EQ((*findGenerator("pipedream"))->semantics,
            UpdateSemantics::WeightStashing);
  EXPECT_EQ((*findGenerator("pipedream-2bw"))->semantics,
            UpdateSemantics::DoubleBuffered);
  int synchronous = 0;
  for (const Generator &generator : generators())
    synchronous += generator.semantics == UpdateSemantics::Synchronous;
  EXPECT_EQ(synchronous, static_cast<int>(generators().size()) - 2);
}

/// Walks the order of a stage with an update after every backward, and counts
/// the versions that are current or needed by a microbatch in flight.
static std::size_t versionsWithStashing(const std::vector<Op> &ops) {
  int current = 0;
  std::vector<int> usedBy(ops.size());
  std::multiset<int> inFlight;
  std::size_t most = 0;
  for (const Op &op : ops) {
    if (op.kind == OpKind::Forward) {
      usedBy[op.microbatch] = current;
      inFlight.insert(current);
    } else {
      inFlight.erase(inFlight.find(usedBy[op.microbatch]));
      ++current;
    }
    std::set<int> held(inFlight.begin(), inFlight.end());
    held.insert(current);
    most = std::max(most, held.size());
  }
  return most;
}

TEST(Asynchronous, StashedVersions) {
  for (int p = 1; p <= 8; ++p)
    for (int m = 1; m <= 20; ++m) {
      Problem problem = makeProblem("pipedream", p, 1, m);
      Schedule schedule = scheduleOf("pipedream", problem);
      std::vector<int> versions = *weightVersions(problem, schedule);
      ASSERT_EQ(versions.size(), static_cast<std::size_t>(p));
      for (int stage = 0; stage < p; ++stage) {
        EXPECT_EQ(versions[stage], std::min(p - stage, m));
        // A window that is long enough to reach the steady state needs them.
        std::size_t needed = versionsWithStashing(schedule.stages[stage]);
        if (m >= 2 * (p - stage) - 1 && m > 1) {
          EXPECT_EQ(needed, static_cast<std::size_t>(std::max(p - stage, 1)));
        }
      }
    }
}

/// The version of the weights that double buffering uses for a microbatch.
/// Version 0 is the initial one, and version k exists once groups 0 to k-1 of p
/// microbatches each are done. A microbatch of group g uses the last but one
/// version that exists when its group starts, max(g-1, 0).
static int doubleBufferedVersion(int stages, int microbatch) {
  return std::max(microbatch / stages - 1, 0);
}

/// Walks the order of a stage with an update after every p backwards, and
/// counts the versions that are made and that a microbatch of an endless run
/// still needs.
static int versionsWithDoubleBuffering(int p, const std::vector<Op> &ops) {
  int done = 0, most = 0;
  for (const Op &op : ops) {
    int version = doubleBufferedVersion(p, op.microbatch), newest = done / p;
    EXPECT_LE(version, newest) << "used before it is made";
    done += op.kind == OpKind::Backward;
    int oldest = doubleBufferedVersion(p, done);
    most = std::max(most, done / p - oldest + 1);
  }
  return most;
}

TEST(Asynchronous, DoubleBuffering) {
  for (int p = 1; p <= 8; ++p)
    for (int m = 1; m <= 40; ++m) {
      Problem problem = makeProblem("pipedream-2bw", p, 1, m);
      Schedule schedule = scheduleOf("pipedream-2bw", problem);
      EXPECT_EQ(*weightVersions(problem, schedule), std::vector<int>(p, 2));
      for (const std::vector<Op> &ops : schedule.stages)
        EXPECT_EQ(versionsWithDoubleBuffering(p, ops), m >= p ? 2 : 1);
    }
}

TEST(Asynchronous, OneVersionWithAFlush) {
  Problem problem = makeProblem("1f1b", 3, 1, 6);
  Schedule schedule = scheduleOf("1f1b", problem);
  EXPECT_EQ(*weightVersions(problem, schedule), std::vector<int>(3, 1));
  schedule.name = "mine";
  Expected<std::vector<int>> versions = weightVersions(problem, schedule);
  ASSERT_FALSE(versions);
  EXPECT_EQ(versions.error().kind, ErrorKind::UnknownSchedule);
}

TEST(SteadyState, ClosedForms) {
  for (int p : {1, 2, 3, 8}) {
    SteadyState result =
        *steadyState(makeProblem("pipedream", p, 1, 4, 2, 3, 1));
    EXPECT_NEAR(result.period, 6, 1e-9);
    EXPECT_NEAR(result.bubble, 0, 1e-9);
  }
  // One stage that is slower than the others sets the pace.
  Problem problem = makeProblem("pipedream", 4, 1, 4, 2, 3, 1);
  problem.chunks[2].forward = 4;
  SteadyState result = *steadyState(problem);
  EXPECT_NEAR(result.period, 8, 1e-9);
  EXPECT_NEAR(result.bubble, 0.25, 1e-9);
  // The last two stages wait for a transfer there and back: the last one holds
  // a single microbatch, the one before two.
  problem = makeProblem("pipedream", 2, 1, 4, 2, 3, 1, 5);
  result = *steadyState(problem);
  EXPECT_NEAR(result.period, (2 * (2 + 4) + 2 * 5) / 2., 1e-9);
  EXPECT_NEAR(result.bubble, 1 - 6 / 11., 1e-9);
  problem.chunks.assign(2, Chunk());
  problem.edges.clear();
  EXPECT_EQ(steadyState(problem)->bubble, 0);
}

/// Random times, and an edge that skips stages.
static void randomise(Problem &problem, Random &random) {
  for (Chunk &chunk : problem.chunks) {
    chunk.forward = randomInt(random, 1, 5);
    chunk.backwardInput = randomInt(random, 1, 5);
    chunk.backwardWeight = randomInt(random, 0, 3);
  }
  for (Edge &edge : problem.edges) {
    edge.forwardTransfer = randomInt(random, 0, 6);
    edge.backwardTransfer = randomInt(random, 0, 6);
  }
  if (int last = problem.stages() - 1; last > 1)
    problem.edges.push_back({0, last, 7, 20});
}

// The period is what the simulator takes in the middle of a long window.
TEST(SteadyState, AgreesWithALongWindow) {
  Random random = makeRandom();
  for (int round = 0; round < 60; ++round) {
    int p = randomInt(random, 1, 5);
    constexpr int settled = 1200, multiple = 840;
    Problem problem = makeProblem("pipedream", p, 1, 2 * settled + multiple);
    randomise(problem, random);
    Schedule schedule = scheduleOf("pipedream", problem);
    Simulation simulation = *simulate(problem, schedule);
    std::vector<double> ends;
    for (std::size_t i = 0; i < schedule.stages[0].size(); ++i)
      if (schedule.stages[0][i].kind == OpKind::Backward)
        ends.push_back(simulation.end[0][i]);
    double period = (ends[settled + multiple] - ends[settled]) / multiple;
    EXPECT_NEAR(steadyState(problem)->period, period, 1e-9) << "p=" << p;
  }
}

TEST(SteadyState, NeedsALinearPlacement) {
  Expected<SteadyState> result = steadyState(makeProblem("zb-v", 2, 2, 2));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::NotApplicable);
  EXPECT_EQ(result.error().message,
            "the steady state is that of a pipeline with placement linear, "
            "where chunk 2 is on stage 2; here it is on stage 1");
}

TEST(SteadyState, OfSchedulesWithoutAFlush) {
  Problem problem = makeProblem("1f1b", 3, 1, 6);
  EXPECT_FALSE(steadyStateOf(problem, scheduleOf("1f1b", problem)));
  problem.chunks[1].forward = 3;
  for (const char *name : {"pipedream", "pipedream-2bw"}) {
    std::optional<SteadyState> state =
        steadyStateOf(problem, scheduleOf(name, problem));
    ASSERT_TRUE(state);
    EXPECT_NEAR(state->period, 5, 1e-9);
    EXPECT_NEAR(state->bubble, 0.4, 1e-9);
    EXPECT_EQ(state->stage, 0);
  }
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

/// A problem whose steps wait for no update.
static Problem
makeAsynchronous(int p, int m,
                 UpdateSemantics updates = UpdateSemantics::DoubleBuffered) {
  Problem problem = makeProblem("pipedream-2bw", p, 1, m);
  problem.updates = updates;
  return problem;
}

TEST(AsynchronousTurn, Order) {
  Problem problem = makeAsynchronous(3, 4);
  Expected<Schedule> turn = turnOf(problem, "pipedream-2bw");
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->name, "pipedream-2bw");
  EXPECT_EQ(orderLines(problem, *turn), (std::vector<std::string>{
                                            "F0 BW2' F1 BW3' F2 BW0 F3 BW1",
                                            "F0 BW3' F1 BW0 F2 BW1 F3 BW2",
                                            "F0 BW0 F1 BW1 F2 BW2 F3 BW3",
                                        }));
  EXPECT_TRUE(isCyclic(*turn));
  EXPECT_TRUE(verify(problem, *turn));
}

// Where steps wait for no update, a schedule by name is its turn.
TEST(AsynchronousTurn, ByName) {
  for (const Generator &generator : generators()) {
    if (generator.semantics == UpdateSemantics::Synchronous)
      continue;
    bool isStashed = generator.semantics == UpdateSemantics::WeightStashing;
    for (Objective objective : {Objective::Makespan, Objective::Period}) {
      Problem problem = makeAsynchronous(4, 8, generator.semantics);
      Expected<Schedule> turn =
          generate(generator.name, problem, {.objective = objective});
      ASSERT_TRUE(turn) << turn.error().str();
      EXPECT_EQ(turn->name, generator.name);
      EXPECT_EQ(
          orderLines(problem, *turn),
          orderLines(problem, *turnOf(problem, std::string(generator.name))));
      // 3, 2 and 1 late ones; the least divisors of 8 are 4, 2 and 1.
      EXPECT_EQ(*weightVersions(problem, *turn),
                isStashed ? std::vector<int>({5, 3, 2, 1})
                          : std::vector<int>(4, 2));
    }
    EXPECT_EQ(
        generate(generator.name, makeAsynchronous(4, 3, generator.semantics))
            .error()
            .kind,
        ErrorKind::NotApplicable);
  }
}

TEST(AsynchronousTurn, NotApplicable) {
  Expected<Schedule> turn = turnOf(makeAsynchronous(4, 3), "pipedream");
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().kind, ErrorKind::NotApplicable);
  EXPECT_EQ(turn.error().message,
            "steps of schedule 'pipedream' that follow each other need at "
            "least as many microbatches as stages, 4, found 3");
  Problem wide = makeAsynchronous(2, 4);
  wide.widths = {2, 1};
  EXPECT_EQ(turnOf(wide, "pipedream").error().message,
            "steps of schedule 'pipedream' that follow each other are not "
            "defined for stages of several ranks");
}

// The loop's period is that of the endless pipeline, and its steps one after
// the other are an ordinary schedule.
TEST(AsynchronousTurn, RandomProblems) {
  Random random = makeRandom();
  for (int round = 0; round < 300; ++round) {
    int p = randomInt(random, 1, 6), m = randomInt(random, p, 3 * p + 2);
    Problem problem =
        makeAsynchronous(p, m,
                         round % 2 ? UpdateSemantics::DoubleBuffered
                                   : UpdateSemantics::WeightStashing);
    randomise(problem, random);
    Schedule turn = *turnOf(problem, "pipedream");
    Status status = verify(problem, turn);
    ASSERT_TRUE(status) << status.error().str();
    EXPECT_NEAR(loopOf(problem, turn)->period, m * steadyState(problem)->period,
                1e-6)
        << "p=" << p << " m=" << m;
    // No update holds a turn back.
    problem.memoryLimits.assign(p, p * activationUnit);
    EXPECT_LE(lowerPeriodBound(problem, {.fusedBackward = true}).period.time,
              loopOf(problem, turn)->period * (1 + 1e-12));
    problem.memoryLimits.clear();
    Unrolled steps = unroll(problem, turn, 3);
    steps.problem.updates = UpdateSemantics::Synchronous;
    status = verify(steps.problem, steps.schedule);
    EXPECT_TRUE(status) << status.error().str();
    for (int stage = 0; stage < p; ++stage) {
      std::vector<std::int64_t> memory = memoryAfter(problem, turn, stage);
      EXPECT_EQ(*std::max_element(memory.begin(), memory.end()),
                (p - stage) * activationUnit);
    }
  }
}

static std::string errorOf(const Problem &problem, const Schedule &schedule) {
  Status status = verify(problem, schedule);
  return status ? "" : status.error().message;
}

TEST(AsynchronousTurn, WrongOrders) {
  Problem problem = makeAsynchronous(2, 2);
  const Schedule turn = *turnOf(problem, "pipedream");
  Problem synchronous = problem;
  synchronous.updates = UpdateSemantics::Synchronous;
  EXPECT_EQ(errorOf(synchronous, turn),
            "stage 0, step 1: BW of chunk 0, microbatch 1 of the step "
            "before cannot be late; only W of the step before may run in the "
            "next one");
  Schedule forward = turn;
  forward.stages[0][0].late = true;
  EXPECT_EQ(errorOf(problem, forward),
            "stage 0, step 0: F of chunk 0, microbatch 0 of the step "
            "before cannot be late; only BW of the step before may run in the "
            "next one, which waits for no update");
  // F0 BW0 F1 BW1'
  Schedule after = turn;
  std::swap(after.stages[0][1], after.stages[0][3]);
  EXPECT_EQ(errorOf(problem, after),
            "stage 0, step 3: BW of chunk 0, microbatch 1 of the step "
            "before comes after a backward of this step, at step 1; what is "
            "late adds to gradients first");
  // The last stage runs late what the first one runs in time.
  Schedule needs = turn;
  needs.stages[0] = {{OpKind::Forward, 0, 0},
                     {OpKind::Forward, 0, 1},
                     {OpKind::Backward, 0, 0},
                     {OpKind::Backward, 0, 1}};
  needs.stages[1] = {{OpKind::Backward, 1, 1, true},
                     {OpKind::Forward, 1, 0},
                     {OpKind::Backward, 1, 0},
                     {OpKind::Forward, 1, 1}};
  EXPECT_EQ(errorOf(problem, needs),
            "stage 0, step 3: BW of chunk 0, microbatch 1 takes a "
            "gradient of chunk 1, whose backward of this microbatch is late");
}

TEST(AsynchronousTurn, OlderVersions) {
  EXPECT_EQ(olderVersions(0, 4), 0);
  EXPECT_EQ(olderVersions(3, 12), 3);
  EXPECT_EQ(olderVersions(3, 8), 4);
  EXPECT_EQ(olderVersions(5, 7), 7);
  EXPECT_EQ(olderVersions(7, 8), 8);
}
