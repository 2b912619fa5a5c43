//===- GPipe.cpp - all forwards, then all backwards -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Huang et al., GPipe: Efficient Training of Giant Neural Networks using
// Pipeline Parallelism (2019). p = 3, m = 4:
//
//   stage 0: F0 F1 F2 F3 .  .  .  .   .   .   .   BW0 BW1 BW2 BW3
//   stage 1:    F0 F1 F2 F3 .  .  .   BW0 BW1 BW2 BW3
//   stage 2:       F0 F1 F2 F3 BW0 BW1 BW2 BW3
//
// Backwards run first in, first out, as every synchronous schedule here, so
// that gradients are summed in the same order. Bubble (p-1)/(m+p-1); every
// stage holds m activations.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"

using namespace veeline::schedule;

Expected<Schedule> veeline::schedule::generateGPipe(const Problem &problem,
                                                    const GeneratorOptions &) {
  int m = problem.microbatches;
  Schedule schedule{"gpipe", {}};
  schedule.stages.resize(problem.stages());
  for (int stage = 0; stage < problem.stages(); ++stage) {
    int chunk = problem.placement.globalChunk(stage, 0);
    std::vector<Op> &ops = schedule.stages[stage];
    ops.reserve(std::size_t(2) * m);
    for (OpKind kind : {OpKind::Forward, OpKind::Backward})
      for (int microbatch = 0; microbatch < m; ++microbatch)
        ops.push_back({kind, chunk, microbatch});
  }
  return schedule;
}
