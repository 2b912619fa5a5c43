//===- Text.cpp - schedules as text ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Text.h"

#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Asynchronous.h"
#include "veeline/Schedule/Execution.h"
#include "veeline/Schedule/Loop.h"
#include "veeline/Schedule/Memory.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace veeline;
using namespace veeline::schedule;

std::string veeline::schedule::transfersNote(const SimulationOptions &options) {
  // Contention makes no difference to a rendezvous.
  if (options.transfers == Transfers::Rendezvous)
    return ", rendezvous";
  return options.contention ? ", links with contention" : "";
}

std::string veeline::schedule::ranksNote(const std::vector<int> &widths) {
  std::string text;
  for (int width : widths)
    text += (text.empty() ? ", " : "+") + std::to_string(width);
  return text.empty() ? text : text + " ranks";
}

std::string veeline::schedule::cellName(const Problem &problem, const Op &op) {
  std::string cell =
      toString(op.kind) + std::to_string(op.microbatch) + (op.late ? "'" : "");
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

std::string veeline::schedule::summaryLine(const std::string &name,
                                           const std::string &value) {
  return padRight(name + " ", 18) + value + "\n";
}

/// Removes the blanks at the end of a row.
static std::string trimmed(std::string row) {
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

static std::string stageName(const Problem &problem, int stage) {
  std::size_t digits = std::to_string(problem.ranks() - 1).size();
  return (problem.widths.empty() ? "stage " : "rank ") +
         padLeft(std::to_string(stage), digits) + ": ";
}

static std::string formatTime(double time) { return shortNumber(time); }

static std::string formatRate(double rate) { return formatted("%.4f", rate); }

namespace {
/// An operation, or an overlapped block of two.
struct Cell {
  int step;
  int size;
};
} // namespace

static std::vector<Cell> cellsOf(const Schedule &schedule, int stage) {
  std::vector<Cell> cells;
  BlockCursor blocks(schedule);
  for (int step = 0, e = schedule.stages[stage].size(); step < e;) {
    cells.push_back({step, blocks.sizeAt(stage, step)});
    step += cells.back().size;
  }
  return cells;
}

/// Returns a name such as "F3", or "F3+B1" for a block.
static std::string nameOf(const Problem &problem, const std::vector<Op> &ops,
                          const Cell &cell) {
  std::string name = cellName(problem, ops[cell.step]);
  return cell.size == 1 ? name
                        : name + "+" + cellName(problem, ops[cell.step + 1]);
}

std::string veeline::schedule::orderTable(const Problem &problem,
                                          const Schedule &schedule, int width) {
  std::vector<std::vector<std::string>> names(problem.ranks());
  std::size_t widest = 0, longest = 0;
  for (int stage = 0; stage < problem.ranks(); ++stage) {
    for (const Cell &cell : cellsOf(schedule, stage)) {
      names[stage].push_back(nameOf(problem, schedule.stages[stage], cell));
      widest = std::max(widest, names[stage].back().size());
    }
    longest = std::max(longest, names[stage].size());
  }
  std::size_t column = widest + 1;
  std::size_t prefix = stageName(problem, 0).size();
  std::size_t room = std::max<std::size_t>(width, prefix + column) - prefix;
  std::size_t perRow = room / column;

  std::string text;
  for (std::size_t first = 0; first < longest; first += perRow) {
    text += first > 0 ? "\n" : "";
    for (int stage = 0; stage < problem.ranks(); ++stage) {
      std::string row = stageName(problem, stage);
      std::size_t last = std::min(first + perRow, names[stage].size());
      for (std::size_t i = first; i < last; ++i)
        row += padRight(names[stage][i], column);
      text += trimmed(row);
    }
  }
  return text;
}

namespace {
/// How a time axis is divided into blocks of columns.
struct Axis {
  double perColumn;
  int columns;
  int blocks;
};
} // namespace

namespace {
/// The sizes of all cells of one sort: operations, or blocks.
struct CellSizes {
  /// The shortest time above 0.
  double shortest = 0;
  double sum = 0;
  std::size_t count = 0;
  std::size_t widest = 0;
};
} // namespace

static std::array<CellSizes, 2> measureCells(const Problem &problem,
                                             const Schedule &schedule) {
  std::array<CellSizes, 2> sizes;
  for (int stage = 0; stage < problem.ranks(); ++stage)
    for (const Cell &cell : cellsOf(schedule, stage)) {
      const std::vector<Op> &ops = schedule.stages[stage];
      CellSizes &kind = sizes[cell.size - 1];
      double time = blockTime(problem, ops, cell.step, cell.size);
      if (time > 0 && (kind.shortest == 0 || time < kind.shortest))
        kind.shortest = time;
      kind.sum += time;
      ++kind.count;
      kind.widest = std::max(kind.widest, nameOf(problem, ops, cell).size());
    }
  return sizes;
}

static double meanTime(const std::array<CellSizes, 2> &sizes) {
  return (sizes[0].sum + sizes[1].sum) / (sizes[0].count + sizes[1].count);
}

/// Chooses the time of a column. If the number of lines stays small, there is
/// room for the names of all cells, else for most names, else for letters.
/// Otherwise the whole step is one block.
static Axis chooseAxis(const Problem &problem,
                       const std::array<CellSizes, 2> &sizes,
                       const Simulation &simulation, int columns) {
  constexpr int maxLines = 60;
  double all = 0, widest = 0, mean = meanTime(sizes);
  for (const CellSizes &kind : sizes) {
    double name = kind.widest + 1.0;
    widest = std::max(widest, name);
    if (kind.shortest > 0 && (all == 0 || kind.shortest / name < all))
      all = kind.shortest / name;
  }
  for (double perColumn : {all, mean / widest, mean}) {
    if (perColumn <= 0)
      continue;
    double total = std::ceil(simulation.makespan / perColumn - 1e-9);
    double blocks = std::ceil(total / columns);
    if (blocks <= 1)
      return {simulation.makespan / columns, columns, 1};
    // Blocks of equal length look better than a short one at the end.
    if (blocks * (problem.ranks() + 2) <= maxLines)
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

namespace {
/// The signs that a timeline shows instead of names.
struct Signs {
  /// Whether it shows letters; and whether these include fused backwards, or
  /// chunks in lower case.
  bool letters = false, fused = false, lower = false;
  bool blocks = false;
};
} // namespace

/// Returns what fits into `columns`: the name, else letters, else "&" for a
/// block. A name takes one more column, which separates it from the next one.
static std::string fittingName(const Problem &problem,
                               const std::vector<Op> &ops, const Cell &cell,
                               std::size_t columns, Signs &signs) {
  std::string name = nameOf(problem, ops, cell);
  if (name.size() < columns)
    return name;
  if (cell.size == 2 && columns < 3)
    signs.blocks = true;
  else
    for (int step = cell.step; step < cell.step + cell.size; ++step) {
      signs.letters = true;
      signs.fused |= ops[step].kind == OpKind::Backward;
      signs.lower |= problem.placement.localChunk(ops[step].chunk) % 2 == 1;
    }
  std::string letter(1, letterOf(problem, ops[cell.step]));
  if (cell.size == 1)
    return letter;
  return columns < 3 ? "&"
                     : letter + "+" + letterOf(problem, ops[cell.step + 1]);
}

/// Returns the row of one stage over the whole axis. Every column shows the
/// operation that runs at its middle.
static std::string timelineRow(const Problem &problem, const Schedule &schedule,
                               const Simulation &simulation, int stage,
                               const Axis &axis, std::size_t columns,
                               Signs &signs) {
  std::string row(columns, '.');
  std::vector<Cell> cells = cellsOf(schedule, stage);
  auto cell = cells.begin();
  for (std::size_t column = 0; column < columns;) {
    double time = (column + 0.5) * axis.perColumn;
    while (cell != cells.end() && simulation.end[stage][cell->step] <= time)
      ++cell;
    if (cell == cells.end())
      break;
    if (simulation.start[stage][cell->step] > time) {
      ++column;
      continue;
    }
    double end = simulation.end[stage][cell->step];
    std::size_t last = column + 1;
    while (last < columns && (last + 0.5) * axis.perColumn < end)
      ++last;
    std::string name = fittingName(problem, schedule.stages[stage], *cell,
                                   last - column, signs);
    row.replace(column, last - column, padRight(name, last - column, '-'));
    column = last;
  }
  return row;
}

/// Explains the signs that occur, in lines of at most `width`.
static std::string legend(const Problem &problem, const Signs &signs,
                          bool isSampled, std::size_t width) {
  int v = problem.chunksPerStage();
  std::string text;
  auto add = [&](const std::string &part) {
    text += (text.empty() ? "legend: " : "; ") + part;
  };
  if (signs.letters)
    add(signs.fused ? "F, B (for BW), W" : "F, B, W");
  if (signs.lower)
    add(v == 2   ? "lower case: the stage's second chunk"
        : v == 3 ? "lower case: the stage's second of 3 chunks"
                 : "lower case: the stage's 2nd, 4th, ... of " +
                       counted(v, "chunk"));
  if (signs.blocks)
    add("& a block");
  if (isSampled)
    add("a column shows what runs in its middle");
  if (text.empty())
    return "";
  add(". waits");
  std::string wrapped;
  width = std::max<std::size_t>(width, 40);
  while (text.size() > width) {
    std::size_t blank = text.rfind(' ', width);
    wrapped += text.substr(0, blank) + "\n";
    text = "       " + text.substr(blank);
  }
  return wrapped + text + "\n";
}

std::string veeline::schedule::timeline(const Problem &problem,
                                        const Schedule &schedule,
                                        const Simulation &simulation,
                                        int width) {
  if (simulation.makespan <= 0)
    return "";
  int prefix = stageName(problem, 0).size();
  std::array<CellSizes, 2> sizes = measureCells(problem, schedule);
  Axis axis =
      chooseAxis(problem, sizes, simulation, std::max(width - prefix, 20));
  std::size_t used =
      std::min<double>(std::ceil(simulation.makespan / axis.perColumn - 1e-9),
                       static_cast<double>(axis.columns) * axis.blocks);
  std::vector<std::string> rows;
  rows.reserve(problem.ranks());
  Signs signs;
  for (int stage = 0; stage < problem.ranks(); ++stage)
    rows.push_back(
        timelineRow(problem, schedule, simulation, stage, axis, used, signs));
  bool isSampled = meanTime(sizes) < 0.999 * axis.perColumn;
  std::string text;
  for (std::size_t first = 0; first < used; first += axis.columns) {
    std::size_t last = std::min<std::size_t>(first + axis.columns, used);
    text += first > 0 ? "\n" : "";
    text += "time " + formatTime(first * axis.perColumn) + " to " +
            formatTime(std::min(last * axis.perColumn, simulation.makespan)) +
            (isSampled ? ", too long to show every operation\n" : "\n");
    for (int stage = 0; stage < problem.ranks(); ++stage)
      text += trimmed(stageName(problem, stage) +
                      rows[stage].substr(first, last - first));
  }
  return text + legend(problem, signs, isSampled, width);
}

/// Formats rows of equal length as a table with right-aligned columns.
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
  if (!problem.widths.empty())
    rows[0].insert(rows[0].begin(), "rank");
  if (!problem.memoryLimits.empty())
    rows[0].push_back("limit");
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const StageStatistics &statistics = simulation.stages[rank];
    int stage = problem.stageOfRank(rank);
    rows.push_back({std::to_string(stage), formatTime(statistics.busy),
                    formatRate(bubbleOf(statistics.busy, simulation.makespan)),
                    formatRate(bubbleOf(statistics.busy, statistics.span())),
                    formatMemoryNumber(problem, statistics.peakMemory)});
    if (!problem.widths.empty())
      rows.back().insert(rows.back().begin(), std::to_string(rank));
    if (!problem.memoryLimits.empty())
      rows.back().push_back(
          formatMemoryNumber(problem, problem.memoryLimits[stage]));
  }
  return table(rows);
}

std::string veeline::schedule::steadyCell(const Simulation &simulation) {
  return simulation.options == SimulationOptions()
             ? formatRate(simulation.bubbleSteady)
             : "";
}

const char *veeline::schedule::lateKind(const Problem &problem) {
  return problem.updates == UpdateSemantics::Synchronous ? "W" : "BW";
}

/// The figures of endless steps, which are known for the default transfers.
static std::string steadyLine(const Problem &problem, const Schedule &schedule,
                              const Simulation &simulation) {
  if (simulation.options != SimulationOptions())
    return "";
  std::optional<SteadyState> state = steadyStateOf(problem, schedule);
  if (state && problem.updates == UpdateSemantics::Synchronous)
    return "steady state      " + formatRate(state->bubble) +
           "  (bubble of the worst stage, " + formatTime(state->period) +
           " a microbatch, without fill and drain)\n";
  std::int64_t late = 0;
  for (const std::vector<Op> &ops : schedule.stages)
    late += std::count_if(ops.begin(), ops.end(),
                          [](const Op &op) { return op.late; });
  return "steady            " + formatRate(simulation.bubbleSteady) +
         (problem.widths.empty() ? "  (worst stage" : "  (worst rank") +
         ", steps without a barrier, " + formatTime(simulation.period) +
         " each" +
         (late > 0 ? "; " + std::to_string(late) + " " + lateKind(problem) +
                         " run in the next step"
                   : "") +
         ")\n";
}

/// What is offloaded, and how busy the links are.
static std::string offloadLine(const Problem &problem, const Schedule &schedule,
                               const Simulation &simulation) {
  if (schedule.offloads.empty())
    return "";
  double all = 0, away = 0, busiest = 0, waits = 0;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    for (const Op &op : schedule.stages[rank])
      if (op.kind == OpKind::Forward)
        all += static_cast<double>(problem.chunks[op.chunk].forwardMemory);
    double busy = 0;
    for (const Offload &it : schedule.offloads[rank]) {
      const Chunk &chunk = problem.chunks[it.chunk];
      away += static_cast<double>(chunk.offloadMemory);
      busy += chunk.offloadTime;
    }
    busiest = std::max(busiest, busy);
    waits = std::max(waits, simulation.stages[rank].waiting.offload);
  }
  double makespan = simulation.makespan;
  return "offloaded         " + formatRate(all > 0 ? away / all : 0) +
         "  (of what all F add; worst stage: a link is busy " +
         formatRate(makespan > 0 ? busiest / makespan : 0) +
         " of the makespan, waits take " +
         formatRate(makespan > 0 ? waits / makespan : 0) + ")\n";
}

std::string veeline::schedule::summary(const Problem &problem,
                                       const Schedule &schedule,
                                       const Simulation &simulation,
                                       const TextOptions &options) {
  std::string text = schedule.name + ": " + counted(problem.stages(), "stage") +
                     " of " + counted(problem.chunksPerStage(), "chunk") +
                     " (placement " + toString(problem.placement.kind()) +
                     "), " + counted(problem.microbatches, "microbatch") +
                     ranksNote(problem.widths) +
                     transfersNote(simulation.options) + "\n";
  std::string worst =
      problem.widths.empty() ? "  (worst stage" : "  (worst rank";
  text += "makespan          " + formatTime(simulation.makespan) + "\n";
  text += "bubble            " + formatRate(simulation.bubbleMakespan) + worst +
          ", of the makespan)\n";
  text += "bubble of span    " + formatRate(simulation.bubbleSpan) + worst +
          ", its own first to last operation)\n";
  text += steadyLine(problem, schedule, simulation);
  text += "peak memory       " +
          formatMemory(problem, simulation.peakMemory()) + worst + ")\n";
  text += offloadLine(problem, schedule, simulation);
  if (options.generatorSeconds >= 0) {
    text += "generated in      " +
            formatted("%.2f ms", options.generatorSeconds * 1e3);
    if (options.processorSeconds >= 0)
      text += formatted("  (%.2f ms of a processor)",
                        options.processorSeconds * 1e3);
    text += "\n";
  }
  return text + "\n" + stageTable(problem, simulation);
}

/// A timeline of a few steps that follow each other, which shows what is late.
static std::string loopTimeline(const Problem &problem,
                                const Schedule &schedule,
                                const Simulation &simulation, int width) {
  Expected<Solution> steps = drawn({problem, schedule, simulation});
  if (!steps)
    return "";
  return counted(drawnSteps, "step") + " of " +
         counted(problem.microbatches, "microbatch") + "\n" +
         timeline(steps->problem, steps->schedule, steps->simulation, width);
}

std::string veeline::schedule::toText(const Problem &problem,
                                      const Schedule &schedule,
                                      const Simulation &simulation,
                                      const TextOptions &options) {
  std::string text;
  if (options.view == View::Timeline && isCyclic(schedule))
    text = loopTimeline(problem, schedule, simulation, options.width) + "\n";
  else if (options.view == View::Timeline)
    text = timeline(problem, schedule, simulation, options.width) + "\n";
  if (options.view == View::Order)
    text = orderTable(problem, schedule, options.width) + "\n";
  return text + summary(problem, schedule, simulation, options);
}
