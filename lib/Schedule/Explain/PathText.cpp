//===- PathText.cpp - the critical path in a few rows ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PathText.h"

#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Text.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::schedule;

std::string veeline::schedule::percent(double part, double whole) {
  return formatted("%.1f%%", whole > 0 ? 100 * part / whole : 0);
}

namespace {
/// Operations of the path that are shown together.
struct Row {
  /// Indices into `PathTable::cells`.
  std::size_t first, last;
  /// Whether the operations take one microbatch from stage to stage.
  bool isLeg;
};

class PathTable {
public:
  PathTable(const Problem &problem, const Schedule &schedule,
            const std::vector<CriticalStep> &path);
  std::string str(int maxRows) const;

private:
  /// An operation or block, with the messages before it.
  struct Cell {
    const CriticalStep *step;
    double from, messages;
  };

  const Op &op(std::size_t cell) const {
    const CriticalStep &step = *cells[cell].step;
    return schedule.stages[step.stage][step.step];
  }
  std::size_t legFrom(std::size_t cell) const;
  std::size_t runFrom(std::size_t cell) const;
  std::string nameOf(std::size_t cell) const;
  std::string namesOf(std::size_t first, std::size_t last) const;
  std::vector<std::string> groupsOf(std::size_t first, std::size_t last) const;
  std::string stagesOf(const Row &row) const;
  std::string operationsOf(const Row &row) const;
  std::vector<std::string> columnsOf(const Row &row) const;
  std::vector<std::string> columns(std::size_t first, std::size_t last,
                                   std::string stages,
                                   std::string operations) const;
  std::vector<std::string> middle(std::size_t first, std::size_t last) const;

  const Problem &problem;
  const Schedule &schedule;
  std::vector<Cell> cells;
  std::vector<Row> rows;
  bool hasMessages = false;
};
} // namespace

PathTable::PathTable(const Problem &problem, const Schedule &schedule,
                     const std::vector<CriticalStep> &path)
    : problem(problem), schedule(schedule) {
  double from = path.empty() ? 0 : path.front().start, messages = 0;
  for (const CriticalStep &step : path) {
    if (step.isMessage()) {
      messages += step.end - step.start;
      continue;
    }
    cells.push_back({&step, from, messages});
    hasMessages |= messages > 0;
    from = step.end;
    messages = 0;
  }
  for (std::size_t i = 0; i < cells.size(); i = rows.back().last) {
    std::size_t leg = legFrom(i);
    rows.push_back(leg > i ? Row{i, leg, true} : Row{i, runFrom(i), false});
  }
}

/// Returns the end of the leg from `cell` on: operations that take one
/// microbatch over at least three stages, chunk after chunk. Returns `cell`
/// itself if there is none.
std::size_t PathTable::legFrom(std::size_t cell) const {
  int direction = op(cell).kind == OpKind::Forward ? 1 : -1, stages = 1;
  std::size_t end = cell + 1;
  auto continues = [&](std::size_t next) {
    const Op &before = op(next - 1), &after = op(next);
    return cells[next].step->size == 1 && before.kind == after.kind &&
           before.microbatch == after.microbatch &&
           after.chunk == before.chunk + direction;
  };
  if (cells[cell].step->size > 1)
    return cell;
  for (; end < cells.size() && continues(end); ++end)
    stages += cells[end].step->stage != cells[end - 1].step->stage;
  return stages >= 3 ? end : cell;
}

/// Returns the end of the operations that one stage runs before the next leg.
std::size_t PathTable::runFrom(std::size_t cell) const {
  std::size_t end = cell + 1;
  while (end < cells.size() &&
         cells[end].step->stage == cells[cell].step->stage &&
         legFrom(end) == end)
    ++end;
  return end;
}

std::string PathTable::nameOf(std::size_t cell) const {
  const CriticalStep &step = *cells[cell].step;
  std::string name = cellName(problem, op(cell));
  if (step.size > 1)
    name += "+" + cellName(problem, schedule.stages[step.stage][step.step + 1]);
  return name;
}

