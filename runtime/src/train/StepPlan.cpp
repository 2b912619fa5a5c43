//===- StepPlan.cpp - the settings of each step ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepPlan.h"

#include "ThreadedProgram.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace veeline;
using namespace veeline::train;

static_assert(StepPlan::delay == engine::maxInFlight,
              "a step begins while as many results are not known");

bool StepPlan::isDynamic() const {
  return options.scalesLoss && !options.lossScale.fixed;
}

void StepPlan::learnFrom(const State &state) {
  if (state.overflows) {
    // Steps that were in flight together overflow together, but halve the scale
    // only once.
    lossScale = std::min(
        lossScale, std::max(state.lossScale / 2, options.lossScale.least));
    numInWindow = 0;
    return;
  }
  numInWindow += state.lossScale == lossScale;
  if (numInWindow < options.lossScale.window)
    return;
  lossScale = std::max(lossScale, std::min(2 * lossScale, greatestLossScale));
  numInWindow = 0;
}

StepSettings StepPlan::begin(int64_t step) {
  StepSettings settings = settingsOfStep(options, step);
  if (isDynamic()) {
    if (step > delay)
      learnFrom(stateOf(step - delay));
    settings.lossScale = lossScale;
    settings.limitsInfinite = false;
  } else if (options.scalesLoss) {
    settings.lossScale = *options.lossScale.fixed;
  }
  stateOf(step).lossScale = settings.lossScale;
  return settings;
}

data::LossScaleState StepPlan::stateAfter(int64_t step) const {
  data::LossScaleState saved{lossScale, numInWindow, {}};
  for (int64_t i = std::max<int64_t>(1, step - delay + 1); i <= step; ++i)
    saved.lastSteps.push_back({stateOf(i).lossScale, stateOf(i).overflows});
  return saved;
}

void StepPlan::goOnAfter(int64_t step, const data::LossScaleState &saved) {
  lossScale = saved.lossScale;
  numInWindow = saved.stepsInWindow;
  auto count = static_cast<int64_t>(saved.lastSteps.size());
  for (int64_t i = std::max<int64_t>(0, count - delay); i < count; ++i) {
    const data::ScaledStep &last = saved.lastSteps[static_cast<size_t>(i)];
    stateOf(step - count + 1 + i) = {last.lossScale, last.overflows};
  }
}

Status StepPlan::end(int64_t step, const StepResult &result) {
  State &state = stateOf(step);
  state.overflows = result.clip.skips;
  if (!isDynamic() || !state.overflows ||
      state.lossScale > options.lossScale.least)
    return Status::success();
  char text[240];
  std::snprintf(
      text, sizeof(text),
      "step %ld: the norm of the gradients is %g, although the loss "
      "scale is %.0f, the least one (--min-loss-scale): no scale would "
      "help; look at the data, the model and --lr",
      long(step), std::fabs(result.gradientNorm), state.lossScale);
  return Status::error(text);
}
