//===- VRounds.h - the rounds of the published ZB-V -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_VROUNDS_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_VROUNDS_H

#include "LegBuilder.h"

namespace veeline::schedule {

struct VRoundsOptions {
  /// Whether to run a W before an F (a B of leg 0) that would make a stage wait
  /// longer than the worst stage has waited so far, even if the W delays the F
  /// (the B).
  bool fillBeforeForward = true;
  bool fillBeforeBackward = true;
  /// Whether the W of a chunk without BackwardInput runs where its B would, and
  /// is not delayed.
  bool weightAtOnce = false;
  /// Whether to run more forwards of leg 0 before the first F of leg 1, if
  /// memory and time permit.
  bool extraForwards = true;
  /// Whether to fail if memory does not admit a step, instead of leaving the
  /// step to a later round.
  bool strict = false;
  /// The time that each stage waited in an earlier attempt; empty if there was
  /// none. In this attempt, a stage may wait for the difference between the
  /// longest wait then and its own.
  std::vector<double> approvedIdle = {};
};

/// Whether W were run by `fillBeforeForward` and `fillBeforeBackward`.
struct VRoundsFills {
  bool beforeForward = false, beforeBackward = false;
};

/// What attempts with and without the two options did. An attempt that ran no W
/// because of an option equals one without the option.
class VRoundsVariants {
public:
  /// Whether an earlier attempt was the same. Expects attempts that fill more
  /// first.
  bool isKnown(const VRoundsOptions &options);
  /// What this attempt and its repetitions did.
  VRoundsFills &of(const VRoundsOptions &options) {
    return fills[options.fillBeforeForward][options.fillBeforeBackward];
  }

private:
  VRoundsFills fills[2][2];
};

/// The construction of Qi et al. (Zero Bubble Pipeline Parallelism, 2024,
/// section 6): a V of forwards, more forwards if memory and time permit, then
/// rounds in which every stage places at most one B and one F, with W in the
/// gaps. Returns false, with the builder in an undefined state, if the memory
/// limits do not admit its order, or if it certainly misses the builder's goal.
/// Adds to `fills`. O(operations).
bool buildVRounds(LegBuilder &builder, const VRoundsOptions &options,
                  VRoundsFills &fills);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_VROUNDS_H
