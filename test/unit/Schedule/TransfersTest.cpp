//===- TransfersTest.cpp - blocking, contention, blocks, waiting ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtilities.h"

#include <functional>

using namespace veeline::schedule;

using Times = std::vector<double>;

static constexpr OpKind f = OpKind::Forward, b = OpKind::BackwardInput,
                        w = OpKind::BackwardWeight, bw = OpKind::Backward;

static Schedule generated(std::string_view name, const Problem &problem) {
  Expected<Schedule> schedule = generate(name, problem);
  EXPECT_TRUE(schedule) << schedule.error().str();
  return *schedule;
}

static Simulation simulated(const Problem &problem, const Schedule &schedule,
                            const SimulationOptions &options = {}) {
  Expected<Simulation> result = simulate(problem, schedule, options);
  EXPECT_TRUE(result) << result.error().str();
  return *result;
}

TEST(Transfers, CausesOfWaiting) {
  // F 2, B 1, W 3, transfer 1: by hand.
  //   stage 0: F0 [0,2) F1 [2,4)              BW0 [10,14) .. BW1 [16,20)
  //   stage 1: F0 [3,5) BW0 [5,9) F1 [9,11) BW1 [11,15)
  Problem problem = makeProblem("1f1b", 2, 1, 2, 2, 1, 3, 1);
  Simulation result = simulated(problem, generated("1f1b", problem));
  const Waiting &first = result.stages[0].waiting;
  EXPECT_EQ(first.fill, 0);
  EXPECT_EQ(first.forward, 0);
  EXPECT_EQ(first.gradient, 6 + 2);
  EXPECT_EQ(first.drain, 0);
  const Waiting &second = result.stages[1].waiting;
  EXPECT_EQ(second.fill, 3);
  EXPECT_EQ(second.forward, 0);
  EXPECT_EQ(second.gradient, 0);
  EXPECT_EQ(second.drain, 5);
  EXPECT_EQ(second.total(), 8);
}

TEST(Transfers, Rendezvous) {
  // F 2, B 1, W 3, transfer 1; "s" and "r" are sends and receives.
  //   stage 0: F0 [0,2) s [2,3) F1 [3,5) s [5,6) r [12,13) BW0 [13,17)
  //            r [17,18) BW1 [18,22)
  //   stage 1: r [2,3) F0 [3,5) r [5,6) F1 [6,8) BW0 [8,12) s [12,13)
  //            BW1 [13,17) s [17,18)
  Problem problem = makeProblem("gpipe", 2, 1, 2, 2, 1, 3, 1);
  Schedule schedule = generated("gpipe", problem);
  Simulation result =
      simulated(problem, schedule, {Transfers::Rendezvous, false});
  EXPECT_EQ(result.start[0], (Times{0, 3, 13, 18}));
  EXPECT_EQ(result.end[0], (Times{2, 5, 17, 22}));
  EXPECT_EQ(result.start[1], (Times{3, 6, 8, 13}));
  EXPECT_EQ(result.end[1], (Times{5, 8, 12, 17}));
  EXPECT_EQ(result.makespan, 22);
  // Both receives of stage 0 count from the call: [6,13) and [17,18).
  const Waiting &first = result.stages[0].waiting;
  EXPECT_EQ(first.send, 2);
  EXPECT_EQ(first.gradient, 7 + 1);
  EXPECT_EQ(first.drain, 0);
  const Waiting &second = result.stages[1].waiting;
  EXPECT_EQ(second.fill, 3);
  EXPECT_EQ(second.forward, 1);
  EXPECT_EQ(second.send, 1);
  EXPECT_EQ(second.drain, 5);
}

