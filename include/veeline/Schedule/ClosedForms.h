//===- ClosedForms.h - what the literature says -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Published formulas to compare with simulated figures. All are for equal
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

/// How a formula relates to what the simulator says of our schedule of that
/// name.
enum class FormKind {
  Exact,
  /// Never more.
  AtMost,
  /// Holds for many microbatches, or comes from counting that ignores some
  /// effects.
  Approximate,
};

/// "=", "<=" or "~".
const char *toString(FormKind kind);

/// One formula at one point.
struct Form {
  double value;
  FormKind kind;
  /// In p, v, m, F, B and W (of a whole stage), and s for a stage.
  std::string_view formula;
  /// Where it was published.
  std::string_view source;
};

/// What is known of a schedule. A form is missing where its conditions do not
/// hold or nothing was published.
struct ClosedForms {
  /// Of the makespan of all stages, as `Simulation::bubbleMakespan`.
  std::optional<Form> bubble;
  /// Of each stage's own time, as `Simulation::bubbleSpan`.
  std::optional<Form> bubbleOfSpan;
  /// The time of the bubble over that of the work, which some papers call the
  /// bubble: greater than the share above.
  std::optional<Form> bubbleToWork;
  /// The most activations (each of a whole stage, for one microbatch) that a
  /// stage holds: on the worst stage, and on each.
  std::optional<Form> activations;
  std::vector<double> activationsOfStage;
  /// Messages between stages for one microbatch, both ways.
  Form messages;

  /// Bytes over links for one microbatch, with `size` bytes a message (a
  /// gradient is as large as its activation).
  double bytes(double size) const { return messages.value * size; }
};

/// The forms of schedule `name` with p stages of v chunks and m microbatches.
/// `cost` is of a whole stage. Errors: a name of which nothing is known
/// (UnknownSchedule), p, v or m below 1 or a v that the schedule does not have
/// (NotApplicable).
Expected<ClosedForms> closedForms(std::string_view name, int p, int v, int m,
                                  const OpValues &cost = {1, 1, 1});

/// The activations that a stage holds at its peak, in bytes: `count` (the k of
/// the formula) microbatches in flight, each with `layers` layers of
/// `layerBytes`: k · L · A_layer.
double activationBytes(double count, double layers, double layerBytes);

/// The same where only the inputs of the stage (`boundaryBytes`) are kept and
/// the backward recomputes the rest of one microbatch, of which the share
/// `alpha` is alive at once: k · A_boundary + alpha · L · A_layer (Chen et al.,
/// Training Deep Nets with Sublinear Memory Cost, 2016, arXiv:1604.06174).
double recomputedActivationBytes(double count, double boundaryBytes,
                                 double alpha, double layers,
                                 double layerBytes);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_CLOSEDFORMS_H
