//===- Verify.h - verification of a pipeline --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_VERIFY_H
#define VEELINE_RUNTIME_TRAIN_VERIFY_H

#include "Session.h"

namespace veeline::train {

/// Runs the steps of the options' program and of "sequential", the same chunks
/// one after the other, and compares losses, accumulators and, at the end,
/// parameters bit by bit. If the artifact has "reference", also compares each
/// step's loss and gradients, from the same parameters, with those of it:
/// ||a - b|| / ||b|| <= 1e-5 (f32) or 1e-12 (f64) per tensor. Prints a table.
/// Fails with the first difference.
Status verify(Run &run);

/// What a step of a run is compared by.
struct TrainedStep {
  std::vector<double> losses; ///< By microbatch.
  Clip clip;
};

/// Runs as many steps of "sequential" and fails if a loss differs or, at the
/// end, a parameter from `trained`.
Status compareWithSequential(Run &run, const Session &trained,
                             const std::vector<TrainedStep> &steps);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_VERIFY_H
