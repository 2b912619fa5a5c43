//===- Update.cpp - updates by optimisers ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled with -O3 -ffp-contract=off for three vector widths (see
// CMakeLists.txt). Everything is elementwise except the norm, which has a fixed
// number of lanes.
//
//===----------------------------------------------------------------------===//

#include "Update.h"

#include "Coefficients.h"
#include "NewtonSchulz.h"
#include "veeline/Library/OneThread.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace veeline;
using namespace veeline::host;

/// The number of elements that are processed at a time, so that gradients stay
/// in the L1 cache.
static constexpr int64_t blockSize = 1024;
static constexpr int64_t normLanes = 8;

namespace {
template <typename T> struct Arguments {
  Coefficients<T> c;
  Optimizer optimizer;
  int64_t numElements;
  Shard updated; ///< For elementwise optimisers.
  T *value;
  T *state; ///< The state of the elements that are updated.
  const T *const *gradients;
  int32_t numGradients;
  const double *factor; ///< Null if gradients are not scaled.
  T *before;            ///< The last update; null without error feedback.
  bool decaysGradient;  ///< Whether weight decay is added to gradients.
  /// For Adafactor. A parameter that is not a matrix is one row, whose mean is
  /// not kept.
  int64_t rows, columns;
  bool isFactored;
  bool hasAllParts;       ///< Of the norm.
  Shard parts;            ///< Those that are added up.
  double *squaresOfParts; ///< The sum of each; null: only that of all.
};
} // namespace

template <typename T>
static VEELINE_KERNEL void sumGradients(const Arguments<T> &a, int64_t first,
                                        int64_t count, T *__restrict sum) {
  const T *gradient = a.gradients[0] + first;
  for (int64_t i = 0; i < count; ++i)
    sum[i] = gradient[i];
  for (int32_t j = 1; j < a.numGradients; ++j) {
    gradient = a.gradients[j] + first;
    for (int64_t i = 0; i < count; ++i)
      sum[i] += gradient[i];
  }
  for (int64_t i = 0; i < count; ++i)
    sum[i] *= a.c.gradientScale;
  // NaN is not changed.
  T limit = a.c.clipValue, greatest = a.c.greatestLimited;
  if (limit < std::numeric_limits<T>::infinity())
    for (int64_t i = 0; i < count; ++i) {
      T limited = sum[i] > limit ? limit : sum[i] < -limit ? -limit : sum[i];
      sum[i] = std::abs(sum[i]) <= greatest ? limited : sum[i];
    }
}

template <typename T>
static VEELINE_KERNEL void addSquares(const T *values, int64_t count,
                                      double (&lanes)[normLanes]) {
  int64_t i = 0;
  for (; i + normLanes <= count; i += normLanes)
    for (int64_t lane = 0; lane < normLanes; ++lane)
      lanes[lane] += double(values[i + lane]) * double(values[i + lane]);
  for (int64_t lane = 0; i < count; ++i, ++lane)
    lanes[lane] += double(values[i]) * double(values[i]);
}

// The functions `step...` turn gradients into what is subtracted from the
// value.

template <typename T>
static VEELINE_KERNEL void stepMomentum(const Coefficients<T> &c, int64_t count,
                                        T *__restrict g,
                                        T *__restrict momentum) {
  for (int64_t i = 0; i < count; ++i) {
    momentum[i] = c.beta1 * momentum[i] + g[i];
    g[i] = c.rate * momentum[i];
  }
}

template <typename T>
static VEELINE_KERNEL void stepNesterov(const Coefficients<T> &c, int64_t count,
                                        T *__restrict g,
                                        T *__restrict momentum) {
  for (int64_t i = 0; i < count; ++i) {
    momentum[i] = c.beta1 * momentum[i] + g[i];
    g[i] = c.rate * (g[i] + c.beta1 * momentum[i]);
  }
}

/// NaN is not changed.
template <typename T>
static VEELINE_KERNEL void stepLion(const Coefficients<T> &c, int64_t count,
                                    T *__restrict g, T *__restrict momentum) {
  for (int64_t i = 0; i < count; ++i) {
    T mix = c.beta1 * momentum[i] + c.oneMinusBeta1 * g[i];
    momentum[i] = c.beta2 * momentum[i] + c.oneMinusBeta2 * g[i];
    g[i] = c.rate * (mix > 0 ? T(1) : mix < 0 ? T(-1) : mix);
  }
}

