//===- Simulator.cpp - predicted times and memory of a schedule -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Simulator.h"

#include "veeline/Schedule/Execution.h"
#include "veeline/Schedule/Loop.h"

#include <algorithm>

using namespace veeline::schedule;

static StageStatistics summarize(const Problem &problem,
                                 const Schedule &schedule,
                                 const Execution &execution, int stage,
                                 const std::vector<HeldMemory> &memory) {
  StageStatistics result;
  const std::vector<Op> &ops = schedule.stages[stage];
  BlockCursor blocks(schedule);
  for (int step = 0, e = ops.size(); step < e;) {
    int size = blocks.sizeAt(stage, step);
    result.busy += blockTime(problem, ops, step, size);
    step += size;
  }
  result.waiting = execution.waiting[stage];
  result.firstStart = *std::min_element(execution.start[stage].begin(),
                                        execution.start[stage].end());
  result.lastEnd = *std::max_element(execution.end[stage].begin(),
                                     execution.end[stage].end());
  for (const HeldMemory &held : memory)
    result.peakMemory = std::max(result.peakMemory, held.during);
  return result;
}

const char *veeline::schedule::toString(Objective objective) {
  switch (objective) {
  case Objective::Makespan:
    return "makespan";
  case Objective::Span:
    return "span";
  case Objective::Period:
    return "period";
  }
  return "?";
}

std::optional<Objective>
veeline::schedule::parseObjective(std::string_view name) {
  for (Objective objective :
       {Objective::Makespan, Objective::Span, Objective::Period})
    if (name == toString(objective))
      return objective;
  return std::nullopt;
}

double veeline::schedule::bubbleOf(double busy, double time) {
  return time > 0 ? std::max(0.0, 1 - busy / time) : 0;
}

double Simulation::longestSpan() const {
  double longest = 0;
  for (const StageStatistics &stage : stages)
    longest = std::max(longest, stage.span());
  return longest;
}

double Simulation::value(Objective objective) const {
  switch (objective) {
  case Objective::Makespan:
    return makespan;
  case Objective::Span:
    return longestSpan();
  case Objective::Period:
    return period;
  }
  return 0;
}

std::int64_t Simulation::peakMemory() const {
  std::int64_t peak = 0;
  for (const StageStatistics &stage : stages)
    peak = std::max(peak, stage.peakMemory);
  return peak;
}

static Expected<Execution> execute(const Problem &problem,
                                   const Schedule &schedule,
                                   const OpIndex &index,
                                   const SimulationOptions &options) {
  Flow flow(problem);
  bool buffered = options.transfers == Transfers::Buffered;
  Expected<Execution> execution =
      execute(problem, flow, schedule, index, buffered && options.contention);
  if (!execution || buffered)
    return execution;
  if (!schedule.offloads.empty())
    return invalid("what is offloaded is simulated with buffered transfers, "
                   "not with a rendezvous; leave out the offloads, or "
                   "--transfers");
  return executeRendezvous(
      problem, schedule,
      orderMessages(problem, flow, schedule, index, *execution));
}

/// Executes one step of a cyclic schedule. Late operations run after all other
/// operations of their stage, and offloaded values return before that.
static Expected<Execution> executeAlone(const Problem &problem,
                                        const Schedule &schedule,
                                        const SimulationOptions &options) {
  Schedule inOrder = unroll(problem, schedule, 1).schedule;
  Expected<OpIndex> index = OpIndex::build(problem, inOrder);
  if (!index)
    return index.takeError();
  Expected<Execution> alone = ::execute(problem, inOrder, *index, options);
  if (!alone)
    return alone;
  Execution result = *alone;
  for (int stage = 0; stage < problem.ranks(); ++stage) {
    std::size_t from = 0;
    for (bool late : {false, true})
      for (std::size_t step = 0; step < schedule.stages[stage].size(); ++step)
        if (schedule.stages[stage][step].late == late) {
          result.start[stage][step] = alone->start[stage][from];
          result.end[stage][step] = alone->end[stage][from++];
        }
  }
  return result;
}

