//===- VerifyTest.cpp - wrong schedules of every kind are rejected --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Rounds.h"
#include "Reference.h"
#include "TestUtilities.h"

#include <algorithm>
#include <functional>

using namespace veeline::schedule;

/// The error of `verify` after one change to a schedule.
static Error errorAfter(const Problem &problem, Schedule schedule,
                        const std::function<void(Schedule &)> &change) {
  change(schedule);
  Status status = verify(problem, schedule);
  EXPECT_FALSE(status);
  return status ? Error{ErrorKind::Missing, ""} : status.error();
}

static Schedule oneForwardOneBackward(const Problem &problem) {
  Expected<Schedule> schedule = generate("1f1b", problem);
  EXPECT_TRUE(schedule);
  return *schedule;
}

// 1F1B with p = 2, m = 3:
//   stage 0: F0 F1 BW0 F2 BW1 BW2
//   stage 1: F0 BW0 F1 BW1 F2 BW2
static const Problem &small() {
  static const Problem problem = makeProblem("1f1b", 2, 1, 3);
  return problem;
}

TEST(Verify, Accepts) {
  EXPECT_TRUE(verify(small(), oneForwardOneBackward(small())));
}

TEST(Verify, WrongNumberOfStages) {
  Error error = errorAfter(small(), oneForwardOneBackward(small()),
                           [](Schedule &s) { s.stages.pop_back(); });
  EXPECT_EQ(error.kind, ErrorKind::WrongStage);
  EXPECT_EQ(error.message, "the schedule has 1 stage, the problem 2");
}

TEST(Verify, Missing) {
  Error error = errorAfter(small(), oneForwardOneBackward(small()),
                           [](Schedule &s) { s.stages[1].pop_back(); });
  EXPECT_EQ(error.kind, ErrorKind::Missing);
  EXPECT_EQ(error.message, "stage 1 never runs B of chunk 1, microbatch 2");
  EXPECT_EQ(error.stage, 1);
  EXPECT_EQ(error.op, (Op{OpKind::BackwardInput, 1, 2}));
}

TEST(Verify, MissingStage) {
  Error error = errorAfter(small(), oneForwardOneBackward(small()),
                           [](Schedule &s) { s.stages[0].clear(); });
  EXPECT_EQ(error.message, "stage 0 never runs F of chunk 0, microbatch 0");
}

TEST(Verify, Duplicate) {
  Error error =
      errorAfter(small(), oneForwardOneBackward(small()), [](Schedule &s) {
        s.stages[0].push_back({OpKind::Forward, 0, 1});
      });
  EXPECT_EQ(error.kind, ErrorKind::Duplicate);
  EXPECT_EQ(error.str(), "stage 0, step 6: F of chunk 0, microbatch 1 is done "
                         "already at step 1 by F of chunk 0, microbatch 1\n"
                         "  stage 0, steps 2..6: BW0 F2 BW1 BW2 [F1]");
}

TEST(Verify, FusedAndSplit) {
  Error error =
      errorAfter(small(), oneForwardOneBackward(small()), [](Schedule &s) {
        s.stages[1].push_back({OpKind::BackwardWeight, 1, 2});
      });
  EXPECT_EQ(error.kind, ErrorKind::Duplicate);
  EXPECT_EQ(error.message,
            "stage 1, step 6: W of chunk 1, microbatch 2 is done already at "
            "step 5 by BW of chunk 1, microbatch 2");
}

TEST(Verify, UnknownChunkAndMicrobatch) {
  for (Op op : {Op{OpKind::Forward, 2, 0}, Op{OpKind::Forward, -1, 0},
                Op{OpKind::Forward, 0, 3}, Op{OpKind::Forward, 0, -1}}) {
    Error error = errorAfter(small(), oneForwardOneBackward(small()),
                             [&](Schedule &s) { s.stages[0].push_back(op); });
    EXPECT_EQ(error.kind, ErrorKind::UnknownOp);
    EXPECT_EQ(error.message, "stage 0, step 6: " + describe(op) +
                                 " does not exist: the problem has 2 chunks "
                                 "and 3 microbatches");
  }
}

TEST(Verify, BackwardInputThatDoesNotExist) {
  Problem problem = makeProblem("zb-v", 1, 2, 1);
  problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
  Expected<Schedule> schedule = generate("zb-v", problem);
  ASSERT_TRUE(schedule);
  Error error = errorAfter(problem, *schedule, [](Schedule &s) {
    s.stages[0].push_back({OpKind::BackwardInput, 0, 0});
  });
  EXPECT_EQ(error.kind, ErrorKind::UnknownOp);
  EXPECT_EQ(error.message,
            "stage 0, step 5: B of chunk 0, microbatch 0 does not exist: this "
            "chunk has no backward_input, its whole backward is W");
}

