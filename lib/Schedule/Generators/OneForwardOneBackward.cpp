//===- OneForwardOneBackward.cpp - 1F1B with a flush ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training (2021),
// there PipeDream-flush; known as 1F1B. Stage s runs p-1-s forwards to warm up,
// then one forward and one backward in turn, then the backwards that are left.
// p = 3, m = 4:
//
//   stage 0: F0 F1 F2 .   .   BW0 F3  BW1 .   BW2 .   BW3
//   stage 1:    F0 F1 .   BW0 F2  BW1 F3  BW2 .   BW3
//   stage 2:       F0 BW0 F1  BW1 F2  BW2 F3  BW3
//
// Bubble (p-1)/(m+p-1) as of GPipe, but stage s holds at most p-s activations.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"

#include <algorithm>

using namespace veeline::schedule;

Expected<Schedule>
veeline::schedule::generateOneForwardOneBackward(const Problem &problem,
                                                 const GeneratorOptions &) {
  int p = problem.stages(), m = problem.microbatches;
  Schedule schedule{"1f1b", {}};
  schedule.stages.resize(p);
  for (int stage = 0; stage < p; ++stage) {
    int chunk = problem.placement.globalChunk(stage, 0);
    int warmUp = std::min(p - 1 - stage, m);
    std::vector<Op> &ops = schedule.stages[stage];
    ops.reserve(std::size_t(2) * m);
    for (int i = 0; i < warmUp; ++i)
      ops.push_back({OpKind::Forward, chunk, i});
    for (int i = warmUp; i < m; ++i) {
      ops.push_back({OpKind::Forward, chunk, i});
      ops.push_back({OpKind::Backward, chunk, i - warmUp});
    }
    for (int i = m - warmUp; i < m; ++i)
      ops.push_back({OpKind::Backward, chunk, i});
  }
  return schedule;
}
