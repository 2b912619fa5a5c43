//===- Dial.cpp - one schedule for several memory limits ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Request.h"
#include "Table.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/ProgressLine.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Auto.h"
#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/Limits.h"
#include "veeline/Schedule/Memory.h"
#include "veeline/Schedule/Offload.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::schedule;

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// Returns the peak of the worst stage of `task` without a limit; none if there
/// is no schedule.
static std::optional<std::int64_t> peakOf(const Request &request, Task task) {
  Expected<Answer> answer = request.solve(std::move(task));
  if (!answer)
    return std::nullopt;
  return answer->solution.simulation.peakMemory();
}

/// Returns limits from the least that admits any schedule to the peak of the
/// schedule without limits. The step between them is what the smallest forward
/// adds, or a multiple of it, so that there are at most `mostRows`.
static std::vector<std::int64_t> allLimits(const Request &request, Task task) {
  constexpr std::int64_t mostRows = 16;
  std::int64_t least = 0, step = 0;
  for (int stage = 0; stage < task.problem.stages(); ++stage)
    least = std::max(least, canOffload(task.problem)
                                ? leastLimitWithOffloads(task.problem, stage)
                                : leastLimit(task.problem, stage).limit);
  for (const Chunk &chunk : task.problem.chunks)
    if (chunk.forwardMemory > 0 && (step == 0 || chunk.forwardMemory < step))
      step = chunk.forwardMemory;
  std::int64_t p = task.problem.stages();
  std::int64_t most = peakOf(request, std::move(task)).value_or(least * p);
  std::vector<std::int64_t> limits{least};
  if (most <= least || step == 0)
    return limits;
  std::int64_t steps = (most - least + step - 1) / step;
  std::int64_t rows = std::min(steps + 1, mostRows);
  for (std::int64_t row = 1; row < rows; ++row)
    limits.push_back(std::min(least + row * steps / (rows - 1) * step, most));
  return limits;
}

static Expected<std::vector<std::int64_t>> limitsOf(const Request &request,
                                                    const std::string &list) {
  if (list == "all") {
    Expected<Task> task = request.task(request.names().front());
    if (!task)
      return task.takeError();
    return allLimits(request, std::move(*task));
  }
  MemoryUnit unit = request.memoryUnit();
  Expected<std::vector<std::int64_t>> limits =
      parseLimits("--memory-dial", list, unit);
  for (std::size_t i = 1; limits && i < limits->size(); ++i)
    if ((*limits)[i] <= (*limits)[i - 1])
      return Error{
          ErrorKind::InvalidProblem,
          "--memory-dial: expected all or limits that ascend, found '" + list +
              "'"};
  return limits;
}

