//===- Coefficients.h - the optimiser's numbers of a step ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same on all targets. Files that include this are compiled without
// contraction.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_COEFFICIENTS_H
#define VEELINE_RUNTIME_ENGINE_COEFFICIENTS_H

#include "Executor.h"

#include <cmath>

namespace veeline {

/// The numbers of one step in a parameter's type, rounded once.
template <typename T> struct Coefficients {
  T gradientScale, keep, rate;
  T beta1, oneMinusBeta1, beta2, oneMinusBeta2;
  T secondMomentScale, epsilon;
  T clipValue; ///< Infinite: elements have no limit.
};

/// `decays` says whether weight decay applies to the parameter.
template <typename T>
Coefficients<T> coefficientsOf(artifact::Optimizer optimizer, bool decays,
                               const StepSettings &s, int32_t microbatches) {
  bool isAdam = optimizer == artifact::Optimizer::adamw;
  double correction1 = isAdam ? 1 - std::pow(s.beta1, double(s.step)) : 1;
  double correction2 = 1 - std::pow(s.beta2, double(s.step));
  double decay = decays ? s.learningRate * s.weightDecay : 0;
  return {T(1) / T(microbatches),
          T(1 - decay),
          T(s.learningRate / correction1),
          T(s.beta1),
          T(1 - s.beta1),
          T(s.beta2),
          T(1 - s.beta2),
          T(1 / std::sqrt(correction2)),
          T(s.epsilon),
          T(s.clipValue)};
}

/// The settings of one of the m updates of a step that has one for each
/// microbatch: to the optimiser each of them is a step.
inline StepSettings ofMicrobatch(StepSettings settings, int32_t microbatch,
                                 int32_t m) {
  settings.step = (settings.step - 1) * m + microbatch + 1;
  return settings;
}

/// Given the norm of all gradients.
inline Clip clipOf(const StepSettings &settings, double norm) {
  Clip clip;
  clip.norm = norm;
  if (clip.norm > settings.clipNorm)
    clip.factor = settings.clipNorm / clip.norm;
  clip.skips = settings.skipNonFinite && !std::isfinite(clip.norm);
  return clip;
}

/// The same given the squares of the norms of all parameters, in their order:
/// the sum has the same bits on every rank, however parameters are placed.
inline Clip clipOf(const StepSettings &settings, const double *squares,
                   int32_t numSquares) {
  double sum = 0;
  for (int32_t i = 0; i < numSquares; ++i)
    sum += squares[i];
  return clipOf(settings, std::sqrt(sum));
}

} // namespace veeline

#endif // VEELINE_RUNTIME_ENGINE_COEFFICIENTS_H
