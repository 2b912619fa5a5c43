//===- ZeroBubbleH1.cpp - ZB-H1, a handcrafted schedule -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qi et al., Zero Bubble Pipeline Parallelism (2023), arXiv:2401.10241, section
// 2: 1F1B with a split backward. Stage s runs F and B as 1F1B does and each W s
// microbatches after its B, so that every stage holds as much as the first one.
// p = 4, m = 6:
//
//   stage 0: F0 F1 F2 F3 .  .  .  B0 W0 F4 B1 W1 F5 B2 W2 B3 W3 B4 W4 B5 W5
//   stage 1:    F0 F1 F2 .  .  B0 F3 B1 W0 F4 B2 W1 F5 B3 W2 B4 W3 B5 W4 W5
//   stage 2:       F0 F1 .  B0 F2 B1 F3 B2 W0 F4 B3 W1 F5 B4 W2 B5 W3 W4 W5
//   stage 3:          F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 F5 B5 W2 W3 W4 W5
//
// Every stage holds at most p activations. Bubble
// (p-1)(F+B-W)/(m(F+B+W) + (p-1)(F+B-W)) for equal chunks, free transfers,
// m >= p and W <= min(F, B): a third of 1F1B's where F = B = W.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "Orders.h"

#include <algorithm>

using namespace veeline::schedule;

Expected<Schedule>
veeline::schedule::generateZeroBubbleH1(const Problem &problem,
                                        const GeneratorOptions &) {
  int p = problem.stages(), m = problem.microbatches;
  Schedule schedule{"zb-h1", {}};
  for (int stage = 0; stage < p; ++stage) {
    SplitOrder order(problem, stage);
    int ahead = std::min(p - stage, m);
    for (int i = 0; i < ahead; ++i)
      order.forward();
    for (int i = 0; i < m; ++i) {
      order.backwardInput();
      if (i >= stage)
        order.backwardWeight();
      if (i + ahead < m)
        order.forward();
    }
    schedule.stages.push_back(order.finish());
  }
  return schedule;
}
