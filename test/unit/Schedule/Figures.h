//===- Figures.h - figures that others give for schedules -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_SCHEDULE_FIGURES_H
#define VEELINE_TEST_UNIT_SCHEDULE_FIGURES_H

#include "TestUtilities.h"

namespace veeline::schedule {

/// A row of a table of an implementation or of a paper.
struct Figures {
  std::string line, schedule, implementation;
  int p, m;
  double f, b, w, transfer; ///< Costs of half a stage.
  double bubbleSpan, bubbleMakespan;
  double peak; ///< In activations.

  /// The problem for our schedule `name`.
  Problem problem(std::string_view name, int v) const;
};

/// The rows of `file`, in Inputs, of `schedule` by its name there.
std::vector<Figures> readFigures(const std::string &file,
                                 std::string_view schedule);

} // namespace veeline::schedule

#endif // VEELINE_TEST_UNIT_SCHEDULE_FIGURES_H
