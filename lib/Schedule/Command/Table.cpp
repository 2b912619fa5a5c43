//===- Table.cpp - tables for readers -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table.h"

#include "veeline/Base/Text.h"

#include <algorithm>

using namespace veeline;

std::string veeline::schedule::formatTable(const std::vector<Row> &rows) {
  std::vector<std::size_t> widths(rows.front().size());
  std::vector<bool> isUsed(widths.size());
  for (const Row &row : rows) {
    widths[0] = std::max(widths[0], row[0].size());
    for (std::size_t i = 1; row.size() > 2 && i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
      isUsed[i] = isUsed[i] || (&row != &rows.front() && !row[i].empty());
    }
  }
  std::string text;
  for (const Row &row : rows) {
    text += row[0] + std::string(widths[0] - row[0].size(), ' ');
    if (row.size() == 2)
      text += "  " + row[1];
    for (std::size_t i = 1; row.size() > 2 && i < row.size(); ++i) {
      bool isLast = i + 1 == row.size();
      if (isUsed[i])
        text += "  " +
                std::string(isLast ? 0 : widths[i] - row[i].size(), ' ') +
                row[i];
    }
    text += "\n";
  }
  return text;
}

std::string veeline::schedule::jsonObject(const std::vector<Member> &members) {
  std::string text;
  for (const auto &[name, value, isText] : members)
    if (!value.empty())
      text += (text.empty() ? "" : ", ") + jsonString(name) + ": " +
              (isText ? jsonString(value) : value);
  return "{" + text + "}";
}
