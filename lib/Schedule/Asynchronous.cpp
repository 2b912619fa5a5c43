//===- Asynchronous.cpp - schedules without a flush -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Asynchronous.h"

#include <algorithm>

using namespace veeline::schedule;

/// Returns the maximal number of microbatches that are between their F and the
/// end of their backward on a chunk at the same time.
static int mostInFlight(const std::vector<Op> &ops, int chunk) {
  int inFlight = 0, most = 0;
  for (const Op &op : ops) {
    if (op.chunk != chunk || op.kind == OpKind::BackwardInput)
      continue;
    inFlight += op.kind == OpKind::Forward ? 1 : -1;
    most = std::max(most, inFlight);
  }
  return most;
}

static int countLate(const std::vector<Op> &ops) {
  return static_cast<int>(std::count_if(ops.begin(), ops.end(),
                                        [](const Op &op) { return op.late; }));
}

Expected<std::vector<int>>
veeline::schedule::weightVersions(const Problem &problem,
                                  const Schedule &schedule) {
  Expected<const Generator *> generator = findGenerator(schedule.name);
  if (!generator)
    return generator.takeError();
  std::vector<int> versions(problem.ranks(), 1);
  if ((*generator)->semantics == UpdateSemantics::DoubleBuffered)
    versions.assign(problem.ranks(), 2);
  if ((*generator)->semantics != UpdateSemantics::WeightStashing)
    return versions;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    if (problem.updates != UpdateSemantics::Synchronous) {
      versions[rank] +=
          olderVersions(countLate(schedule.stages[rank]), problem.microbatches);
      continue;
    }
    for (int local = 0; local < problem.chunksPerStage(); ++local)
      versions[rank] = std::max(
          versions[rank], mostInFlight(schedule.stages[rank],
                                       problem.placement.globalChunk(
                                           problem.stageOfRank(rank), local)));
  }
  return versions;
}

Expected<Schedule> veeline::schedule::turnOf(const Problem &problem,
                                             const std::string &name) {
  int stages = problem.stages(), m = problem.microbatches;
  auto fail = [&](const std::string &what) {
    return Error{ErrorKind::NotApplicable, "steps of schedule '" + name +
                                               "' that follow each other " +
                                               what};
  };
  if (m < stages)
    return fail("need at least as many microbatches as stages, " +
                std::to_string(stages) + ", found " + std::to_string(m));
  if (problem.ranks() != stages)
    return fail("are not defined for stages of several ranks");
  Schedule turn;
  turn.name = name;
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Op> &ops = turn.stages.emplace_back();
    int chunk = problem.placement.globalChunk(stage, 0);
    int late = stages - 1 - stage;
    for (int i = 0; i < m; ++i) {
      ops.push_back({OpKind::Forward, chunk, i});
      ops.push_back({OpKind::Backward, chunk,
                     i < late ? m - late + i : i - late, i < late});
    }
  }
  return turn;
}

int veeline::schedule::olderVersions(int late, int microbatches) {
  int versions = late;
  while (versions > 0 && microbatches % versions != 0)
    ++versions;
  return versions;
}

namespace {
/// Operation `to` of microbatch i starts at least `time` after the start of
/// `from` of microbatch i - `distance`.
struct Dependency {
  int from;
  int to;
  double time;
  int distance;
};

/// The endless pipeline as a graph. Node 2s is F of stage s, node 2s+1 its
/// backward.
class EndlessPipeline {
public:
  explicit EndlessPipeline(const Problem &problem);
  double period();

private:
  void add(int from, int to, double transfer, int distance) {
    dependencies.push_back({from, to, cost[from] + transfer, distance});
  }
  /// Whether some cycle takes longer than `period` for each microbatch. If so,
  /// raises `period` to the time of that cycle.
  bool raise(double &period);
  double ratioOfCircle(int node) const;

  std::vector<double> cost;
  /// The time of one microbatch on each stage, divided by the number of its
  /// ranks, which take turns.
  std::vector<double> work;
  std::vector<Dependency> dependencies;
  /// During `raise`: the dependency that determines the start of a node, or -1.
  std::vector<int> decisive;
};
} // namespace

