//===- Figures.h - published figures of schedules ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_SCHEDULE_FIGURES_H
#define VEELINE_TEST_UNIT_SCHEDULE_FIGURES_H

#include "TestUtilities.h"

namespace veeline::schedule {

/// A row of a table of another implementation or of a paper.
struct Figures {
  std::string line, schedule, implementation;
  int p, m;
  double f, b, w, transfer; ///< The costs of half a stage.
  double bubbleSpan, bubbleMakespan;
  double peak; ///< In activations.

  /// The problem for our schedule `name`.
  Problem problem(std::string_view name, int v) const;
};

/// The rows of `schedule`, by its name there, of `file` in Inputs.
std::vector<Figures> readFigures(const std::string &file,
                                 std::string_view schedule);

} // namespace veeline::schedule

#endif // VEELINE_TEST_UNIT_SCHEDULE_FIGURES_H
