//===- PipeDream.cpp - 1F1B without a flush -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN
// Training (2019), arXiv:1806.03377. Stage s starts with p-s forwards, then
// runs one backward and one forward in turn forever. Weights are updated after
// every backward, and for every minibatch between its F and its B a stage keeps
// the weights that F used: p-s versions on stage s (`weightVersions`).
//
// If the steps of the problem do not wait for updates, the schedule is a turn
// of m minibatches (`turnOf`, Asynchronous.h). Otherwise it is a window of
// them, from an empty pipeline to an empty one, whose order is that of 1f1b.
// p = 3, m = 6:
//
//   stage 0: F0 F1 F2 .   .   BW0 F3  BW1 F4  BW2 F5  BW3 .   BW4 .   BW5
//   stage 1:    F0 F1 .   BW0 F2  BW1 F3  BW2 F4  BW3 F5  BW4 .   BW5
//   stage 2:       F0 BW0 F1  BW1 F2  BW2 F3  BW3 F4  BW4 F5  BW5
//
// In the steady state, without a flush, there is no bubble with equal chunks
// and free transfers. `steadyState` (Asynchronous.h) computes it for other
// costs.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "Orders.h"
#include "veeline/Schedule/Asynchronous.h"

using namespace veeline::schedule;

Expected<Schedule>
veeline::schedule::generatePipeDream(const Problem &problem,
                                     const GeneratorOptions &) {
  if (problem.updates != UpdateSemantics::Synchronous)
    return turnOf(problem, "pipedream");
  return oneForwardOneBackwardSchedule("pipedream", problem, [&](int stage) {
    return problem.stages() - stage;
  });
}
