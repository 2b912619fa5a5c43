//===- ProfileTest.cpp - what is measured on a timeline -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"
#include "veeline/prediction.h"

#include <gtest/gtest.h>

using namespace veeline;
using namespace veeline::engine;
using artifact::OpKind;

/// F on rank 0, a message, F and BW on rank 1.
static artifact::Program makeProgram() {
  artifact::Program program;
  program.stages = 2;
  program.chunks.resize(2);
  program.edges = {{0, 1, 64}};
  program.channels = {{artifact::ChannelKind::activation, 0, 0, 1, 64, 1}};
  program.ranks.resize(2);
  program.ranks[0].ops = {{OpKind::forward, 0, 0}, {OpKind::send, -1, 0, 0}};
  program.ranks[1].ops = {{OpKind::recv, -1, 0, 0},
                          {OpKind::forward, 1, 0},
                          {OpKind::backward, 1, 0},
                          {OpKind::update, -1, -1, -1, 0}};
  artifact::RankParam param;
  param.gradients.resize(1);
  program.ranks[1].params = {param};
  return program;
}

/// Of one parameter of 12 bytes, that AdamW updates.
static artifact::Metadata makeMetadata() {
  artifact::Metadata metadata;
  metadata.optimizer = Optimizer::adamw;
  metadata.params.resize(1);
  metadata.params[0].shape = {3};
  return metadata;
}

/// Events of a step that begins at `begin`, whose F on rank 0 takes `forward`.
static void addStep(std::vector<std::vector<Event>> &ranks, int32_t step,
                    int64_t begin, int64_t forward) {
  int64_t end = begin + forward;
  ranks[0].push_back({0, step, begin, end, 0});
  ranks[0].push_back({1, step, end, end + 100, 0});
  ranks[1].push_back({Event::idle, step, begin, end + 1100, 0});
  ranks[1].push_back({0, step, begin, end + 1100, 0});
  ranks[1].push_back({1, step, end + 1100, end + 3100, 0});
  ranks[1].push_back({2, step, end + 3100, end + 7100, 0});
  ranks[1].push_back({3, step, end + 7100, end + 99000, 0});
}

TEST(Profile, LeavesOutTheFirstStepAndTheExtremes) {
  std::vector<std::vector<Event>> ranks(2);
  addStep(ranks, 3, 0, 900000);
  for (int step = 0; step < 10; ++step)
    addStep(ranks, 4 + step, 1000000 * (step + 1),
            step == 0   ? 0
            : step == 9 ? 500000
                        : 5000);
  Profile profile = measure(makeProgram(), ranks);
  EXPECT_EQ(profile.steps, 10);
  ASSERT_TRUE(profile.chunks[0].forward && profile.chunks[1].forward &&
              profile.chunks[1].backward);
  EXPECT_DOUBLE_EQ(profile.chunks[0].forward->microseconds, 5);
  EXPECT_EQ(profile.chunks[0].forward->samples, 10);
  EXPECT_DOUBLE_EQ(profile.chunks[1].forward->microseconds, 2);
  EXPECT_DOUBLE_EQ(profile.chunks[1].backward->microseconds, 4);
  EXPECT_FALSE(profile.chunks[1].backwardInput ||
               profile.chunks[1].backwardWeight);
  // From the first F to the end of the update.
  EXPECT_DOUBLE_EQ(profile.stepMicroseconds, 104);
  ASSERT_TRUE(profile.updates);
  EXPECT_DOUBLE_EQ(profile.updates->microseconds, 91.9);
  EXPECT_EQ(profile.updates->samples, 10);
  ASSERT_TRUE(profile.edges[0].activation);
  EXPECT_DOUBLE_EQ(profile.edges[0].activation->microseconds, 1);
  EXPECT_FALSE(profile.edges[0].gradient);
  EXPECT_FALSE(profile.predictedStepMicroseconds);
}

