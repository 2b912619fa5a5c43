//===- EagerOneForwardOneBackward.cpp - 1F1B that hides transfers ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Zhuang et al., On Optimizing the Communication of Model Parallelism (2022),
// arXiv:2211.05322, there eager-1F1B. 1F1B in which stage s runs 2(p-s)-1
// forwards (at most m) before its first backward, so that a forward arrives
// long before its stage takes it, and one forward transfer a step is hidden.
// p = 3, m = 6:
//
//   stage 0: F0 F1 F2 F3 F4 BW0 F5  BW1 .  BW2 .   BW3 .   BW4 .   BW5
//   stage 1:    F0 F1 F2 BW0 F3 BW1 F4 BW2 F5  BW3 .   BW4 .   BW5
//   stage 2:       F0 BW0 F1 BW1 F2 BW2 F3 BW3 F4 BW4 F5  BW5
//
// The bubble is (p-1)/(m+p-1) with free transfers and B + W >= F. Stage s holds
// at most 2(p-s)-1 activations.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "Orders.h"

using namespace veeline::schedule;

Expected<Schedule> veeline::schedule::generateEagerOneForwardOneBackward(
    const Problem &problem, const GeneratorOptions &) {
  return oneForwardOneBackwardSchedule("eager-1f1b", problem, [&](int stage) {
    return 2 * (problem.stages() - stage) - 1;
  });
}
