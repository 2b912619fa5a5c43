//===- Text.h - schedules as text -------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_TEXT_H
#define VEELINE_SCHEDULE_TEXT_H

#include "veeline/Schedule/Simulator.h"

#include <string>

namespace veeline::schedule {

/// How messages pass, for readers: ", rendezvous", ", links with contention",
/// or nothing for the default.
std::string transfersNote(const SimulationOptions &options);

/// How many ranks stages have: ", 2+1+1 ranks", or nothing where each has one.
std::string ranksNote(const std::vector<int> &widths);

/// The short name of an operation in a table: "F0" (kind, microbatch), and
/// with several chunks a stage "3F0" (global chunk in front). What is late has
/// a prime, "W3'".
std::string cellName(const Problem &problem, const Op &op);

/// A line of a summary: "makespan          33".
std::string summaryLine(const std::string &name, const std::string &value);

enum class View {
  /// The stages over a common time axis, and the summary.
  Timeline,
  /// The operations of each stage in order, and the summary.
  Order,
  /// The summary alone.
  Summary,
};

struct TextOptions {
  View view = View::Timeline;
  /// Columns of the terminal; what is longer wraps.
  int width = 100;
  /// Seconds that the generator took; not printed when negative.
  double generatorSeconds = -1;
  /// How many of these were spent on a processor; not printed when negative.
  double processorSeconds = -1;
};

/// One row a stage, one column an operation or overlapped block ("F3+B1"), in
/// order.
std::string orderTable(const Problem &problem, const Schedule &schedule,
                       int width);

/// One row a stage over a common time axis: a cell spans the time of its
/// operation, dots where the stage waits. Cells that are too narrow for names
/// show the kind alone, in lower case for the second, fourth... chunk of the
/// stage. An overlapped block is one cell, "F3+B1", narrow "F+B" or "&". Where
/// that would still be too long, the whole step is scaled to one width. A
/// legend at the end explains such cells.
std::string timeline(const Problem &problem, const Schedule &schedule,
                     const Simulation &simulation, int width);

/// The steady bubble for tables; empty where it is not known.
std::string steadyCell(const Simulation &simulation);

/// What may run in the next step: W, or BW where steps wait for no update.
const char *lateKind(const Problem &problem);

/// Bubbles, makespan, generator time, and per stage busy time, bubbles and
/// peak memory.
std::string summary(const Problem &problem, const Schedule &schedule,
                    const Simulation &simulation,
                    const TextOptions &options = {});

/// The chosen view, and the summary; of a cyclic schedule the timeline of a few
/// steps. Plain text without control codes.
std::string toText(const Problem &problem, const Schedule &schedule,
                   const Simulation &simulation,
                   const TextOptions &options = {});

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_TEXT_H
