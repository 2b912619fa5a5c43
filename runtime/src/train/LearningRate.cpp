//===- LearningRate.cpp - warm-up and cosine ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <cmath>
#include <numbers>

using namespace veeline;
using namespace veeline::train;

static double rateOfStep(const Options &options, int64_t step) {
  double peak = options.optimizer.learningRate;
  if (step <= options.warmupSteps)
    return peak * double(step) / double(options.warmupSteps);
  double low = options.minLearningRate.value_or(peak);
  double done = double(step - options.warmupSteps) /
                double(options.steps - options.warmupSteps);
  return low + (peak - low) * 0.5 * (1 + std::cos(std::numbers::pi * done));
}

StepSettings train::settingsOfStep(const Options &options, int64_t step) {
  StepSettings settings = options.optimizer;
  settings.step = step;
  settings.learningRate = rateOfStep(options, step);
  return settings;
}
