//===- Trace.cpp - the waits of an execution ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times of operations are those of the simulation. Times of messages follow
// from them. A buffered message leaves when its producer ends, or when its link
// is free. One of a rendezvous starts when both stages have reached it.
//
//===----------------------------------------------------------------------===//

#include "Trace.h"

#include <algorithm>
#include <map>

using namespace veeline::schedule;

namespace {
class Tracer {
public:
  Tracer(const Problem &problem, const Schedule &schedule,
         const Simulation &simulation, const OpIndex &index)
      : problem(problem), schedule(schedule), simulation(simulation),
        index(index), flow(problem), tolerance(1e-12 * simulation.makespan) {}

  /// Adds operations, each after the one before it on its stage.
  void addComputing();
  void addBufferedMessages();
  void addRendezvous(const std::vector<Message> &messages);
  Trace take() { return std::move(trace); }

private:
  int add(const Activity &activity) {
    trace.activities.push_back(activity);
    return static_cast<int>(trace.activities.size()) - 1;
  }
  /// Whether an activity, or -1 for the start of time, ends later than another
  /// one by more than rounding.
  bool isLater(int candidate, int other) const {
    const std::vector<Activity> &all = trace.activities;
    return candidate >= 0 &&
           (other < 0 || all[candidate].end > all[other].end + tolerance);
  }
  void send(int producer, const Op &op, const Link &link);
  void sendAll(int stage, int step);
  void offerInputs(const Op &op, int &cause) const;
  /// The last activity of a stage before its operation `step` and its next
  /// call.
  int lastBefore(int stage, int step) const;

  const Problem &problem;
  const Schedule &schedule;
  const Simulation &simulation;
  const OpIndex &index;
  Flow flow;
  double tolerance;
  Trace trace;
  /// The activities of buffered messages, by `Flow::messageSlot`; -1: none.
  std::vector<int> messageOf;
  /// The last message on each link, if messages queue there.
  std::map<std::pair<int, int>, int> lastOnLink;
  /// The last message of each stage in a rendezvous.
  std::vector<int> lastMessage;
};
} // namespace

void Tracer::addComputing() {
  BlockCursor blocks(schedule);
  trace.computing.resize(problem.ranks());
  for (int stage = 0; stage < problem.ranks(); ++stage) {
    int previous = -1;
    for (int step = 0, e = schedule.stages[stage].size(); step < e;) {
      int size = blocks.sizeAt(stage, step);
      previous = add({stage, step, size, simulation.start[stage][step],
                      simulation.end[stage][step], previous});
      trace.computing[stage].insert(trace.computing[stage].end(), size,
                                    previous);
      step += size;
    }
  }
}

void Tracer::send(int producer, const Op &op, const Link &link) {
  bool gradient = op.kind != OpKind::Forward;
  if (problem.placement.stageOf(op.chunk) ==
      problem.placement.stageOf(link.chunk))
    return;
  int source = problem.rankOf(op.chunk, op.microbatch);
  int target = problem.rankOf(link.chunk, op.microbatch);
  Activity message{target,  index.forward(op.chunk, op.microbatch), 0, 0, 0,
                   producer};
  if (gradient)
    message.step = index.backwardInput(op.chunk, op.microbatch);
  message.start = trace.activities[producer].end;
  message.source = source;
  message.gradient = gradient;
  if (simulation.options.contention) {
    auto [last, isFirst] = lastOnLink.try_emplace({source, target}, -1);
    if (isLater(last->second, producer)) {
      message.cause = last->second;
      message.start = trace.activities[message.cause].end;
      message.queued = true;
    }
    last->second = static_cast<int>(trace.activities.size());
  }
  message.end = message.start + link.transfer;
  messageOf[flow.messageSlot(link.edge, op.microbatch, gradient)] =
      add(message);
}

void Tracer::sendAll(int stage, int step) {
  const Op &op = schedule.stages[stage][step];
  for (const Link &link : flow.usersOf(op))
    send(trace.computing[stage][step], op, link);
}

void Tracer::offerInputs(const Op &op, int &cause) const {
  bool forward = op.kind == OpKind::Forward;
  if (op.kind == OpKind::Recompute ||
      (op.kind == OpKind::BackwardWeight &&
       problem.chunks[op.chunk].hasBackwardInput))
    return;
  for (const Link &link :
       (forward ? flow.forwardInputs : flow.backwardInputs)[op.chunk]) {
    int message =
        messageOf[flow.messageSlot(link.edge, op.microbatch, !forward)];
    if (isLater(message, cause))
      cause = message;
  }
}

void Tracer::addBufferedMessages() {
  messageOf.assign(flow.messageSlots(), -1);
  std::size_t operations = trace.activities.size();
  for (int stage = 0; stage < problem.ranks(); ++stage)
    for (int step = 0, e = schedule.stages[stage].size(); step < e; ++step)
      sendAll(stage, step);
  for (std::size_t i = 0; i < operations; ++i) {
    Activity &activity = trace.activities[i];
    int cause = activity.cause;
    for (int k = 0; k < activity.size; ++k)
      offerInputs(schedule.stages[activity.stage][activity.step + k], cause);
    activity.cause = cause;
  }
}

int Tracer::lastBefore(int stage, int step) const {
  int computed = step > 0 ? trace.computing[stage][step - 1] : -1;
  return isLater(lastMessage[stage], computed) ? lastMessage[stage] : computed;
}

// Messages complete in this order, as in the simulation.
void Tracer::addRendezvous(const std::vector<Message> &messages) {
  CallSites sites(schedule, messages);
  lastMessage.assign(problem.ranks(), -1);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message &message = messages[i];
    const Edge &edge = problem.edges[message.edge];
    Activity activity{message.targetStage, message.sourceStep, 0};
    activity.source = message.sourceStage;
    activity.gradient = message.gradient;
    activity.cause = lastBefore(message.sourceStage, sites.send[i]);
    int receiver = lastBefore(message.targetStage, sites.receive[i]);
    if (isLater(receiver, activity.cause))
      activity.cause = receiver;
    activity.start =
        activity.cause < 0 ? 0 : trace.activities[activity.cause].end;
    activity.end = activity.start + (message.gradient ? edge.backwardTransfer
                                                      : edge.forwardTransfer);
    int added = add(activity);
    for (auto [stage, site] :
         {std::pair(message.sourceStage, sites.send[i]),
          std::pair(message.targetStage, sites.receive[i])}) {
      lastMessage[stage] = added;
      if (site < static_cast<int>(trace.computing[stage].size()))
        trace.activities[trace.computing[stage][site]].cause = added;
    }
  }
}

Expected<Trace> veeline::schedule::traceOf(const Problem &problem,
                                           const Schedule &schedule,
                                           const Simulation &simulation) {
  Expected<OpIndex> index = OpIndex::build(problem, schedule);
  if (!index)
    return index.takeError();
  Tracer tracer(problem, schedule, simulation, *index);
  tracer.addComputing();
  if (simulation.options.transfers == Transfers::Buffered) {
    tracer.addBufferedMessages();
    return tracer.take();
  }
  Expected<std::vector<Message>> messages =
      communicationOrder(problem, schedule);
  if (!messages)
    return messages.takeError();
  tracer.addRendezvous(*messages);
  return tracer.take();
}