TEST(Profile, AMessageThatNobodyWaitedForIsNotMeasured) {
  artifact::Program program = makeProgram();
  std::vector<std::vector<Event>> ranks(2);
  addStep(ranks, 1, 0, 5000);
  ranks[1][1] = {0, 1, 5200, 5210, 0};
  EXPECT_FALSE(measure(program, ranks).edges[0].activation);
}

TEST(Profile, ComparesWithWhatWasPredicted) {
  artifact::Program program = makeProgram();
  for (artifact::Rank &rank : program.ranks)
    for (artifact::Op &op : rank.ops)
      if (op.chunk >= 0)
        op.predictedBegin = 1, op.predictedEnd = 7;
  std::vector<std::vector<Event>> ranks(2);
  addStep(ranks, 1, 0, 5000);
  EXPECT_EQ(measure(program, ranks).predictedStepMicroseconds, 7);
}

/// Chunks run from 0 to 4 and from 2 to 10 microseconds: two of them from 2 to
/// 4.
TEST(Profile, RanksShareCores) {
  artifact::Program program = makeProgram();
  auto setTimes = [&](size_t rank, double begin, double end) {
    bool isFirst = true;
    for (artifact::Op &op : program.ranks[rank].ops) {
      if (op.chunk < 0)
        continue;
      op.predictedBegin = isFirst ? begin : end;
      op.predictedEnd = end;
      isFirst = false;
    }
  };
  setTimes(0, 0, 4);
  setTimes(1, 2, 10);
  EXPECT_EQ(predictStep(program), 10);
  EXPECT_EQ(predictStep(program, 2), 10);
  EXPECT_EQ(predictStep(program, 1), 12);
  // Three of each at a time: 3 / 2 from 0 to 2, 6 / 2 to 4, 3 / 2 to 10.
  program.replicas = 3;
  EXPECT_EQ(predictStep(program, 2), 3 + 6 + 9);
  EXPECT_EQ(predictStep(program, 6), 10);
  // The same with the ranks of all three.
  Expected<artifact::Program> all =
      artifact::withAllReplicas(program, "replicas-first");
  ASSERT_TRUE(all.ok()) << all.message();
  EXPECT_EQ(predictStep(*all, 2), 3 + 6 + 9);
  EXPECT_EQ(predictStep(*all, 6), 10);
  std::vector<std::vector<Event>> ranks(2);
  addStep(ranks, 1, 0, 5000);
  program.replicas = 1;
  EXPECT_EQ(measure(program, ranks, 1).predictedStepMicroseconds, 12);
}