/// Adds Adam's weight decay to gradients: the loss includes the squares of
/// parameters.
template <typename T>
static VEELINE_KERNEL void addDecay(const Coefficients<T> &c, int64_t count,
                                    T *__restrict g,
                                    const T *__restrict value) {
  for (int64_t i = 0; i < count; ++i)
    g[i] = g[i] + c.lossDecay * value[i];
}

/// AdamW or, with `nesterov`, NAdamW.
template <bool nesterov, typename T>
static VEELINE_KERNEL void stepMoments(const Coefficients<T> &c, int64_t count,
                                       T *__restrict g, T *__restrict first,
                                       T *__restrict second) {
  for (int64_t i = 0; i < count; ++i) {
    first[i] = c.beta1 * first[i] + c.oneMinusBeta1 * g[i];
    second[i] = c.beta2 * second[i] + c.oneMinusBeta2 * (g[i] * g[i]);
    T denominator = std::sqrt(second[i]) * c.secondMomentScale + c.epsilon;
    g[i] = nesterov ? (c.rate * first[i] + c.gradientRate * g[i]) / denominator
                    : c.rate * (first[i] / denominator);
  }
}

/// Subtracts `change` from the value. `before` is the last update, which is
/// replaced by this one; null without error feedback.
template <typename T>
static VEELINE_KERNEL void subtract(const Coefficients<T> &c, int64_t count,
                                    const T *__restrict change,
                                    T *__restrict value, T *__restrict before) {
  if (!before) {
    for (int64_t i = 0; i < count; ++i)
      value[i] = value[i] * c.keep - change[i];
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    T update = c.decay * value[i] + change[i];
    value[i] =
        value[i] * c.keep - change[i] - c.correction * (update - before[i]);
    before[i] = update;
  }
}

/// For Muon: updates the momentum, and computes the direction before it is made
/// orthogonal.
template <typename T>
static VEELINE_KERNEL void
addMomentum(const Coefficients<T> &c, int64_t count, const T *__restrict g,
            T *__restrict momentum, T *__restrict direction) {
  for (int64_t i = 0; i < count; ++i) {
    momentum[i] = c.beta1 * momentum[i] + g[i];
    direction[i] = g[i] + c.beta1 * momentum[i];
  }
}

static VEELINE_KERNEL double addLanes(const double (&lanes)[normLanes]) {
  double sum = 0;
  for (double lane : lanes)
    sum += lane;
  return sum;
}

/// Computes gradients in the form that updates use.
template <typename T>
static VEELINE_KERNEL void takeGradients(const Arguments<T> &a, int64_t first,
                                         int64_t count, T *g) {
  sumGradients(a, first, count, g);
  T factor = a.factor ? T(*a.factor) : T(1);
  for (int64_t i = 0; i < count && factor != 1; ++i)
    g[i] *= factor;
}

/// Adds up the squares of the averaged gradient, part by part. Returns the sum
/// of these.
template <typename T>
static VEELINE_KERNEL double addAllSquares(const Arguments<T> &a) {
  alignas(64) T g[blockSize];
  double sum = 0;
  int64_t size = a.numElements / normParts(a.numElements);
  for (int64_t part = 0; part < a.parts.count; ++part) {
    double lanes[normLanes] = {};
    int64_t end = (a.parts.first + part + 1) * size;
    for (int64_t i = end - size; i < end; i += blockSize) {
      int64_t count = std::min(blockSize, end - i);
      sumGradients(a, i, count, g);
      addSquares(g, count, lanes);
    }
    double squares = addLanes(lanes);
    if (a.squaresOfParts)
      a.squaresOfParts[part] = squares;
    sum += squares;
  }
  return sum;
}

/// Turns the gradients of some elements into what is subtracted from the value.
template <typename T>
static VEELINE_KERNEL void step(const Arguments<T> &a, int64_t first,
                                int64_t count, T *g) {
  // Without momentum, there is no state.
  if (a.optimizer == Optimizer::sgd) {
    for (int64_t i = 0; i < count; ++i)
      g[i] *= a.c.rate;
    return;
  }
  T *state = a.state + (first - a.updated.first);
  if (a.optimizer == Optimizer::sgdMomentum)
    return stepMomentum(a.c, count, g, state);
  if (a.optimizer == Optimizer::sgdNesterov)
    return stepNesterov(a.c, count, g, state);
  if (a.optimizer == Optimizer::lion)
    return stepLion(a.c, count, g, state);
  T *second = state + a.updated.count;
  if (a.optimizer == Optimizer::nadamw)
    stepMoments<true>(a.c, count, g, state, second);
  else
    stepMoments<false>(a.c, count, g, state, second);
}