/// Returns the names of operations. Three or more of one kind with ascending
/// microbatches are written as "F0..F5".
std::vector<std::string> PathTable::groupsOf(std::size_t first,
                                             std::size_t last) const {
  std::vector<std::string> groups;
  for (std::size_t i = first; i < last;) {
    std::size_t end = i + 1;
    while (end < last && cells[end].step->size == 1 &&
           cells[i].step->size == 1 && op(end).kind == op(i).kind &&
           op(end).chunk == op(i).chunk &&
           op(end).microbatch == op(end - 1).microbatch + 1)
      ++end;
    if (end - i < 3)
      end = i + 1;
    groups.push_back(end == i + 1 ? nameOf(i)
                                  : nameOf(i) + ".." + nameOf(end - 1));
    i = end;
  }
  return groups;
}

std::string PathTable::namesOf(std::size_t first, std::size_t last) const {
  std::vector<std::string> groups = groupsOf(first, last);
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups.size() > 7 && i == 4) {
      text += " ..";
      i = groups.size() - 2;
    }
    text += (i > 0 ? " " : "") + groups[i];
  }
  if (last - first > 6)
    text += " (" + std::to_string(last - first) + ")";
  return text;
}

std::string PathTable::stagesOf(const Row &row) const {
  int stage = cells[row.first].step->stage;
  if (!row.isLeg)
    return std::to_string(stage);
  // If a leg turns, the stage at which it turns is also named.
  std::string text = std::to_string(stage);
  int direction = 0, previous = stage;
  for (std::size_t i = row.first + 1; i < row.last; ++i) {
    int next = cells[i].step->stage;
    int step = (next > previous) - (next < previous);
    if (step != 0 && direction != 0 && step != direction)
      text += "-" + std::to_string(previous);
    direction = step != 0 ? step : direction;
    previous = next;
  }
  return text + "-" + std::to_string(previous);
}

std::string PathTable::operationsOf(const Row &row) const {
  if (!row.isLeg)
    return namesOf(row.first, row.last);
  std::string count = std::to_string(row.last - row.first);
  if (problem.chunksPerStage() == 1)
    return nameOf(row.first) +
           (problem.widths.empty() ? " on each (" : " from stage to stage (") +
           count + ")";
  return nameOf(row.first) + " to " + nameOf(row.last - 1) + " (" + count + ")";
}

std::vector<std::string> PathTable::columns(std::size_t first, std::size_t last,
                                            std::string stages,
                                            std::string operations) const {
  double messages = 0;
  for (std::size_t i = first; i < last; ++i)
    messages += cells[i].messages;
  return {shortNumber(cells[first].from),
          shortNumber(cells[last - 1].step->end), std::move(stages),
          hasMessages ? shortNumber(messages) : "", std::move(operations)};
}

std::vector<std::string> PathTable::columnsOf(const Row &row) const {
  return columns(row.first, row.last, stagesOf(row), operationsOf(row));
}

/// Returns the row that replaces rows in the middle.
std::vector<std::string> PathTable::middle(std::size_t first,
                                           std::size_t last) const {
  std::size_t begin = rows[first].first, end = rows[last - 1].last;
  int least = problem.ranks(), most = 0;
  for (std::size_t i = begin; i < end; ++i) {
    least = std::min(least, cells[i].step->stage);
    most = std::max(most, cells[i].step->stage);
  }
  std::string stages = least == most ? std::to_string(least)
                                     : "in " + std::to_string(least) + ".." +
                                           std::to_string(most);
  return columns(begin, end, stages,
                 "... " + counted(end - begin, "operation") + " more");
}

std::string PathTable::str(int maxRows) const {
  std::vector<std::vector<std::string>> table{
      {"from", "to", problem.widths.empty() ? "stages" : "ranks",
       hasMessages ? "messages" : "", "operations"}};
  std::size_t count = rows.size();
  std::size_t shown = std::max(3, maxRows) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (count > shown + 1 && i == (shown + 1) / 2) {
      std::size_t next = count - shown / 2;
      table.push_back(middle(i, next));
      i = next;
    }
    table.push_back(columnsOf(rows[i]));
  }
  std::array<std::size_t, 4> widths{};
  for (const std::vector<std::string> &row : table)
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const std::vector<std::string> &row : table) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > 0)
        text += std::string(widths[i] - row[i].size() + (i > 0 ? 2 : 0), ' ') +
                row[i];
    text += "  " + row.back() + "\n";
  }
  return text;
}

std::string veeline::schedule::pathTable(const Problem &problem,
                                         const Schedule &schedule,
                                         const std::vector<CriticalStep> &path,
                                         int maxRows) {
  return PathTable(problem, schedule, path).str(maxRows);
}