/// Rank 0 runs F for 2 us and, once the answer is there, BW for 1; rank 1 runs
/// both for 3 in between. Alone a step takes 2 + 3 + 3 + 1, and a message 1
/// each way. In a run of steps rank 0 waits for each answer, and nothing
/// overlaps. With two microbatches, its other F and BW are beside the work of
/// rank 1.
TEST(Profile, StepsThatFollowOneAnother) {
  artifact::Program program;
  program.stages = 2;
  program.chunks.resize(2);
  program.edges = {{0, 1, 4, 1, 1, true}};
  program.channels = {{artifact::ChannelKind::activation, 0, 0, 1, 4, 2},
                      {artifact::ChannelKind::gradient, 0, 1, 0, 4, 2}};
  program.ranks.resize(2);
  auto add = [&](size_t rank, artifact::OpKind kind, int32_t microbatch,
                 double duration) {
    artifact::Op op;
    op.kind = kind;
    op.microbatch = microbatch;
    if (kind == artifact::OpKind::send)
      op.channel = static_cast<int32_t>(rank);
    else if (kind == artifact::OpKind::recv)
      op.channel = 1 - static_cast<int32_t>(rank);
    else
      op.chunk = static_cast<int32_t>(rank), op.predictedBegin = 0,
      op.predictedEnd = duration;
    program.ranks[rank].ops.push_back(op);
  };
  using Kind = artifact::OpKind;
  auto addMicrobatch = [&](int32_t i) {
    for (auto [kind, time] :
         {std::pair(Kind::recv, 0.0), std::pair(Kind::forward, 3.0),
          std::pair(Kind::backward, 3.0), std::pair(Kind::send, 0.0)})
      add(1, kind, i, time);
  };
  auto addForward = [&](int32_t i) {
    add(0, Kind::forward, i, 2);
    add(0, Kind::send, i, 0);
  };
  auto addBackward = [&](int32_t i) {
    add(0, Kind::recv, i, 0);
    add(0, Kind::backward, i, 1);
  };
  addForward(0);
  addBackward(0);
  addMicrobatch(0);
  EXPECT_EQ(predictPeriod(program), 2 + 1 + 6 + 1 + 1);
  EXPECT_EQ(predictPeriod(program, 1), 11);
  for (artifact::Rank &rank : program.ranks)
    rank.ops.clear();
  addForward(0);
  addForward(1);
  addBackward(0);
  addBackward(1);
  addMicrobatch(0);
  addMicrobatch(1);
  // The circle: F, message, four times 3, message, BW; the other F and BW are
  // beside it.
  EXPECT_EQ(predictPeriod(program), 2 + 1 + 12 + 1 + 1);
  // Both ranks on one core.
  EXPECT_EQ(predictPeriod(program, 1), 18);
  program.ranks[1].ops[1].predictedEnd = -1;
  EXPECT_EQ(predictPeriod(program), std::nullopt);
}

/// F for 10 us and BW for 20, then a sum that takes 2, an update of 5, and the
/// gather of the shares, which takes 2; or the next turn gathers, before its F.
/// Updates have durations alone: their times follow from the chain.
TEST(Profile, StepsThatGather) {
  artifact::Program program;
  program.replicas = 2;
  program.chunks.resize(1);
  program.ranks.resize(1);
  std::vector<artifact::Op> &ops = program.ranks[0].ops;
  using Kind = artifact::OpKind;
  auto add = [&](Kind kind, int32_t reduction, double begin, double end) {
    artifact::Op &op = ops.emplace_back();
    op.kind = kind;
    op.reduction = reduction;
    op.predictedBegin = begin;
    op.predictedEnd = end;
  };
  add(Kind::forward, -1, 0, 10);
  add(Kind::backward, -1, 10, 30);
  add(Kind::allReduce, 0, -1, -1);
  add(Kind::allReduceWait, 0, 30, 32);
  add(Kind::update, -1, 0, 5);
  add(Kind::allGather, 1, -1, -1);
  add(Kind::allGatherWait, 1, 32, 34);
  EXPECT_EQ(predictPeriod(program), 10 + 20 + 2 + 5 + 2);
  std::rotate(ops.begin(), ops.end() - 2, ops.end());
  ops[0].late = ops[1].late = true;
  ops[1].predictedBegin = 0;
  ops[1].predictedEnd = 2;
  program.ranks[0].firstStepSymbol = program.ranks[0].lateSymbol = "step";
  EXPECT_EQ(predictPeriod(program), 2 + 10 + 20 + 2 + 5);
}

/// Rank 1 ends step 1 at 9 us and step 2 at 20, while rank 0 begins step 2
/// at 5.
TEST(Profile, OverlappingStepsTakeTheTimeBetweenTheirEnds) {
  artifact::Program program = makeProgram();
  std::vector<std::vector<Event>> ranks(2);
  auto forwardOf = [&](size_t rank) {
    const std::vector<artifact::Op> &ops = program.ranks[rank].ops;
    auto isForward = [](const artifact::Op &op) {
      return op.kind == artifact::OpKind::forward;
    };
    return static_cast<int32_t>(
        std::find_if(ops.begin(), ops.end(), isForward) - ops.begin());
  };
  ranks[0] = {{forwardOf(0), 1, 0, 4000, 0}, {forwardOf(0), 2, 5000, 8000, 0}};
  ranks[1] = {{forwardOf(1), 1, 4000, 9000, 0},
              {forwardOf(1), 2, 12000, 20000, 0}};
  EXPECT_EQ(measure(program, ranks).stepMicroseconds, 11);
  EXPECT_EQ(measure(program, ranks).steps, 1);
}