//===----------------------------------------------------------------------===//
// Adafactor
//===----------------------------------------------------------------------===//

/// Calls `visit(row, column, count, g)` for the gradients of all elements.
template <typename T, typename Visit>
static VEELINE_KERNEL void forAllGradients(const Arguments<T> &a, Visit visit) {
  alignas(64) T g[blockSize];
  for (int64_t row = 0; row < a.rows; ++row)
    for (int64_t column = 0; column < a.columns; column += blockSize) {
      int64_t count = std::min(blockSize, a.columns - column);
      takeGradients(a, row * a.columns + column, count, g);
      visit(row, column, count, g);
    }
}

/// Adds the squares of gradients to the means of rows and of columns.
template <typename T>
static VEELINE_KERNEL void addToMeans(const Arguments<T> &a, T *ofRows,
                                      T *ofColumns) {
  for (int64_t i = 0; i < a.columns; ++i)
    ofColumns[i] *= a.c.beta2;
  T part = a.c.oneMinusBeta2 / T(a.rows);
  double lanes[normLanes] = {};
  auto visit = [&](int64_t row, int64_t column, int64_t count, T *g) {
    for (int64_t i = 0; i < count; ++i) {
      g[i] = g[i] * g[i] + T(adafactorEpsilon);
      ofColumns[column + i] += part * g[i];
    }
    if (!a.isFactored)
      return;
    for (int64_t i = 0; i < count; ++i)
      lanes[i % normLanes] += double(g[i]);
    if (column + count < a.columns)
      return;
    T mean = T(addLanes(lanes) / double(a.columns));
    ofRows[row] = a.c.beta2 * ofRows[row] + a.c.oneMinusBeta2 * mean;
    std::fill(std::begin(lanes), std::end(lanes), 0.0);
  };
  forAllGradients(a, visit);
}

/// Updates the state, then the value.
template <typename T>
static VEELINE_KERNEL void updateAdafactor(const Arguments<T> &a) {
  T *ofRows = a.state, *ofColumns = a.state + (a.isFactored ? a.rows : 0);
  addToMeans(a, ofRows, ofColumns);
  double all = 0;
  for (int64_t row = 0; row < a.rows && a.isFactored; ++row)
    all += double(ofRows[row]);
  double mean = all / double(a.rows);
  auto makeDirection = [&](int64_t row, int64_t column, int64_t count, T *g) {
    T scale = a.isFactored ? T(double(ofRows[row]) / mean) : T(1);
    for (int64_t i = 0; i < count; ++i)
      g[i] = g[i] / std::sqrt(scale * ofColumns[column + i]);
  };
  double ofDirection[normLanes] = {}, ofValue[normLanes] = {};
  forAllGradients(a, [&](int64_t row, int64_t column, int64_t count, T *g) {
    makeDirection(row, column, count, g);
    addSquares(g, count, ofDirection);
    addSquares(a.value + row * a.columns + column, count, ofValue);
  });
  auto elements = double(a.numElements);
  double length = std::sqrt(addLanes(ofDirection) / elements);
  double size = std::sqrt(addLanes(ofValue) / elements);
  T rate = T(double(a.c.rate) *
             (size > adafactorLeastScale ? size : adafactorLeastScale) /
             (length > adafactorClip ? length / adafactorClip : 1));
  forAllGradients(a, [&](int64_t row, int64_t column, int64_t count, T *g) {
    makeDirection(row, column, count, g);
    for (int64_t i = 0; i < count; ++i)
      g[i] *= rate;
    int64_t first = row * a.columns + column;
    subtract(a.c, count, g, a.value + first,
             a.before ? a.before + first : nullptr);
  });
}

