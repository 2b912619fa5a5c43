//===- Communication.cpp - the messages of a schedule in one order --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Execution.h"

#include "veeline/Base/Text.h"

#include <algorithm>
#include <array>
#include <optional>

using namespace veeline::schedule;

/// Calls `visit` for each message that the operation at `source` sends.
template <typename Visitor>
static void visitMessages(const Problem &problem, const Flow &flow,
                          const Schedule &schedule, const OpIndex &index,
                          Position source, Visitor visit) {
  const Op &op = schedule.stages[source.stage][source.step];
  bool gradient = op.kind != OpKind::Forward;
  for (const Link &link : flow.usersOf(op)) {
    int target = problem.rankOf(link.chunk, op.microbatch);
    if (target == source.stage)
      continue;
    int step = index.forward(link.chunk, op.microbatch);
    if (gradient)
      step = index.firstBackward(problem, link.chunk, op.microbatch);
    visit(Message{link.edge, op.microbatch, gradient, source.stage, source.step,
                  target, step});
  }
}

std::vector<Message>
veeline::schedule::orderMessages(const Problem &problem, const Flow &flow,
                                 const Schedule &schedule, const OpIndex &index,
                                 const Execution &execution) {
  // Orders operations by their ends; ties are in the order in which they were
  // found. This is also a topological order, because no operation ends before
  // one that it waits for.
  struct Entry {
    double end;
    std::uint32_t found;
  };
  std::vector<Entry> order;
  order.reserve(execution.topological.size());
  for (std::uint32_t i = 0, e = execution.topological.size(); i < e; ++i) {
    auto [stage, step] = execution.topological[i];
    if (!flow.usersOf(schedule.stages[stage][step]).empty())
      order.push_back({execution.end[stage][step], i});
  }
  std::sort(order.begin(), order.end(), [](const Entry &a, const Entry &b) {
    return a.end != b.end ? a.end < b.end : a.found < b.found;
  });
  std::vector<Message> messages;
  messages.reserve(order.size());
  for (const Entry &entry : order)
    visitMessages(problem, flow, schedule, index,
                  execution.topological[entry.found],
                  [&](const Message &message) { messages.push_back(message); });
  return messages;
}

Expected<std::vector<Message>>
veeline::schedule::communicationOrder(const Problem &problem,
                                      const Schedule &schedule) {
  Expected<OpIndex> index = OpIndex::build(problem, schedule);
  if (!index)
    return index.takeError();
  Flow flow(problem);
  Expected<Execution> execution = execute(problem, flow, schedule, *index);
  if (!execution)
    return execution.takeError();
  return orderMessages(problem, flow, schedule, *index, *execution);
}

std::string veeline::schedule::describe(const Problem &problem,
                                        const Message &message) {
  std::string text = message.gradient ? "the gradient" : "the output";
  text += " of edge " + std::to_string(message.edge);
  if (message.edge >= 0 &&
      message.edge < static_cast<int>(problem.edges.size())) {
    const Edge &edge = problem.edges[message.edge];
    text += " (chunk " + std::to_string(edge.from) + " -> " +
            std::to_string(edge.to) + ")";
  }
  return text + ", microbatch " + std::to_string(message.microbatch);
}

static Error wrongMessage(const Problem &problem, const Message &message,
                          const std::string &what) {
  return Error{ErrorKind::WrongMessage,
               "message with " + describe(problem, message) + " " + what};
}