/// Two ranks of one stage add up gradients: each waits for the later post, and
/// as long after it as was predicted.
TEST(Profile, AllReducesInStepsThatFollowOneAnother) {
  artifact::Program program;
  program.stages = 1;
  program.stageReplicas = {2};
  program.chunks.resize(1);
  program.ranks.resize(2);
  for (size_t rank = 0; rank < 2; ++rank) {
    double duration = rank == 0 ? 2 : 5;
    artifact::Op work, post, wait;
    work.kind = artifact::OpKind::backward;
    work.chunk = 0;
    work.predictedBegin = 0;
    work.predictedEnd = duration;
    post.kind = artifact::OpKind::allReduce;
    wait.kind = artifact::OpKind::allReduceWait;
    post.reduction = wait.reduction = 0;
    wait.predictedBegin = duration;
    wait.predictedEnd = 8;
    program.ranks[rank].ops = {work, post, wait};
  }
  EXPECT_EQ(predictPeriod(program), 8);
}

/// Rank 0 runs an F of 2 us and an update of 3 beside the message, of 1; rank 1
/// F, BW and an update.
TEST(Profile, UpdatesTakeTheirTime) {
  artifact::Program program = makeProgram();
  program.edges[0].forwardTransfer = 1;
  for (artifact::Rank &rank : program.ranks)
    for (artifact::Op &op : rank.ops)
      if (op.chunk >= 0)
        op.predictedBegin = 0, op.predictedEnd = 2;
  artifact::Op update = program.ranks[1].ops.back();
  update.predictedBegin = 0, update.predictedEnd = 3;
  program.ranks[1].ops.back() = update;
  program.ranks[0].ops.push_back(update);
  settleTimes(program);
  std::vector<artifact::Op> first = program.ranks[0].ops,
                            second = program.ranks[1].ops;
  EXPECT_EQ(first[0].predictedEnd, 2);
  EXPECT_EQ(first[2].predictedBegin, 2);
  EXPECT_EQ(first[2].predictedEnd, 5);
  EXPECT_EQ(first[1].predictedEnd, -1);
  EXPECT_EQ(second[1].predictedBegin, 3);
  EXPECT_EQ(second[2].predictedEnd, 7);
  EXPECT_EQ(second[3].predictedBegin, 7);
  EXPECT_EQ(predictStep(program), 10);
  EXPECT_EQ(predictPeriod(program), 7);
  EXPECT_EQ(predictPeriod(program, 1), 12);
  // Without the time of an F, no time is known.
  program.ranks[0].ops[0].predictedEnd = -1;
  settleTimes(program);
  EXPECT_EQ(program.ranks[1].ops[3].predictedEnd, -1);
}

/// One rank, whose ops take 2 us, and copies to the host and back 3. The second
/// F needs the memory of the first, and ends at 7; values are back at 10.
static artifact::Program makeOffloading() {
  artifact::Program program;
  program.stages = 1;
  program.chunks.resize(1);
  artifact::Rank &rank = program.ranks.emplace_back();
  rank.ops = {{OpKind::forward, 0, 0},  {OpKind::offload, 0, 0},
              {OpKind::forward, 0, 1},  {OpKind::reload, 0, 0},
              {OpKind::backward, 0, 1}, {OpKind::backward, 0, 0}};
  for (artifact::Op &op : rank.ops)
    if (op.kind != OpKind::offload && op.kind != OpKind::reload)
      op.predictedBegin = 0, op.predictedEnd = 2;
  rank.numOffloads = 1;
  rank.hostBytes = 64;
  rank.hostCopies = {{/*offload=*/1, /*reload=*/3, /*releasedBefore=*/2,
                      /*microseconds=*/3}};
  return program;
}

