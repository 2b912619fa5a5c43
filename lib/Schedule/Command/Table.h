//===- Table.h - tables for readers -----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_COMMAND_TABLE_H
#define VEELINE_LIB_SCHEDULE_COMMAND_TABLE_H

#include <string>
#include <vector>

namespace veeline::schedule {

using Row = std::vector<std::string>;

/// Formats a table. The first row has the titles. The first and the last column
/// are aligned to the left, the others to the right. A row of two cells is a
/// name and a text that spans all columns. Empty columns are left out.
std::string formatTable(const std::vector<Row> &rows);

/// A member of an object. It is left out if its value is empty, that is, not
/// known.
struct Member {
  std::string name, value;
  bool isText = false;
};

/// Returns an object of JSON on one line.
std::string jsonObject(const std::vector<Member> &members);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_COMMAND_TABLE_H
