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

/// The settings of the steps of a run. What a dynamic loss scale is depends on
/// the steps before (docs/loss-scaling.md): a step whose gradients overflow
/// halves it, and many in a row that do not double it (Micikevicius et al.,
/// Mixed Precision Training, 2018, section 3.2).
class StepPlan {
public:
  /// How many steps are begun before the result of one counts. As many may be
  /// in flight; with fewer, settings are the same.
  static constexpr int64_t delay = 2;
  /// Beyond it, doubling is of no more use.
  static constexpr double greatestLossScale = 16777216;

  explicit StepPlan(const Options &options)
      : options(options), lossScale(options.lossScale.first) {}

  /// Of step `step`, which ascends from 1. Step `step - delay` has ended.
  StepSettings begin(int64_t step);
  /// Takes the result of step `step`, which ascends, too. Fails if its
  /// gradients overflow although the loss scale is the least one.
  Status end(int64_t step, const StepResult &result);
  /// Of step `step`, the last one that has ended, or a later one.
  double lossScaleOf(int64_t step) const { return stateOf(step).lossScale; }

  /// What the next steps depend on when step `step` has ended and none after it
  /// has begun.
  data::LossScaleState stateAfter(int64_t step) const;
  /// Goes on after step `step`.
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
  double lossScale;        ///< A dynamic one, of the next step that begins.
  int64_t numInWindow = 0; ///< Steps with it that have not overflown.
  std::array<State, delay + 1> states;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_STEPPLAN_H
