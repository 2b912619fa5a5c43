//===- Explain.cpp - the output of --explain ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Explain.h"
#include "Request.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Schedule/Asynchronous.h"
#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/ClosedForms.h"
#include "veeline/Schedule/Loop.h"
#include "veeline/Schedule/Memory.h"
#include "veeline/Schedule/Recompute.h"
#include "veeline/Schedule/Text.h"

#include <algorithm>
#include <cmath>

using namespace veeline;
using namespace veeline::schedule;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static std::string trafficLines(const Answer &answer, const Request &request) {
  Traffic traffic = trafficOf(answer.task, request.messageBytes);
  int m = answer.solution.problem.microbatches;
  std::string text = summaryLine(
      "messages", std::to_string(traffic.messages) + "  (" +
                      std::to_string(traffic.messages / m) + " a microbatch)");
  if (traffic.bytes)
    text += summaryLine("bytes over links",
                        formatBytes(*traffic.bytes) + "  (" +
                            formatBytes(*traffic.bytes / m) + " a microbatch)");
  return text + summaryLine("weight versions",
                            weightVersionsOf(answer) + "  (" +
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

namespace {
/// Which forms apply to the problem.
struct Applicability {
  explicit Applicability(const Solution &solution);

  /// Whether bubbles are those of the published problem.
  bool bubble() const {
    return equalCosts && keepsAll && freeTransfers && buffered;
  }
  /// What the published problem has and this one lacks, as in "for equal
  /// chunks".
  std::string missing() const;

  bool equalCosts, keepsAll, equalMemory, freeTransfers, buffered, isChain;
};
} // namespace

Applicability::Applicability(const Solution &solution) {
  const Problem &problem = solution.problem;
  const Chunk &first = problem.chunks.front();
  auto all = [](const auto &list, auto holds) {
    return std::all_of(list.begin(), list.end(), holds);
  };
  equalCosts = all(problem.chunks, [&](const Chunk &chunk) {
    return chunk.forward == first.forward &&
           chunk.backwardInput == first.backwardInput &&
           chunk.backwardWeight == first.backwardWeight &&
           chunk.backwardShared == 0;
  });
  keepsAll = !hasRecompute(problem);
  equalMemory = keepsAll && all(problem.chunks, [&](const Chunk &chunk) {
                  return chunk.forwardMemory == first.forwardMemory &&
                         chunk.backwardInputMemory <= 0;
                });
  freeTransfers = all(problem.edges, [](const Edge &edge) {
    return edge.forwardTransfer == 0 && edge.backwardTransfer == 0;
  });
  buffered = solution.simulation.options.transfers == Transfers::Buffered;
  isChain = problem.edges.size() + 1 == problem.chunks.size() &&
            all(problem.edges, [](const Edge &edge) {
              return edge.to == edge.from + 1 && edge.carriesGradient;
            });
}

std::string Applicability::missing() const {
  std::string text;
  for (auto [is, what] : {std::pair(equalCosts, "equal chunks"),
                          {keepsAll, "chunks without R"},
                          {freeTransfers, "free transfers"},
                          {buffered, "no blocking"}})
    if (!is)
      text += (text.empty() ? "for " : " and ") + std::string(what);
  return text;
}

/// The maximal number of microbatches whose activations a stage holds, measured
/// by what its forwards add.
static double heldActivations(const Solution &solution) {
  const Problem &problem = solution.problem;
  double most = 0;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    std::int64_t one = 0;
    for (int local = 0; local < problem.chunksPerStage(); ++local)
      one += problem
                 .chunks[problem.placement.globalChunk(
                     problem.stageOfRank(rank), local)]
                 .forwardMemory;
    if (one > 0)
      most = std::max(most, static_cast<double>(
                                solution.simulation.stages[rank].peakMemory) /
                                one);
  }
  return most;
}

/// Whether a simulated figure agrees with a form.
static bool holds(const Form &form, double simulated) {
  double above = simulated - form.value;
  switch (form.kind) {
  case FormKind::Exact:
    return std::abs(above) <= 1e-9 * std::max(1.0, std::abs(form.value));
  case FormKind::AtMost:
    return above <= 1e-9;
  case FormKind::Approximate:
    return std::abs(above) <= 0.02;
  }
  return false;
}

/// Returns a line with a simulated figure and a form. A form that does not
/// apply to the problem, or that is about another order of the same name, is
/// shown as published. It then says nothing about the simulation.
static std::string formLine(const char *name, const Form &form,
                            const char *format, double simulated, bool applies,
                            const std::string &condition) {
  std::string text = formatted(format, simulated) + " simulated";
  if (applies && holds(form, simulated))
    text += std::string(" ") + toString(form.kind) + " ";
  else
    text +=
        "; " + (applies ? "as published " : condition + " ") +
        (form.kind == FormKind::Exact ? ""
                                      : std::string(toString(form.kind)) + " ");
  return summaryLine(name, text + formatted(format, form.value) + " = " +
                               std::string(form.formula) + "  (" +
                               std::string(form.source) + ")");
}

/// The bytes of activations, for the k that was simulated.
static std::string recomputeLines(const Request &request, double held) {
  if (!request.layers)
    return "";
  const LayerSizes &sizes = *request.layers;
  double all = activationBytes(held, sizes.layers, sizes.layerBytes);
  double less = recomputedActivationBytes(held, sizes.boundaryBytes, 1,
                                          sizes.layers, sizes.layerBytes);
  std::string k = ", k = " + formatted("%.4g", held);
  return summaryLine("all kept", formatBytes(all) + " = k L A_layer" + k) +
         summaryLine("recomputed", formatBytes(less) +
                                       " = k A_boundary + alpha L A_layer" + k +
                                       ", alpha = 1  (Chen et al. 2016, "
                                       "arXiv:1604.06174)");
}

static std::string bubbleLines(const ClosedForms &forms,
                               const Solution &solution) {
  Applicability is(solution);
  auto add = [&](const char *name, const std::optional<Form> &form,
                 double simulated) {
    return form ? formLine(name, *form, "%.4f", simulated, is.bubble(),
                           is.missing())
                : "";
  };
  double bubble = solution.simulation.bubbleMakespan;
  std::string text =
      add("bubble", forms.bubble, bubble) +
      add("bubble of span", forms.bubbleOfSpan, solution.simulation.bubbleSpan);
  if (bubble < 1)
    text += add("bubble to work", forms.bubbleToWork, bubble / (1 - bubble));
  return text.empty()
             ? summaryLine("bubble", "no form for these sizes and costs")
             : text;
}

static std::string formLines(const ClosedForms &forms, const Answer &answer,
                             const Request &request, double held) {
  Applicability is(answer.solution);
  std::string text = bubbleLines(forms, answer.solution);
  if (forms.activations)
    text += formLine("activations", *forms.activations, "%.4g", held,
                     is.equalMemory, "for equal chunks");
  Traffic traffic = trafficOf(answer.task, request.messageBytes);
  text += formLine("messages", forms.messages, "%.6g",
                   static_cast<double>(traffic.messages) /
                       answer.solution.problem.microbatches,
                   is.isChain, "for a chain of chunks");
  if (request.messageBytes)
    text += summaryLine(
        "bytes",
        formatBytes(forms.bytes(static_cast<double>(*request.messageBytes))) +
            " a microbatch = S * " + std::string(forms.messages.formula) +
            ", S = " + formatBytes(*request.messageBytes));
  return text;
}

static std::string closedFormLines(const Answer &answer,
                                   const Request &request) {
  const Solution &solution = answer.solution;
  const Problem &problem = solution.problem;
  double held = heldActivations(solution);
  if (!problem.widths.empty())
    return "\nclosed forms of the literature: none for stages of several "
           "ranks\n" +
           recomputeLines(request, held);
  Expected<ClosedForms> forms = closedForms(
      solution.schedule.name, problem.stages(), problem.chunksPerStage(),
      problem.microbatches, stageCost(problem));
  std::string text = "\nclosed forms of the literature";
  if (!forms)
    return text + ": none for " + solution.schedule.name + "\n" +
           recomputeLines(request, held);
  return text + ", p = " + std::to_string(problem.stages()) +
         ", v = " + std::to_string(problem.chunksPerStage()) +
         ", m = " + std::to_string(problem.microbatches) + "\n" +
         formLines(*forms, answer, request, held) +
         recomputeLines(request, held);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Returns a line with a bound and the time of the schedule.
static std::string gapLine(const char *name, const Bound &bound, double time) {
  double above = bound.time > 0 ? 100 * (time / bound.time - 1) : 0;
  return summaryLine(name, shortNumber(bound.time) + "  (by " +
                               toString(bound.kind) + "; this schedule takes " +
                               (above < 0.005 ? "no more)"
                                              : shortNumber(time) + ", " +
                                                    formatted("%.2f", above) +
                                                    "% more)"));
}

/// Windows of schedules that never flush have no period (Asynchronous.h).
static bool hasPeriod(const Solution &solution) {
  return solution.simulation.options == SimulationOptions() &&
         (solution.problem.updates != UpdateSemantics::Synchronous ||
          !steadyStateOf(solution.problem, solution.schedule));
}

static std::string boundLines(const Solution &solution) {
  const Simulation &step = solution.simulation;
  auto lines = [&](const BoundOptions &options) {
    Bounds bounds = lowerBounds(solution.problem, options);
    std::string text = gapLine("makespan", bounds.makespan, step.makespan) +
                       gapLine("longest span", bounds.span, step.longestSpan());
    if (hasPeriod(solution))
      text +=
          gapLine("period", lowerPeriodBound(solution.problem, options).period,
                  step.period);
    return text;
  };
  std::string text = "\nno schedule of this problem takes less than\n",
              any = lines({}), fused = lines({.fusedBackward = true});
  // A single chunk has no B.
  if (solution.schedule.splitsBackward() || solution.problem.numChunks() == 1 ||
      fused == any)
    return text + any;
  return text + any + "and none that does not split backwards into B and W\n" +
         fused;
}

namespace {
/// One row of the table of waiting.
struct Share {
  std::string name;
  /// The busy time, and the causes in the order of `Waiting`.
  std::array<double, 7> time;
};
} // namespace

static Share shareOf(const Solution &solution, std::size_t stage) {
  const StageStatistics &it = solution.simulation.stages[stage];
  const Waiting &waiting = it.waiting;
  return {std::to_string(stage),
          {it.busy, waiting.fill, waiting.forward, waiting.gradient,
           waiting.send, waiting.offload, waiting.drain}};
}

/// Returns the stages to show: all if there are few. Otherwise these are the
/// first and the last ones, and those that wait least and most.
static std::vector<std::size_t> shownStages(const Simulation &simulation) {
  constexpr std::size_t most = 16, ends = 4;
  std::size_t count = simulation.stages.size();
  std::vector<std::size_t> shown;
  auto lessBusy = [](const StageStatistics &a, const StageStatistics &b) {
    return a.busy < b.busy;
  };
  auto [least, busiest] = std::minmax_element(
      simulation.stages.begin(), simulation.stages.end(), lessBusy);
  for (std::size_t i = 0; i < count; ++i)
    if (count <= most || i < ends || i + ends >= count ||
        &simulation.stages[i] == &*least || &simulation.stages[i] == &*busiest)
      shown.push_back(i);
  return shown;
}

/// Returns a table that divides the time of every stage by its use.
static std::string waitingTable(const Solution &solution) {
  constexpr const char *names[] = {"busy", "fill",    "forward", "gradient",
                                   "send", "offload", "drain"};
  const Simulation &simulation = solution.simulation;
  Share mean{"mean", {}};
  for (std::size_t stage = 0; stage < simulation.stages.size(); ++stage)
    for (std::size_t i = 0; i < mean.time.size(); ++i)
      mean.time[i] +=
          shareOf(solution, stage).time[i] / simulation.stages.size();
  std::vector<std::size_t> stages = shownStages(simulation);
  std::string text = solution.problem.widths.empty() ? "\nstage" : "\n rank";
  for (std::size_t i = 0; i < mean.time.size(); ++i)
    if (mean.time[i] > 0)
      text +=
          std::string(10 - std::string_view(names[i]).size(), ' ') + names[i];
  text += "  (shares of the makespan";
  if (stages.size() < simulation.stages.size())
    text += "; " + std::to_string(stages.size()) + " of " +
            std::to_string(simulation.stages.size()) +
            (solution.problem.widths.empty() ? " stages" : " ranks");
  text += ")\n";
  auto add = [&](const Share &share) {
    text += std::string(5 - std::min<std::size_t>(5, share.name.size()), ' ') +
            share.name;
    for (std::size_t i = 0; i < share.time.size(); ++i)
      if (mean.time[i] > 0)
        text += formatted("%10.4f", share.time[i] / simulation.makespan);
    text += "\n";
  };
  for (std::size_t stage : stages)
    add(shareOf(solution, stage));
  if (simulation.stages.size() > 1)
    add(mean);
  return text;
}

/// Returns lines that say when each rank begins its turn of a loop, and what is
/// late there.
static std::string loopLines(const Solution &solution) {
  const auto &[problem, schedule, simulation] = solution;
  Expected<Loop> loop = loopOf(problem, schedule);
  if (!loop)
    return "\n" + loop.error().str() + "\n";
  std::string text = problem.widths.empty() ? "\nstage" : "\n rank";
  std::string column = "late " + std::string(lateKind(problem));
  text += "     begins      busy    steady" +
          std::string(10 - column.size(), ' ') + column + "  (of each turn, " +
          shortNumber(loop->period) + " long)\n";
  for (std::size_t rank : shownStages(simulation)) {
    const std::vector<Op> &ops = schedule.stages[rank];
    auto late = std::count_if(ops.begin(), ops.end(),
                              [](const Op &op) { return op.late; });
    double busy = simulation.stages[rank].busy;
    text += formatted("%5.0f", static_cast<double>(rank)) +
            formatted("%11.5g", loop->begin[rank]) + formatted("%10.5g", busy) +
            formatted("%10.4f", bubbleOf(busy, loop->period)) +
            formatted("%10.0f", static_cast<double>(late)) + "\n";
  }
  return text;
}

Expected<std::string> veeline::schedule::explain(const Answer &answer,
                                                 const Request &request) {
  const auto &[problem, schedule, simulation] = answer.solution;
  std::string text = "\n" + trafficLines(answer, request) +
                     closedFormLines(answer, request) +
                     boundLines(answer.solution);
  if (simulation.makespan <= 0)
    return text + "\nnothing takes time, so there is no critical path\n";
  // The table and the path are about a single step, which has no period.
  if (request.generator.objective == Objective::Period || isCyclic(schedule))
    return text + loopLines(answer.solution);
  text += waitingTable(answer.solution);
  if (!schedule.offloads.empty())
    return text + "\nno critical path is shown of a schedule with offloads; an "
                  "order without them has one\n";
  Expected<Explanation> why =
      explain(problem, schedule, request.generator, simulation.options);
  if (!why)
    return why.takeError();
  return text + "\n" + toText(problem, schedule, *why);
}
