//===- Csv.cpp - orders as PyTorch's pipelining reads them ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cells.h"
#include "veeline/Base/Text.h"

using namespace veeline;
using namespace veeline::schedule;

std::string veeline::schedule::toCsv(const Problem &problem,
                                     const Schedule &schedule) {
  std::string text;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    bool isFirst = true;
    for (const std::string &cell :
         stageCells(problem, schedule, rank, /*wholeBackward=*/true)) {
      text += (isFirst ? "" : ",") + cell;
      isFirst = false;
    }
    text += "\n";
  }
  return text;
}

static Status readRow(std::string_view row, int line, const std::string &file,
                      OrderReader &reader) {
  reader.beginRow();
  for (std::string_view cell : splitAt(row, ','))
    if (Status status = reader.addCell(cell); !status)
      return errorIn(file,
                     {line, static_cast<int>(cell.data() - row.data()) + 1},
                     status.error().message);
  return Status::success();
}

std::vector<std::string_view>
veeline::schedule::csvRows(std::string_view text) {
  constexpr std::string_view byteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(byteOrderMark))
    text.remove_prefix(byteOrderMark.size());
  // Empty lines at the end are not ranks.
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  if (text.empty())
    return {};
  return splitAt(text, '\n');
}

Expected<ImportedSchedule> veeline::schedule::readCsv(std::string_view text,
                                                      const std::string &file) {
  OrderReader reader(file);
  int line = 0;
  for (std::string_view row : csvRows(text))
    if (Status status = readRow(row, ++line, file, reader); !status)
      return status.takeError();
  return reader.finish("file:" + file);
}
