//===- LoopedBreadthFirst.cpp - breadth-first pipeline --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lamy-Poirier, Breadth-First Pipeline Parallelism (2022), arXiv:2211.05953.
// With chunk k on stage k mod p, a stage runs all microbatches through its
// first chunk, then all through its second, and so on; then all backwards, with
// chunks in descending order. p = 2, v = 2, m = 3:
//
//   stage 0: 0F0 0F1 0F2 2F0 2F1 2F2 .   .    2BW0 2BW1 2BW2 0BW0 0BW1 0BW2
//   stage 1:     1F0 1F1 1F2 3F0 3F1 3F2 3BW0 3BW1 3BW2 1BW0 1BW1 1BW2
//
// The gradients of a chunk are complete early, so that their reduction over
// replicas overlaps with the chunks that follow. The bubble is
// 1 - vm/((v-1)·max(m, p) + m + p - 1), which is (p-1)/(vm+p-1) for m >= p.
// Every stage holds m activations.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"

using namespace veeline::schedule;

Expected<Schedule>
veeline::schedule::generateLoopedBreadthFirst(const Problem &problem,
                                              const GeneratorOptions &) {
  int v = problem.chunksPerStage(), m = problem.microbatches;
  Schedule schedule{"looped-bfs", {}};
  schedule.stages.resize(problem.stages());
  for (int stage = 0; stage < problem.stages(); ++stage) {
    std::vector<Op> &ops = schedule.stages[stage];
    ops.reserve(std::size_t(2) * v * m);
    auto append = [&](OpKind kind, int local) {
      int chunk = problem.placement.globalChunk(stage, local);
      for (int microbatch = 0; microbatch < m; ++microbatch)
        ops.push_back({kind, chunk, microbatch});
    };
    for (int local = 0; local < v; ++local)
      append(OpKind::Forward, local);
    for (int local = v - 1; local >= 0; --local)
      append(OpKind::Backward, local);
  }
  return schedule;
}
