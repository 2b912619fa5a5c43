//===- Communication.cpp - the messages of a schedule in one order --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include <algorithm>

using namespace veeline::schedule;

/// Appends what the operation at `source` sends.
static void appendMessages(const Problem &problem, const Flow &flow,
                           const Schedule &schedule, const OpIndex &index,
                           Position source, std::vector<Message> &messages) {
  const Op &op = schedule.stages[source.stage][source.step];
  if (op.kind == OpKind::BackwardWeight)
    return;
  bool gradient = op.kind != OpKind::Forward;
  for (const Link &link :
       (gradient ? flow.backwardUsers : flow.forwardUsers)[op.chunk]) {
    int target = problem.placement.stageOf(link.chunk);
    if (target == source.stage)
      continue;
    int step = index.forward(link.chunk, op.microbatch);
    if (gradient)
      step = problem.chunks[link.chunk].hasBackwardInput
                 ? index.backwardInput(link.chunk, op.microbatch)
                 : index.backwardWeight(link.chunk, op.microbatch);
    messages.push_back({link.edge, op.microbatch, gradient, source.stage,
                        source.step, target, step});
  }
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

  // Operations by the time they end, ties as found. That is a topological
  // order too, because nothing ends before what it waits for.
  std::vector<Position> order = std::move(execution->topological);
  std::stable_sort(order.begin(), order.end(), [&](Position a, Position b) {
    return execution->end[a.stage][a.step] < execution->end[b.stage][b.step];
  });
  std::vector<Message> messages;
  for (Position position : order)
    appendMessages(problem, flow, schedule, *index, position, messages);
  return messages;
}
