//===- Rendezvous.cpp - sends and receives that block ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Execution.h"

#include <algorithm>
#include <limits>

using namespace veeline::schedule;

std::pair<int, int> veeline::schedule::blockAround(const Schedule &schedule,
                                                   int stage, int step) {
  if (schedule.overlapped.empty())
    return {step, step + 1};
  const std::vector<int> &blocks = schedule.overlapped[stage];
  auto after = std::upper_bound(blocks.begin(), blocks.end(), step);
  if (after == blocks.begin() || *(after - 1) + 1 < step)
    return {step, step + 1};
  return {*(after - 1), *(after - 1) + 2};
}

// Goes from the last message to the first. A call is made when its own
// operation requires it, or earlier, with the call of a later message of the
// same stage.
CallSites::CallSites(const Schedule &schedule,
                     std::span<const Message> messages)
    : send(messages.size()), receive(messages.size()) {
  std::vector<int> latest(schedule.stages.size(),
                          std::numeric_limits<int>::max());
  for (std::size_t i = messages.size(); i-- > 0;) {
    const Message &message = messages[i];
    int &source = latest[message.sourceStage];
    int &target = latest[message.targetStage];
    source = std::min(
        source,
        blockAround(schedule, message.sourceStage, message.sourceStep).second);
    target = std::min(
        target,
        blockAround(schedule, message.targetStage, message.targetStep).first);
    send[i] = source;
    receive[i] = target;
  }
}

Calls veeline::schedule::blockingCalls(const Schedule &schedule,
                                       std::span<const Message> messages) {
  CallSites sites(schedule, messages);
  Calls calls(schedule.stages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    int message = static_cast<int>(i);
    calls[messages[i].sourceStage].push_back({message, sites.send[i]});
    calls[messages[i].targetStage].push_back({message, sites.receive[i]});
  }
  return calls;
}

namespace {
/// Keeps the clock of each stage, which runs its operations up to a call, then
/// makes the call.
class RendezvousExecutor {
public:
  RendezvousExecutor(const Problem &problem, const Schedule &schedule)
      : problem(problem), schedule(schedule), blocks(schedule),
        progress(problem.ranks()), now(problem.ranks()) {
    for (const std::vector<Op> &ops : schedule.stages) {
      result.start.emplace_back(ops.size());
      result.end.emplace_back(ops.size());
    }
    result.waiting.resize(problem.ranks());
  }

  void run(int stage, int until) {
    int &step = progress[stage];
    while (step < until) {
      if (step == 0)
        result.waiting[stage].fill = now[stage];
      int size = blocks.sizeAt(stage, step);
      double start = now[stage];
      now[stage] += blockTime(problem, schedule.stages[stage], step, size);
      for (int last = step + size; step < last; ++step) {
        result.start[stage][step] = start;
        result.end[stage][step] = now[stage];
      }
    }
  }

  void transfer(const Message &message) {
    int source = message.sourceStage, target = message.targetStage;
    const Edge &edge = problem.edges[message.edge];
    double end =
        std::max(now[source], now[target]) +
        (message.gradient ? edge.backwardTransfer : edge.forwardTransfer);
    Waiting &receiver = result.waiting[target];
    wait(target, end, message.gradient ? receiver.gradient : receiver.forward);
    wait(source, end, result.waiting[source].send);
  }

  Execution finish() {
    for (int stage = 0; stage < problem.ranks(); ++stage)
      run(stage, schedule.stages[stage].size());
    return std::move(result);
  }

private:
  /// Waiting before the first operation is fill, after the last one it is
  /// drain.
  void wait(int stage, double until, double &cause) {
    int size = schedule.stages[stage].size();
    if (progress[stage] > 0 && progress[stage] < size)
      cause += until - now[stage];
    now[stage] = until;
  }

  const Problem &problem;
  const Schedule &schedule;
  BlockCursor blocks;
  Execution result;
  std::vector<int> progress;
  std::vector<double> now;
};
} // namespace