TEST(Transfers, ASendWaitsForItsReceiver) {
  // Stage 1 is slow, so each send of stage 0 after the first waits for it.
  Problem problem = makeProblem("gpipe", 2, 1, 3, 1, 0, 0);
  problem.chunks[1].forward = 10;
  Schedule schedule = generated("gpipe", problem);
  EXPECT_EQ(simulated(problem, schedule).start[0],
            (Times{0, 1, 2, 31, 31, 31}));
  Simulation result =
      simulated(problem, schedule, {Transfers::Rendezvous, false});
  EXPECT_EQ(result.start[0], (Times{0, 1, 11, 31, 31, 31}));
  EXPECT_EQ(result.stages[0].waiting.send, 9 + 9);
}

TEST(Transfers, Contention) {
  // Transfers of 5 behind forwards of 1: the link carries one at a time.
  Problem problem = makeProblem("gpipe", 2, 1, 3, 1, 1, 0, 5);
  Schedule schedule = generated("gpipe", problem);
  EXPECT_EQ(simulated(problem, schedule).start[1], (Times{6, 7, 8, 9, 10, 11}));
  Simulation result = simulated(problem, schedule, {.contention = true});
  EXPECT_EQ(result.start[1], (Times{6, 11, 16, 17, 18, 19}));
  // Gradients end at 18, 19 and 20 on the other direction of the link.
  EXPECT_EQ(result.start[0], (Times{0, 1, 2, 23, 28, 33}));
  EXPECT_EQ(result.stages[1].waiting.forward, 4 + 4);
}

TEST(Transfers, ContentionOfSeveralEdges) {
  // Two values from stage 0 to stage 1 share the link; one from stage 1 to
  // stage 0 does not, nor does one within a stage.
  Problem problem{*Placement::fromList(2, {0, 1, 1, 0}),
                  1,
                  std::vector<Chunk>(4),
                  {{0, 1, 3, 0}, {0, 2, 2, 0}, {1, 2, 9, 9}, {2, 3, 4, 1}}};
  Schedule schedule{"by hand",
                    {{{f, 0, 0}, {f, 3, 0}, {bw, 3, 0}, {bw, 0, 0}},
                     {{f, 1, 0}, {f, 2, 0}, {bw, 2, 0}, {bw, 1, 0}}}};
  EXPECT_EQ(simulated(problem, schedule).start[1], (Times{3, 3, 8, 8}));
  EXPECT_EQ(simulated(problem, schedule, {.contention = true}).start[1],
            (Times{3, 5, 10, 10}));
}

/// Two microbatches on one stage: F0, then B of 0 beside F of 1.
static Problem overlapProblem(double overlap) {
  Problem problem{*Placement::fromList(1, {0}), 2, {Chunk()}, {}};
  problem.chunks[0] = {.forward = 4,
                       .backwardInput = 6,
                       .backwardWeight = 1,
                       .forwardMemory = 5,
                       .backwardInputMemory = -2,
                       .backwardWeightMemory = -3};
  problem.overlap = overlap;
  return problem;
}

static Schedule overlapSchedule() {
  return {"by hand",
          {{{f, 0, 0}, {b, 0, 0}, {f, 0, 1}, {w, 0, 0}, {bw, 0, 1}}},
          {{1}}};
}

TEST(Overlap, TimesAndMemory) {
  for (auto [overlap, block] :
       {std::pair(0.0, 10.0), {0.25, 9.0}, {1.0, 6.0}}) {
    Problem problem = overlapProblem(overlap);
    Schedule schedule = overlapSchedule();
    ASSERT_TRUE(check(problem));
    ASSERT_TRUE(verify(problem, schedule));
    Simulation result = simulated(problem, schedule);
    EXPECT_EQ(result.start[0], (Times{0, 4, 4, 4 + block, 5 + block}));
    EXPECT_EQ(result.end[0],
              (Times{4, 4 + block, 4 + block, 5 + block, 12 + block}));
    EXPECT_EQ(result.stages[0].busy, result.makespan);
    EXPECT_EQ(result.bubbleMakespan, 0);
    // F of microbatch 1 adds at the start of the block, B of 0 releases at its
    // end.
    EXPECT_EQ(result.memory[0], (std::vector<std::int64_t>{5, 10, 8, 5, 0}));
    EXPECT_EQ(result.stages[0].peakMemory, 10);
    EXPECT_EQ(
        memoryCurve(problem, schedule, result, 0),
        (std::vector<MemoryPoint>{
            {0, 5}, {4, 10}, {4 + block, 8}, {5 + block, 5}, {12 + block, 0}}));
  }
}

