//===- Executor.h - a loaded program that can run ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of a backend for the trainer: it runs steps, and gives access
// to arenas between them. The conformance suite (runtime/cts) tests this
// interface, and the C ABI that the steps call.
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

/// What the optimiser's numbers are for one parameter.
struct ParamRates {
  double scale = 1; ///< Of the learning rate.
  /// Of a parameter of any rank; not given: that of the step.
  std::optional<double> weightDecay;

  bool operator==(const ParamRates &) const = default;
};

/// The optimiser's numbers for one step.
struct StepSettings {
  int64_t step = 1; ///< Counts updates, from 1 (bias correction).
  double learningRate = 1e-3;
  double beta1 = 0.9; ///< Adam and Lion; momentum of SGD.
  double muonMomentum = 0.95;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  /// Decoupled, but for Adam's; only for parameters of rank 2 and more, so that
  /// biases and norms keep their scale.
  double weightDecay = 0;
  /// Of all parameters of the model; null: none has numbers of its own.
  std::shared_ptr<const std::vector<ParamRates>> ofParams = nullptr;
  /// What an update corrects itself by, times its difference from the one
  /// before; for artifacts with error feedback.
  double errorFeedback = 1;
  /// Limits of each element of the averaged gradients, and of the norm of all
  /// of them, which is known with a Program::clipSync.
  double clipValue = std::numeric_limits<double>::infinity();
  /// Whether that limits infinite elements, too: not where they say that a loss
  /// scale is too large.
  bool limitsInfinite = true;
  double clipNorm = std::numeric_limits<double>::infinity();
  /// Leaves parameters as they are where that norm is infinite or NaN.
  bool skipNonFinite = false;
  /// What compiled code multiplies the loss by, a power of two. Updates divide
  /// by it, and so do results.
  double lossScale = 1;

  bool needsNorm() const { return std::isfinite(clipNorm) || skipNonFinite; }
};

/// What a step does with its gradients.
struct Clip {
  double norm = 0;    ///< Of all gradients, with limited elements.
  double factor = 1;  ///< Updates multiply by it.
  bool skips = false; ///< No parameter is updated.

  /// Whether updates that know nothing of other ranks are right.
  bool isNone() const { return factor == 1 && !skips; }
};

struct StepResult {
  /// As reported, [result][microbatch], the loss without its scale. f32 values
  /// are exact in a double.
  std::vector<double> results;
  /// Of the averaged gradient over all parameters, before the update and before
  /// `clip`, with limited elements.
  double gradientNorm = 0;
  Clip clip;
};

class Executor {
public:
  virtual ~Executor() = default;

  /// How many steps may be begun and not yet finished. With more than one, a
  /// rank goes on to the next step before other ranks have ended the last one.
  virtual int32_t maxStepsInFlight() const { return 1; }

  /// Begins a step on all ranks. `inputs` has a pointer per batch argument
  /// (the microbatches of all replicas of this process one after the other),
  /// then one per buffer, then, where lengths vary, one to an int64_t per
  /// microbatch; what they point at stays unchanged until the step is finished.
  virtual Status begin(const void *const *inputs,
                       const StepSettings &settings) = 0;

  /// Waits for the oldest step that was begun and is not finished. After a
  /// failure the executor runs no more steps, and none is under way.
  virtual Status finish(StepResult &result) = 0;

  /// Copies between a rank's arena and host memory, while no step is under way.
  virtual Status write(int32_t rank, int64_t offset, const void *source,
                       int64_t bytes) = 0;
  virtual Status read(int32_t rank, int64_t offset, void *target,
                      int64_t bytes) = 0;
};

/// The mean of a result in a step: the sum in microbatch order, divided by the
/// number of microbatches.
inline double meanOfResult(const StepResult &result, size_t index,
                           int32_t microbatches) {
  double sum = 0;
  for (int32_t i = 0; i < microbatches; ++i)
    sum += result.results[index * microbatches + i];
  return sum / microbatches;
}

} // namespace veeline

#endif // VEELINE_RUNTIME_ENGINE_EXECUTOR_H
