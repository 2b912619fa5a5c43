//===- Text.cpp - schedules as text ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Text.h"

#include "Formats/Numbers.h"
#include "Memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace veeline::schedule;

std::string veeline::schedule::counted(std::int64_t count, const char *one,
                                       const char *several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

std::string
veeline::schedule::transfersNote(const SimulationOptions &options) {
  // Contention makes no difference to a rendezvous.
  if (options.transfers == Transfers::Rendezvous)
    return ", rendezvous";
  return options.contention ? ", links with contention" : "";
}

std::string veeline::schedule::cellName(const Problem &problem, const Op &op) {
  std::string cell = toString(op.kind) + std::to_string(op.microbatch);
  return problem.chunksPerStage() > 1 ? std::to_string(op.chunk) + cell : cell;
}

static std::string padLeft(const std::string &text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text
                             : text;
}

static std::string padRight(const std::string &text, std::size_t width,
                            char fill = ' ') {
  return text.size() < width ? text + std::string(width - text.size(), fill)
                             : text;
}

/// A row without the blanks at its end.
static std::string trimmed(std::string row) {
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

static std::string stageName(const Problem &problem, int stage) {
  std::size_t digits = std::to_string(problem.stages() - 1).size();
  return "stage " + padLeft(std::to_string(stage), digits) + ": ";
}

static std::string formatTime(double time) { return shortNumber(time); }

static std::string formatRate(double rate) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4f", rate);
  return text;
}

/// The widest cell of a schedule.
static std::size_t cellWidth(const Problem &problem, const Schedule &schedule) {
  std::size_t width = 0;
  for (const std::vector<Op> &ops : schedule.stages)
    for (const Op &op : ops)
      width = std::max(width, cellName(problem, op).size());
  return width;
}

std::string veeline::schedule::orderTable(const Problem &problem,
                                          const Schedule &schedule, int width) {
  std::size_t cell = cellWidth(problem, schedule) + 1;
  std::size_t prefix = stageName(problem, 0).size();
  std::size_t room = std::max<std::size_t>(width, prefix + cell) - prefix;
  std::size_t perRow = room / cell, longest = 0;
  for (const std::vector<Op> &ops : schedule.stages)
    longest = std::max(longest, ops.size());

  std::string text;
  for (std::size_t first = 0; first < longest; first += perRow) {
    text += first > 0 ? "\n" : "";
    for (int stage = 0; stage < problem.stages(); ++stage) {
      const std::vector<Op> &ops = schedule.stages[stage];
      std::string row = stageName(problem, stage);
      for (std::size_t i = first; i < std::min(first + perRow, ops.size()); ++i)
        row += padRight(cellName(problem, ops[i]), cell);
      text += trimmed(row);
    }
  }
  return text;
}

namespace {
/// How a time axis is cut into blocks of columns.
struct Axis {
  double perColumn;
  int columns;
  int blocks;
};
} // namespace

/// The shortest time of an operation that takes any, and the mean of all.
static std::pair<double, double> shortestAndMean(const Problem &problem,
                                                 const Schedule &schedule) {
  double shortest = 0, sum = 0;
  std::size_t count = 0;
  for (const std::vector<Op> &ops : schedule.stages)
    for (const Op &op : ops) {
      double cost = problem.chunks[op.chunk].cost(op.kind);
      if (cost > 0 && (shortest == 0 || cost < shortest))
        shortest = cost;
      sum += cost;
      ++count;
    }
  return {shortest, sum / count};
}

/// As wide as the names of all operations need, else of most, else as letters
/// need, else whatever fits one block.
static Axis chooseAxis(const Problem &problem, const Schedule &schedule,
                       const Simulation &simulation, int columns) {
  constexpr int maxLines = 60;
  auto [shortest, mean] = shortestAndMean(problem, schedule);
  double name = cellWidth(problem, schedule) + 1.0;
  for (double perColumn : {shortest / name, mean / name, mean}) {
    if (perColumn <= 0)
      continue;
    double total = std::ceil(simulation.makespan / perColumn - 1e-9);
    double blocks = std::ceil(total / columns);
    if (blocks <= 1)
      return {simulation.makespan / columns, columns, 1};
    // Blocks of equal length look better than a short one at the end.
    if (blocks * (problem.stages() + 2) <= maxLines)
      return {perColumn, static_cast<int>(std::ceil(total / blocks)),
              static_cast<int>(blocks)};
  }
  return {simulation.makespan / columns, columns, 1};
}

/// The letter of an operation whose name does not fit.
static char letterOf(const Problem &problem, const Op &op) {
  char letter = op.kind == OpKind::Backward ? 'B' : toString(op.kind)[0];
  return problem.placement.localChunk(op.chunk) % 2 == 0
             ? letter
             : static_cast<char>(letter - 'A' + 'a');
}

/// One stage over the whole axis: every column shows what runs in its middle.
static std::string timelineRow(const Problem &problem,
                               const std::vector<Op> &ops,
                               const std::vector<double> &start,
                               const std::vector<double> &end, const Axis &axis,
                               std::size_t columns) {
  std::string row(columns, '.');
  std::size_t step = 0;
  for (std::size_t column = 0; column < columns;) {
    double time = (column + 0.5) * axis.perColumn;
    while (step < ops.size() && end[step] <= time)
      ++step;
    if (step == ops.size())
      break;
    if (start[step] > time) {
      ++column;
      continue;
    }
    std::size_t last = column + 1;
    while (last < columns && (last + 0.5) * axis.perColumn < end[step])
      ++last;
    std::string name = cellName(problem, ops[step]);
    if (name.size() >= last - column)
      name = letterOf(problem, ops[step]);
    row.replace(column, last - column, padRight(name, last - column, '-'));
    column = last;
  }
  return row;
}

std::string veeline::schedule::timeline(const Problem &problem,
                                        const Schedule &schedule,
                                        const Simulation &simulation,
                                        int width) {
  if (simulation.makespan <= 0)
    return "";
  int prefix = stageName(problem, 0).size();
  Axis axis =
      chooseAxis(problem, schedule, simulation, std::max(width - prefix, 20));
  std::size_t used =
      std::min<double>(std::ceil(simulation.makespan / axis.perColumn - 1e-9),
                       static_cast<double>(axis.columns) * axis.blocks);
  std::vector<std::string> rows;
  rows.reserve(problem.stages());
  for (int stage = 0; stage < problem.stages(); ++stage)
    rows.push_back(timelineRow(problem, schedule.stages[stage],
                               simulation.start[stage], simulation.end[stage],
                               axis, used));
  bool isSampled =
      shortestAndMean(problem, schedule).second < 0.999 * axis.perColumn;
  std::string text;
  for (std::size_t first = 0; first < used; first += axis.columns) {
    std::size_t last = std::min<std::size_t>(first + axis.columns, used);
    text += first > 0 ? "\n" : "";
    text += "time " + formatTime(first * axis.perColumn) + " to " +
            formatTime(std::min(last * axis.perColumn, simulation.makespan)) +
            (isSampled ? ", too long to show every operation\n" : "\n");
    for (int stage = 0; stage < problem.stages(); ++stage)
      text += trimmed(stageName(problem, stage) +
                      rows[stage].substr(first, last - first));
  }
  return text;
}

/// Rows of equal length as a table with right-aligned columns.
static std::string table(const std::vector<std::vector<std::string>> &rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const std::vector<std::string> &row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const std::vector<std::string> &row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += (i > 0 ? "  " : "") + padLeft(row[i], widths[i]);
    text += trimmed(line);
  }
  return text;
}

