//===- CommunicationTest.cpp - the message order cannot deadlock ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Rounds.h"
#include "TestUtilities.h"

using namespace veeline::schedule;

TEST(Communication, MessagesOfASmallPipeline) {
  Problem problem = makeProblem("1f1b", 2, 1, 2);
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_TRUE(schedule);
  Expected<std::vector<Message>> messages =
      communicationOrder(problem, *schedule);
  ASSERT_TRUE(messages);
  ASSERT_EQ(messages->size(), 4u);
  const Message &first = messages->front();
  EXPECT_EQ(first.edge, 0);
  EXPECT_EQ(first.microbatch, 0);
  EXPECT_FALSE(first.gradient);
  EXPECT_EQ(first.sourceStage, 0);
  EXPECT_EQ(first.sourceStep, 0);
  EXPECT_EQ(first.targetStage, 1);
  EXPECT_EQ(first.targetStep, 0);
  const Message &last = messages->back();
  EXPECT_TRUE(last.gradient);
  EXPECT_EQ(last.microbatch, 1);
  EXPECT_EQ(last.sourceStage, 1);
  EXPECT_EQ(last.targetStage, 0);
}

TEST(Communication, RefusesWhatCannotRun) {
  Problem problem = makeProblem("1f1b", 2, 1, 2);
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_TRUE(schedule);
  std::swap(schedule->stages[1][0], schedule->stages[1][1]);
  Expected<std::vector<Message>> messages =
      communicationOrder(problem, *schedule);
  ASSERT_FALSE(messages);
  EXPECT_EQ(messages.error().kind, ErrorKind::Deadlock);
}

namespace {
/// Ranks that run their operations in order and their messages in order, where
/// a message needs both ends at once and its producer done: rendezvous without
/// any buffering, with receives posted ahead.
class Ranks {
public:
  Ranks(const Problem &problem, const Schedule &schedule,
        const std::vector<Message> &messages)
      : schedule(schedule), messages(messages), steps(problem.stages()),
        heads(problem.stages()), queues(problem.stages()),
        delivered(messages.size()), inputs(problem.stages()) {
    for (int stage = 0; stage < problem.stages(); ++stage)
      inputs[stage].resize(schedule.stages[stage].size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      queues[messages[i].sourceStage].push_back(i);
      queues[messages[i].targetStage].push_back(i);
      inputs[messages[i].targetStage][messages[i].targetStep].push_back(i);
    }
  }

  bool run() {
    bool advanced = true;
    while (advanced) {
      advanced = false;
      for (std::size_t stage = 0; stage < steps.size(); ++stage) {
        while (compute(stage))
          advanced = true;
        while (communicate(stage))
          advanced = true;
      }
    }
    for (std::size_t stage = 0; stage < steps.size(); ++stage)
      if (steps[stage] != schedule.stages[stage].size() ||
          heads[stage] != queues[stage].size())
        return false;
    return true;
  }

private:
  bool compute(int stage) {
    if (steps[stage] == schedule.stages[stage].size())
      return false;
    for (std::size_t message : inputs[stage][steps[stage]])
      if (!delivered[message])
        return false;
    ++steps[stage];
    return true;
  }

  bool communicate(int stage) {
    if (heads[stage] == queues[stage].size())
      return false;
    std::size_t id = queues[stage][heads[stage]];
    const Message &message = messages[id];
    int other = message.sourceStage == stage ? message.targetStage
                                             : message.sourceStage;
    if (heads[other] == queues[other].size() ||
        queues[other][heads[other]] != id ||
        static_cast<int>(steps[message.sourceStage]) <= message.sourceStep)
      return false;
    delivered[id] = true;
    ++heads[stage];
    ++heads[other];
    return true;
  }

  const Schedule &schedule;
  const std::vector<Message> &messages;
  std::vector<std::size_t> steps, heads;
  std::vector<std::vector<std::size_t>> queues;
  std::vector<bool> delivered;
  std::vector<std::vector<std::vector<std::size_t>>> inputs;
};
} // namespace

TEST(Communication, RendezvousInThisOrderEnds) {
  Random random = makeRandom();
  int ran = 0;
  const int rounds = veeline::test::rounds(4000);
  for (int round = 0; round < rounds; ++round) {
    const Generator &generator =
        generators()[randomInt(random, 0, generators().size() - 1)];
    int p = randomInt(random, 1, 6);
    Problem problem =
        randomProblem(random, generator.name, p, p * randomInt(random, 1, 3));
    problem.memoryLimits.clear();
    Expected<Schedule> schedule = generate(generator.name, problem, quickly());
    ASSERT_TRUE(schedule) << schedule.error().str();
    Expected<std::vector<Message>> messages =
        communicationOrder(problem, *schedule);
    ASSERT_TRUE(messages);
    for (const Message &message : *messages) {
      const Edge &edge = problem.edges[message.edge];
      const Op &source =
          schedule->stages[message.sourceStage][message.sourceStep];
      const Op &target =
          schedule->stages[message.targetStage][message.targetStep];
      ASSERT_EQ(source.chunk, message.gradient ? edge.to : edge.from);
      ASSERT_EQ(target.chunk, message.gradient ? edge.from : edge.to);
      ASSERT_EQ(source.microbatch, message.microbatch);
      ASSERT_EQ(target.microbatch, message.microbatch);
    }
    ASSERT_TRUE(Ranks(problem, *schedule, *messages).run()) << generator.name;
    ran += messages->size() > 0;
  }
  EXPECT_GT(ran, rounds / 2);
}
