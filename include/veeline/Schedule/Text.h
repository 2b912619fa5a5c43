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

/// The kind of transfers, for readers: ", rendezvous", ", links with
/// contention", or nothing for the default.
std::string transfersNote(const SimulationOptions &options);

/// The ranks of the stages: ", 2+1+1 ranks", or nothing if each has one.
std::string ranksNote(const std::vector<int> &widths);

/// The short name of an operation in a table: "F0" (kind, microbatch) or, with
/// several chunks a stage, "3F0" (global chunk in front). Late operations have
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
  /// Columns of the terminal. Longer lines wrap.
  int width = 100;
  /// Wall time of the generator in seconds; not printed if negative.
  double generatorSeconds = -1;
  /// Its processor time in seconds; not printed if negative.
  double processorSeconds = -1;
};

/// A table with a row for each stage and a column for each operation or
/// overlapped block ("F3+B1"), in order.
std::string orderTable(const Problem &problem, const Schedule &schedule,
                       int width);

/// A row for each stage over a common time axis. A cell spans the time of its
/// operation; dots show where the stage waits. Cells that are too narrow for
/// names show the kind alone, in lower case for the second, fourth... chunk of
/// the stage. An overlapped block is one cell: "F3+B1", or "F+B" or "&" if
/// narrow. If the line would still be too long, the whole step is scaled to one
/// width. A legend at the end explains the abbreviations.
std::string timeline(const Problem &problem, const Schedule &schedule,
                     const Simulation &simulation, int width);

/// The steady bubble for tables; empty if unknown.
std::string steadyCell(const Simulation &simulation);

/// The operation that may be late: "W", or "BW" if steps wait for no update.
const char *lateKind(const Problem &problem);

/// A summary: bubbles, makespan and generator time, and for each stage busy
/// time, bubbles and peak memory.
std::string summary(const Problem &problem, const Schedule &schedule,
                    const Simulation &simulation,
                    const TextOptions &options = {});

/// The chosen view, and the summary. For a cyclic schedule the timeline shows a
/// few steps. Plain text without control codes.
std::string toText(const Problem &problem, const Schedule &schedule,
                   const Simulation &simulation,
                   const TextOptions &options = {});

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_TEXT_H
