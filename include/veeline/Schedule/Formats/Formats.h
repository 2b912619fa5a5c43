//===- Formats.h - schedules as files ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writers and readers of schedule files, one source file each in
// lib/Schedule/Formats. A writer returns the whole file as a string;
// `writeFile` writes it atomically. docs/scheduling.md describes the formats.
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
  /// Problem, order and prediction, in our own format.
  Json,
  /// A picture for a paper.
  Svg,
  /// A page to zoom and look around in.
  Html,
  /// Chrome's trace events, which Perfetto opens.
  Trace,
};

/// The format by the extension of `path`; the longest known one wins. The error
/// lists all of them.
Expected<Format> formatOf(std::string_view path);

/// One row for each rank, with cells as "2F0" (global chunk, kind, microbatch).
/// Kinds are F, I for BackwardInput, W, and B for a fused Backward. The W of a
/// chunk without BackwardInput is written as B, since it is the whole backward.
std::string toCsv(const Problem &problem, const Schedule &schedule);

std::string toJson(const Solution &solution);

std::string toChromeTrace(const Solution &solution);

struct SvgOptions {
  /// Whether to draw each stage's memory below its row.
  bool memory = false;
};
std::string toSvg(const Solution &solution, const SvgOptions &options = {});

/// One self-contained page. Several solutions are shown side by side on one
/// time scale.
std::string toHtml(std::span<const Solution> solutions);

/// The output of `toText` with colours (ANSI escape codes) for the cells of
/// timelines and order tables.
std::string colored(std::string_view text, const Schedule &schedule);

/// Writes `bytes` to a temporary file in the same directory and renames it to
/// `path`, so that `path` is never half written. A device is written directly.
Status writeFile(const std::string &path, std::string_view bytes);
/// Checks that `writeFile` could begin to write. Changes nothing.
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

/// The content of a file. The order is not verified yet.
struct ImportedSchedule {
  Schedule schedule;
  /// By the name of its rule if there is one, otherwise a list.
  Placement placement;
  int microbatches;
  /// The number of rows of each stage, which are its ranks; empty: one each.
  std::vector<int> widths = {};
  /// The costs and limits that the schedule was made for. Only JSON may have
  /// them.
  std::optional<Problem> problem = std::nullopt;
};

/// Reads a .csv file. `file` is its name for messages, which begin with
/// "file:line:column: ". Empty cells and cells of communication are ignored;
/// "(0F3;7B1)OVERLAP_F_B" is an overlapped block. Errors (InvalidProblem): a
/// malformed cell, a chunk in two rows that are not ranks of one stage, missing
/// chunks.
Expected<ImportedSchedule> readCsv(std::string_view text,
                                   const std::string &file);
/// Reads the JSON of `toJson`. Only "order" is required.
Expected<ImportedSchedule> readJson(std::string_view text,
                                    const std::string &file);
/// Reads a file by its extension, .csv or .json.
Expected<ImportedSchedule> readScheduleFile(const std::string &path);

/// PATH if `name` is "file:PATH", a schedule from a file; else none.
std::optional<std::string> scheduleFilePath(std::string_view name);

/// Removes from a schedule that was read the BackwardInputs of chunks that have
/// none in `problem`, where W is the whole backward, and the Recomputes of
/// chunks that recompute inside of their backward. The writer of the file may
/// not have known that a chunk needs no input gradient.
Schedule withoutMissing(const Problem &problem, Schedule schedule);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_FORMATS_FORMATS_H
