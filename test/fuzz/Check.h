//===- Check.h - runs a compiled model in every way -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_CHECK_H
#define VEELINE_TEST_FUZZ_CHECK_H

#include "veeline/artifact.h"

namespace veeline::fuzz {

struct CheckCounts {
  int64_t programs = 0;
  /// The programs of these that were compiled within memory limits, and those
  /// that run forwards alone.
  int64_t limited = 0, forwards = 0;
  /// Elements of gradients that were compared with finite differences, and
  /// those that were not because the difference depends on its step: at a kink.
  int64_t differences = 0, kinks = 0;
  /// Models that ran as on a GPU, and how often they were trained.
  int64_t devicePrograms = 0, deviceRuns = 0;
  /// Programs of joint graphs whose gradients are equal but for rounding: they
  /// are summed in another order.
  int64_t regrouped = 0;

  CheckCounts &operator+=(const CheckCounts &other);
};

/// Runs two steps of every program of `artifact` on random data. Losses, every
/// accumulator and every parameter after the update must equal those of the
/// program "sequential" bit by bit; those of forwards alone have the results of
/// its first step, twice. In f64, some elements of each parameter's
/// gradient are also compared with fourth-order central differences of the
/// losses, to a relative error of 1e-6. Fails with the first disagreement.
/// Where the other programs come from a `joint` graph, gradients may also be
/// equal to rounding, summed over the chunks that use a parameter: chunks may
/// share such a sum otherwise. What follows from it is not compared then.
Expected<CheckCounts> checkModel(const artifact::Artifact &artifact,
                                 uint64_t seed, bool joint = false);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_CHECK_H
