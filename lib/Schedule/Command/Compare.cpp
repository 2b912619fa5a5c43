//===- Compare.cpp - schedules side by side -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Request.h"
#include "Table.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Schedule/Asynchronous.h"
#include "veeline/Schedule/Memory.h"

using namespace veeline;
using namespace veeline::schedule;

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

/// What a schedule chose by itself.
static std::string choiceOf(const Task &task) {
  if (!task.found)
    return "";
  const Placement &placement = task.problem.placement;
  return task.name + " chose placement " + toString(placement.kind()) +
         " with " + counted(placement.chunksPerStage(), "chunk") +
         " per stage\n";
}

/// The table shows a window with fill and drain; this schedule has them once.
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

Expected<Report> veeline::schedule::compare(Request &request) {
  if (Status status = request.shareModel(); !status)
    return status.takeError();
  std::vector<Row> rows{Row()};
  Report report;
  std::string unit = request.memoryUnit().name, notes;
  for (const std::string &name : request.names()) {
    Expected<Task> task = request.task(name);
    if (!task && task.error().kind == ErrorKind::InvalidProblem)
      return task.takeError();
    Expected<Answer> answer =
        task ? request.solve(std::move(*task)) : task.takeError();
    report.hasSchedule |= bool(answer);
    if (answer) {
      rows.push_back(rowOf(*answer, request));
      notes += choiceOf(answer->task) + steadyStateNote(*answer);
    } else {
      rows.push_back({name, "refused: " + answer.error().message});
    }
  }
  rows[0] = {"schedule",
             "v",
             "makespan",
             "bubble",
             "of span",
             "steady",
             "memory (" + unit + ")",
             "messages",
             "bytes",
             "weights",
             "update"};
  report.text = counted(request.stages(), "stage") + ", " +
                counted(request.microbatches(), "microbatch") +
                ranksNote(request.stageReplicas()) +
                transfersNote(request.simulation) + "\n" + formatTable(rows) +
                notes;
  return report;
}
