//===- InterleavedOneForwardOneBackward.cpp - VPP -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narayanan et al., Efficient Large-Scale Language Model Training on GPU
// Clusters Using Megatron-LM (2021). With chunk k on stage k mod p, a stage
// takes microbatches in groups of p: the group goes through its first chunk,
// then its second, and so on; backwards the same with chunks in descending
// order. Stage s warms up with 2(p-s-1) + (v-1)p forwards (at most all), then
// alternates one forward and one backward. p = 2, v = 2, m = 2:
//
//   stage 0: 0F0 0F1 2F0 2F1 .    2BW0 .    2BW1 0BW0 .    0BW1
//   stage 1:     1F0 1F1 3F0 3BW0 3F1  3BW1 1BW0 .    1BW1
//
// Bubble (p-1)/(vm+p-1).
//
//===----------------------------------------------------------------------===//

#include "Generators.h"

#include <algorithm>

using namespace veeline::schedule;

/// Microbatches below and above m that p divides, for the message.
static Error notAMultiple(int p, int m) {
  int below = m / p * p, above = below + p;
  std::string nearest =
      std::to_string(below > 0 && m - below <= above - m ? below : above);
  return Error{ErrorKind::NotApplicable,
               "interleaved-1f1b needs a number of microbatches that is a "
               "multiple of the " +
                   std::to_string(p) + " stages, not " + std::to_string(m) +
                   "; the nearest is " + nearest};
}

Expected<Schedule> veeline::schedule::generateInterleavedOneForwardOneBackward(
    const Problem &problem, const GeneratorOptions &) {
  int p = problem.stages(), v = problem.chunksPerStage();
  int m = problem.microbatches;
  if (m % p != 0)
    return notAMultiple(p, m);

  Schedule schedule{"interleaved-1f1b", {}};
  schedule.stages.resize(p);
  int total = v * m;
  for (int stage = 0; stage < p; ++stage) {
    std::vector<Op> &ops = schedule.stages[stage];
    ops.reserve(std::size_t(2) * total);
    // The n-th forward (backward) of the stage.
    auto append = [&](OpKind kind, int n) {
      int local = n / p % v;
      if (kind == OpKind::Backward)
        local = v - 1 - local;
      ops.push_back({kind, problem.placement.globalChunk(stage, local),
                     n / (p * v) * p + n % p});
    };
    int warmUp = std::min(2 * (p - stage - 1) + (v - 1) * p, total);
    for (int n = 0; n < warmUp; ++n)
      append(OpKind::Forward, n);
    for (int n = warmUp; n < total; ++n) {
      append(OpKind::Forward, n);
      append(OpKind::Backward, n - warmUp);
    }
    for (int n = total - warmUp; n < total; ++n)
      append(OpKind::Backward, n);
  }
  return schedule;
}
