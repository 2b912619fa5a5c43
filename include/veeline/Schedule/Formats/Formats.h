//===- Formats.h - schedules as files ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writers and readers, one file each in lib/Schedule/Formats. A writer gives
// the whole file as a string, `writeFile` puts it to its place whole or not at
// all. docs/scheduling.md describes the formats.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_FORMATS_FORMATS_H
#define VEELINE_SCHEDULE_FORMATS_FORMATS_H

#include "veeline/Schedule/Simulator.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace veeline::schedule {

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

enum class Format {
  /// The picture and the summary of the terminal.
  Text,
  /// The order alone, for PyTorch's loader of pipelining schedules.
  Csv,
  /// The order with its messages, for the same loader (CommunicationCells.h).
  CommunicationCsv,
  /// Problem, order and prediction; our own.
  Json,
  /// A picture for a paper.
  Svg,
  /// A page to zoom and look around in.
  Html,
  /// Chrome's trace events, which Perfetto opens.
  Trace,
};

/// By what `path` ends in; the longest known ending wins. The error lists all.
Expected<Format> formatOf(std::string_view path);

/// One row a rank, cells as "2F0" (global chunk, kind, microbatch): F, I for
/// BackwardInput, W, B for a fused Backward. The W of a chunk without
/// BackwardInput is its whole backward, so it is a B there.
std::string toCsv(const Problem &problem, const Schedule &schedule);

std::string toJson(const Solution &solution);

std::string toChromeTrace(const Solution &solution);

struct SvgOptions {
  /// Whether to draw each stage's memory below its lane.
  bool memory = false;
};
std::string toSvg(const Solution &solution, const SvgOptions &options = {});

/// One page with everything in it, and nothing from elsewhere. Several
/// solutions stand beside each other over one time scale.
std::string toHtml(std::span<const Solution> solutions);

/// What `toText` gives for a schedule, with the cells of timelines and order
/// tables in colours (ANSI escape codes).
std::string colored(std::string_view text, const Schedule &schedule);

/// Writes `bytes` to `path`: a temporary file in the same directory, then
/// renamed, so that `path` is never half written. A device is written to
/// directly.
Status writeFile(const std::string &path, std::string_view bytes);
/// Whether `writeFile` could begin to write. Changes nothing.
Status tryFile(const std::string &path);

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// A place in a file, counted from 1.
struct Place {
  int line = 1;
  int column = 1;
};

/// "file:line:column: message" as an InvalidProblem.
Error errorIn(const std::string &file, Place place, const std::string &message);

/// What a file says. Nothing is verified yet: the order is as it stands there.
struct ImportedSchedule {
  Schedule schedule;
  /// By a rule where one gives this placement, otherwise a list.
  Placement placement;
  int microbatches;
  /// The rows of each stage, its ranks; empty where each has one.
  std::vector<int> widths = {};
  /// JSON alone may have them: the costs and limits it was made for.
  std::optional<Problem> problem = std::nullopt;
};

/// `file` is the name for messages, which begin with "file:line:column: ".
/// Cells of communication and empty ones are passed over;
/// "(0F3;7B1)OVERLAP_F_B" is an overlapped block. Errors (InvalidProblem): a
/// cell that is none of these, a chunk in two rows that are not those of one
/// stage's ranks, chunks that are missing.
Expected<ImportedSchedule> readCsv(std::string_view text,
                                   const std::string &file);
/// The JSON of `toJson`; only "order" has to be there.
Expected<ImportedSchedule> readJson(std::string_view text,
                                    const std::string &file);
/// Reads a file by its extension, .csv or .json.
Expected<ImportedSchedule> readScheduleFile(const std::string &path);

/// PATH, where `name` is "file:PATH": a schedule that stands in a file.
std::optional<std::string> scheduleFilePath(std::string_view name);

/// Drops the BackwardInputs of chunks that have none in `problem`, where W is
/// the whole backward, and the Recomputes of chunks that recompute inside of
/// their backward, from a schedule that was read. Who wrote the file may not
/// have known that a chunk owes nobody an input gradient.
Schedule withoutMissing(const Problem &problem, Schedule schedule);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_FORMATS_FORMATS_H