// Messages complete in the given order. When all messages before one have
// completed, both of its stages reach their calls of it (see
// `verifyCommunication`).
Execution
veeline::schedule::executeRendezvous(const Problem &problem,
                                     const Schedule &schedule,
                                     std::span<const Message> messages) {
  CallSites sites(schedule, messages);
  RendezvousExecutor executor(problem, schedule);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    executor.run(messages[i].sourceStage, sites.send[i]);
    executor.run(messages[i].targetStage, sites.receive[i]);
    executor.transfer(messages[i]);
  }
  return executor.finish();
}

namespace {
/// Lets stages make their calls until none can continue.
class CallChecker {
public:
  CallChecker(const Problem &problem, const Schedule &schedule,
              std::span<const Message> messages, const Calls &calls)
      : problem(problem), schedule(schedule), messages(messages), calls(calls),
        made(calls.size()) {}

  Status run() {
    for (std::size_t stage = 0; stage < calls.size(); ++stage)
      if (Status status = checkSites(stage); !status)
        return status;
    std::vector<int> worklist;
    for (int stage = calls.size() - 1; stage >= 0; --stage)
      worklist.push_back(stage);
    while (!worklist.empty()) {
      int stage = worklist.back();
      worklist.pop_back();
      // A completed message lets both stages continue. This loop continues with
      // this stage.
      while (!isFinished(stage)) {
        int other = peer(stage);
        if (isFinished(other) || next(other) != next(stage))
          break;
        ++made[stage];
        ++made[other];
        worklist.push_back(other);
      }
    }
    for (std::size_t stage = 0; stage < calls.size(); ++stage)
      if (!isFinished(stage))
        return circle(stage);
    return Status::success();
  }

private:
  bool isFinished(int stage) const {
    return made[stage] == calls[stage].size();
  }
  /// The message that a stage calls next.
  int next(int stage) const { return calls[stage][made[stage]].message; }
  int peer(int stage) const {
    const Message &message = messages[next(stage)];
    return message.sourceStage == stage ? message.targetStage
                                        : message.sourceStage;
  }

  Status checkSites(int stage) const;
  Error circle(int stage) const;

  const Problem &problem;
  const Schedule &schedule;
  std::span<const Message> messages;
  const Calls &calls;
  std::vector<std::size_t> made;
};
} // namespace

/// Checks that calls are in order, sends after their producers and receives
/// before their consumers. Otherwise a stage would wait for itself.
Status CallChecker::checkSites(int stage) const {
  int previous = 0;
  for (const Call &call : calls[stage]) {
    const Message &message = messages[call.message];
    bool sends = message.sourceStage == stage;
    int step = sends ? message.sourceStep : message.targetStep;
    auto [first, last] = blockAround(schedule, stage, step);
    int site = std::max(call.step, previous);
    previous = site;
    if (sends ? site >= last : site <= first)
      continue;
    std::string what = sends ? "makes " : "waits for ";
    return errorAt(ErrorKind::Deadlock, problem, schedule, stage, step,
                   what + describe(problem, message) + ", which the " +
                       (problem.widths.empty() ? "stage " : "rank ") +
                       (sends ? "sends when it has run only "
                              : "receives when it has run ") +
                       std::to_string(site) + " operations");
  }
  return Status::success();
}

Error CallChecker::circle(int stage) const {
  // Every unfinished stage waits for another unfinished one.
  std::vector<bool> seen(calls.size());
  while (!seen[stage]) {
    seen[stage] = true;
    stage = peer(stage);
  }
  int first = stage;
  std::string text;
  std::vector<Position> positions;
  do {
    const Message &message = messages[next(stage)];
    bool sends = message.sourceStage == stage;
    positions.push_back(
        {stage, sends ? message.sourceStep : message.targetStep});
    text += text.empty() ? "" : "; ";
    text += problem.labelOfRank(stage) + (sends ? " sends " : " receives ") +
            describe(problem, message) + ", and waits for " +
            problem.labelOfRank(peer(stage));
    stage = peer(stage);
  } while (stage != first);
  Error error =
      errorAt(ErrorKind::Deadlock, problem, schedule, first, positions[0].step,
              "is part of a circle of blocking calls: " + text);
  error.neighbourhood = neighbourhood(problem, schedule, positions);
  return error;
}

Status veeline::schedule::checkCalls(const Problem &problem,
                                     const Schedule &schedule,
                                     std::span<const Message> messages,
                                     const Calls &calls) {
  return CallChecker(problem, schedule, messages, calls).run();
}
