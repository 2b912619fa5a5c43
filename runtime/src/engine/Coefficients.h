//===- Coefficients.h - the optimiser's coefficients of a step --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The coefficients are the same on all targets. Files that include this header
// are compiled without contraction.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_COEFFICIENTS_H
#define VEELINE_RUNTIME_ENGINE_COEFFICIENTS_H

#include "Executor.h"

#include <cmath>
#include <limits>

namespace veeline {

/// The scalars of one step in a parameter's type, rounded once.
template <typename T> struct Coefficients {
  T gradientScale, keep, rate;
  T gradientRate; ///< For NAdamW, which also steps along the gradient.
  T beta1, oneMinusBeta1, beta2, oneMinusBeta2;
  T secondMomentScale, epsilon;
  T clipValue;       ///< Infinite: elements have no limit.
  T greatestLimited; ///< Greater elements are not limited.
  T decay;           ///< 1 - keep, before either is rounded.
  T correction;      ///< For error feedback; 0 if there was no update before.
  /// For Adam: the value times this is added to the gradient.
  T lossDecay;
};

/// The momentum of NAdam in a step and in the next one, and the products of the
/// momentum over all steps so far, without the next step and with it.
struct NesterovMomentum {
  double current, next, product, productWithNext;
};
inline NesterovMomentum nesterovMomentum(double beta1, int64_t step) {
  auto at = [beta1](int64_t i) {
    return beta1 * (1 - 0.5 * std::pow(0.96, 0.004 * double(i)));
  };
  double product = 1;
  // Once the product is negligible, further factors do not matter.
  for (int64_t i = 1; i <= step && product > 1e-20; ++i)
    product *= at(i);
  return {at(step), at(step + 1), product, product * at(step + 1)};
}

/// The rates of parameter `param` of the model. `decays` says whether the
/// step's weight decay applies to it.
inline ParamRates ratesOf(const StepSettings &settings, size_t param,
                          bool decays) {
  ParamRates rates;
  if (settings.ofParams)
    rates = (*settings.ofParams)[param];
  if (!rates.weightDecay)
    rates.weightDecay = decays ? settings.weightDecay : 0;
  return rates;
}

/// Computes the coefficients of a parameter with `rates`, which have a weight
/// decay.
template <typename T>
Coefficients<T> coefficientsOf(Optimizer optimizer, const ParamRates &rates,
                               const StepSettings &s, int32_t microbatches) {
  bool isAdam = optimizer == Optimizer::adam;
  double correction1 = isAdam || optimizer == Optimizer::adamw
                           ? 1 - std::pow(s.beta1, double(s.step))
                           : 1;
  double beta2 = optimizer == Optimizer::adafactor
                     ? 1 - std::pow(double(s.step), -adafactorDecay)
                     : s.beta2;
  double correction2 = 1 - std::pow(beta2, double(s.step));
  double learningRate = s.learningRate * rates.scale;
  double decay = isAdam ? 0 : learningRate * *rates.weightDecay;
  double rate = learningRate / correction1, gradientRate = 0;
  if (optimizer == Optimizer::nadamw) {
    NesterovMomentum momentum = nesterovMomentum(s.beta1, s.step);
    rate = learningRate * momentum.next / (1 - momentum.productWithNext);
    gradientRate =
        learningRate * (1 - momentum.current) / (1 - momentum.product);
  }
  double beta1 = optimizer == Optimizer::muon ? s.muonMomentum : s.beta1;
  return {T(1) / T(microbatches) / T(s.lossScale),
          T(1 - decay),
          T(rate),
          T(gradientRate),
          T(beta1),
          T(1 - beta1),
          T(beta2),
          T(1 - beta2),
          T(1 / std::sqrt(correction2)),
          T(s.epsilon),
          T(s.clipValue),
          s.limitsInfinite ? std::numeric_limits<T>::infinity()
                           : std::numeric_limits<T>::max(),
          T(decay),
          T(s.step > 1 ? s.errorFeedback : 0),
          T(isAdam ? *rates.weightDecay : 0)};
}

/// The settings of one of the m updates of a step that updates after each
/// microbatch. To the optimiser, each of the updates is a step.
inline StepSettings ofMicrobatch(StepSettings settings, int32_t microbatch,
                                 int32_t m) {
  settings.step = (settings.step - 1) * m + microbatch + 1;
  return settings;
}

/// The outcome of clipping for the norm of all gradients.
inline Clip clipOf(const StepSettings &settings, double norm) {
  Clip clip;
  clip.norm = norm;
  if (clip.norm > settings.clipNorm)
    clip.factor = settings.clipNorm / clip.norm;
  clip.skips = settings.skipNonFinite && !std::isfinite(clip.norm);
  return clip;
}

/// The outcome of clipping for the squared norms of all parameters, in the
/// order of the parameters. So the sum has the same bits on every rank, however
/// parameters are placed.
inline Clip clipOf(const StepSettings &settings, const double *squares,
                   int32_t numSquares) {
  double sum = 0;
  for (int32_t i = 0; i < numSquares; ++i)
    sum += squares[i];
  return clipOf(settings, std::sqrt(sum));
}

} // namespace veeline

#endif // VEELINE_RUNTIME_ENGINE_COEFFICIENTS_H
