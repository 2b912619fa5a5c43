//===- LimitsTest.cpp - the least limit, with its certificate -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Limits.h"
#include "RandomSchedules.h"
#include "Reference.h"
#include "veeline/Schedule/Recompute.h"

#include <algorithm>
#include <map>
#include <set>

using namespace veeline::schedule;

TEST(Limits, AChainHoldsAllItsChunks) {
  Problem problem = makeProblem("interleaved-1f1b", 2, 3, 4);
  for (int stage : {0, 1}) {
    LeastLimit least = leastLimit(problem, stage);
    EXPECT_EQ(least.limit, activationUnit);
    EXPECT_EQ(least.attained, activationUnit);
    EXPECT_EQ(least.together, (std::vector<int>{stage, stage + 2, stage + 4}));
    EXPECT_EQ(least.witness, stage + 4);
  }
}

TEST(Limits, ChunksThatDoNotDependOnEachOther) {
  Problem problem = makeProblem("interleaved-1f1b", 1, 3, 2);
  problem.edges.clear();
  for (int chunk : {0, 1, 2}) {
    problem.chunks[chunk].forwardMemory = 10 + chunk;
    problem.chunks[chunk].backwardWeightMemory = -10 - chunk;
  }
  LeastLimit least = leastLimit(problem, 0);
  EXPECT_EQ(least.limit, 12);
  EXPECT_EQ(least.attained, 12);
  EXPECT_EQ(least.witness, 2);
  EXPECT_EQ(least.together, (std::vector<int>{2}));
}

TEST(Limits, ErrorsNameTheReason) {
  Problem problem = makeProblem("zb-v", 2, 2, 3);
  limitMemory(problem, 1);
  EXPECT_TRUE(checkLimits(problem));
  problem.memoryLimits[1] = activationUnit / 2;
  Status status = checkLimits(problem);
  ASSERT_FALSE(status);
  const Error &error = status.error();
  EXPECT_EQ(error.kind, ErrorKind::OutOfMemory);
  EXPECT_EQ(error.stage, 1);
  EXPECT_EQ(error.leastLimit, activationUnit);
  EXPECT_EQ(error.message,
            "stage 1: no schedule fits the memory limit of 0.5 activations; "
            "one microbatch alone needs 1 activation: before the backward of "
            "chunk 2 it holds what the forwards of chunks 1, 2 add");
}

TEST(Limits, ErrorsOfGeneratorsSayWhetherAnySchedulFits) {
  Problem problem = makeProblem("gpipe", 2, 1, 8);
  limitMemory(problem, 3);
  Expected<Schedule> schedule = generate("gpipe", problem);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().leastLimit, 8 * activationUnit);
  EXPECT_EQ(schedule.error().leastOfAnySchedule, activationUnit);
}

// On a V, two schedules fit, as the error says.
TEST(Limits, ErrorsNameSchedulesThatFit) {
  Problem problem = makeProblem("zb-v", 2, 2, 8);
  limitMemory(problem, 1);
  Expected<Schedule> schedule = generate("dualpipe-v", problem);
  ASSERT_FALSE(schedule);
  EXPECT_NE(schedule.error().message.find(
                "; a schedule that follows costs and limits (zb-v, auto) can "
                "go down to 1 activation"),
            std::string::npos)
      << schedule.error().message;
  EXPECT_TRUE(generate("zb-v", problem));
  EXPECT_TRUE(generate("auto", problem, quickly()));
}

// The limit of the other stage is too low for any schedule.
TEST(Limits, ErrorsSayThatNoScheduleHelps) {
  Problem problem = makeProblem("gpipe", 2, 1, 8);
  problem.memoryLimits = {3 * activationUnit, 0};
  Expected<Schedule> schedule = generate("gpipe", problem);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().leastOfAnySchedule, activationUnit);
  EXPECT_NE(schedule.error().message.find(
                "; no schedule helps: stage 1: no schedule fits the memory "
                "limit of 0 activations; one microbatch alone needs 1 "
                "activation: before"),
            std::string::npos)
      << schedule.error().message;
}