static std::string stageTable(const Problem &problem,
                              const Simulation &simulation) {
  std::vector<std::vector<std::string>> rows{
      {"stage", "busy", "bubble", "bubble of span",
       "peak memory (" + problem.memoryUnit.name + ")"}};
  if (!problem.memoryLimits.empty())
    rows[0].push_back("limit");
  auto rate = [](double busy, double time) {
    return formatRate(time > 0 ? std::max(0.0, 1 - busy / time) : 0);
  };
  for (int stage = 0; stage < problem.stages(); ++stage) {
    const StageStatistics &statistics = simulation.stages[stage];
    rows.push_back(
        {std::to_string(stage), formatTime(statistics.busy),
         rate(statistics.busy, simulation.makespan),
         rate(statistics.busy, statistics.lastEnd - statistics.firstStart),
         formatMemoryNumber(problem, statistics.peakMemory)});
    if (!problem.memoryLimits.empty())
      rows.back().push_back(
          formatMemoryNumber(problem, *problem.memoryLimit(stage)));
  }
  return table(rows);
}

std::string veeline::schedule::summary(const Problem &problem,
                                       const Schedule &schedule,
                                       const Simulation &simulation,
                                       const TextOptions &options) {
  std::int64_t peak = 0;
  for (const StageStatistics &stage : simulation.stages)
    peak = std::max(peak, stage.peakMemory);
  std::string text =
      schedule.name + ": " + counted(problem.stages(), "stage", "stages") +
      " of " + counted(problem.chunksPerStage(), "chunk", "chunks") +
      " (placement " + toString(problem.placement.kind()) + "), " +
      counted(problem.microbatches, "microbatch", "microbatches") +
      transfersNote(simulation.options) + "\n";
  text += "makespan          " + formatTime(simulation.makespan) + "\n";
  text += "bubble            " + formatRate(simulation.bubbleMakespan) +
          "  (worst stage, of the makespan)\n";
  text += "bubble of span    " + formatRate(simulation.bubbleSpan) +
          "  (worst stage, its own first to last operation)\n";
  text +=
      "peak memory       " + formatMemory(problem, peak) + "  (worst stage)\n";
  if (options.generatorSeconds >= 0) {
    char milliseconds[64];
    std::snprintf(milliseconds, sizeof milliseconds, "%.2f ms",
                  options.generatorSeconds * 1e3);
    text += std::string("generated in      ") + milliseconds + "\n";
  }
  return text + "\n" + stageTable(problem, simulation);
}

std::string veeline::schedule::toText(const Problem &problem,
                                      const Schedule &schedule,
                                      const Simulation &simulation,
                                      const TextOptions &options) {
  std::string text;
  if (options.view == View::Timeline)
    text = timeline(problem, schedule, simulation, options.width) + "\n";
  if (options.view == View::Order)
    text = orderTable(problem, schedule, options.width) + "\n";
  return text + summary(problem, schedule, simulation, options);
}
