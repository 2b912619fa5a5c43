//===- Compare.cpp - schedules side by side -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Formats/Numbers.h"
#include "../Memory.h"
#include "Request.h"

#include <algorithm>
#include <cstdio>

using namespace veeline::schedule;

/// The names of "a,b,c", or of all schedules.
static std::vector<std::string> namesOf(const std::string &list) {
  std::vector<std::string> names;
  if (list == "all") {
    for (const Generator &generator : generators())
      names.emplace_back(generator.name);
    return names;
  }
  for (std::string_view rest = list;;) {
    std::size_t comma = rest.find(',');
    names.emplace_back(rest.substr(0, comma));
    if (comma == rest.npos)
      return names;
    rest.remove_prefix(comma + 1);
  }
}

using Row = std::vector<std::string>;

static Row rowOf(const Answer &answer, const Request &request) {
  const auto &[problem, schedule, simulation] = answer.solution;
  std::int64_t peak = 0;
  for (const StageStatistics &stage : simulation.stages)
    peak = std::max(peak, stage.peakMemory);
  Traffic traffic = trafficOf(answer.task, request.messageBytes);
  return {answer.task.name,
          std::to_string(problem.chunksPerStage()),
          shortNumber(simulation.makespan),
          formatted("%.4f", simulation.bubbleMakespan),
          formatted("%.4f", simulation.bubbleSpan),
          formatMemoryNumber(problem, peak),
          std::to_string(traffic.messages),
          traffic.bytes ? formatBytes(*traffic.bytes) : "",
          weightVersionsOf(answer),
          toString(answer.task.semantics)};
}

/// Names and the last column to the left, numbers to the right; a row of two is
/// a name and a text that goes over all columns. Empty columns are left out.
static std::string table(const std::vector<Row> &rows) {
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

Expected<std::string> veeline::schedule::compare(Request &request,
                                                 const std::string &list) {
  if (Status status = request.fixModel(request.chunksPerStage().value_or(2));
      !status)
    return status.takeError();
  std::vector<Row> rows{Row()};
  std::string unit;
  for (const std::string &name : namesOf(list)) {
    if (name == "all")
      return Error{ErrorKind::InvalidProblem,
                   "--compare: 'all' stands alone, found '" + list + "'"};
    Expected<Task> task = request.task(name);
    if (!task && (task.error().kind == ErrorKind::UnknownSchedule ||
                  task.error().kind == ErrorKind::InvalidProblem))
      return task.takeError();
    if (task)
      unit = task->problem.memoryUnit.name;
    Expected<Answer> answer =
        task ? request.solve(std::move(*task)) : task.takeError();
    if (answer)
      rows.push_back(rowOf(*answer, request));
    else
      rows.push_back({name, "refused: " + answer.error().message});
  }
  rows[0] = {"schedule", "v",       "makespan",
             "bubble",   "of span", "memory (" + unit + ")",
             "messages", "bytes",   "weights",
             "update"};
  return counted(request.stages(), "stage") + ", " +
         counted(request.microbatches(), "microbatch") +
         transfersNote(request.simulation) + "\n" + table(rows);
}
