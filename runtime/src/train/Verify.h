//===- Verify.h - verification of a pipeline --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_VERIFY_H
#define VEELINE_RUNTIME_TRAIN_VERIFY_H

#include "Session.h"

namespace veeline::train {

/// Runs the steps of the options' program and of "sequential", which runs the
/// same chunks one after the other. Compares losses, accumulators and, at the
/// end, parameters bit by bit.
///
/// If the artifact has "reference", also compares each step's loss and
/// gradients with its own, from the same parameters: ||a - b|| / ||b|| <= 1e-5
/// (f32) or 1e-12 (f64) per tensor. Prints a table. Fails with the first
/// difference.
Status verify(Run &run);

/// The results by which a step of a run is compared.
struct TrainedStep {
  std::vector<double> losses; ///< By microbatch.
  Clip clip;
};

/// Runs the same steps of "sequential". Fails if a loss differs from `steps`
/// or, at the end, a parameter differs from `trained`.
Status compareWithSequential(Run &run, const Session &trained,
                             const std::vector<TrainedStep> &steps);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_VERIFY_H
