//===- ClosedForms.h - published formulas for schedules ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Published formulas, to compare them with simulated values. All are for equal
// chunks on a chain and free transfers.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_CLOSEDFORMS_H
#define VEELINE_SCHEDULE_CLOSEDFORMS_H

#include "veeline/Schedule/ProblemOptions.h"

#include <optional>
#include <string_view>
#include <vector>

namespace veeline::schedule {

/// How a formula relates to the simulated value of our schedule of that name.
enum class FormKind {
  Exact,
  /// Never more.
  AtMost,
  /// Holds for many microbatches, or ignores some effects.
  Approximate,
};

/// "=", "<=" or "~".
const char *toString(FormKind kind);

/// One formula at one point.
struct Form {
  double value;
  FormKind kind;
  /// In p, v, m; F, B and W of a whole stage; and s, the number of a stage.
  std::string_view formula;
  /// Where it was published.
  std::string_view source;
};

/// The formulas known for a schedule. One is missing if its conditions do not
/// hold or nothing was published.
struct ClosedForms {
  /// The bubble of the makespan, as `Simulation::bubbleMakespan`.
  std::optional<Form> bubble;
  /// The bubble of each stage's own time, as `Simulation::bubbleSpan`.
  std::optional<Form> bubbleOfSpan;
  /// The time of the bubble divided by that of the work. Some papers call this
  /// ratio the bubble; it is greater than `bubble`.
  std::optional<Form> bubbleToWork;
  /// The peak of activations that a stage holds, each of a whole stage for one
  /// microbatch: on the worst stage, and on every stage.
  std::optional<Form> activations;
  std::vector<double> activationsOfStage;
  /// Messages between stages for one microbatch, both ways.
  Form messages;

  /// The bytes over links for one microbatch, with messages of `size` bytes. A
  /// gradient is as large as its activation.
  double bytes(double size) const { return messages.value * size; }
};

/// The formulas for schedule `name` with p stages of v chunks and m
/// microbatches. `cost` is that of a whole stage. Errors: UnknownSchedule for a
/// name without formulas; NotApplicable for p, v or m below 1, or a v that the
/// schedule does not have.
Expected<ClosedForms> closedForms(std::string_view name, int p, int v, int m,
                                  const OpValues &cost = {1, 1, 1});

/// The peak of a stage's activations in bytes: k · L · A_layer, for k = `count`
/// microbatches in flight and L = `layers` layers of A_layer = `layerBytes`.
double activationBytes(double count, double layers, double layerBytes);

/// The same with recomputation: k · A_boundary + alpha · L · A_layer. Only the
/// inputs of the stage (A_boundary = `boundaryBytes`) are kept. The backward
/// recomputes the rest of one microbatch, of which the share `alpha` is live at
/// once (Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016,
/// arXiv:1604.06174).
double recomputedActivationBytes(double count, double boundaryBytes,
                                 double alpha, double layers,
                                 double layerBytes);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_CLOSEDFORMS_H
