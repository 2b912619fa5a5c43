//===- Color.cpp - colours for a terminal ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Formats/Formats.h"

#include <cctype>

using namespace veeline::schedule;

/// Returns black on the kind's background (of the 256 colours), in the hues of
/// the other pictures.
static const char *escapeOf(std::string_view letters) {
  switch (std::toupper(static_cast<unsigned char>(letters.front()))) {
  case 'F':
    return "\x1b[30;48;5;117m";
  case 'B':
    return letters == "BW" ? "\x1b[30;48;5;183m" : "\x1b[30;48;5;115m";
  default:
    return "\x1b[30;48;5;222m";
  }
}

static std::size_t skipDigits(std::string_view row, std::size_t at) {
  while (at < row.size() && std::isdigit(static_cast<unsigned char>(row[at])))
    ++at;
  return at;
}

static bool hasFused(const Schedule &schedule) {
  for (const std::vector<Op> &ops : schedule.stages)
    for (const Op &op : ops)
      if (op.kind == OpKind::Backward)
        return true;
  return false;
}

/// Returns the end of the cell that begins at `at`, with its letters. Returns
/// `at` if no cell begins there.
static std::size_t cellEnd(std::string_view row, std::size_t at, bool hasFused,
                           std::string_view &letters) {
  constexpr std::string_view kinds = "FBWfbw";
  std::size_t kind = skipDigits(row, at);
  if (kind == row.size() || kinds.find(row[kind]) == kinds.npos)
    return at;
  // "BW" is one kind only if a microbatch follows. Without names, letters of
  // several operations are adjacent.
  bool isFused = hasFused && row.substr(kind, 2) == "BW" &&
                 kind + 2 < row.size() &&
                 std::isdigit(static_cast<unsigned char>(row[kind + 2]));
  letters = row.substr(kind, isFused ? 2 : 1);
  std::size_t end = skipDigits(row, kind + letters.size());
  while (end < row.size() && row[end] == '-')
    ++end;
  return end;
}

static std::string coloredRow(std::string_view row, bool hasFused) {
  std::string text;
  for (std::size_t at = 0; at < row.size();) {
    std::string_view letters;
    std::size_t end = cellEnd(row, at, hasFused, letters);
    if (end == at) {
      text += row[at++];
      continue;
    }
    text += escapeOf(letters);
    text += row.substr(at, end - at);
    text += "\x1b[0m";
    at = end;
  }
  return text;
}

std::string veeline::schedule::colored(std::string_view text,
                                       const Schedule &schedule) {
  bool mayFuse = hasFused(schedule);
  std::string result;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    // A row is "stage 3: " or "rank 3: " with cells; other lines are not rows.
    std::size_t colon = line.find(": ");
    std::size_t number = line.starts_with("stage ")  ? 6
                         : line.starts_with("rank ") ? 5
                                                     : line.npos;
    bool isRow = number != line.npos && colon != line.npos &&
                 line.find_first_not_of("0123456789 ", number) == colon;
    std::size_t begin = isRow ? colon + 2 : line.size();
    result += line.substr(0, begin);
    result += coloredRow(line.substr(begin), mayFuse);
  }
  return result;
}