Expected<Simulation>
veeline::schedule::simulate(const Problem &problem, const Schedule &schedule,
                            const SimulationOptions &options) {
  Expected<OpIndex> index = OpIndex::build(problem, schedule);
  if (!index)
    return index.takeError();
  if (Status status = checkOffloads(problem, schedule, *index); !status)
    return status.takeError();
  bool cyclic = isCyclic(schedule);
  Expected<Execution> execution =
      cyclic ? executeAlone(problem, schedule, options)
             : ::execute(problem, schedule, *index, options);
  if (!execution)
    return execution.takeError();

  Simulation result;
  result.options = options;
  for (int stage = 0; stage < problem.ranks(); ++stage) {
    std::vector<HeldMemory> memory = heldMemory(problem, schedule, stage);
    std::vector<std::int64_t> &after = result.memory.emplace_back();
    after.reserve(memory.size());
    for (const HeldMemory &held : memory)
      after.push_back(held.after);
    result.stages.push_back(
        summarize(problem, schedule, *execution, stage, memory));
    result.makespan = std::max(result.makespan, result.stages[stage].lastEnd);
  }
  for (StageStatistics &stage : result.stages) {
    stage.waiting.drain = result.makespan - stage.lastEnd;
    result.bubbleMakespan =
        std::max(result.bubbleMakespan, bubbleOf(stage.busy, result.makespan));
    result.bubbleSpan =
        std::max(result.bubbleSpan, bubbleOf(stage.busy, stage.span()));
  }
  if (options == SimulationOptions()) {
    Expected<Loop> loop = cyclic
                              ? loopOf(problem, schedule)
                              : loopOf(problem, schedule, *index, *execution);
    if (!loop)
      return loop.takeError();
    result.period = loop->period;
    result.bubbleSteady = loop->bubble;
  }
  result.offloads = std::move(execution->offloads);
  result.start = std::move(execution->start);
  result.end = std::move(execution->end);
  return result;
}

/// Sets the memory from a time on.
static void setMemory(std::vector<MemoryPoint> &curve, double time,
                      std::int64_t memory) {
  if (curve.back().time == time)
    curve.pop_back();
  if (curve.empty() || curve.back().memory != memory)
    curve.push_back({time, memory});
}

/// By step: by how much offloads change the memory before it, and when.
static std::vector<MemoryPoint> offloadedBefore(const Problem &problem,
                                                const Schedule &schedule,
                                                const Simulation &simulation,
                                                int stage) {
  std::vector<MemoryPoint> changes(schedule.stages[stage].size(), {0, 0});
  if (schedule.offloads.empty())
    return changes;
  const std::vector<Offload> &offloads = schedule.offloads[stage];
  for (std::size_t i = 0; i < offloads.size(); ++i) {
    const OffloadTimes &times = simulation.offloads[stage][i];
    std::int64_t memory = problem.chunks[offloads[i].chunk].offloadMemory;
    MemoryPoint &leaves = changes[offloads[i].leaves];
    leaves = {times.left, leaves.memory - memory};
    MemoryPoint &returns = changes[offloads[i].returns];
    returns = {times.returned, returns.memory + memory};
  }
  return changes;
}

std::vector<MemoryPoint>
veeline::schedule::memoryCurve(const Problem &problem, const Schedule &schedule,
                               const Simulation &simulation, int stage) {
  const std::vector<Op> &ops = schedule.stages[stage];
  std::vector<MemoryPoint> curve{{0, 0}};
  BlockCursor blocks(schedule);
  std::vector<MemoryPoint> offloaded =
      offloadedBefore(problem, schedule, simulation, stage);
  std::int64_t held = 0;
  for (int step = 0, e = ops.size(); step < e;) {
    int last = step + blocks.sizeAt(stage, step);
    if (offloaded[step].memory != 0)
      setMemory(curve, offloaded[step].time, held += offloaded[step].memory);
    std::int64_t added = 0, after = held;
    for (int i = step; i < last; ++i) {
      std::int64_t change = problem.chunks[ops[i].chunk].memory(ops[i].kind);
      added += std::max<std::int64_t>(change, 0);
      after += change;
    }
    setMemory(curve, simulation.start[stage][step], held + added);
    setMemory(curve, simulation.end[stage][step], after);
    held = after;
    step = last;
  }
  return curve;
}

Expected<Solution> veeline::schedule::solve(Problem problem,
                                            Schedule schedule) {
  if (Status status = verify(problem, schedule); !status)
    return status.takeError();
  Expected<Simulation> simulation = simulate(problem, schedule);
  if (!simulation)
    return simulation.takeError();
  return Solution{std::move(problem), std::move(schedule),
                  std::move(*simulation)};
}