TEST(Verify, WrongStage) {
  Error error =
      errorAfter(small(), oneForwardOneBackward(small()),
                 [](Schedule &s) { std::swap(s.stages[0], s.stages[1]); });
  EXPECT_EQ(error.kind, ErrorKind::WrongStage);
  EXPECT_EQ(error.str(),
            "stage 0, step 0: F of chunk 1, microbatch 0 belongs to stage 1\n"
            "  stage 0, steps 0..4: [F0] BW0 F1 BW1 F2");
}

TEST(Verify, MicrobatchesMustAscend) {
  Expected<Schedule> schedule = generate("gpipe", small());
  ASSERT_TRUE(schedule);
  Error error = errorAfter(small(), *schedule, [](Schedule &s) {
    for (std::vector<Op> &ops : s.stages)
      std::reverse(ops.begin() + 3, ops.end());
  });
  EXPECT_EQ(error.kind, ErrorKind::WrongOrder);
  EXPECT_EQ(error.stage, 0);
  EXPECT_EQ(error.step, 4);
  EXPECT_EQ(error.message,
            "stage 0, step 4: BW of chunk 0, microbatch 1 comes after "
            "microbatch 2 at step 3; the microbatches of a chunk's B and W "
            "must ascend");
}

TEST(Verify, WeightsMustAscend) {
  Problem problem = makeProblem("zb-v", 1, 2, 2);
  Expected<Schedule> schedule = generate("sequential", problem);
  ASSERT_TRUE(schedule);
  Error error = errorAfter(problem, *schedule, [](Schedule &s) {
    s.stages[0] = {
        {OpKind::Forward, 0, 0},        {OpKind::Forward, 0, 1},
        {OpKind::Forward, 1, 0},        {OpKind::Backward, 1, 0},
        {OpKind::Forward, 1, 1},        {OpKind::Backward, 1, 1},
        {OpKind::BackwardInput, 0, 0},  {OpKind::BackwardInput, 0, 1},
        {OpKind::BackwardWeight, 0, 1}, {OpKind::BackwardWeight, 0, 0}};
  });
  EXPECT_EQ(error.kind, ErrorKind::WrongOrder);
  EXPECT_EQ(error.step, 9);
}

TEST(Verify, WeightBeforeInput) {
  Problem problem = makeProblem("zb-v", 1, 2, 1);
  Expected<Schedule> schedule = generate("zb-v", problem);
  ASSERT_TRUE(schedule);
  Error error = errorAfter(problem, *schedule, [](Schedule &s) {
    s.stages[0] = {
        {OpKind::Forward, 0, 0},        {OpKind::Forward, 1, 0},
        {OpKind::BackwardWeight, 1, 0}, {OpKind::BackwardInput, 1, 0},
        {OpKind::BackwardInput, 0, 0},  {OpKind::BackwardWeight, 0, 0}};
  });
  EXPECT_EQ(error.kind, ErrorKind::WrongOrder);
  EXPECT_EQ(error.str(),
            "stage 0, step 2: W of chunk 1, microbatch 0 comes before its B at "
            "step 3\n"
            "  stage 0, steps 0..5: 0F0 1F0 [1W0] 1B0 0B0 0W0");
}

TEST(Verify, DeadlockBetweenStages) {
  // Stage 0 wants its gradient before it sends the second input, stage 1 wants
  // both inputs first.
  Error error =
      errorAfter(small(), oneForwardOneBackward(small()), [](Schedule &s) {
        constexpr OpKind f = OpKind::Forward, b = OpKind::Backward;
        s.stages[0] = {{f, 0, 0}, {b, 0, 0}, {f, 0, 1},
                       {b, 0, 1}, {f, 0, 2}, {b, 0, 2}};
        s.stages[1] = {{f, 1, 0}, {f, 1, 1}, {b, 1, 0},
                       {b, 1, 1}, {f, 1, 2}, {b, 1, 2}};
      });
  EXPECT_EQ(error.kind, ErrorKind::Deadlock);
  EXPECT_EQ(error.stage, 0);
  EXPECT_EQ(error.step, 1);
  EXPECT_EQ(error.str(),
            "stage 0, step 1: BW of chunk 0, microbatch 0 never runs: it waits "
            "for BW of chunk 1, microbatch 0, which is step 2 of stage 1; "
            "there, step 1, F of chunk 1, microbatch 1, waits for F of chunk "
            "0, microbatch 1, which is step 2 of stage 0\n"
            "  stage 0, steps 0..5: F0 [BW0] F1 BW1 F2 BW2\n"
            "  stage 1, steps 0..5: F0 [F1] BW0 BW1 F2 BW2");
}

