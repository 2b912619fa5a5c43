//===- LossWeights.h - weights of microbatches ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_LOSSWEIGHTS_H
#define VEELINE_RUNTIME_TRAIN_LOSSWEIGHTS_H

#include "Session.h"

namespace veeline::train {

/// What an artifact calls the program that weighs microbatches.
inline constexpr const char *weightsProgram = "weights";

/// Fails unless all `weights`, which result Metadata::lossWeight has for the
/// microbatches of a step, are finite and not negative.
Status checkWeights(const artifact::Metadata &metadata,
                    std::span<const double> weights);

/// Weighs the microbatches of an artifact that has Metadata::lossWeight. Each
/// process does so for those of all replicas, from the data, and so gets the
/// same numbers as the others without a message.
class LossWeights {
public:
  /// `run` outlives it.
  static Expected<std::unique_ptr<LossWeights>> create(Run &run);

  /// What the losses of all microbatches of a step are multiplied by, so that
  /// their mean, and that of gradients, is the sum over i of n_i loss_i,
  /// divided by the sum of n: n_i over the mean of n, and 0 where all n are 0.
  /// Valid until the next call.
  Expected<std::span<const double>> ofStep(int64_t step);

private:
  explicit LossWeights(Run &run) : run(run) {}
  Status weigh(int64_t step);

  Run &run;
  std::unique_ptr<Session> session;
  std::vector<double> weights; ///< Of step `current`.
  int64_t current = 0;
  StepResult result; ///< Reused, so that no step allocates.
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_LOSSWEIGHTS_H
