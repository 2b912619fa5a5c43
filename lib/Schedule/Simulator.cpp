//===- Simulator.cpp - predicted times and memory of a schedule -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Simulator.h"

#include "Execution.h"

#include <algorithm>

using namespace veeline::schedule;

static StageStatistics summarize(const Problem &problem,
                                 const std::vector<Op> &ops,
                                 const Execution &execution, int stage,
                                 std::vector<std::int64_t> &memory) {
  StageStatistics result;
  std::int64_t held = 0;
  memory.reserve(ops.size());
  for (const Op &op : ops) {
    const Chunk &chunk = problem.chunks[op.chunk];
    result.busy += chunk.cost(op.kind);
    held += chunk.memory(op.kind);
    result.peakMemory = std::max(result.peakMemory, held);
    memory.push_back(held);
  }
  result.firstStart = execution.start[stage].front();
  result.lastEnd = execution.end[stage].back();
  return result;
}

/// 1 - busy / time; 0 where nothing takes time.
static double bubble(double busy, double time) {
  return time > 0 ? std::max(0.0, 1 - busy / time) : 0;
}

Expected<Simulation> veeline::schedule::simulate(const Problem &problem,
                                                 const Schedule &schedule) {
  Expected<OpIndex> index = OpIndex::build(problem, schedule);
  if (!index)
    return index.takeError();
  Expected<Execution> execution =
      execute(problem, Flow(problem), schedule, *index);
  if (!execution)
    return execution.takeError();

  Simulation result;
  result.memory.resize(problem.stages());
  for (int stage = 0; stage < problem.stages(); ++stage) {
    result.stages.push_back(summarize(problem, schedule.stages[stage],
                                      *execution, stage, result.memory[stage]));
    result.makespan = std::max(result.makespan, result.stages[stage].lastEnd);
  }
  for (const StageStatistics &stage : result.stages) {
    result.bubbleMakespan =
        std::max(result.bubbleMakespan, bubble(stage.busy, result.makespan));
    result.bubbleSpan =
        std::max(result.bubbleSpan,
                 bubble(stage.busy, stage.lastEnd - stage.firstStart));
  }
  result.start = std::move(execution->start);
  result.end = std::move(execution->end);
  return result;
}
