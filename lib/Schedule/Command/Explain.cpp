//===- Explain.cpp - a schedule's figures, and where they come from -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Request.h"

#include <cstdio>

using namespace veeline::schedule;

/// Where the time of the worst stage goes.
static std::string stageTimes(const Solution &solution) {
  const auto &[problem, schedule, simulation] = solution;
  std::string text = "stage      before    between      after  (waiting before "
                     "its first, between, after its last operation)\n";
  for (int stage = 0; stage < problem.stages(); ++stage) {
    const StageStatistics &times = simulation.stages[stage];
    char line[128];
    std::snprintf(line, sizeof line, "%5d %11.6g%11.6g%11.6g\n", stage,
                  times.firstStart,
                  times.lastEnd - times.firstStart - times.busy,
                  simulation.makespan - times.lastEnd);
    text += line;
  }
  return text;
}

static std::string trafficLines(const Answer &answer, const Request &request) {
  Traffic traffic = trafficOf(answer.task, request.messageBytes);
  int m = answer.solution.problem.microbatches;
  std::string text = "messages          " + std::to_string(traffic.messages) +
                     "  (" + std::to_string(traffic.messages / m) +
                     " a microbatch)\n";
  if (traffic.bytes)
    text += "bytes over links  " + std::to_string(*traffic.bytes) + "  (" +
            std::to_string(*traffic.bytes / m) + " a microbatch)\n";
  return text + "weight versions   " + weightVersionsOf(answer) + "  (" +
         toString(answer.task.semantics) + ")\n";
}

std::string veeline::schedule::explain(const Answer &answer,
                                       const Request &request) {
  return "\n" + trafficLines(answer, request) + "\n" +
         stageTimes(answer.solution);
}
