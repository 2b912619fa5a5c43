//===- Reference.cpp - a slow, obvious simulator and verifier -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace veeline::schedule;

namespace {
/// What an operation gives to others.
enum Product { Output, InputGradient, WeightGradient };
using Key = std::tuple<Product, int, int>;

struct Dependency {
  Key key;
  double transfer;
};
} // namespace

static std::vector<Dependency> dependenciesOf(const Problem &problem, Op op) {
  auto transfer = [&](const Edge &edge, double cost) {
    return problem.placement.stageOf(edge.from) ==
                   problem.placement.stageOf(edge.to)
               ? 0
               : cost;
  };
  std::vector<Dependency> result;
  if (op.kind == OpKind::Forward) {
    for (const Edge &edge : problem.edges)
      if (edge.to == op.chunk)
        result.push_back({{Output, edge.from, op.microbatch},
                          transfer(edge, edge.forwardTransfer)});
    return result;
  }
  if (op.kind == OpKind::BackwardWeight &&
      problem.chunks[op.chunk].hasBackwardInput)
    return {{{InputGradient, op.chunk, op.microbatch}, 0}};
  result.push_back({{Output, op.chunk, op.microbatch}, 0});
  for (const Edge &edge : problem.edges)
    if (edge.from == op.chunk && edge.carriesGradient)
      result.push_back({{InputGradient, edge.to, op.microbatch},
                        transfer(edge, edge.backwardTransfer)});
  return result;
}

static std::vector<Product> productsOf(OpKind kind) {
  switch (kind) {
  case OpKind::Forward:
    return {Output};
  case OpKind::BackwardInput:
    return {InputGradient};
  case OpKind::BackwardWeight:
    return {WeightGradient};
  case OpKind::Backward:
    return {InputGradient, WeightGradient};
  }
  return {};
}

namespace {
struct Run {
  std::map<Key, double> done;
  Simulation result;
  std::vector<double> now;
};
} // namespace

/// Runs the next operation of a stage if it can.
static bool step(const Problem &problem, const Schedule &schedule, int stage,
                 Run &run) {
  std::size_t next = run.result.end[stage].size();
  if (next == schedule.stages[stage].size())
    return false;
  Op op = schedule.stages[stage][next];
  double start = run.now[stage];
  for (const Dependency &dependency : dependenciesOf(problem, op)) {
    auto found = run.done.find(dependency.key);
    if (found == run.done.end())
      return false;
    start = std::max(start, found->second + dependency.transfer);
  }
  double end = start + problem.chunks[op.chunk].cost(op.kind);
  run.now[stage] = end;
  run.result.start[stage].push_back(start);
  run.result.end[stage].push_back(end);
  for (Product product : productsOf(op.kind))
    run.done[{product, op.chunk, op.microbatch}] = end;
  return true;
}

static void addStatistics(const Problem &problem, const Schedule &schedule,
                          Simulation &result) {
  for (int stage = 0; stage < problem.stages(); ++stage) {
    StageStatistics statistics;
    std::int64_t memory = 0;
    result.memory.emplace_back();
    for (const Op &op : schedule.stages[stage]) {
      statistics.busy += problem.chunks[op.chunk].cost(op.kind);
      memory += problem.chunks[op.chunk].memory(op.kind);
      result.memory.back().push_back(memory);
      statistics.peakMemory = std::max(statistics.peakMemory, memory);
    }
    statistics.firstStart = result.start[stage].front();
    statistics.lastEnd = result.end[stage].back();
    result.makespan = std::max(result.makespan, statistics.lastEnd);
    result.stages.push_back(statistics);
  }
  for (const StageStatistics &stage : result.stages) {
    double span = stage.lastEnd - stage.firstStart;
    if (result.makespan > 0)
      result.bubbleMakespan =
          std::max(result.bubbleMakespan, 1 - stage.busy / result.makespan);
    if (span > 0)
      result.bubbleSpan = std::max(result.bubbleSpan, 1 - stage.busy / span);
  }
}

std::optional<Simulation>
veeline::schedule::reference::simulate(const Problem &problem,
                                       const Schedule &schedule) {
  Run run;
  run.now.resize(problem.stages());
  run.result.start.resize(problem.stages());
  run.result.end.resize(problem.stages());
  bool advanced = true;
  while (advanced) {
    advanced = false;
    for (int stage = 0; stage < problem.stages(); ++stage)
      while (step(problem, schedule, stage, run))
        advanced = true;
  }
  for (int stage = 0; stage < problem.stages(); ++stage)
    if (run.result.end[stage].size() != schedule.stages[stage].size())
      return std::nullopt;
  addStatistics(problem, schedule, run.result);
  return run.result;
}

/// Every product is made exactly once, by an operation of the right stage, in
/// ascending microbatch order where that matters.
static bool isComplete(const Problem &problem, const Schedule &schedule) {
  if (static_cast<int>(schedule.stages.size()) != problem.stages())
    return false;
  std::map<Key, int> count;
  std::map<std::pair<Product, int>, int> last;
  for (int stage = 0; stage < problem.stages(); ++stage)
    for (const Op &op : schedule.stages[stage]) {
      if (op.chunk < 0 || op.chunk >= problem.numChunks() ||
          op.microbatch < 0 || op.microbatch >= problem.microbatches ||
          problem.placement.stageOf(op.chunk) != stage)
        return false;
      if (op.kind == OpKind::BackwardInput &&
          !problem.chunks[op.chunk].hasBackwardInput)
        return false;
      for (Product product : productsOf(op.kind)) {
        if (++count[{product, op.chunk, op.microbatch}] > 1)
          return false;
        auto [previous, isFirst] =
            last.try_emplace({product, op.chunk}, op.microbatch);
        if (product != Output && previous->second > op.microbatch)
          return false;
        previous->second = op.microbatch;
      }
    }
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    for (int microbatch = 0; microbatch < problem.microbatches; ++microbatch)
      for (Product product : {Output, InputGradient, WeightGradient})
        if (!count.contains({product, chunk, microbatch}) &&
            (product != InputGradient ||
             problem.chunks[chunk].hasBackwardInput))
          return false;
  return true;
}

bool veeline::schedule::reference::isValid(const Problem &problem,
                                           const Schedule &schedule) {
  if (!isComplete(problem, schedule))
    return false;
  std::optional<Simulation> result = reference::simulate(problem, schedule);
  if (!result)
    return false;
  for (int stage = 0; stage < problem.stages(); ++stage)
    if (problem.memoryLimit(stage) &&
        result->stages[stage].peakMemory > *problem.memoryLimit(stage))
      return false;
  return true;
}
