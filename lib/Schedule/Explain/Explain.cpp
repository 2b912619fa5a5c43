//===- Explain.cpp - why a schedule takes its time ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Explain.h"

#include "Path.h"

#include <algorithm>

using namespace veeline::schedule;

static void addBounds(const Problem &problem, Explanation &result) {
  Bound bound = lowerBound(problem, result.objective);
  result.lowerBound = bound.time;
  result.boundKind = bound.kind;
  result.gap = bound.time > 0 ? (result.value - bound.time) / bound.time : 0;
}

static void addBubble(const Simulation &simulation, Explanation &result) {
  result.bubbleStage = decisiveStage(simulation, result.objective);
  auto busy = [&](int stage) { return simulation.stages[stage].busy; };
  if (result.objective == Objective::Makespan)
    for (int s = 0, e = simulation.stages.size(); s < e; ++s)
      if (busy(s) < busy(result.bubbleStage))
        result.bubbleStage = s;
  result.bubbleTime = result.value - busy(result.bubbleStage);
}

/// Divides the bubble into parts by removing one obstacle after another.
/// `value` decreases with each.
static Status addBubbleParts(Problem problem, const Schedule &schedule,
                             const Simulation &simulation,
                             Explanation &result) {
  double value = result.value;
  auto lower = [&](double to) {
    double part = std::max(0.0, value - to);
    value -= part;
    return part;
  };
  auto simulated = [&]() -> Expected<double> {
    Expected<Simulation> step = simulate(problem, schedule);
    if (!step)
      return step.takeError();
    return step->value(result.objective);
  };
  Expected<double> buffered = simulated();
  if (!buffered)
    return buffered.takeError();
  result.bubble.blocking = lower(*buffered);
  for (Edge &edge : problem.edges)
    edge.forwardTransfer = edge.backwardTransfer = 0;
  Expected<double> freely = simulated();
  if (!freely)
    return freely.takeError();
  result.bubble.messages = lower(*freely);

  double most = 0;
  for (const StageStatistics &stage : simulation.stages)
    most = std::max(most, stage.busy);
  auto bound = [&] {
    double time = lowerBound(problem, result.objective,
                             {.fusedBackward = !schedule.splitsBackward()})
                      .time;
    // A bound for all overlaps may be less than the work with the actual
    // overlaps.
    return std::max(time, most);
  };
  result.bubble.order = lower(bound());
  problem.memoryLimits.clear();
  result.bubble.memory = lower(bound());
  result.bubble.fillAndDrain = lower(most);
  result.bubble.imbalance = lower(simulation.stages[result.bubbleStage].busy);
  return Status::success();
}

Expected<Explanation>
veeline::schedule::explain(const Problem &problem, const Schedule &schedule,
                           const GeneratorOptions &options,
                           const SimulationOptions &simulationOptions) {
  if (options.objective == Objective::Period || isCyclic(schedule))
    return Error{ErrorKind::NotApplicable,
                 "a step alone is explained, not steps that follow each other"};
  Expected<OpIndex> index = OpIndex::build(problem, schedule);
  if (!index)
    return index.takeError();
  Expected<Simulation> simulation =
      simulate(problem, schedule, simulationOptions);
  if (!simulation)
    return simulation.takeError();
  Expected<Trace> trace = traceOf(problem, schedule, *simulation);
  if (!trace)
    return trace.takeError();
  Explanation result{};
  result.objective = options.objective;
  result.value = simulation->value(options.objective);
  addBounds(problem, result);
  addBubble(*simulation, result);
  if (Status status = addBubbleParts(problem, schedule, *simulation, result);
      !status)
    return status.takeError();
  result.path = criticalPath(*simulation, *trace, options.objective);
  result.shares = sharesOf(problem, schedule, result.path);
  result.parts = partsOf(problem.ranks(), result.path);
  result.memory = memoryWait(problem, schedule, *simulation, *index);
  GeneratorOptions tenth = options;
  tenth.searchSeconds /= 10;
  addChanges(problem, schedule, *simulation, tenth, result);
  return result;
}