/// Checks that `messages` are those of the schedule, each once.
static Status checkMessages(const Problem &problem, const Flow &flow,
                            const Schedule &schedule, const OpIndex &index,
                            std::span<const Message> messages) {
  auto slot = [&](const Message &message) {
    return flow.messageSlot(message.edge, message.microbatch, message.gradient);
  };
  // The expected message for each edge, microbatch and direction.
  std::vector<std::optional<Message>> wanted(flow.messageSlots());
  for (int stage = 0; stage < problem.ranks(); ++stage)
    for (int step = 0, e = schedule.stages[stage].size(); step < e; ++step)
      visitMessages(
          problem, flow, schedule, index, {stage, step},
          [&](const Message &message) { wanted[slot(message)] = message; });
  std::vector<bool> seen(wanted.size());
  for (const Message &message : messages) {
    bool exists = message.edge >= 0 && message.microbatch >= 0 &&
                  message.microbatch < problem.microbatches &&
                  message.edge < static_cast<int>(problem.edges.size()) &&
                  wanted[slot(message)];
    if (!exists)
      return wrongMessage(problem, message, "does not exist in this schedule");
    const Message &right = *wanted[slot(message)];
    if (!(right == message))
      return wrongMessage(
          problem, message,
          "goes from " + problem.labelOfRank(right.sourceStage) + ", step " +
              std::to_string(right.sourceStep) + ", to " +
              problem.labelOfRank(right.targetStage) + ", step " +
              std::to_string(right.targetStep) + ", not from " +
              problem.labelOfRank(message.sourceStage) + ", step " +
              std::to_string(message.sourceStep) + ", to " +
              problem.labelOfRank(message.targetStage) + ", step " +
              std::to_string(message.targetStep));
    if (seen[slot(message)])
      return wrongMessage(problem, message, "occurs twice");
    seen[slot(message)] = true;
  }
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] && !seen[i])
      return wrongMessage(problem, *wanted[i], "is missing");
  return Status::success();
}

/// Checks that both stages of every message call it once, and that no other
/// stage does.
static Status checkCompleteness(const Problem &problem,
                                std::span<const Message> messages,
                                const Calls &calls) {
  if (calls.size() != static_cast<std::size_t>(problem.ranks()))
    return Error{ErrorKind::WrongMessage,
                 "calls are given for " +
                     veeline::counted(calls.size(), problem.widths.empty()
                                                        ? "stage"
                                                        : "rank") +
                     ", but there are " + std::to_string(problem.ranks())};
  std::vector<std::array<bool, 2>> called(messages.size());
  for (int stage = 0; stage < problem.ranks(); ++stage)
    for (const Call &call : calls[stage]) {
      std::string where = problem.labelOfRank(stage);
      if (call.message < 0 || call.message >= static_cast<int>(messages.size()))
        return Error{ErrorKind::WrongMessage,
                     where + " calls message " + std::to_string(call.message) +
                         " of " + std::to_string(messages.size())};
      const Message &message = messages[call.message];
      bool sends = message.sourceStage == stage;
      if (!sends && message.targetStage != stage)
        return wrongMessage(problem, message,
                            "is called by " + where +
                                ", which neither sends nor receives it");
      if (called[call.message][sends])
        return wrongMessage(problem, message, "is called twice by " + where);
      called[call.message][sends] = true;
    }
  for (std::size_t i = 0; i < messages.size(); ++i)
    for (bool sends : {false, true})
      if (!called[i][sends])
        return wrongMessage(
            problem, messages[i],
            "is never called by " +
                problem.labelOfRank(sends ? messages[i].sourceStage
                                          : messages[i].targetStage));
  return Status::success();
}

/// Checks that the schedule runs, and that `messages` are its messages.
static Status checkMessages(const Problem &problem, const Schedule &schedule,
                            std::span<const Message> messages) {
  Expected<OpIndex> index = OpIndex::build(problem, schedule);
  if (!index)
    return index.takeError();
  Flow flow(problem);
  if (Expected<Execution> execution = execute(problem, flow, schedule, *index);
      !execution)
    return execution.takeError();
  return checkMessages(problem, flow, schedule, *index, messages);
}

Status veeline::schedule::verifyCalls(const Problem &problem,
                                      const Schedule &schedule,
                                      std::span<const Message> messages,
                                      const Calls &calls) {
  if (Status status = checkMessages(problem, schedule, messages); !status)
    return status;
  if (Status status = checkCompleteness(problem, messages, calls); !status)
    return status;
  return checkCalls(problem, schedule, messages, calls);
}

Status
veeline::schedule::verifyCommunication(const Problem &problem,
                                       const Schedule &schedule,
                                       std::span<const Message> messages) {
  if (Status status = checkMessages(problem, schedule, messages); !status)
    return status;
  return checkCalls(problem, schedule, messages,
                    blockingCalls(schedule, messages));
}