Expected<Dial> veeline::schedule::turnDial(const Request &request,
                                           const std::string &list) {
  const std::string &name = request.names().front();
  Expected<std::vector<std::int64_t>> limits = limitsOf(request, list);
  if (!limits)
    return limits.takeError();
  std::optional<Error> misuse;
  ProgressLine progress;
  auto solve = [&](std::int64_t limit) -> Expected<Solution> {
    progress.set("solving: " + name + " within " +
                 formatMemoryNumber(request.memoryUnit(), limit) + " " +
                 request.memoryUnit().name);
    Request limited = request.withLimit(limit);
    Expected<Task> task = limited.task(name);
    if (!task && task.error().kind != ErrorKind::OutOfMemory)
      misuse = task.error();
    Expected<Answer> answer =
        task ? limited.solve(std::move(*task)) : task.takeError();
    if (!answer)
      return answer.takeError();
    return std::move(answer->solution);
  };
  Objective objective = request.generator.objective;
  Dial dial{name, request.memoryUnit(), objective, *limits,
            solveForLimits(*limits, objective, solve)};
  if (misuse)
    return *misuse;
  return dial;
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

namespace {
/// The lower bound by the objective, and the share by which a schedule exceeds
/// it.
struct Gap {
  double bound, gap;
};
} // namespace

static Gap gapOf(const Solution &solution, Objective objective) {
  double bound = lowerBound(solution.problem, objective).time;
  double time = solution.simulation.value(objective);
  return {bound, bound > 0 ? std::max(time / bound - 1, 0.0) : 0};
}

/// Formats `amount` in the unit of the dial.
static std::string memoryOf(const Dial &dial, std::int64_t amount) {
  return formatMemoryNumber(dial.unit, amount);
}

Report veeline::schedule::toReport(const Dial &dial, const Request &request) {
  Objective objective = dial.objective;
  std::vector<Row> rows{{"limit", "placement", "v", "makespan", "bubble",
                         "of span", "steady", "memory (" + dial.unit.name + ")",
                         objective == Objective::Span     ? "longest span"
                         : objective == Objective::Period ? "period"
                                                          : "",
                         "lower bound", "gap"}};
  Report report;
  for (std::size_t i = 0; i < dial.limits.size(); ++i) {
    const Expected<Solution> &solution = dial.solutions[i];
    report.hasSchedule |= bool(solution);
    std::string limit = memoryOf(dial, dial.limits[i]);
    if (!solution) {
      rows.push_back({limit, "refused: " + solution.error().message});
      continue;
    }
    const auto &[problem, schedule, simulation] = *solution;
    auto [bound, gap] = gapOf(*solution, dial.objective);
    rows.push_back({limit, toString(problem.placement.kind()),
                    std::to_string(problem.chunksPerStage()),
                    shortNumber(simulation.makespan),
                    formatted("%.4f", simulation.bubbleMakespan),
                    formatted("%.4f", simulation.bubbleSpan),
                    steadyCell(simulation),
                    memoryOf(dial, simulation.peakMemory()),
                    objective == Objective::Makespan
                        ? ""
                        : shortNumber(simulation.value(objective)),
                    shortNumber(bound), formatted("%.2f%%", 100 * gap)});
  }
  report.text = dial.name + ": " + counted(request.stages(), "stage") + ", " +
                counted(request.microbatches(), "microbatch") +
                ranksNote(request.stageReplicas()) +
                transfersNote(request.simulation) + "\n" + formatTable(rows);
  return report;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

bool veeline::schedule::isDialFormat(Format format) {
  return format == Format::Text || format == Format::Csv ||
         format == Format::Json;
}

namespace {
/// A figure in CSV and in JSON.
struct Column {
  const char *title, *member;
  bool isText = false, isMemory = false;
};
} // namespace

static constexpr Column columns[] = {
    {.title = "limit", .member = "limit", .isMemory = true},
    {.title = "placement", .member = "placement", .isText = true},
    {.title = "v", .member = "chunks_per_stage"},
    {.title = "makespan", .member = "makespan"},
    {.title = "longest span", .member = "longest_span"},
    {.title = "bubble", .member = "bubble"},
    {.title = "bubble of span", .member = "bubble_of_span"},
    {.title = "period", .member = "period"},
    {.title = "steady bubble", .member = "bubble_steady"},
    {.title = "peak memory", .member = "peak_memory", .isMemory = true},
    {.title = "lower bound", .member = "lower_bound"},
    {.title = "gap", .member = "gap"},
    {.title = "refused", .member = "refused", .isText = true},
};

static std::vector<std::string> refusedValues(const std::string &limit,
                                              const std::string &why) {
  std::vector<std::string> values(std::size(columns));
  values.front() = limit;
  values.back() = why;
  return values;
}

/// Returns the known figures for one limit, by column; empty if a figure is not
/// known.
static std::vector<std::string> valuesOf(const Dial &dial, std::size_t index) {
  auto memory = [&](std::int64_t amount) {
    return exactNumber(static_cast<double>(amount) / dial.unit.size);
  };
  std::string limit = memory(dial.limits[index]);
  const Expected<Solution> &solution = dial.solutions[index];
  if (!solution)
    return refusedValues(limit, solution.error().message);
  const auto &[problem, schedule, simulation] = *solution;
  auto [bound, gap] = gapOf(*solution, dial.objective);
  bool isKnown = simulation.options == SimulationOptions();
  return {limit,
          toString(problem.placement.kind()),
          std::to_string(problem.chunksPerStage()),
          exactNumber(simulation.makespan),
          exactNumber(simulation.longestSpan()),
          exactNumber(simulation.bubbleMakespan),
          exactNumber(simulation.bubbleSpan),
          isKnown ? exactNumber(simulation.period) : "",
          isKnown ? exactNumber(simulation.bubbleSteady) : "",
          memory(simulation.peakMemory()),
          exactNumber(bound),
          exactNumber(gap),
          ""};
}

/// Quotes a text; quotes in it are doubled.
static std::string csvString(const std::string &text) {
  std::string quoted = "\"";
  for (char c : text)
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string veeline::schedule::toCsv(const Dial &dial) {
  std::string text;
  for (const Column &column : columns)
    text += (text.empty() ? "" : ",") + std::string(column.title) +
            (column.isMemory ? " (" + dial.unit.name + ")" : "");
  for (std::size_t i = 0; i < dial.limits.size(); ++i) {
    std::vector<std::string> values = valuesOf(dial, i);
    for (std::size_t c = 0; c < values.size(); ++c)
      text += (c == 0 ? "\n" : ",") + (columns[c].isText && !values[c].empty()
                                           ? csvString(values[c])
                                           : values[c]);
  }
  return text + "\n";
}

std::string veeline::schedule::toJson(const Dial &dial,
                                      const Request &request) {
  std::string text =
      "{\"format\": \"veeline-memory-dial\", \"version\": 1,\n"
      " \"schedule\": " +
      jsonString(dial.name) +
      ", \"stages\": " + std::to_string(request.stages()) +
      ranksMember(request.stageReplicas()) +
      ", \"microbatches\": " + std::to_string(request.microbatches()) +
      ",\n \"objective\": \"" + toString(dial.objective) +
      "\", \"memory_unit\": " + jsonString(dial.unit.name) +
      ",\n \"limits\": [";
  for (std::size_t i = 0; i < dial.limits.size(); ++i) {
    std::vector<std::string> values = valuesOf(dial, i);
    std::vector<Member> members;
    for (std::size_t c = 0; c < values.size(); ++c)
      members.push_back({columns[c].member, values[c], columns[c].isText});
    text += (i == 0 ? "\n  " : ",\n  ") + jsonObject(members);
  }
  return text + "\n ]}\n";
}
