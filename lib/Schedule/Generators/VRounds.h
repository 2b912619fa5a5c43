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
  /// Before an F (a B of leg 0) that would make a stage wait longer than the
  /// worst stage has waited so far, run a W even if it delays the F (the B).
  bool fillBeforeForward = true;
  bool fillBeforeBackward = true;
  /// The W of a chunk without BackwardInput runs where its B would, and is not
  /// put off.
  bool weightAtOnce = false;
  /// More forwards of leg 0 before the first F of leg 1, where memory and time
  /// permit.
  bool extraForwards = true;
  /// Fail where memory does not admit a step, instead of leaving the step to a
  /// later round.
  bool strict = false;
  /// How long each stage waited in an earlier attempt; empty: there was none.
  /// In this attempt a stage may wait for the difference between the longest
  /// wait then and its own.
  std::vector<double> approvedIdle = {};
};

/// Whether W were run by `fillBeforeForward` and `fillBeforeBackward`.
struct VRoundsFills {
  bool beforeForward = false, beforeBackward = false;
};

/// What attempts with and without the two options did. An attempt that ran no W
/// because of an option is the same as one without the option.
class VRoundsVariants {
public:
  /// Whether an earlier attempt was the same. Expects those that fill more
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
/// section 6): a V of forwards, more forwards where memory and time permit,
/// then rounds in which every stage places at most one B and one F, with W in
/// the gaps. Returns false, with the builder in an undefined state, where the
/// memory limits do not admit its order, or where it certainly misses the
/// builder's goal. Adds to `fills`. O(operations).
bool buildVRounds(LegBuilder &builder, const VRoundsOptions &options,
                  VRoundsFills &fills);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_VROUNDS_H