TEST(Profile, WaitsForCopiesToTheHost) {
  artifact::Program program = makeOffloading();
  settleTimes(program);
  const std::vector<artifact::Op> &ops = program.ranks[0].ops;
  EXPECT_EQ(ops[2].predictedBegin, 5);
  EXPECT_EQ(ops[4].predictedBegin, 7);
  EXPECT_EQ(ops[5].predictedBegin, 10);
  EXPECT_EQ(ops[1].predictedEnd, -1);
  EXPECT_EQ(predictStep(program), 12);
  EXPECT_EQ(predictPeriod(program), 12);
}

TEST(Profile, CopiesThatAreInTimeCostNothing) {
  artifact::Program program = makeOffloading();
  program.ranks[0].hostCopies[0].releasedBefore = 3;
  program.ranks[0].hostCopies[0].microseconds = 2;
  settleTimes(program);
  EXPECT_EQ(predictStep(program), 8);
  // An older artifact says nothing of copies.
  program = makeOffloading();
  program.ranks[0].hostCopies.clear();
  settleTimes(program);
  EXPECT_EQ(predictStep(program), 8);
}

/// A link carries one copy at a time.
TEST(Profile, CopiesToTheHostFollowEachOther) {
  artifact::Program program = makeOffloading();
  artifact::Rank &rank = program.ranks[0];
  rank.ops = {{OpKind::forward, 0, 0}, {OpKind::offload, 0, 0},
              {OpKind::forward, 0, 1}, {OpKind::offload, 0, 1},
              {OpKind::forward, 0, 2}, {OpKind::backward, 0, 2},
              {OpKind::reload, 0, 1},  {OpKind::backward, 0, 1},
              {OpKind::reload, 0, 0},  {OpKind::backward, 0, 0}};
  for (artifact::Op &op : rank.ops)
    if (op.kind != OpKind::offload && op.kind != OpKind::reload)
      op.predictedBegin = 0, op.predictedEnd = 2;
  // From 2 to 12, and from 12 to 22.
  rank.hostCopies = {{1, 8, 5, 10}, {3, 6, 5, 10}};
  settleTimes(program);
  EXPECT_EQ(rank.ops[5].predictedBegin, 22);
  EXPECT_EQ(rank.ops[7].predictedBegin, 34);
  // Its copy begins after the other one, when the rank has got there.
  EXPECT_EQ(rank.ops[9].predictedBegin, 46);
}

/// Another rank ran meanwhile on the core.
TEST(Profile, WorkIsTimeOfACore) {
  artifact::Program program = makeProgram();
  std::vector<std::vector<Event>> ranks(2);
  addStep(ranks, 1, 0, 5000);
  for (Event &event : ranks[0])
    event.processor = 3000;
  Profile profile = measure(program, ranks);
  EXPECT_DOUBLE_EQ(profile.chunks[0].forward->microseconds, 3);
}

/// What is done before an event counts, such as to look for the microbatch's
/// samples.
TEST(Profile, WorkIsFromTheEndOfTheLastEvent) {
  artifact::Program program = makeProgram();
  std::vector<std::vector<Event>> ranks(2);
  addStep(ranks, 1, 0, 5000);
  for (Event &event : ranks[1])
    if (event.op == 2)
      event.begin += 500;
  // Nothing is known of what came before the step.
  ranks[0].front().begin += 700;
  Profile profile = measure(program, ranks);
  EXPECT_DOUBLE_EQ(profile.chunks[1].backward->microseconds, 4);
  EXPECT_DOUBLE_EQ(profile.chunks[0].forward->microseconds, 4.3);
}