TEST(Verify, DeadlockWithinOneStage) {
  Error error =
      errorAfter(small(), oneForwardOneBackward(small()), [](Schedule &s) {
        std::swap(s.stages[1][0], s.stages[1][1]);
      });
  EXPECT_EQ(error.kind, ErrorKind::Deadlock);
  EXPECT_EQ(error.message,
            "stage 1, step 0: BW of chunk 1, microbatch 0 never runs: it waits "
            "for F of chunk 1, microbatch 0, which is step 1 of stage 1");
}

TEST(Verify, SkipEdgeIsADependency) {
  // Without the skip edge, stage 0 need not wait for chunk 3's backward.
  Problem problem = makeProblem("zb-v", 2, 2, 1);
  problem.edges = {{0, 1}, {1, 2}, {2, 3}};
  Schedule schedule{"by hand", {}};
  constexpr OpKind f = OpKind::Forward, b = OpKind::Backward;
  schedule.stages = {{{f, 0, 0}, {f, 3, 0}, {b, 3, 0}, {b, 0, 0}},
                     {{f, 1, 0}, {f, 2, 0}, {b, 2, 0}, {b, 1, 0}}};
  EXPECT_TRUE(verify(problem, schedule));
  problem.edges = {{0, 1}, {1, 2}};
  std::swap(schedule.stages[0][1], schedule.stages[0][3]);
  std::swap(schedule.stages[0][2], schedule.stages[0][3]);
  EXPECT_TRUE(verify(problem, schedule));
  problem.edges.push_back({0, 3});
  Status status = verify(problem, schedule);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::Deadlock);
}

TEST(Verify, Memory) {
  Problem problem = small();
  Schedule schedule = oneForwardOneBackward(problem);
  limitMemory(problem, 2);
  EXPECT_TRUE(verify(problem, schedule));
  limitMemory(problem, 1.5);
  Status status = verify(problem, schedule);
  ASSERT_FALSE(status);
  const Error &error = status.error();
  EXPECT_EQ(error.kind, ErrorKind::OutOfMemory);
  EXPECT_EQ(error.leastLimit, 2 * activationUnit);
  EXPECT_EQ(error.str(),
            "stage 0, step 1: F of chunk 0, microbatch 1 exceeds the memory "
            "limit of 1.5 activations; this order of the stage needs 2 "
            "activations\n"
            "  stage 0, steps 0..5: F0 [F1] BW0 F2 BW1 BW2");
}

TEST(Verify, ALimitOfZeroIsALimit) {
  Problem problem = small();
  Schedule schedule = oneForwardOneBackward(problem);
  limitMemory(problem, 0);
  Status status = verify(problem, schedule);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::OutOfMemory);
}

/// One random change to a schedule.
static void mutate(Random &random, Schedule &schedule) {
  int stage = randomInt(random, 0, schedule.stages.size() - 1);
  std::vector<Op> &ops = schedule.stages[stage];
  if (ops.empty())
    return;
  int step = randomInt(random, 0, ops.size() - 1);
  int other = randomInt(random, 0, ops.size() - 1);
  switch (randomInt(random, 0, 7)) {
  case 0:
    ops.erase(ops.begin() + step);
    return;
  case 1:
    ops.insert(ops.begin() + other, ops[step]);
    return;
  case 2:
    ops[step].microbatch += randomInt(random, -1, 1);
    return;
  case 3:
    ops[step].kind = static_cast<OpKind>(randomInt(random, 0, 3));
    return;
  case 4:
    ops[step].late = !ops[step].late;
    return;
  default:
    // Neighbours, so that some mutants stay valid.
    std::swap(ops[step], ops[std::min<int>(step + 1, ops.size() - 1)]);
    return;
  }
}

TEST(Verify, AgreesWithTheReferenceOnMutants) {
  Random random = makeRandom();
  int valid = 0, invalid = 0;
  const int count = veeline::test::rounds(4000);
  for (int round = 0; round < count; ++round) {
    const Generator &generator =
        generators()[randomInt(random, 0, generators().size() - 1)];
    int p = randomInt(random, 1, 4);
    Problem problem =
        randomProblem(random, generator.name, p, p * randomInt(random, 1, 2));
    Expected<Schedule> schedule = generate(generator.name, problem, quickly());
    if (!schedule)
      continue;
    for (int i = randomInt(random, 1, 2); i > 0; --i)
      mutate(random, *schedule);
    bool expected = reference::isValid(problem, *schedule);
    Status status = verify(problem, *schedule);
    ASSERT_EQ(static_cast<bool>(status), expected)
        << generator.name << (status ? "" : status.error().str());
    ++(expected ? valid : invalid);
  }
  EXPECT_GT(valid, count / 20);
  EXPECT_GT(invalid, count / 4);
}
