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
#include "Orders.h"

using namespace veeline::schedule;

Expected<Schedule>
veeline::schedule::generateOneForwardOneBackward(const Problem &problem,
                                                 const GeneratorOptions &) {
  return oneForwardOneBackwardSchedule(
      "1f1b", problem, [&](int stage) { return problem.stages() - stage; });
}
