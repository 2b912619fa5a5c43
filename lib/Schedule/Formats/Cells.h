//===- Cells.h - operations as cells of a file ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The notation of PyTorch's pipelining schedules, which CSV and JSON share.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_FORMATS_CELLS_H
#define VEELINE_LIB_SCHEDULE_FORMATS_CELLS_H

#include "veeline/Schedule/Formats/Formats.h"

namespace veeline::schedule {

/// Returns the cells of one stage in order; an overlapped block is one cell.
/// With `wholeBackward`, the W of a chunk without BackwardInput becomes a B.
std::vector<std::string> stageCells(const Problem &problem,
                                    const Schedule &schedule, int stage,
                                    bool wholeBackward);

/// Returns the operations of a cell: none (for an empty cell or communication),
/// one, or the two of an overlapped block.
Expected<std::vector<Op>> parseCell(std::string_view cell);

/// A cell that sends or receives, such as "2SEND_F0".
struct MessageCell {
  int chunk;
  int microbatch;
  bool isSend;
  bool isGradient;
};
/// Returns none for any other cell.
std::optional<MessageCell> parseMessageCell(std::string_view cell);

/// Returns the rows of a .csv file, one for each rank. Empty lines at the end
/// do not count.
std::vector<std::string_view> csvRows(std::string_view text);

/// Builds a schedule cell by cell, with one row for each rank. If a row begins
/// with a chunk of the row before it, it belongs to the same stage, which then
/// has several ranks.
class OrderReader {
public:
  explicit OrderReader(std::string file) : file(std::move(file)) {}

  void beginRow();
  /// The error does not have the place of the cell; `errorIn` adds that.
  Status addCell(std::string_view cell);
  /// Returns the schedule, named `name`.
  Expected<ImportedSchedule> finish(std::string name);

private:
  void beginStageOf(const Op &first);
  Status addOp(const Op &op);

  std::string file;
  Schedule schedule;
  /// The rows of each stage so far, and whether the last row already belongs to
  /// a stage.
  std::vector<int> widths;
  bool hasStage = true;
  /// By chunk; -1 for a chunk that has not occurred yet.
  std::vector<int> stageOfChunk;
  int microbatches = 0;
  std::int64_t forwards = 0;
};

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_FORMATS_CELLS_H
