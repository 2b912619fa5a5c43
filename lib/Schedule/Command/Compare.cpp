//===- Compare.cpp - a table of several schedules -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Request.h"
#include "Table.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/ProgressLine.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Asynchronous.h"
#include "veeline/Schedule/Memory.h"

#include <utility>

using namespace veeline;
using namespace veeline::schedule;

/// The name of each schedule, and its result.
using Comparison = std::vector<std::pair<std::string, Expected<Answer>>>;

static Row rowOf(const Answer &answer, const Request &request) {
  const auto &[problem, schedule, simulation] = answer.solution;
  Traffic traffic = trafficOf(answer.task, request.messageBytes);
  return {answer.task.name,
          std::to_string(problem.chunksPerStage()),
          shortNumber(simulation.makespan),
          formatted("%.4f", simulation.bubbleMakespan),
          formatted("%.4f", simulation.bubbleSpan),
          answer.task.semantics == problem.updates ? steadyCell(simulation)
                                                   : "",
          formatMemoryNumber(problem, simulation.peakMemory()),
          std::to_string(traffic.messages),
          traffic.bytes ? formatBytes(*traffic.bytes) : "",
          weightVersionsOf(answer),
          toString(answer.task.semantics)};
}

/// What a schedule has chosen by itself.
static std::string choiceOf(const Task &task) {
  if (!task.found)
    return "";
  const Placement &placement = task.problem.placement;
  return task.name + " chose placement " + toString(placement.kind()) +
         " with " + counted(placement.chunksPerStage(), "chunk") +
         " per stage\n";
}

/// The table shows a window with fill and drain, which this schedule has only
/// once. So this note has the figures of the steady state.
static std::string steadyStateNote(const Answer &answer) {
  const Solution &solution = answer.solution;
  std::optional<SteadyState> state =
      steadyStateOf(solution.problem, solution.schedule);
  if (!state || solution.problem.updates != UpdateSemantics::Synchronous ||
      solution.simulation.options != SimulationOptions())
    return "";
  return answer.task.name + " in the steady state: bubble " +
         formatted("%.4f", state->bubble) + ", " + shortNumber(state->period) +
         " a microbatch\n";
}

static Report tableOf(const Comparison &comparison, const Request &request) {
  std::vector<Row> rows{{"schedule", "v", "makespan", "bubble", "of span",
                         "steady", "memory (" + request.memoryUnit().name + ")",
                         "messages", "bytes", "weights", "update"}};
  Report report;
  std::string notes;
  for (const auto &[name, answer] : comparison) {
    report.hasSchedule |= bool(answer);
    if (answer) {
      rows.push_back(rowOf(*answer, request));
      notes += choiceOf(answer->task) + steadyStateNote(*answer);
    } else {
      rows.push_back({name, "refused: " + answer.error().message});
    }
  }
  report.text = counted(request.stages(), "stage") + ", " +
                counted(request.microbatches(), "microbatch") +
                ranksNote(request.stageReplicas()) +
                transfersNote(request.simulation) + "\n" + formatTable(rows) +
                notes;
  return report;
}

/// The figures of the table with all digits.
static std::string membersOf(const Answer &answer, const Request &request) {
  const auto &[problem, schedule, simulation] = answer.solution;
  Traffic traffic = trafficOf(answer.task, request.messageBytes);
  bool isSteady = simulation.options == SimulationOptions() &&
                  answer.task.semantics == problem.updates;
  auto steady = [&](double value) {
    return isSteady ? exactNumber(value) : std::string();
  };
  double unit = request.memoryUnit().size;
  return jsonObject(
      {{"schedule", answer.task.name, true},
       {"placement", toString(problem.placement.kind()), true},
       {"chunks_per_stage", std::to_string(problem.chunksPerStage())},
       {"makespan", exactNumber(simulation.makespan)},
       {"longest_span", exactNumber(simulation.longestSpan())},
       {"bubble", exactNumber(simulation.bubbleMakespan)},
       {"bubble_of_span", exactNumber(simulation.bubbleSpan)},
       {"period", steady(simulation.period)},
       {"bubble_steady", steady(simulation.bubbleSteady)},
       {"peak_memory", exactNumber(double(simulation.peakMemory()) / unit)},
       {"messages", std::to_string(traffic.messages)},
       {"message_bytes",
        traffic.bytes ? std::to_string(*traffic.bytes) : std::string()},
       {"weight_versions", weightVersionsOf(answer)},
       {"update", toString(answer.task.semantics), true}});
}

static std::string jsonOf(const Comparison &comparison,
                          const Request &request) {
  std::string text =
      "{\"format\": \"veeline-comparison\", \"version\": 1,\n"
      " \"stages\": " +
      std::to_string(request.stages()) + ranksMember(request.stageReplicas()) +
      ", \"microbatches\": " + std::to_string(request.microbatches()) +
      ", \"memory_unit\": " + jsonString(request.memoryUnit().name) +
      ",\n \"schedules\": [";
  bool isFirst = true;
  for (const auto &[name, answer] : comparison) {
    text += (std::exchange(isFirst, false) ? "\n  " : ",\n  ") +
            (answer ? membersOf(*answer, request)
                    : jsonObject({{"schedule", name, true},
                                  {"refused", answer.error().message, true}}));
  }
  return text + "\n ]}\n";
}

Expected<Report> veeline::schedule::compare(Request &request, bool asJson) {
  if (Status status = request.shareModel(); !status)
    return status.takeError();
  Comparison comparison;
  ProgressLine progress;
  for (const std::string &name : request.names()) {
    progress.set("solving: " + name);
    Expected<Task> task = request.task(name);
    if (!task && task.error().kind == ErrorKind::InvalidProblem)
      return task.takeError();
    comparison.push_back(
        {name, task ? request.solve(std::move(*task)) : task.takeError()});
  }
  Report report = tableOf(comparison, request);
  if (asJson)
    report.text = jsonOf(comparison, request);
  return report;
}