// Nothing is said twice, and errors of other kinds stay as they are.
TEST(Limits, ErrorsThatAreComplete) {
  Problem problem = makeProblem("zb-v", 2, 2, 3);
  limitMemory(problem, 0.5);
  Expected<Schedule> least = generate("zb-v", problem);
  ASSERT_FALSE(least);
  EXPECT_EQ(least.error().message.find("can go down"), std::string::npos);
  Problem one = makeProblem("gpipe", 2, 1, 1);
  limitMemory(one, 0.5);
  EXPECT_EQ(generate("gpipe", one).error().message,
            "stage 0, step 0: F of chunk 0, microbatch 0 exceeds the memory "
            "limit of 0.5 activations; this order of the stage needs 1 "
            "activation; no schedule needs less");
  Error other{ErrorKind::Deadlock, "x"};
  EXPECT_EQ(withLeastOfAny(problem, other).message, "x");
}

namespace {
/// What must run before what in one microbatch, by the definitions in
/// Problem.h: pairs of (is backward, chunk).
using Event = std::pair<bool, int>;
using Before = std::map<Event, std::set<Event>>;
} // namespace

static Before closureOf(const Problem &problem) {
  Before before;
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    before[{true, chunk}].insert({false, chunk});
  for (const Edge &edge : problem.edges) {
    before[{false, edge.to}].insert({false, edge.from});
    if (edge.carriesGradient)
      before[{true, edge.from}].insert({true, edge.to});
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (auto &[event, earlier] : before)
      for (Event middle : std::set<Event>(earlier))
        for (Event first : before[middle])
          grown |= earlier.insert(first).second;
  }
  return before;
}

/// The least peak over all orders of the events of a stage, one by one.
static std::int64_t bruteForce(const Problem &problem, const Before &before,
                               std::set<Event> &done,
                               const std::vector<Event> &events,
                               std::int64_t held) {
  if (done.size() == events.size())
    return 0;
  std::int64_t best = std::int64_t(1) << 60;
  for (Event event : events) {
    if (done.contains(event))
      continue;
    bool ready = true;
    if (auto earlier = before.find(event); earlier != before.end())
      for (Event other : earlier->second)
        ready &= done.contains(other) ||
                 std::find(events.begin(), events.end(), other) == events.end();
    if (!ready)
      continue;
    std::int64_t memory = problem.chunks[event.second].forwardMemory;
    std::int64_t after = event.first ? held - memory : held + memory;
    done.insert(event);
    best = std::min(
        best, std::max({held, after,
                        bruteForce(problem, before, done, events, after)}));
    done.erase(event);
  }
  return best;
}

static std::int64_t bruteForce(const Problem &problem, const Before &before,
                               int stage) {
  std::vector<Event> events;
  for (int local = 0; local < problem.chunksPerStage(); ++local)
    for (bool backward : {false, true})
      events.push_back({backward, problem.placement.globalChunk(stage, local)});
  std::set<Event> done;
  return bruteForce(problem, before, done, events, 0);
}

/// The peak of an order of F and Backward; -1 where it breaks a dependency.
static std::int64_t peakOf(const Problem &problem, const Before &before,
                           const std::vector<Op> &order) {
  std::int64_t held = 0, peak = 0;
  std::set<Event> later;
  for (const Op &op : order)
    later.insert({op.kind == OpKind::Backward, op.chunk});
  for (const Op &op : order) {
    Event event{op.kind == OpKind::Backward, op.chunk};
    if (later.erase(event) == 0)
      return -1;
    if (auto earlier = before.find(event); earlier != before.end())
      for (Event other : earlier->second)
        if (later.contains(other))
          return -1;
    std::int64_t memory = problem.chunks[op.chunk].forwardMemory;
    held += event.first ? -memory : memory;
    peak = std::max(peak, held);
  }
  return later.empty() ? peak : -1;
}

static void expectCertificate(const Problem &problem, const Before &before,
                              const LeastLimit &least) {
  ASSERT_EQ(peakOf(problem, before, least.order), least.attained);
  if (!least.witness)
    return;
  std::int64_t sum = 0;
  Event witness{true, *least.witness};
  for (int chunk : least.together) {
    sum += problem.chunks[chunk].forwardMemory;
    ASSERT_TRUE(before.at(witness).contains({false, chunk}));
    ASSERT_TRUE(chunk == *least.witness ||
                before.at({true, chunk}).contains(witness));
  }
  ASSERT_EQ(sum, least.limit);
}

