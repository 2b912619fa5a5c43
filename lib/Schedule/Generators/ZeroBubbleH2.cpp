//===- ZeroBubbleH2.cpp - ZB-H2, a handcrafted schedule -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qi et al., Zero Bubble Pipeline Parallelism (2023), arXiv:2401.10241, section
// 2. Stage s runs 2(p-s)-1 forwards before its first B, as many as fill the
// time until that comes back, then B W F in turn. The end mirrors the
// beginning: stage s leaves 2s W out, beginning after B of microbatch m-2p+1,
// and runs 2s+1 of them after its last B, so that the last gradients come back
// to stage 0 without a gap. p = 3, m = 6:
//
//   stage 0: F0 F1 F2 F3 F4 B0 W0 F5 B1 W1 B2 W2 B3 W3 B4 W4 B5 W5
//   stage 1:    F0 F1 F2 B0 W0 F3 B1 F4 B2 F5 B3 W1 B4 W2 B5 W3 W4 W5
//   stage 2:       F0 B0 W0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 W1 W2 W3 W4 W5
//
// Every stage holds at most 2p-1 activations. For equal chunks, free transfers,
// m >= 2p-1 and W <= min(F, B) the bubble of span is
// (p-1)(F+B-2W)/(m(F+B+W) + (p-1)(F+B-2W)), which is 0 if F = B = W. For the
// makespan, F takes the place of F+B-2W if it is greater.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "Orders.h"

#include <algorithm>

using namespace veeline::schedule;

Expected<Schedule>
veeline::schedule::generateZeroBubbleH2(const Problem &problem,
                                        const GeneratorOptions &) {
  int p = problem.stages(), m = problem.microbatches;
  Schedule schedule{"zb-h2", {}};
  for (int stage = 0; stage < p; ++stage) {
    SplitOrder order(problem, stage);
    int ahead = std::min(2 * (p - stage) - 1, m);
    for (int i = 0; i < ahead; ++i)
      order.forward();
    int firstLeftOut = m - 2 * p + 1;
    for (int i = 0; i < m; ++i) {
      order.backwardInput();
      if (i < firstLeftOut || i >= firstLeftOut + 2 * stage)
        order.backwardWeight();
      if (i + ahead < m)
        order.forward();
    }
    schedule.stages.push_back(order.finish());
  }
  return schedule;
}