TEST(Profile, ScalesAreOfTheEstimates) {
  artifact::Program program = makeProgram();
  program.chunks[0].forwardCost = 10;
  program.chunks[0].forwardScale = 4;
  std::vector<std::vector<Event>> ranks(2);
  addStep(ranks, 1, 0, 5000);
  std::string text = toJson(measure(program, ranks), makeMetadata(), program);
  EXPECT_NE(text.find("\"scale\": 2.0"), std::string::npos) << text;
  // The update reads a gradient, and reads and writes value and two moments.
  EXPECT_NE(text.find("\"bytes\": 84.0"), std::string::npos) << text;
  EXPECT_NE(text.find("\"us\": 91.9"), std::string::npos) << text;
}

/// Without the part that repeats F, which takes half of what was predicted.
TEST(Profile, WhatIsRepeatedHasTheScaleOfWhereItComesFrom) {
  artifact::Program program = makeProgram();
  artifact::Chunk &chunk = program.chunks[1];
  chunk.forwardCost = 4;
  chunk.backwardWeightCost = 7;
  chunk.forwardInFused = chunk.forwardInWeight = 4;
  chunk.backwardWeightScale = 3;
  std::vector<std::vector<Event>> ranks(2);
  addStep(ranks, 1, 0, 5000);
  std::string text = toJson(measure(program, ranks), makeMetadata(), program);
  // BW took 4 us, 2 of them F's work. The rest was predicted to take 3.
  EXPECT_NE(text.find("\"scale\": 0.5"), std::string::npos) << text;
  EXPECT_NE(text.find("\"scale\": 2.0"), std::string::npos) << text;
}

/// A backward, the post of its gradients and the wait for them, on each of two
/// replicas of one stage.
static artifact::Program makeReplicas() {
  artifact::Program program;
  program.replicas = 2;
  program.chunks.resize(1);
  program.ranks.resize(2);
  program.places = {{0, 0}, {0, 1}};
  for (artifact::Rank &rank : program.ranks) {
    rank.ops = {
        {OpKind::backward, 0, 0}, {OpKind::allReduce}, {OpKind::allReduceWait}};
    rank.ops[1].reduction = rank.ops[2].reduction = 0;
    rank.reductions.resize(1);
    rank.reductions[0].pieces = {{artifact::DataType::f32, 0, 16}};
  }
  return program;
}

TEST(Profile, AnAllReduceTakesWhatTheRankWaitsThatWasThereFirst) {
  artifact::Program program = makeReplicas();
  for (artifact::Rank &rank : program.ranks) {
    rank.ops[0].predictedBegin = 0, rank.ops[0].predictedEnd = 2;
    rank.ops[2].predictedBegin = 2, rank.ops[2].predictedEnd = 9;
  }
  std::vector<std::vector<Event>> ranks(2);
  ranks[0] = {{0, 1, 0, 1000, 0}, {1, 1, 1000, 1100, 0}, {2, 1, 1200, 8100, 0}};
  ranks[1] = {{0, 1, 0, 3000, 0}, {1, 1, 3000, 3100, 0}, {2, 1, 3200, 8000, 0}};
  Profile profile = measure(program, ranks);
  ASSERT_TRUE(profile.allReduce);
  EXPECT_DOUBLE_EQ(profile.allReduce->time.microseconds, 5);
  EXPECT_EQ(profile.allReduce->time.samples, 1);
  EXPECT_DOUBLE_EQ(profile.allReduce->bytes, 64);
  EXPECT_DOUBLE_EQ(profile.stepMicroseconds, 8.1);
  EXPECT_EQ(profile.predictedStepMicroseconds, 9);
  EXPECT_NE(toJson(profile, {}, program).find("\"all_reduce\""),
            std::string::npos);
  // One that takes less than the clock can tell was not measured.
  for (std::vector<Event> &rank : ranks)
    rank[2].end = 3100;
  profile = measure(program, ranks);
  EXPECT_FALSE(profile.allReduce);
  EXPECT_EQ(toJson(profile, {}, program).find("\"all_reduce\""),
            std::string::npos);
}
