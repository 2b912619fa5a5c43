//===- Explain.cpp - a schedule's figures, and where they come from -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Formats/Numbers.h"
#include "Request.h"
#include "veeline/Schedule/Auto.h"
#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/ClosedForms.h"

#include <algorithm>
#include <cstdio>

using namespace veeline::schedule;

/// "makespan          33" and what follows, as in the summary.
static std::string line(std::string name, const std::string &value) {
  name.resize(std::max<std::size_t>(name.size() + 1, 18), ' ');
  return name + value + "\n";
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static std::string trafficLines(const Answer &answer, const Request &request) {
  Traffic traffic = trafficOf(answer.task, request.messageBytes);
  int m = answer.solution.problem.microbatches;
  auto both = [&](std::int64_t count) {
    return std::to_string(count) + "  (" + std::to_string(count / m) +
           " a microbatch)";
  };
  std::string text = line("messages", both(traffic.messages));
  if (traffic.bytes)
    text += line("bytes over links", both(*traffic.bytes));
  return text +
         line("weight versions", weightVersionsOf(answer) + "  (" +
                                     toString(answer.task.semantics) + ")");
}

//===----------------------------------------------------------------------===//
// Closed forms
//===----------------------------------------------------------------------===//

/// The mean time of a stage for one microbatch.
static OpValues stageCost(const Problem &problem) {
  OpValues sum{0, 0, 0};
  for (const Chunk &chunk : problem.chunks) {
    sum.forward += chunk.forward;
    sum.backwardInput += chunk.backwardInput;
    sum.backwardWeight += chunk.backwardWeight;
  }
  double p = problem.stages();
  return {sum.forward / p, sum.backwardInput / p, sum.backwardWeight / p};
}

/// Whether the problem is one that the forms are about.
static bool isUniform(const Problem &problem) {
  const Chunk &first = problem.chunks.front();
  bool equal = std::all_of(
      problem.chunks.begin(), problem.chunks.end(), [&](const Chunk &chunk) {
        return chunk.forward == first.forward &&
               chunk.backwardInput == first.backwardInput &&
               chunk.backwardWeight == first.backwardWeight;
      });
  return equal && std::all_of(problem.edges.begin(), problem.edges.end(),
                              [](const Edge &edge) {
                                return edge.forwardTransfer == 0 &&
                                       edge.backwardTransfer == 0;
                              });
}

/// The most microbatches' worth of activations that a stage holds, by what its
/// forwards add.
static double heldActivations(const Solution &solution) {
  const Problem &problem = solution.problem;
  double most = 0;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    std::int64_t one = 0;
    for (int local = 0; local < problem.chunksPerStage(); ++local)
      one += problem.chunks[problem.placement.globalChunk(stage, local)]
                 .forwardMemory;
    if (one > 0)
      most = std::max(most, static_cast<double>(
                                solution.simulation.stages[stage].peakMemory) /
                                one);
  }
  return most;
}

static std::string formLine(const char *name, const Form &form,
                            const char *format, double simulated) {
  return line(name, formatted(format, simulated) + " simulated " +
                        toString(form.kind) + " " +
                        formatted(format, form.value) + " = " +
                        std::string(form.formula) + "  (" +
                        std::string(form.source) + ")");
}

static std::string recomputeLines(const Request &request, double held) {
  if (!request.layers)
    return "";
  const LayerSizes &sizes = *request.layers;
  double all = activationBytes(held, sizes.layers, sizes.layerBytes);
  double less = recomputedActivationBytes(held, sizes.boundaryBytes, 1,
                                          sizes.layers, sizes.layerBytes);
  return line("all kept", formatted("%.0f B", all) + " = k L A_layer") +
         line("recomputed", formatted("%.0f B", less) +
                                " = k A_boundary + L A_layer  (Chen et al. "
                                "2016, arXiv:1604.06174)");
}

