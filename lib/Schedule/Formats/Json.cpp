//===- Json.cpp - writes a solution as JSON -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text is written without a library for the sake of its layout: one line
// for each stage, chunk or edge.
//
//===----------------------------------------------------------------------===//

#include "Cells.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"

#include <array>
#include <numeric>

using namespace veeline;
using namespace veeline::schedule;

/// Returns "[a, b]", where `format` makes the text of each value.
template <typename Range, typename Function>
static std::string list(const Range &values, Function format,
                        const char *separator = ", ") {
  std::string text = "[";
  bool isFirst = true;
  for (const auto &value : values) {
    text += isFirst ? "" : separator;
    text += format(value);
    isFirst = false;
  }
  return text + "]";
}

/// Like `list`, but with each value on its own line.
template <typename Range, typename Function>
static std::string lines(const Range &values, Function format) {
  if (values.empty())
    return "[]";
  std::string text = list(values, format, ",\n    ");
  return "[\n    " + text.substr(1, text.size() - 2) + "\n  ]";
}

static std::string integer(std::int64_t value) { return std::to_string(value); }

static std::string chunkObject(const Chunk &chunk) {
  return "{\"forward\": " + exactNumber(chunk.forward) +
         ", \"backward_input\": " + exactNumber(chunk.backwardInput) +
         ", \"backward_weight\": " + exactNumber(chunk.backwardWeight) +
         (chunk.backwardShared != 0
              ? ", \"backward_shared\": " + exactNumber(chunk.backwardShared)
              : "") +
         ", \"has_backward_input\": " +
         (chunk.hasBackwardInput ? "true" : "false") +
         ", \"forward_memory\": " + integer(chunk.forwardMemory) +
         ", \"backward_input_memory\": " + integer(chunk.backwardInputMemory) +
         ", \"backward_weight_memory\": " +
         integer(chunk.backwardWeightMemory) +
         (chunk.hasRecompute
              ? ", \"recompute\": " + exactNumber(chunk.recompute) +
                    ", \"recompute_memory\": " + integer(chunk.recomputeMemory)
              : "") +
         (chunk.offloadMemory != 0
              ? ", \"offload_memory\": " + integer(chunk.offloadMemory) +
                    ", \"offload_time\": " + exactNumber(chunk.offloadTime)
              : "") +
         "}";
}

static std::string edgeObject(const Edge &edge) {
  return "{\"from\": " + integer(edge.from) + ", \"to\": " + integer(edge.to) +
         ", \"forward_transfer\": " + exactNumber(edge.forwardTransfer) +
         ", \"backward_transfer\": " + exactNumber(edge.backwardTransfer) +
         ", \"carries_gradient\": " +
         (edge.carriesGradient ? "true" : "false") + "}";
}

/// The members of an offload, and the steps at which it leaves and returns.
static std::string offloadList(const Offload &it) {
  return list(std::array{it.chunk, it.microbatch, it.leaves, it.returns},
              integer);
}

/// The times of its copies to the host and back.
static std::string copyTimes(const OffloadTimes &it) {
  return list(std::array{it.outStart, it.outEnd, it.backStart, it.backEnd},
              exactNumber);
}

static std::string stageObject(const Simulation &simulation, int stage) {
  const StageStatistics &statistics = simulation.stages[stage];
  return "{\"busy\": " + exactNumber(statistics.busy) +
         ", \"peak_memory\": " + integer(statistics.peakMemory) +
         ", \"start\": " + list(simulation.start[stage], exactNumber) +
         ", \"end\": " + list(simulation.end[stage], exactNumber) +
         ", \"memory\": " + list(simulation.memory[stage], integer) +
         (simulation.offloads.empty()
              ? ""
              : ", \"offloads\": " +
                    list(simulation.offloads[stage], copyTimes)) +
         "}";
}

static std::string placementList(const Placement &placement) {
  std::vector<std::int64_t> stages;
  stages.reserve(placement.chunks());
  for (int chunk = 0; chunk < placement.chunks(); ++chunk)
    stages.push_back(placement.stageOf(chunk));
  return list(stages, integer);
}

/// Members that are known only for the default transfers.
static std::string steadyMembers(const Simulation &simulation) {
  if (simulation.options != SimulationOptions())
    return "";
  return ",\n    \"period\": " + exactNumber(simulation.period) +
         ",\n    \"bubble_steady\": " + exactNumber(simulation.bubbleSteady);
}

/// The members of a prediction that is not the default one.
static std::string optionMembers(const SimulationOptions &options) {
  std::string text;
  if (options.transfers == Transfers::Rendezvous)
    text += ",\n    \"transfers\": \"rendezvous\"";
  if (options.contention)
    text += ",\n    \"contention\": true";
  return text;
}

std::string veeline::schedule::toJson(const Solution &solution) {
  const auto &[problem, schedule, simulation] = solution;
  std::vector<int> ranks(problem.ranks());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::string text = "{\n  \"format\": \"veeline-schedule\",\n"
                     "  \"version\": 1,\n";
  auto member = [&](const char *name, const std::string &value) {
    text += "  \"" + std::string(name) + "\": " + value + ",\n";
  };
  member("name", jsonString(schedule.name));
  member("stages", integer(problem.stages()));
  if (!problem.widths.empty())
    member("stage_replicas", list(problem.widths, integer));
  member("microbatches", integer(problem.microbatches));
  member("placement", placementList(problem.placement));
  member("chunks", lines(problem.chunks, chunkObject));
  member("edges", lines(problem.edges, edgeObject));
  if (!problem.tied.empty())
    member("tied", list(problem.tied, [](const std::vector<int> &chunks) {
             return list(chunks, integer);
           }));
  member("memory_limits", list(problem.memoryLimits, integer));
  member("memory_unit",
         "{\"size\": " + integer(problem.memoryUnit.size) +
             ", \"name\": " + jsonString(problem.memoryUnit.name) + "}");
  member("overlap", exactNumber(problem.overlap));
  member("order",
         lines(ranks, [&, &problem = problem, &schedule = schedule](int rank) {
           return list(stageCells(problem, schedule, rank, false), jsonString);
         }));
  if (!schedule.offloads.empty())
    member("offloads",
           lines(schedule.offloads, [](const std::vector<Offload> &ofRank) {
             return list(ofRank, offloadList);
           }));
  text += "  \"prediction\": {\n    \"makespan\": " +
          exactNumber(simulation.makespan) +
          ",\n    \"bubble\": " + exactNumber(simulation.bubbleMakespan) +
          ",\n    \"bubble_of_span\": " + exactNumber(simulation.bubbleSpan) +
          steadyMembers(simulation) + optionMembers(simulation.options) +
          ",\n    \"stages\": " +
          lines(ranks, [&simulation = simulation](int rank) {
            return stageObject(simulation, rank);
          });
  return text + "\n  }\n}\n";
}