EndlessPipeline::EndlessPipeline(const Problem &problem) {
  for (const Chunk &chunk : problem.chunks) {
    cost.push_back(chunk.forward);
    cost.push_back(chunk.cost(OpKind::Backward));
  }
  for (int stage = 0; stage < problem.stages(); ++stage) {
    int width = problem.width(stage);
    work.push_back((cost[2 * stage] + cost[2 * stage + 1]) / width);
    // Each of the w ranks runs F(i + ahead - w), B(i), F(i + ahead). These are
    // its turns in the order of `oneForwardOneBackward`.
    int behind = problem.ranks() - problem.firstRankOf(stage);
    int ahead = (behind + width - 1) / width * width;
    add(2 * stage, 2 * stage + 1, 0, width - ahead);
    add(2 * stage + 1, 2 * stage, 0, ahead);
  }
  for (const Edge &edge : problem.edges) {
    add(2 * edge.from, 2 * edge.to, edge.forwardTransfer, 0);
    if (edge.carriesGradient)
      add(2 * edge.to + 1, 2 * edge.from + 1, edge.backwardTransfer, 0);
  }
}

/// Follows the decisive dependencies back from a node until they form a cycle.
/// Returns the time of that cycle for each microbatch.
double EndlessPipeline::ratioOfCircle(int node) const {
  for (std::size_t i = 0; i < cost.size(); ++i) {
    // A path ends at a node without a decisive dependency only because of
    // rounding.
    if (decisive[node] < 0)
      return 0;
    node = dependencies[decisive[node]].from;
  }
  double time = 0;
  int distance = 0, first = node;
  do {
    const Dependency &dependency = dependencies[decisive[node]];
    time += dependency.time;
    distance += dependency.distance;
    node = dependency.from;
  } while (node != first);
  return time / distance;
}

/// Longest paths by Bellman and Ford. The length of a dependency is its time
/// minus `period` for each microbatch of its distance. Only a cycle that takes
/// longer than `period` raises the lengths forever.
bool EndlessPipeline::raise(double &period) {
  std::vector<double> start(cost.size());
  decisive.assign(cost.size(), -1);
  double tolerance = 1e-12 * period;
  int changed = -1;
  for (std::size_t round = 0; round <= cost.size(); ++round) {
    changed = -1;
    for (std::size_t i = 0; i < dependencies.size(); ++i) {
      const Dependency &dependency = dependencies[i];
      double earliest = start[dependency.from] + dependency.time -
                        period * dependency.distance;
      if (earliest <= start[dependency.to] + tolerance)
        continue;
      start[dependency.to] = earliest;
      decisive[dependency.to] = static_cast<int>(i);
      changed = dependency.to;
    }
    if (changed < 0)
      return false;
  }
  double raised = ratioOfCircle(changed);
  bool isLonger = raised > period;
  period = std::max(period, raised);
  return isLonger;
}

double EndlessPipeline::period() {
  double period = *std::max_element(work.begin(), work.end());
  while (raise(period))
    continue;
  return period;
}

Expected<SteadyState> veeline::schedule::steadyState(const Problem &problem) {
  const Placement &placement = problem.placement;
  for (int chunk = 0; chunk < placement.chunks(); ++chunk)
    if (placement.stageOf(chunk) != chunk)
      return Error{ErrorKind::NotApplicable,
                   "the steady state is that of a pipeline with placement "
                   "linear, where chunk " +
                       std::to_string(chunk) + " is on stage " +
                       std::to_string(chunk) + "; here it is on stage " +
                       std::to_string(placement.stageOf(chunk))};
  SteadyState result{EndlessPipeline(problem).period(), 0, 0};
  for (int stage = 0; stage < placement.stages(); ++stage) {
    const Chunk &chunk = problem.chunks[stage];
    double busy =
        (chunk.forward + chunk.cost(OpKind::Backward)) / problem.width(stage);
    double bubble = bubbleOf(busy, result.period);
    if (bubble <= result.bubble)
      continue;
    result.bubble = bubble;
    result.stage = stage;
  }
  return result;
}

std::optional<SteadyState>
veeline::schedule::steadyStateOf(const Problem &problem,
                                 const Schedule &schedule) {
  Expected<const Generator *> generator = findGenerator(schedule.name);
  if (!generator || (*generator)->semantics == UpdateSemantics::Synchronous)
    return std::nullopt;
  Expected<SteadyState> state = steadyState(problem);
  if (!state)
    return std::nullopt;
  return *state;
}
