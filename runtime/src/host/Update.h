//===- Update.h - optimisers -----------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_HOST_UPDATE_H
#define VEELINE_RUNTIME_HOST_UPDATE_H

#include "Executor.h"
#include "veeline/Base/Vectors.h"

namespace veeline::host {

/// What an update knows about its parameter, and what it leaves behind.
struct ParamUpdate {
  artifact::Optimizer optimizer = artifact::Optimizer::sgd;
  artifact::DataType type = artifact::DataType::f32;
  int64_t numElements = 0;
  bool decays = false; ///< Weight decay applies.
  /// Sum of squares of the averaged gradient in the last step.
  double squaredGradientNorm = 0;
};

/// See veeline_update. With g the sum of the gradients in order, divided by
/// `microbatches`:
///   sgd           value -= lr * g
///   sgd-momentum  state = beta1 * state + g; value -= lr * state
///   adamw         Loshchilov and Hutter, "Decoupled Weight Decay
///                 Regularization", 2019, algorithm 2
/// each after value *= 1 - lr * decay. Elementwise without contraction, so the
/// bits are the same for every width of vectors. Elements of g beyond
/// `settings.clipValue` are set to it. With a `factor`, g is multiplied by it,
/// and its norm is not looked at.
void updateParam(ParamUpdate &update, const StepSettings &settings,
                 int32_t microbatches, void *value, void *state,
                 const void *const *gradients, int32_t numGradients,
                 const double *factor = nullptr,
                 int vectorBits = widestVectorBits());

/// The sum of squares of g. Has the bits that an update without a factor gives.
double squaredNormOf(const ParamUpdate &update, const StepSettings &settings,
                     int32_t microbatches, const void *const *gradients,
                     int32_t numGradients, int vectorBits = widestVectorBits());

ParamUpdate updateOf(const artifact::Metadata &metadata, size_t param);

/// A parameter of a model, and the gradients that its update takes; none: it
/// has no update.
struct WholeParam {
  void *value, *state;
  std::vector<const void *> gradients;
};

/// Updates all parameters of a model, in order, as the ranks of its programs do
/// together. Says what it did with the gradients.
Clip updateModel(const artifact::Metadata &metadata,
                 const StepSettings &settings, int32_t microbatches,
                 const std::vector<WholeParam> &params);

} // namespace veeline::host

#endif // VEELINE_RUNTIME_HOST_UPDATE_H
