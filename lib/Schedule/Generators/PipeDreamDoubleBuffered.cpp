//===- PipeDreamDoubleBuffered.cpp - PipeDream-2BW ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training (2021),
// arXiv:2006.09503. The order is that of `pipedream`, a turn or a window of m
// microbatches. Gradients of p microbatches are summed before an update, and
// microbatch i uses version max(floor(i/p) - 1, 0) of the weights. When a
// version is made, all microbatches that use the version before the last have
// left, so every stage keeps two versions. p = 2, m = 6, version in brackets:
//
//   stage 0: F0[0] F1[0] BW0[0] F2[0] BW1[0] F3[0] BW2[0] F4[1] BW3[0] F5[1] ..
//   stage 1: F0[0] BW0[0] F1[0] BW1[0] F2[0] BW2[0] F3[0] BW3[0] F4[1] ..
//
// In the steady state there is no bubble with equal chunks and free transfers.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "Orders.h"
#include "veeline/Schedule/Asynchronous.h"

using namespace veeline::schedule;

Expected<Schedule>
veeline::schedule::generatePipeDreamDoubleBuffered(const Problem &problem,
                                                   const GeneratorOptions &) {
  if (problem.updates != UpdateSemantics::Synchronous)
    return turnOf(problem, "pipedream-2bw");
  return oneForwardOneBackwardSchedule(
      "pipedream-2bw", problem,
      [&](int stage) { return problem.stages() - stage; });
}
