//===- Update.cpp - optimisers --------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled with -O3 -ffp-contract=off, three times for three vector widths
// (see CMakeLists.txt); everything is elementwise but the norm, which has a
// fixed number of lanes.
//
//===----------------------------------------------------------------------===//

#include "Update.h"

#include "Coefficients.h"

#include <algorithm>
#include <cmath>

using namespace veeline;
using namespace veeline::host;
using artifact::Optimizer;

/// Elements that are worked on at a time: gradients stay in the L1 cache.
static constexpr int64_t blockSize = 1024;
static constexpr int64_t normLanes = 8;

namespace {
template <typename T> struct Arguments {
  Coefficients<T> c;
  Optimizer optimizer;
  int64_t numElements;
  T *value;
  T *state;
  const T *const *gradients;
  int32_t numGradients;
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

template <typename T>
static VEELINE_KERNEL void stepSgd(const Coefficients<T> &c, int64_t count,
                                   const T *__restrict g, T *__restrict value) {
  for (int64_t i = 0; i < count; ++i)
    value[i] = value[i] * c.keep - c.rate * g[i];
}

template <typename T>
static VEELINE_KERNEL void
stepMomentum(const Coefficients<T> &c, int64_t count, const T *__restrict g,
             T *__restrict value, T *__restrict momentum) {
  for (int64_t i = 0; i < count; ++i) {
    momentum[i] = c.beta1 * momentum[i] + g[i];
    value[i] = value[i] * c.keep - c.rate * momentum[i];
  }
}

template <typename T>
static VEELINE_KERNEL void
stepAdamW(const Coefficients<T> &c, int64_t count, const T *__restrict g,
          T *__restrict value, T *__restrict first, T *__restrict second) {
  for (int64_t i = 0; i < count; ++i) {
    first[i] = c.beta1 * first[i] + c.oneMinusBeta1 * g[i];
    second[i] = c.beta2 * second[i] + c.oneMinusBeta2 * (g[i] * g[i]);
    T denominator = std::sqrt(second[i]) * c.secondMomentScale + c.epsilon;
    value[i] = value[i] * c.keep - c.rate * (first[i] / denominator);
  }
}

/// Returns the sum of squares of the averaged gradient.
template <typename T>
static VEELINE_KERNEL double updateAll(const Arguments<T> &a) {
  alignas(64) T g[blockSize];
  double lanes[normLanes] = {};
  for (int64_t i = 0; i < a.numElements; i += blockSize) {
    int64_t count = std::min(blockSize, a.numElements - i);
    sumGradients(a, i, count, g);
    addSquares(g, count, lanes);
    if (a.optimizer == Optimizer::sgd)
      stepSgd(a.c, count, g, a.value + i);
    else if (a.optimizer == Optimizer::sgdMomentum)
      stepMomentum(a.c, count, g, a.value + i, a.state + i);
    else
      stepAdamW(a.c, count, g, a.value + i, a.state + i,
                a.state + a.numElements + i);
  }
  double sum = 0;
  for (double lane : lanes)
    sum += lane;
  return sum;
}

#define DEFINE_VARIANT(name, attribute)                                        \
  attribute static double name(const Arguments<float> &arguments) {            \
    return updateAll(arguments);                                               \
  }                                                                            \
  attribute static double name(const Arguments<double> &arguments) {           \
    return updateAll(arguments);                                               \
  }
DEFINE_VARIANT(updateBaseline, )
DEFINE_VARIANT(updateAvx2, VEELINE_VECTORS_256)
DEFINE_VARIANT(updateAvx512, VEELINE_VECTORS_512)
#undef DEFINE_VARIANT

template <typename T>
static void updateTyped(ParamUpdate &update, const StepSettings &settings,
                        int32_t microbatches, void *value, void *state,
                        const void *const *gradients, int32_t numGradients,
                        int vectorBits) {
  Arguments<T> arguments{coefficientsOf<T>(update.optimizer, update.decays,
                                           settings, microbatches),
                         update.optimizer,
                         update.numElements,
                         static_cast<T *>(value),
                         static_cast<T *>(state),
                         reinterpret_cast<const T *const *>(gradients),
                         numGradients};
  update.squaredGradientNorm = vectorBits == 512   ? updateAvx512(arguments)
                               : vectorBits == 256 ? updateAvx2(arguments)
                                                   : updateBaseline(arguments);
}

void host::updateParam(ParamUpdate &update, const StepSettings &settings,
                       int32_t microbatches, void *value, void *state,
                       const void *const *gradients, int32_t numGradients,
                       int vectorBits) {
  auto *run = update.type == artifact::DataType::f64 ? updateTyped<double>
                                                     : updateTyped<float>;
  run(update, settings, microbatches, value, state, gradients, numGradients,
      vectorBits);
}
