//===- InterleavedRemainder.cpp - VPP with a short last group -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The other extension of interleaved 1F1B (Narayanan et al. 2021,
// arXiv:2104.04473) to a number of microbatches that p does not divide. The
// remainder m mod p is a group of its own, which changes chunk every m mod p
// steps. The warm-up is still 2(p-s-1) + (v-1)p, or all forwards if there are
// fewer. p = 2, v = 2, m = 3:
//
//   stage 0: 0F0 0F1 2F0 2F1 0F2 2BW0 2F2 2BW1 0BW0 0BW1 2BW2 0BW2
//   stage 1: 1F0 1F1 3F0 3BW0 3F1 3BW1 1F2 1BW0 3F2 1BW1 3BW2 1BW2
//
// If p divides m, it is the same as `interleaved-1f1b`. Otherwise stages may
// wait for each other in a cycle. For example, with p = 5, v = 2, m = 7, the
// last stage runs the backward of microbatch 0 before the forward of microbatch
// 6 through its first chunk; the first stage runs them, one chunk later, in the
// opposite order. Whether this happens is determined by executing the order.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "Orders.h"

using namespace veeline::schedule;

/// Adds what the user can do to the error about an order that deadlocks.
static Error deadlocks(const Problem &problem, Error error) {
  int p = problem.stages(), m = problem.microbatches;
  error.kind = ErrorKind::NotApplicable;
  error.message =
      "interleaved-1f1b-remainder deadlocks with " + std::to_string(p) +
      " stages of " + std::to_string(problem.chunksPerStage()) +
      " chunks and " + std::to_string(m) +
      " microbatches; interleaved-1f1b takes any number of them, and this "
      "schedule every multiple of " +
      std::to_string(p) + "; " + error.message;
  return error;
}

Expected<Schedule>
veeline::schedule::generateInterleavedRemainder(const Problem &problem,
                                                const GeneratorOptions &) {
  int p = problem.stages(), m = problem.microbatches;
  std::vector<int> groups(m / p, p);
  if (m % p > 0)
    groups.push_back(m % p);
  Schedule schedule =
      interleavedSchedule("interleaved-1f1b-remainder", problem, groups, p);
  Status status = verify(problem, schedule);
  if (!status && status.error().kind == ErrorKind::Deadlock)
    return deadlocks(problem, status.takeError());
  return schedule;
}