TEST(Overlap, ABlockNeedsMemoryOfBoth) {
  Problem problem = overlapProblem(1);
  Schedule schedule = overlapSchedule();
  problem.memoryLimits = {9};
  Status status = verify(problem, schedule);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::OutOfMemory);
  EXPECT_EQ(status.error().step, 1);
  EXPECT_EQ(status.error().leastLimit, 10);
  schedule.overlapped.clear();
  EXPECT_TRUE(verify(problem, schedule));
}

TEST(Overlap, BothWaitForTheInputsOfBoth) {
  // Stage 1 runs B of 0 beside F of 1, which arrives late; the gradient of 0
  // then leaves late too.
  Problem problem = makeProblem("1f1b", 2, 1, 2, 1, 1, 1);
  Schedule schedule{"by hand",
                    {{{f, 0, 0}, {f, 0, 1}, {bw, 0, 0}, {bw, 0, 1}},
                     {{f, 1, 0}, {bw, 1, 0}, {f, 1, 1}, {bw, 1, 1}}}};
  problem.chunks[0].forward = 5;
  EXPECT_EQ(simulated(problem, schedule).start[1], (Times{5, 6, 10, 11}));
  schedule.overlapped = {{}, {1}};
  problem.overlap = 1;
  Simulation result = simulated(problem, schedule);
  EXPECT_EQ(result.start[1], (Times{5, 10, 10, 12}));
  EXPECT_EQ(result.start[0], (Times{0, 5, 12, 14}));
  EXPECT_EQ(result.stages[1].waiting.forward, 4);
}

TEST(Overlap, ABlockThatWaitsForItself) {
  // F of 1 on stage 1 needs F of 1 on stage 0, which comes after BW of 0 there.
  Problem problem = makeProblem("1f1b", 2, 1, 2);
  Schedule schedule = generated("sequential", problem);
  EXPECT_TRUE(verify(problem, schedule));
  schedule.overlapped = {{}, {1}};
  Status status = verify(problem, schedule);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::Deadlock);
  EXPECT_EQ(status.error().str(),
            "stage 0, step 1: BW of chunk 0, microbatch 0 never runs: it waits "
            "for BW of chunk 1, microbatch 0, which is step 1 of stage 1; "
            "there, step 2, F of chunk 1, microbatch 1, waits for F of chunk "
            "0, microbatch 1, which is step 2 of stage 0\n"
            "  stage 0, steps 0..3: F0 [BW0] F1 BW1\n"
            "  stage 1, steps 0..3: F0 BW0 [F1] BW1");
}

static Error errorOfBlocks(const std::vector<std::vector<int>> &overlapped) {
  Schedule schedule = overlapSchedule();
  schedule.overlapped = overlapped;
  Status status = verify(overlapProblem(0), schedule);
  EXPECT_FALSE(status);
  Error error = status ? Error{ErrorKind::Missing, ""} : status.error();
  EXPECT_EQ(error.kind, ErrorKind::WrongBlock);
  EXPECT_FALSE(simulate(overlapProblem(0), schedule));
  return error;
}

