//===- Sequential.cpp - one microbatch at a time --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A naive pipeline: every microbatch goes forward through all chunks and
// backward through all of them before the next one starts. It needs the least
// memory of all schedules and works on every placement. It is the reference
// whose bits the others have to reproduce.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"

using namespace veeline::schedule;

Expected<Schedule>
veeline::schedule::generateSequential(const Problem &problem,
                                      const GeneratorOptions &) {
  const Placement &placement = problem.placement;
  int v = placement.chunksPerStage();
  Schedule schedule{"sequential", {}};
  schedule.stages.resize(placement.stages());
  for (int stage = 0; stage < placement.stages(); ++stage) {
    std::vector<Op> &ops = schedule.stages[stage];
    ops.reserve(std::size_t(2) * v * problem.microbatches);
    for (int microbatch = 0; microbatch < problem.microbatches; ++microbatch) {
      for (int local = 0; local < v; ++local)
        ops.push_back(
            {OpKind::Forward, placement.globalChunk(stage, local), microbatch});
      for (int local = v - 1; local >= 0; --local)
        ops.push_back({OpKind::Backward, placement.globalChunk(stage, local),
                       microbatch});
    }
  }
  return schedule;
}