static std::string closedFormLines(const Answer &answer,
                                   const Request &request) {
  const Solution &solution = answer.solution;
  const Problem &problem = solution.problem;
  double held = heldActivations(solution);
  Expected<ClosedForms> forms = closedForms(
      solution.schedule.name, problem.stages(), problem.chunksPerStage(),
      problem.microbatches, stageCost(problem));
  std::string text;
  if (forms) {
    const Simulation &simulation = solution.simulation;
    if (forms->bubble)
      text +=
          formLine("bubble", *forms->bubble, "%.4f", simulation.bubbleMakespan);
    if (forms->bubbleOfSpan)
      text += formLine("bubble of span", *forms->bubbleOfSpan, "%.4f",
                       simulation.bubbleSpan);
    if (forms->bubbleToWork && simulation.bubbleMakespan < 1)
      text +=
          formLine("bubble to work", *forms->bubbleToWork, "%.4f",
                   simulation.bubbleMakespan / (1 - simulation.bubbleMakespan));
    if (forms->activations)
      text += formLine("activations", *forms->activations, "%.4g", held);
    Traffic traffic = trafficOf(answer.task, request.messageBytes);
    double messages =
        static_cast<double>(traffic.messages) / problem.microbatches;
    text += formLine("messages", forms->messages, "%.6g", messages);
    if (request.messageBytes)
      text += line("bytes", formatted("%.0f", forms->bytes(static_cast<double>(
                                                  *request.messageBytes))) +
                                " a microbatch, S times the messages");
  }
  text += recomputeLines(request, held);
  if (text.empty())
    return "";
  bool isRendezvous =
      solution.simulation.options.transfers == Transfers::Rendezvous;
  return std::string("\nclosed forms of the literature, for equal chunks and "
                     "free transfers") +
         (isUniform(problem) && !isRendezvous ? "\n"
                                              : ", which these are not\n") +
         text;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

static std::string boundLines(const Solution &solution) {
  Bounds bounds = lowerBounds(solution.problem);
  auto gap = [](const Bound &bound, double time) {
    std::string text =
        shortNumber(bound.time) + "  (by " + toString(bound.kind);
    double above = bound.time > 0 ? 100 * (time / bound.time - 1) : 0;
    return text + "; this schedule takes " + shortNumber(time) + ", " +
           formatted("%.2f", std::max(above, 0.0)) + "% more)";
  };
  double span = 0;
  for (const StageStatistics &stage : solution.simulation.stages)
    span = std::max(span, stage.lastEnd - stage.firstStart);
  return "\nno schedule of this problem takes less than\n" +
         line("makespan", gap(bounds.makespan, solution.simulation.makespan)) +
         line("longest span", gap(bounds.span, span));
}

/// Where the time of every stage goes.
static std::string waitingTable(const Solution &solution) {
  std::string text = "\nstage        busy        fill     forward    gradient"
                     "        send       drain  (share of the makespan)\n";
  double makespan = solution.simulation.makespan;
  for (std::size_t i = 0; i < solution.simulation.stages.size(); ++i) {
    const StageStatistics &stage = solution.simulation.stages[i];
    char row[128];
    std::snprintf(row, sizeof row, "%5zu", i);
    text += row;
    const Waiting &waiting = stage.waiting;
    for (double time : {stage.busy, waiting.fill, waiting.forward,
                        waiting.gradient, waiting.send, waiting.drain})
      text += formatted("%12.4f", makespan > 0 ? time / makespan : 0);
    text += "\n";
  }
  return text;
}

std::string veeline::schedule::explain(const Answer &answer,
                                       const Request &request) {
  std::string text =
      "\n" + trafficLines(answer, request) + closedFormLines(answer, request) +
      boundLines(answer.solution) + waitingTable(answer.solution);
  // The critical path, and what changes would gain, are those of the default.
  if (answer.solution.simulation.options != SimulationOptions())
    return text;
  Expected<Explanation> why = explain(
      answer.solution.problem, answer.solution.schedule, request.generator);
  return why ? text + "\n" + why->str() : text;
}