TEST(Overlap, WrongBlocks) {
  EXPECT_EQ(errorOfBlocks({{1}, {}}).message,
            "overlapped blocks are given for 2 stages, but there are 1");
  EXPECT_EQ(errorOfBlocks({{4}}).message,
            "stage 0: there are no steps 4 and 5 to overlap; the stage has 5");
  EXPECT_EQ(errorOfBlocks({{-1}}).message,
            "stage 0: there are no steps -1 and 0 to overlap; the stage has 5");
  EXPECT_EQ(errorOfBlocks({{0}}).str(),
            "stage 0, step 0: F of chunk 0, microbatch 0 cannot overlap with B "
            "of chunk 0, microbatch 0; a block is of two microbatches\n"
            "  stage 0, steps 0..4: [F0] B0 F1 W0 BW1");
  EXPECT_EQ(errorOfBlocks({{2}}).message,
            "stage 0, step 2: F of chunk 0, microbatch 1 cannot overlap with W "
            "of chunk 0, microbatch 0; a block is one F and one B or BW");
  EXPECT_EQ(errorOfBlocks({{1, 2}}).message,
            "stage 0, step 2: F of chunk 0, microbatch 1 is said to overlap "
            "with the next step after step 1 is; blocks must ascend and share "
            "no operation");
}

TEST(Overlap, ShareOfTheShorter) {
  for (double overlap : {-0.1, 1.1, std::nan("")}) {
    Problem problem = overlapProblem(overlap);
    Status status = check(problem);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find(
                  "the overlap of a block must be a share from 0 to 1, not "),
              std::string::npos);
  }
}

/// The calls of a program without care: all receives right before their
/// operation, all sends right after it.
static Calls naiveCalls(const Schedule &schedule,
                        const std::vector<Message> &messages) {
  Calls calls(schedule.stages.size());
  for (int stage = 0; stage < static_cast<int>(calls.size()); ++stage)
    for (int step = 0, e = schedule.stages[stage].size(); step < e; ++step)
      for (bool sends : {false, true})
        for (int i = 0; i < static_cast<int>(messages.size()); ++i) {
          const Message &message = messages[i];
          if (sends
                  ? message.sourceStage == stage && message.sourceStep == step
                  : message.targetStage == stage && message.targetStep == step)
            calls[stage].push_back({i, step + sends});
        }
  return calls;
}

TEST(Calls, OneForwardOneBackwardWithoutCareDeadlocks) {
  // Both send first: a forward down and a gradient up cross.
  Problem problem = makeProblem("1f1b", 2, 1, 2);
  Schedule schedule = generated("1f1b", problem);
  std::vector<Message> messages = *communicationOrder(problem, schedule);
  Status status =
      verifyCalls(problem, schedule, messages, naiveCalls(schedule, messages));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::Deadlock);
  EXPECT_EQ(
      status.error().str(),
      "stage 0, step 1: F of chunk 0, microbatch 1 is part of a circle of "
      "blocking calls: stage 0 sends the output of edge 0 (chunk 0 -> 1), "
      "microbatch 1, and waits for stage 1; stage 1 sends the gradient of edge "
      "0 (chunk 0 -> 1), microbatch 0, and waits for stage 0\n"
      "  stage 0, steps 0..3: F0 [F1] BW0 BW1\n"
      "  stage 1, steps 0..3: F0 [BW0] F1 BW1");
  // In the order of the messages, stage 1 receives before it sends.
  EXPECT_TRUE(verifyCommunication(problem, schedule, messages));
  Calls calls = blockingCalls(schedule, messages);
  EXPECT_EQ(calls[0], (std::vector<Call>{{0, 1}, {1, 2}, {2, 2}, {3, 3}}));
  EXPECT_EQ(calls[1], (std::vector<Call>{{0, 0}, {1, 2}, {2, 2}, {3, 4}}));
  EXPECT_TRUE(verifyCalls(problem, schedule, messages, calls));
}

TEST(Calls, GPipeWithoutCareRuns) {
  Problem problem = makeProblem("gpipe", 3, 1, 4);
  Schedule schedule = generated("gpipe", problem);
  std::vector<Message> messages = *communicationOrder(problem, schedule);
  EXPECT_TRUE(
      verifyCalls(problem, schedule, messages, naiveCalls(schedule, messages)));
}