/// Updates elements from `first` on, and adds the squares of their gradients to
/// `lanes`, if it is not null.
template <typename T>
static VEELINE_KERNEL void updateElements(const Arguments<T> &a, int64_t first,
                                          int64_t end,
                                          double (*lanes)[normLanes]) {
  alignas(64) T g[blockSize];
  for (int64_t i = first; i < end; i += blockSize) {
    int64_t count = std::min(blockSize, end - i);
    sumGradients(a, i, count, g);
    if (lanes)
      addSquares(g, count, *lanes);
    if (T factor = a.factor ? T(*a.factor) : T(1); factor != 1)
      for (int64_t j = 0; j < count; ++j)
        g[j] *= factor;
    if (a.optimizer == Optimizer::muon) {
      addMomentum(a.c, count, g, a.state + i, a.state + a.numElements + i);
      continue;
    }
    if (a.decaysGradient)
      addDecay(a.c, count, g, a.value + i);
    step(a, i, count, g);
    T *before = a.before ? a.before + (i - a.updated.first) : nullptr;
    subtract(a.c, count, g, a.value + i, before);
  }
}

/// Updates what is this rank's. Returns the sum of squares of the averaged
/// gradient, unless gradients are scaled.
template <typename T>
static VEELINE_KERNEL double updateAll(const Arguments<T> &a) {
  if (a.optimizer == Optimizer::adafactor) {
    double squares = a.factor ? 0 : addAllSquares(a);
    if (a.updated.count > 0)
      updateAdafactor(a);
    return squares;
  }
  // Elements that are updated elsewhere may count in the norm still.
  bool isWhole = a.updated.count == a.numElements && a.hasAllParts;
  double squares = isWhole || a.factor ? 0 : addAllSquares(a);
  int64_t end = a.updated.first + a.updated.count;
  int64_t size = a.numElements / normParts(a.numElements);
  for (int64_t i = a.updated.first; i < end;) {
    // All of them, part by part.
    int64_t endOfPart = isWhole ? i + size : end;
    double lanes[normLanes] = {};
    updateElements(a, i, endOfPart, isWhole && !a.factor ? &lanes : nullptr);
    squares += addLanes(lanes);
    i = endOfPart;
  }
  return squares;
}

/// Completes an update by Muon, whose direction has been computed.
template <typename T>
static Status stepMuon(const ParamUpdate &update, const Arguments<T> &a) {
  T *direction = a.state + a.numElements;
  if (!update.workspace)
    return Status::error("there is no memory in which Muon works");
  double lanes[normLanes] = {};
  addSquares(direction, a.numElements, lanes);
  VEELINE_TRY(
      update.orthogonalise->run(direction, addLanes(lanes), update.workspace));
  double longest = static_cast<double>(std::max(update.rows, update.columns));
  T rate = a.c.rate * T(0.2 * std::sqrt(longest));
  for (int64_t i = 0; i < a.numElements; ++i)
    direction[i] *= rate;
  subtract(a.c, a.numElements, direction, a.value, a.before);
  return Status::success();
}

#define DEFINE_VARIANT(suffix, attribute)                                      \
  template <typename T>                                                        \
  attribute static double update##suffix(const Arguments<T> &arguments) {      \
    return updateAll(arguments);                                               \
  }                                                                            \
  template <typename T>                                                        \
  attribute static double norm##suffix(const Arguments<T> &arguments) {        \
    return addAllSquares(arguments);                                           \
  }
DEFINE_VARIANT(Baseline, )
DEFINE_VARIANT(Avx2, VEELINE_VECTORS_256)
DEFINE_VARIANT(Avx512, VEELINE_VECTORS_512)
#undef DEFINE_VARIANT

template <typename T>
static double updateWith(const Arguments<T> &arguments, int vectorBits) {
  return vectorBits == 512   ? updateAvx512(arguments)
         : vectorBits == 256 ? updateAvx2(arguments)
                             : updateBaseline(arguments);
}

template <typename T>
static double normWith(const Arguments<T> &arguments, int vectorBits) {
  return vectorBits == 512   ? normAvx512(arguments)
         : vectorBits == 256 ? normAvx2(arguments)
                             : normBaseline(arguments);
}

