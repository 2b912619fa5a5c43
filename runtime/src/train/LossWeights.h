//===- LossWeights.h - weights of microbatches ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_LOSSWEIGHTS_H
#define VEELINE_RUNTIME_TRAIN_LOSSWEIGHTS_H

#include "Session.h"

namespace veeline::train {

/// The name of the program of an artifact that weights microbatches.
inline constexpr const char *weightsProgram = "weights";

/// Checks that all `weights` are finite and not negative. They are the values
/// of result Metadata::lossWeight for the microbatches of a step.
Status checkWeights(const artifact::Metadata &metadata,
                    std::span<const double> weights);

/// Computes the weights of microbatches for an artifact that has
/// Metadata::lossWeight. Each process computes them for all replicas, from the
/// data, so all get the same numbers without a message.
class LossWeights {
public:
  /// `run` outlives this object.
  static Expected<std::unique_ptr<LossWeights>> create(Run &run);

  /// Returns the factors of the losses of all microbatches of a step. With
  /// them, the mean of the losses, and that of gradients, is the sum over i of
  /// n_i loss_i, divided by the sum of n. The factor is n_i divided by the mean
  /// of n, or 0 if all n are 0. Valid until the next call.
  Expected<std::span<const double>> ofStep(int64_t step);

private:
  explicit LossWeights(Run &run) : run(run) {}
  Status weigh(int64_t step);

  Run &run;
  std::unique_ptr<Session> session;
  std::vector<double> weights; ///< Those of step `current`.
  int64_t current = 0;
  StepResult result; ///< Reused, so that no step allocates.
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_LOSSWEIGHTS_H