TEST(Calls, AnOrderInWhichAStageWaitsForItself) {
  // The gradient of microbatch 0 before its forward: stage 1 would have to send
  // it before it receives what it is computed from.
  Problem problem = makeProblem("1f1b", 2, 1, 1);
  Schedule schedule = generated("1f1b", problem);
  std::vector<Message> messages = *communicationOrder(problem, schedule);
  std::swap(messages[0], messages[1]);
  Status status = verifyCommunication(problem, schedule, messages);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::Deadlock);
  EXPECT_EQ(status.error().str(),
            "stage 1, step 1: BW of chunk 1, microbatch 0 makes the gradient "
            "of edge 0 (chunk 0 -> 1), microbatch 0, which the stage sends "
            "when it has run only 0 operations\n"
            "  stage 1, steps 0..1: F0 [BW0]");
  Calls calls{{{1, 1}, {0, 2}}, {{1, 0}, {0, 2}}};
  status = verifyCalls(problem, schedule, messages, calls);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "stage 0, step 1: BW of chunk 0, microbatch 0 waits for the "
            "gradient of edge 0 (chunk 0 -> 1), microbatch 0, which the stage "
            "receives when it has run 2 operations");
}

TEST(Calls, WrongMessages) {
  Problem problem = makeProblem("1f1b", 2, 1, 1);
  Schedule schedule = generated("1f1b", problem);
  auto errorAfter =
      [&](const std::function<void(std::vector<Message> &)> &change) {
        std::vector<Message> messages = *communicationOrder(problem, schedule);
        change(messages);
        Status status = verifyCommunication(problem, schedule, messages);
        EXPECT_FALSE(status);
        EXPECT_EQ(status.error().kind, ErrorKind::WrongMessage);
        return status.error().message;
      };
  using Messages = std::vector<Message>;
  EXPECT_EQ(errorAfter([](Messages &m) { m.pop_back(); }),
            "message with the gradient of edge 0 (chunk 0 -> 1), microbatch 0 "
            "is missing");
  EXPECT_EQ(errorAfter([](Messages &m) { m.push_back(m[0]); }),
            "message with the output of edge 0 (chunk 0 -> 1), microbatch 0 "
            "occurs twice");
  EXPECT_EQ(errorAfter([](Messages &m) { m[0].edge = 1; }),
            "message with the output of edge 1, microbatch 0 does not exist in "
            "this schedule");
  EXPECT_EQ(errorAfter([](Messages &m) { m[0].microbatch = 1; }),
            "message with the output of edge 0 (chunk 0 -> 1), microbatch 1 "
            "does not exist in this schedule");
  EXPECT_EQ(errorAfter([](Messages &m) { m[0].targetStep = 1; }),
            "message with the output of edge 0 (chunk 0 -> 1), microbatch 0 "
            "goes from stage 0, step 0, to stage 1, step 0, not from stage 0, "
            "step 0, to stage 1, step 1");
}

TEST(Calls, WrongCalls) {
  Problem problem = makeProblem("1f1b", 2, 1, 1);
  Schedule schedule = generated("1f1b", problem);
  std::vector<Message> messages = *communicationOrder(problem, schedule);
  auto errorAfter = [&](const std::function<void(Calls &)> &change) {
    Calls calls = blockingCalls(schedule, messages);
    change(calls);
    Status status = verifyCalls(problem, schedule, messages, calls);
    EXPECT_FALSE(status);
    EXPECT_EQ(status.error().kind, ErrorKind::WrongMessage);
    return status.error().message;
  };
  EXPECT_EQ(errorAfter([](Calls &c) { c.pop_back(); }),
            "calls are given for 1 stage, but there are 2");
  EXPECT_EQ(errorAfter([](Calls &c) { c[0].pop_back(); }),
            "message with the gradient of edge 0 (chunk 0 -> 1), microbatch 0 "
            "is never called by stage 0");
  EXPECT_EQ(errorAfter([](Calls &c) { c[1].push_back(c[1][0]); }),
            "message with the output of edge 0 (chunk 0 -> 1), microbatch 0 is "
            "called twice by stage 1");
  EXPECT_EQ(errorAfter([](Calls &c) { c[1][0].message = 2; }),
            "stage 1 calls message 2 of 2");
}
