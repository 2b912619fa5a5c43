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

/// The cells of one stage in order, overlapped blocks as one.
/// `wholeBackward`: the W of a chunk without BackwardInput becomes a B.
std::vector<std::string> stageCells(const Problem &problem,
                                    const Schedule &schedule, int stage,
                                    bool wholeBackward);

/// What a cell stands for: no operation (empty, communication), one, or the two
/// of an overlapped block.
Expected<std::vector<Op>> parseCell(std::string_view cell);

/// A cell that sends or receives: "2SEND_F0".
struct MessageCell {
  int chunk;
  int microbatch;
  bool isSend;
  bool isGradient;
};
/// Nothing for any other cell.
std::optional<MessageCell> parseMessageCell(std::string_view cell);

/// The rows of a .csv file, one a rank; empty lines at the end are none.
std::vector<std::string_view> csvRows(std::string_view text);

/// Puts a schedule together cell by cell, one row a rank. A row that begins
/// with a chunk of the row before it is of the same stage, which then has
/// several ranks.
class OrderReader {
public:
  explicit OrderReader(std::string file) : file(std::move(file)) {}

  void beginRow();
  /// The error does not say where the cell stands; `errorIn` adds that.
  Status addCell(std::string_view cell);
  /// What was read, named `name`.
  Expected<ImportedSchedule> finish(std::string name);

private:
  void beginStageOf(const Op &first);
  Status addOp(const Op &op);

  std::string file;
  Schedule schedule;
  /// Rows of each stage so far; and whether the last row belongs to one yet.
  std::vector<int> widths;
  bool hasStage = true;
  /// By chunk; -1 for one that was not seen yet.
  std::vector<int> stageOfChunk;
  int microbatches = 0;
  std::int64_t forwards = 0;
};

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_FORMATS_CELLS_H
