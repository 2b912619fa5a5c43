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
  /// Those of them that have less memory than they like.
  int64_t limited = 0;
  /// Elements of gradients that were compared with differences, and those that
  /// were not because the difference depends on its step: at a kink.
  int64_t differences = 0, kinks = 0;

  CheckCounts &operator+=(const CheckCounts &other);
};

/// Runs two steps of every program of `artifact` on random data: losses, every
/// accumulator and every parameter after the update have to equal those of the
/// program "sequential" bit by bit. Of a model in f64 some elements of each
/// parameter's gradient are compared with fourth-order central differences of
/// the losses, relative error 1e-6. Fails with the first disagreement.
Expected<CheckCounts> checkModel(const artifact::Artifact &artifact,
                                 uint64_t seed);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_CHECK_H
