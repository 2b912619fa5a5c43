//===- Html.cpp - schedules as an interactive page ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drawing.h"
#include "veeline/Page/Page.h"
#include "veeline/Schedule/Execution.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace veeline;
using namespace veeline::schedule;

namespace {
/// Makes the graph of one solution.
class GraphMaker {
public:
  explicit GraphMaker(const Solution &solution)
      : solution(solution), problem(solution.problem),
        schedule(solution.schedule), simulation(solution.simulation) {}

  page::Graph make();

private:
  int entryOf(const Op &op);
  page::Lane laneOf(int rank);
  std::vector<page::Event> eventsOf(int rank) const;
  void addCopies(int rank, bool isBack, page::Times &times);

  const Solution &solution;
  const Problem &problem;
  const Schedule &schedule;
  const Simulation &simulation;
  page::Graph graph;
  /// By kind and chunk.
  std::map<std::pair<int, int>, int> entries;
};
} // namespace

static std::vector<page::Kind> kindsOf() {
  std::vector<page::Kind> kinds;
  for (bool isLate : {false, true})
    for (OpKind kind : drawnKinds)
      kinds.push_back({.name = toString(kind),
                       .legend = legendName(kind),
                       .role = toString(kind),
                       .isLate = isLate});
  return kinds;
}

int GraphMaker::entryOf(const Op &op) {
  const auto *place = std::find(drawnKinds.begin(), drawnKinds.end(), op.kind);
  int kind = static_cast<int>(place - drawnKinds.begin()) +
             (op.late ? static_cast<int>(drawnKinds.size()) : 0);
  auto [it, isNew] = entries.emplace(std::pair(kind, op.chunk),
                                     static_cast<int>(graph.entries.size()));
  if (isNew)
    graph.entries.push_back({.kind = kind,
                             .number = op.chunk,
                             .shade = problem.placement.localChunk(op.chunk)});
  return it->second;
}

/// Memory is added at the start of an operation or block, and released at the
/// end.
page::Lane GraphMaker::laneOf(int rank) {
  page::Lane lane{.name = problem.labelOfRank(rank)};
  if (!problem.memoryLimits.empty())
    lane.limit = problem.memoryLimits[problem.stageOfRank(rank)];
  const std::vector<Op> &ops = schedule.stages[rank];
  const std::vector<HeldMemory> memory = heldMemory(problem, schedule, rank);
  for (std::size_t i = 0; i < ops.size(); ++i)
    lane.operations.push_back({.entry = entryOf(ops[i]),
                               .microbatch = ops[i].microbatch,
                               .held = memory[i].during,
                               .after = memory[i].after});
  if (schedule.overlapped.empty())
    return lane;
  for (int step : schedule.overlapped[rank]) {
    page::Operation &first = lane.operations[step];
    page::Operation &second = lane.operations[step + 1];
    first.held = second.held = memory[step].during;
    first.after = second.after;
  }
  return lane;
}

std::vector<page::Event> GraphMaker::eventsOf(int rank) const {
  std::vector<page::Event> events;
  events.reserve(schedule.stages[rank].size());
  for (std::size_t i = 0; i < schedule.stages[rank].size(); ++i)
    events.push_back({.operation = static_cast<int>(i),
                      .begin = simulation.start[rank][i],
                      .end = simulation.end[rank][i]});
  return events;
}

/// Adds a lane for the link from a rank to the host's memory, or for the one
/// back.
void GraphMaker::addCopies(int rank, bool isBack, page::Times &times) {
  page::Lane lane{.name = problem.labelOfRank(rank) +
                          (isBack ? " from host" : " to host")};
  std::vector<page::Event> events;
  int kind = static_cast<int>(2 * drawnKinds.size()) + (isBack ? 1 : 0);
  for (std::size_t i = 0; i < schedule.offloads[rank].size(); ++i) {
    const Offload &offload = schedule.offloads[rank][i];
    const OffloadTimes &copy = simulation.offloads[rank][i];
    auto [it, isNew] = entries.emplace(std::pair(kind, offload.chunk),
                                       static_cast<int>(graph.entries.size()));
    if (isNew)
      graph.entries.push_back(
          {.kind = kind,
           .number = offload.chunk,
           .shade = problem.placement.localChunk(offload.chunk)});
    events.push_back({.operation = static_cast<int>(i),
                      .begin = isBack ? copy.backStart : copy.outStart,
                      .end = isBack ? copy.backEnd : copy.outEnd});
    lane.operations.push_back(
        {.entry = it->second, .microbatch = offload.microbatch});
  }
  std::sort(events.begin(), events.end(),
            [](const page::Event &a, const page::Event &b) {
              return a.begin < b.begin;
            });
  graph.lanes.push_back(std::move(lane));
  times.lanes.push_back(std::move(events));
}

page::Graph GraphMaker::make() {
  graph.name = schedule.name;
  graph.size = sizeLine(solution);
  graph.memoryUnit = problem.memoryUnit.name;
  graph.memoryUnitSize = problem.memoryUnit.size;
  graph.shades = problem.chunksPerStage();
  graph.kinds = kindsOf();
  for (const Edge &edge : problem.edges)
    graph.edges.push_back({edge.from, edge.to, edge.carriesGradient});
  page::Times times;
  // This is far below the resolution of a screen. Powers of ten keep decimal
  // times exact.
  if (simulation.makespan > 0)
    times.tick = std::pow(10, std::floor(std::log10(simulation.makespan)) - 9);
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    graph.lanes.push_back(laneOf(rank));
    times.lanes.push_back(eventsOf(rank));
  }
  if (!schedule.offloads.empty()) {
    for (auto [name, legend] : {std::pair("O", "O, to the host's memory"),
                                std::pair("I", "I, back from it")})
      graph.kinds.push_back({.name = name, .legend = legend, .role = "copy"});
    for (int rank = 0; rank < problem.ranks(); ++rank)
      for (bool isBack : {false, true})
        addCopies(rank, isBack, times);
  }
  graph.times.push_back(std::move(times));
  return std::move(graph);
}

std::string veeline::schedule::toHtml(std::span<const Solution> solutions) {
  std::vector<std::string> graphs;
  graphs.reserve(solutions.size());
  for (const Solution &solution : solutions)
    graphs.push_back(page::encode(GraphMaker(solution).make()));
  return page::toPage(graphs);
}
