//===- Csv.cpp - orders as PyTorch's pipelining reads them ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cells.h"

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
  for (std::size_t begin = 0; begin <= row.size();) {
    std::size_t end = std::min(row.find(',', begin), row.size());
    if (Status status = reader.addCell(row.substr(begin, end - begin)); !status)
      return errorIn(file, {line, static_cast<int>(begin) + 1},
                     status.error().message);
    begin = end + 1;
  }
  return Status::success();
}

std::vector<std::string_view>
veeline::schedule::csvRows(std::string_view text) {
  constexpr std::string_view byteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(byteOrderMark))
    text.remove_prefix(byteOrderMark.size());
  // Empty lines at the end are no ranks.
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  std::vector<std::string_view> rows;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    rows.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return rows;
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
