//===- InterleavedOneForwardOneBackward.cpp - VPP -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narayanan et al., Efficient Large-Scale Language Model Training on GPU
// Clusters Using Megatron-LM (2021), arXiv:2104.04473. With chunk k on stage
// k mod p, a stage takes microbatches in groups of p: the group goes through
// its first chunk, then its second, and so on; backwards the same with chunks
// in descending order. Stage s warms up with 2(p-s-1) + (v-1)p forwards (at
// most all), then alternates one forward and one backward. p = 2, v = 2, m = 2:
//
//   stage 0: 0F0 0F1 2F0 2F1 .    2BW0 .    2BW1 0BW0 .    0BW1
//   stage 1:     1F0 1F1 3F0 3BW0 3F1  3BW1 1BW0 .    1BW1
//
// The bubble is (p-1)/(vm+p-1) if p divides m. Otherwise the remainder m mod p
// joins the last group, and the warm-up is 2(p-s-1) + (v-1)·g, where g is the
// size of that group. These are the forwards that a stage needs before the
// first backward of a group can reach it. If m < p, the only group has m
// microbatches, every stage waits for p-m more at each change of chunk, and the
// bubble is 1 - vm/(vp+m-1).
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "Orders.h"
#include "veeline/Base/Numbers.h"

using namespace veeline::schedule;

/// The bubble with equal chunks and free transfers, for m <= p microbatches.
static std::string bubbleOf(int p, int v, int m) {
  return veeline::formatted("%.4f",
                            1 - double(v) * m / (double(v) * p + m - 1));
}

static std::string costOfFew(int p, int v, int m) {
  return std::to_string(m) +
         (m == 1 ? " microbatch is fewer" : " microbatches are fewer") +
         " than the " + std::to_string(p) +
         " stages, so every stage waits at each change of chunk; with equal "
         "chunks and free transfers the bubble is " +
         bubbleOf(p, v, m) + ", with " + std::to_string(p) +
         " microbatches it is " + bubbleOf(p, v, p);
}

Expected<Schedule> veeline::schedule::generateInterleavedOneForwardOneBackward(
    const Problem &problem, const GeneratorOptions &) {
  int p = problem.stages(), v = problem.chunksPerStage();
  int m = problem.microbatches;
  std::vector<int> groups = groupsOf(p, m);
  Schedule schedule =
      interleavedSchedule("interleaved-1f1b", problem, groups, groups.back());
  if (m < p)
    schedule.warnings.push_back(costOfFew(p, v, m));
  return schedule;
}