template <typename T>
static Arguments<T> argumentsOf(const ParamUpdate &update,
                                const StepSettings &settings,
                                int32_t microbatches, void *value, void *state,
                                const void *const *gradients,
                                int32_t numGradients, const double *factor) {
  bool isMatrix = update.rows > 0;
  ParamRates rates = ratesOf(settings, update.param, update.decays);
  return {coefficientsOf<T>(update.optimizer, rates, settings, microbatches),
          update.optimizer,
          update.numElements,
          update.updated(),
          static_cast<T *>(value),
          static_cast<T *>(state),
          reinterpret_cast<const T *const *>(gradients),
          numGradients,
          factor,
          update.errorFeedback && state
              ? static_cast<T *>(state) + update.ownStateElements()
              : nullptr,
          update.optimizer == Optimizer::adam,
          isMatrix ? update.rows : 1,
          isMatrix ? update.columns : update.numElements,
          isMatrix,
          !update.ownParts,
          update.ownParts.value_or(Shard{0, normParts(update.numElements)}),
          /*squaresOfParts=*/nullptr};
}

Status host::updateParam(ParamUpdate &update, const StepSettings &settings,
                         int32_t microbatches, void *value, void *state,
                         const void *const *gradients, int32_t numGradients,
                         const double *factor, int vectorBits) {
  auto run = [&]<typename T>(T) {
    auto arguments = argumentsOf<T>(update, settings, microbatches, value,
                                    state, gradients, numGradients, factor);
    if (update.ownParts)
      arguments.squaresOfParts = update.squaresOfParts.data();
    double squares = updateWith(arguments, vectorBits);
    if (!factor)
      update.squaredGradientNorm = squares;
    // Another rank may update all of it.
    bool isMuon = update.optimizer == Optimizer::muon && !update.share;
    return isMuon ? stepMuon(update, arguments) : Status::success();
  };
  return update.type == artifact::DataType::f64 ? run(double()) : run(float());
}

double host::squaredNormOf(const ParamUpdate &update,
                           const StepSettings &settings, int32_t microbatches,
                           const void *const *gradients, int32_t numGradients,
                           int vectorBits) {
  auto run = [&]<typename T>(T) {
    return normWith(argumentsOf<T>(update, settings, microbatches,
                                   /*value=*/nullptr, /*state=*/nullptr,
                                   gradients, numGradients,
                                   /*factor=*/nullptr),
                    vectorBits);
  };
  return update.type == artifact::DataType::f64 ? run(double()) : run(float());
}

ParamUpdate host::updateOf(const artifact::Metadata &metadata, size_t param) {
  const artifact::Parameter &description = metadata.params[param];
  ParamUpdate update{updateRule(metadata.optimizer, description.shape),
                     description.type, artifact::numElements(description.shape),
                     description.shape.size() >= 2, metadata.errorFeedback};
  update.param = param;
  if (description.shape.size() == 2) {
    update.rows = description.shape[0];
    update.columns = description.shape[1];
  }
  return update;
}

Status host::prepare(ParamUpdate &update, void *workspace) {
  if (update.optimizer != Optimizer::muon || update.share)
    return Status::success();
  VEELINE_TRY_VALUE(
      update.orthogonalise,
      NewtonSchulz::create(update.type, update.rows, update.columns));
  update.workspace = workspace;
  return Status::success();
}

Expected<Clip> host::updateModel(const artifact::Metadata &metadata,
                                 const StepSettings &settings,
                                 int32_t microbatches,
                                 const std::vector<WholeParam> &params,
                                 const Clip *ofDevice) {
  OneThread oneThread;
  std::vector<double> squares(params.size());
  for (size_t i = 0; i < params.size(); ++i)
    if (const auto &gradients = params[i].gradients; !gradients.empty())
      squares[i] = squaredNormOf(updateOf(metadata, i), settings, microbatches,
                                 gradients.data(),
                                 static_cast<int32_t>(gradients.size()));
  Clip clip =
      clipOf(settings, squares.data(), static_cast<int32_t>(squares.size()));
  if (ofDevice && std::abs(clip.norm - ofDevice->norm) <= 1e-9 * clip.norm)
    clip = *ofDevice;
  for (size_t i = 0; i < params.size() && !clip.skips; ++i) {
    const WholeParam &param = params[i];
    ParamUpdate update = updateOf(metadata, i);
    if (param.gradients.empty())
      continue;
    std::vector<char> workspace(
        static_cast<size_t>(newtonSchulzElements(update.rows, update.columns) *
                            artifact::byteSize(update.type)));
    VEELINE_TRY(prepare(update, workspace.data()));
    VEELINE_TRY(updateParam(update, settings, microbatches, param.value,
                            param.state, param.gradients.data(),
                            static_cast<int32_t>(param.gradients.size()),
                            &clip.factor));
  }
  return clip;
}
