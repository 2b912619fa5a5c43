//===- Update.h - updates by optimisers -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_HOST_UPDATE_H
#define VEELINE_RUNTIME_HOST_UPDATE_H

#include "Executor.h"
#include "veeline/Base/Shards.h"
#include "veeline/Base/Vectors.h"

#include <optional>

namespace veeline::host {

class NewtonSchulz;

/// The properties of a parameter's update, and its results.
struct ParamUpdate {
  /// Muon is possible only for matrices.
  Optimizer optimizer = Optimizer::sgd;
  artifact::DataType type = artifact::DataType::f32;
  int64_t numElements = 0;
  bool decays = false; ///< Whether weight decay applies.
  bool errorFeedback = false;
  int64_t rows = 0, columns = 0; ///< The sides of a matrix.
  size_t param = 0;              ///< The number of the parameter in the model.
  /// For Muon; see `prepare`.
  std::shared_ptr<NewtonSchulz> orthogonalise = nullptr;
  /// Has as many elements as newtonSchulzElements returns.
  void *workspace = nullptr;
  /// The sum of squares of the averaged gradient in the last step, or of its
  /// parts that this rank has.
  double squaredGradientNorm = 0;
  /// If gradients are scattered: the parts that this rank has, and the sum of
  /// squares of each.
  std::optional<Shard> ownParts = std::nullopt;
  std::vector<double> squaresOfParts = {};
  /// The elements that are updated, for which there is state. None for all
  /// elements. If updates are not elementwise, this is all elements or an empty
  /// shard.
  std::optional<Shard> share = std::nullopt;

  Shard updated() const { return share.value_or(Shard{0, numElements}); }
  /// The number of elements of the state, without the last update.
  int64_t ownStateElements() const {
    return countState(/*withFeedback=*/false);
  }
  int64_t stateBytes() const {
    return countState(errorFeedback) * artifact::byteSize(type);
  }

private:
  int64_t countState(bool withFeedback) const {
    const int64_t matrix[] = {rows, columns}, flat[] = {updated().count};
    using Shape = std::span<const int64_t>;
    return stateElements(optimizer, withFeedback,
                         rows > 0 && !share ? Shape(matrix) : Shape(flat));
  }
};

/// See veeline_update. With g the sum of the gradients in order, divided by
/// `microbatches`:
///   sgd           value -= lr * g
///   sgd-momentum  state = beta1 * state + g; value -= lr * state
///   sgd-nesterov  state = beta1 * state + g; value -= lr * (g + beta1 *
///   state);
///                 Sutskever et al., "On the importance of initialization and
///                 momentum in deep learning", 2013
///   adam          Kingma and Ba, "Adam: A Method for Stochastic Optimization",
///                 2015, algorithm 1, of g + decay * value
///   adamw         Loshchilov and Hutter, "Decoupled Weight Decay
///                 Regularization", 2019, algorithm 2
///   nadamw        Dozat, "Incorporating Nesterov Momentum into Adam", 2016,
///                 with the momentum schedule of its section 3 (decay 0.004)
///   lion          c = beta1 * state + (1 - beta1) * g;
///                 state = beta2 * state + (1 - beta2) * g;
///                 value -= lr * sign(c); Chen et al., "Symbolic Discovery of
///                 Optimization Algorithms", 2023, algorithm 2
///   adafactor     Shazeer and Stern, "Adafactor: Adaptive Learning Rates with
///                 Sublinear Memory Cost", 2018, algorithms 4 and 5, without
///                 momentum, with the constants of section 8 (Optimizers.h):
///                 the rate is lr * max(1e-3, root mean square of value)
///   muon          state = momentum * state + g; with x = g + momentum * state,
///                 value -= lr * 0.2 * sqrt(max(rows, columns)) * x', where x'
///                 is what NewtonSchulz makes of x (Jordan et al. 2024); the
///                 scale is that of Liu et al., "Muon is Scalable for LLM
///                 Training", 2025, section 2.2, so that one rate serves
///                 matrices and, with AdamW, other parameters
/// each but adam after value *= 1 - lr * decay, where lr and decay are the
/// parameter's own if it has any. With error feedback (Zmushko et al.,
/// arXiv 2606.30634, 2026), value -= c * (u - u') after that, where u is all
/// that was subtracted, decay included, and u' that of the update before; the
/// first update corrects nothing. Elementwise without contraction, so the bits
/// are the same for every width of vectors, except for Muon's products.
/// Adafactor's sums have a fixed number of lanes. Elements of g beyond
/// `settings.clipValue` are set to it. With a `factor`, g is multiplied by it,
/// and its norm is not used. `value` and gradients are whole even if only a
/// share is updated, and so is the norm. Of scattered gradients, only that
/// share and the parts of the norm are read. Only a library call for a product
/// of Muon can fail.
Status updateParam(ParamUpdate &update, const StepSettings &settings,
                   int32_t microbatches, void *value, void *state,
                   const void *const *gradients, int32_t numGradients,
                   const double *factor = nullptr,
                   int vectorBits = widestVectorBits());

/// The sum of squares of g. Has the same bits as that of an update without a
/// factor.
double squaredNormOf(const ParamUpdate &update, const StepSettings &settings,
                     int32_t microbatches, const void *const *gradients,
                     int32_t numGradients, int vectorBits = widestVectorBits());

ParamUpdate updateOf(const artifact::Metadata &metadata, size_t param);
/// Prepares the products of Muon. Call it on the thread that will update, with
/// one OpenMP thread. All updates of a rank use the same `workspace`.
Status prepare(ParamUpdate &update, void *workspace);

/// A parameter of a model, and the gradients for its update. Without gradients,
/// it has no update.
struct WholeParam {
  void *value, *state;
  std::vector<const void *> gradients;
};

/// Updates all parameters of a model, in order, like the ranks of its programs
/// together. Returns how gradients were clipped. A GPU sums squares in another
/// order: if `ofDevice`, its result, is given, it is used unless it differs by
/// more than rounding.
Expected<Clip> updateModel(const artifact::Metadata &metadata,
                           const StepSettings &settings, int32_t microbatches,
                           const std::vector<WholeParam> &params,
                           const Clip *ofDevice = nullptr);

} // namespace veeline::host

#endif // VEELINE_RUNTIME_HOST_UPDATE_H