TEST(Limits, AgreesWithBruteForce) {
  Random random = makeRandom();
  int searched = 0, simple = 0;
  for (int round = 0; round < 3000 && !HasFatalFailure(); ++round) {
    Problem problem = withRecomputeInside(randomSmallProblem(random));
    // Few edges, so that orders differ.
    std::erase_if(problem.edges,
                  [&](const Edge &) { return randomInt(random, 0, 3) == 0; });
    Before before = closureOf(problem);
    for (int stage = 0; stage < problem.stages(); ++stage) {
      LeastLimit least = leastLimit(problem, stage);
      ASSERT_EQ(least.limit, bruteForce(problem, before, stage));
      ASSERT_EQ(least.limit, least.attained);
      expectCertificate(problem, before, least);
      ++(least.witness ? simple : searched);
    }
  }
  EXPECT_GT(simple, 1000);
  EXPECT_GT(searched, 5);
}

TEST(Limits, NoScheduleIsBelow) {
  Random random = makeRandom();
  for (int round = 0; round < 3000; ++round) {
    Problem problem = randomSmallProblem(random);
    Schedule schedule = randomOrder(random, problem, true);
    Simulation result = *simulate(problem, schedule);
    for (int stage = 0; stage < problem.stages(); ++stage)
      ASSERT_GE(result.stages[stage].peakMemory,
                leastLimit(problem, stage).limit);
  }
}

TEST(Limits, OneMicrobatchAtATimeAttainsThoseOfAChain) {
  Random random = makeRandom();
  for (int round = 0; round < 500; ++round) {
    Problem problem = randomSmallProblem(random);
    problem.edges = chainEdges(problem.numChunks(), 1);
    for (int chunk = 0; chunk < problem.numChunks(); ++chunk) {
      Chunk &it = problem.chunks[chunk];
      it.hasBackwardInput |= chunk > 0;
      // The schedule runs R late.
      if (it.recomputeMemory < 0)
        it = it.withRecomputeInside();
    }
    for (int stage = 0; stage < problem.stages(); ++stage)
      problem.memoryLimits.push_back(leastLimit(problem, stage).limit);
    ASSERT_TRUE(check(problem));
    ASSERT_TRUE(checkLimits(problem));
    Expected<Schedule> schedule = generate("sequential", problem);
    ASSERT_TRUE(schedule) << schedule.error().str();
    for (int stage = 0; stage < problem.stages(); ++stage) {
      if (problem.memoryLimits[stage] == 0)
        continue;
      Problem lower = problem;
      --lower.memoryLimits[stage];
      EXPECT_FALSE(checkLimits(lower));
      EXPECT_FALSE(verify(lower, *schedule));
    }
  }
}

// As many as there can be, without looking at every pair of them.
TEST(Limits, MostChunks) {
  Problem problem = makeProblem("interleaved-1f1b", 1, Placement::maxChunks, 2);
  std::int64_t memory = problem.chunks[0].forwardMemory;
  LeastLimit chain = leastLimit(problem, 0);
  EXPECT_EQ(chain.limit, Placement::maxChunks * memory);
  EXPECT_EQ(chain.attained, chain.limit);
  EXPECT_EQ(chain.together.size(), std::size_t(Placement::maxChunks));
  problem.memoryLimits = {memory};
  Status status = checkLimits(problem);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("of chunks 0, 1, 2 and 65533 more add"),
            std::string::npos)
      << status.error().message;
  // Without a chain, what any order needs.
  problem.edges.clear();
  LeastLimit loose = leastLimit(problem, 0);
  EXPECT_EQ(loose.limit, memory);
  EXPECT_EQ(loose.attained, chain.limit);
  EXPECT_EQ(loose.together, std::vector<int>{0});
}

TEST(Limits, ManyChunksThatDoNotHangTogether) {
  // 40 chunks in pairs: too many to search all sets, but each pair alone says
  // what is needed, and model order attains it.
  Problem problem = makeProblem("interleaved-1f1b", 1, 40, 2);
  problem.edges.clear();
  for (int chunk = 0; chunk < 40; chunk += 2)
    problem.edges.push_back({chunk, chunk + 1});
  LeastLimit least = leastLimit(problem, 0);
  EXPECT_EQ(least.limit, 2 * (activationUnit / 40));
  EXPECT_EQ(least.attained, least.limit);
  expectCertificate(problem, closureOf(problem), least);
}
