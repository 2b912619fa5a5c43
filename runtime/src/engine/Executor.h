//===- Executor.h - a loaded program that can run ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of a backend for the trainer. It runs steps, and gives access
// to arenas between steps. The conformance suite (runtime/cts) tests this
// interface and the C ABI that the steps call.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_EXECUTOR_H
#define VEELINE_RUNTIME_ENGINE_EXECUTOR_H

#include "veeline/artifact.h"
#include "veeline/status.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace veeline {

/// The settings of the optimiser that a parameter has of its own.
struct ParamRates {
  double scale = 1; ///< For the learning rate.
  /// The weight decay of the parameter, whatever its rank. If it is not given,
  /// that of the step applies.
  std::optional<double> weightDecay;

  bool operator==(const ParamRates &) const = default;
};

/// The settings of the optimiser in one step.
struct StepSettings {
  int64_t step = 1; ///< Counts updates, from 1 (bias correction).
  double learningRate = 1e-3;
  double beta1 = 0.9; ///< For Adam and Lion; the momentum of SGD.
  double muonMomentum = 0.95;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  /// Weight decay is decoupled, except for Adam. It applies only to parameters
  /// of rank 2 and more, so that biases and norms keep their scale.
  double weightDecay = 0;
  /// The rates of all parameters of the model; null if no parameter has rates
  /// of its own.
  std::shared_ptr<const std::vector<ParamRates>> ofParams = nullptr;
  /// The factor of error feedback: an update is corrected by this times its
  /// difference from the update before. For artifacts with error feedback.
  double errorFeedback = 1;
  /// The limits of each element of the averaged gradients, and of the norm of
  /// all gradients. The norm is known if the program has a Program::clipSync.
  double clipValue = std::numeric_limits<double>::infinity();
  /// Whether `clipValue` also limits infinite elements. It does not if they
  /// indicate that a loss scale is too large.
  bool limitsInfinite = true;
  double clipNorm = std::numeric_limits<double>::infinity();
  /// Whether parameters stay as they are if that norm is infinite or NaN.
  bool skipNonFinite = false;
  /// The factor by which compiled code multiplies the loss, a power of two.
  /// Updates and results are divided by it.
  double lossScale = 1;

  bool needsNorm() const { return std::isfinite(clipNorm) || skipNonFinite; }
};

/// The outcome of clipping: what a step does with its gradients.
struct Clip {
  /// The norm of all gradients, after elements are limited.
  double norm = 0;
  double factor = 1;  ///< Updates multiply gradients by it.
  bool skips = false; ///< No parameter is updated.

  /// Whether updates are right that were made without the norm of all
  /// gradients.
  bool isNone() const { return factor == 1 && !skips; }
};

struct StepResult {
  /// The results as reported, [result][microbatch], the loss without its scale.
  /// A double represents f32 values exactly.
  std::vector<double> results;
  /// The norm of the averaged gradient over all parameters, after elements are
  /// limited, and before `clip` and the update.
  double gradientNorm = 0;
  Clip clip;
};

class Executor {
public:
  virtual ~Executor() = default;

  /// The number of steps that may be begun and not yet finished. With more than
  /// one, a rank continues with the next step before other ranks have ended the
  /// last one.
  virtual int32_t maxStepsInFlight() const { return 1; }

  /// Begins a step on all ranks. `inputs` has a pointer for each batch argument
  /// (the microbatches of all replicas of this process one after the other),
  /// then one for each buffer. If lengths vary, a pointer to an int64_t for
  /// each microbatch follows. The data must not change until the step is
  /// finished.
  virtual Status begin(const void *const *inputs,
                       const StepSettings &settings) = 0;

  /// Waits for the oldest step that was begun and is not finished. After a
  /// failure, the executor runs no more steps, and none is under way.
  virtual Status finish(StepResult &result) = 0;

  /// Copies between a rank's arena and host memory, while no step is under way.
  virtual Status write(int32_t rank, int64_t offset, const void *source,
                       int64_t bytes) = 0;
  virtual Status read(int32_t rank, int64_t offset, void *target,
                      int64_t bytes) = 0;
};

/// The mean of a result in a step: the sum in the order of microbatches,
/// divided by the number of microbatches.
inline double meanOfResult(const StepResult &result, size_t index,
                           int32_t microbatches) {
  double sum = 0;
  for (int32_t i = 0; i < microbatches; ++i)
    sum += result.results[index * microbatches + i];
  return sum / microbatches;
}

} // namespace veeline

#endif // VEELINE_RUNTIME_ENGINE_EXECUTOR_H
