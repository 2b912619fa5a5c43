//===- StepPlan.h - the settings of each step -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_STEPPLAN_H
#define VEELINE_RUNTIME_TRAIN_STEPPLAN_H

#include "CheckpointIndex.h"
#include "Options.h"

#include <array>

namespace veeline::train {

/// The settings of the steps of a run. A dynamic loss scale depends on the
/// steps before (docs/loss-scaling.md): a step whose gradients overflow halves
/// it, and many successive steps without an overflow double it (Micikevicius et
/// al., Mixed Precision Training, 2018, section 3.2).
class StepPlan {
public:
  /// The number of steps that are begun before the result of a step takes
  /// effect. As many steps may be in flight; if there are fewer, settings are
  /// the same.
  static constexpr int64_t delay = 2;
  /// The greatest loss scale that is reached by doubling, because more has no
  /// use.
  static constexpr double greatestLossScale = 16777216;

  explicit StepPlan(const Options &options)
      : options(options), lossScale(options.lossScale.first) {}

  /// Returns the settings of step `step`, which ascends from 1. Step `step -
  /// delay` has ended.
  StepSettings begin(int64_t step);
  /// Takes the result of step `step`, which also ascends. Fails if its
  /// gradients overflow although the loss scale is the least one.
  Status end(int64_t step, const StepResult &result);
  /// The loss scale of step `step`, which is the last step that has ended, or a
  /// later one.
  double lossScaleOf(int64_t step) const { return stateOf(step).lossScale; }

  /// The state on which the next steps depend when step `step` has ended and no
  /// later one has begun.
  data::LossScaleState stateAfter(int64_t step) const;
  /// Continues after step `step`.
  void goOnAfter(int64_t step, const data::LossScaleState &saved);

private:
  struct State {
    double lossScale = 1;
    bool overflows = false;
  };
  State &stateOf(int64_t step) {
    return states[static_cast<size_t>(step) % states.size()];
  }
  const State &stateOf(int64_t step) const {
    return states[static_cast<size_t>(step) % states.size()];
  }
  bool isDynamic() const;
  void learnFrom(const State &state);

  const Options &options;
  double lossScale;        ///< The dynamic scale of the next step.
  int64_t numInWindow = 0; ///< Successive steps with it without overflow.
  std::array<State, delay + 1> states;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_STEPPLAN_H
