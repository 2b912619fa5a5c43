//===- Widths.cpp - stages of several ranks -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Widths.h"

#include "veeline/Schedule/Execution.h"

#include <algorithm>
#include <map>

using namespace veeline::schedule;

/// The maximal number of times that a schedule is generated again with less
/// room.
static constexpr int maxTightenings = 8;

namespace {
/// A problem, and a *wide* one with a stage for each rank. A chunk of a stage
/// with w ranks becomes w parts, each with 1/w of its times. The memory of each
/// part is that of the whole chunk, so that a part holds what all ranks of its
/// stage hold together. So nothing is rounded, and memory is only compared with
/// that of the same stage.
class Widening {
public:
  Widening(const Problem &problem, Placement placement)
      : problem(problem), wide{std::move(placement),
                               problem.microbatches,
                               {},
                               {}} {
    wide.memoryUnit = problem.memoryUnit;
    wide.overlap = problem.overlap;
    addChunks();
    addEdges();
  }

  const Problem &get() const { return wide; }
  /// Limits what the ranks of each stage hold together.
  void setRoom(const std::vector<std::int64_t> &room);
  Schedule narrow(const Schedule &schedule) const;
  /// The maximum that the ranks of a stage hold together in a wide schedule.
  std::int64_t heldTogether(const Schedule &schedule, int stage) const {
    return peakOf(wide, schedule, problem.firstRankOf(stage));
  }
  static std::int64_t peakOf(const Problem &problem, const Schedule &schedule,
                             int rank);

private:
  struct Range {
    int first, last;
  };

  Range partsOf(int chunk) const;
  void addChunks();
  void addEdges();

  const Problem &problem;
  Problem wide;
};
} // namespace

/// The parts of a chunk, which are neighbours, in ascending or descending order
/// of its wide stages.
Widening::Range Widening::partsOf(int chunk) const {
  const Placement &placement = problem.placement;
  int stage = placement.stageOf(chunk), local = placement.localChunk(chunk);
  int first = problem.firstRankOf(stage);
  int a = wide.placement.globalChunk(first, local);
  int b = wide.placement.globalChunk(first + problem.width(stage) - 1, local);
  return {std::min(a, b), std::max(a, b)};
}

void Widening::addChunks() {
  wide.chunks.resize(wide.numChunks());
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk) {
    int width = problem.width(problem.placement.stageOf(chunk));
    Chunk part = problem.chunks[chunk];
    part.forward /= width;
    part.backwardInput /= width;
    part.backwardWeight /= width;
    part.backwardShared /= width;
    auto [first, last] = partsOf(chunk);
    wide.chunks[first] = part;
    // The other parts pass gradients on to the first.
    part.hasBackwardInput = true;
    std::fill(wide.chunks.begin() + first + 1, wide.chunks.begin() + last + 1,
              part);
  }
}

void Widening::addEdges() {
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    for (auto [part, last] = partsOf(chunk); part < last; ++part)
      wide.edges.push_back({part, part + 1});
  for (Edge edge : problem.edges) {
    edge.from = partsOf(edge.from).last;
    edge.to = partsOf(edge.to).first;
    wide.edges.push_back(edge);
  }
}

void Widening::setRoom(const std::vector<std::int64_t> &room) {
  wide.memoryLimits.clear();
  for (int rank = 0; rank < problem.ranks(); ++rank)
    wide.memoryLimits.push_back(room[problem.stageOfRank(rank)]);
}

std::int64_t Widening::peakOf(const Problem &problem, const Schedule &schedule,
                              int rank) {
  std::vector<std::int64_t> memory = memoryAfter(problem, schedule, rank);
  return std::max<std::int64_t>(
      0, *std::max_element(memory.begin(), memory.end()));
}

/// Takes the order of the first of the wide stages for each stage, and spreads
/// it over the ranks.
Schedule Widening::narrow(const Schedule &schedule) const {
  Schedule result{schedule.name, {}};
  result.warnings = schedule.warnings;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    std::vector<Op> &ops = result.stages.emplace_back();
    for (Op op : schedule.stages[problem.firstRankOf(stage)]) {
      op.chunk = problem.placement.globalChunk(
          stage, wide.placement.localChunk(op.chunk));
      if (op.kind != OpKind::BackwardInput ||
          problem.chunks[op.chunk].hasBackwardInput)
        ops.push_back(op);
    }
  }
  return spreadOverRanks(problem, result);
}

/// Adds the offloads of a stage to its ranks. A step of the stage becomes the
/// number of operations of the rank that precede it.
static void spreadOffloads(const Problem &problem, const std::vector<Op> &ops,
                           const std::vector<Offload> &offloads,
                           std::vector<std::vector<Offload>> &ofRanks) {
  std::map<int, std::vector<int>> before;
  for (const Offload &it : offloads)
    before.try_emplace(problem.rankOf(it.chunk, it.microbatch));
  for (auto &[rank, counts] : before) {
    counts.push_back(0);
    for (const Op &op : ops)
      counts.push_back(counts.back() +
                       (problem.rankOf(op.chunk, op.microbatch) == rank));
  }
  for (const Offload &it : offloads) {
    int rank = problem.rankOf(it.chunk, it.microbatch);
    const std::vector<int> &counts = before[rank];
    ofRanks[rank].push_back(
        {it.chunk, it.microbatch, counts[it.leaves], counts[it.returns]});
  }
}

Schedule veeline::schedule::spreadOverRanks(const Problem &problem,
                                            const Schedule &schedule) {
  if (problem.widths.empty())
    return schedule;
  Schedule result{schedule.name, {}};
  result.warnings = schedule.warnings;
  result.stages.resize(problem.ranks());
  if (!schedule.offloads.empty())
    result.offloads.resize(problem.ranks());
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    for (const Op &op : schedule.stages[stage])
      result.stages[problem.rankOf(op.chunk, op.microbatch)].push_back(op);
    if (!schedule.offloads.empty())
      spreadOffloads(problem, schedule.stages[stage], schedule.offloads[stage],
                     result.offloads);
  }
  return result;
}

namespace {
/// Searches an order of one schedule that is within the limits of ranks.
class Tightening {
public:
  Tightening(std::string_view name, const Problem &problem, Widening &widening,
             const GeneratorOptions &options)
      : name(name), problem(problem), widening(widening), options(options),
        least(problem.stages()) {}

  Expected<Schedule> run();

private:
  std::int64_t limit(int stage) const { return problem.memoryLimits[stage]; }
  std::vector<std::int64_t> excessOf(const Schedule &narrow) const;
  bool raise(const Error &error);
  bool lower(const Schedule &wide, const std::vector<std::int64_t> &excess,
             bool isLast);

  std::string_view name;
  const Problem &problem;
  Widening &widening;
  GeneratorOptions options;
  /// What the ranks of each stage may hold together, and what the schedule is
  /// known to need.
  std::vector<std::int64_t> room, least;
};
} // namespace

/// The amount by which the worst rank of each stage exceeds the limit.
std::vector<std::int64_t> Tightening::excessOf(const Schedule &narrow) const {
  std::vector<std::int64_t> excess(problem.stages());
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    int stage = problem.stageOfRank(rank);
    std::int64_t held = Widening::peakOf(problem, narrow, rank);
    excess[stage] = std::max(excess[stage], held - limit(stage));
  }
  return excess;
}

/// Gives a stage the room that the schedule says it needs. Returns false if the
/// schedule does not say, or if the stage already has it.
bool Tightening::raise(const Error &error) {
  if (error.kind != ErrorKind::OutOfMemory || !error.stage || !error.leastLimit)
    return false;
  int stage = problem.stageOfRank(*error.stage);
  if (*error.leastLimit <= room[stage])
    return false;
  room[stage] = least[stage] = *error.leastLimit;
  return true;
}

/// Takes room from stages with a rank that holds too much. Returns false if
/// none loses any.
bool Tightening::lower(const Schedule &wide,
                       const std::vector<std::int64_t> &excess, bool isLast) {
  bool isLower = false;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    if (excess[stage] <= 0)
      continue;
    std::int64_t less =
        std::min(room[stage], widening.heldTogether(wide, stage)) -
        excess[stage];
    // If all ranks together hold no more than the limit, every rank fits,
    // however they take turns.
    if (isLast)
      less = limit(stage);
    less = std::max({less, limit(stage), least[stage]});
    isLower |= less < room[stage];
    room[stage] = std::min(room[stage], less);
  }
  return isLower;
}

Expected<Schedule> Tightening::run() {
  for (int stage = 0; stage < problem.stages(); ++stage)
    room.push_back(std::min(limit(stage), maxMemory / problem.width(stage)) *
                   problem.width(stage));
  std::optional<Schedule> closest;
  std::int64_t closestBy = 0;
  for (int left = maxTightenings + problem.stages(); left > 0; --left) {
    // All attempts together take no longer than a single search.
    options.searchSeconds /= 2;
    widening.setRoom(room);
    Expected<Schedule> wide = generate(name, widening.get(), options);
    if (!wide) {
      if (raise(wide.error()))
        continue;
      if (closest)
        break;
      return wide.takeError();
    }
    Schedule narrow = widening.narrow(*wide);
    std::vector<std::int64_t> excess = excessOf(narrow);
    std::int64_t by = *std::max_element(excess.begin(), excess.end());
    if (!closest || by < closestBy) {
      closest = std::move(narrow);
      closestBy = by;
    }
    if (by <= 0 || !lower(*wide, excess, left <= problem.stages() + 2))
      break;
  }
  if (closest)
    return std::move(*closest);
  return Error{ErrorKind::OutOfMemory, "schedule " + std::string(name) +
                                           " has no order for limits this low"};
}

static Expected<Schedule> generateOne(std::string_view name,
                                      const Problem &problem,
                                      Widening &widening,
                                      const GeneratorOptions &options) {
  if (!problem.memoryLimits.empty())
    return Tightening(name, problem, widening, options).run();
  Expected<Schedule> schedule = generate(name, widening.get(), options);
  if (!schedule)
    return schedule;
  return widening.narrow(*schedule);
}

/// The value by which `auto` chooses; none for an order that does not solve the
/// problem.
static std::optional<double> valueOf(const Problem &problem,
                                     const Schedule &schedule,
                                     const GeneratorOptions &options) {
  if (!verify(problem, schedule))
    return std::nullopt;
  Expected<Simulation> step = simulate(problem, schedule, options.simulation);
  if (!step)
    return std::nullopt;
  return step->value(options.objective);
}

/// The best order for the wide problem need not be the best for ranks that take
/// turns.
static Expected<Schedule> bestOfAll(const Problem &problem, Widening &widening,
                                    const GeneratorOptions &options) {
  Expected<Schedule> best = generateOne("auto", problem, widening, options);
  std::optional<double> least;
  if (best)
    least = valueOf(problem, *best, options);
  for (const Generator &generator : generators()) {
    if (generator.name == "auto" ||
        generator.semantics != UpdateSemantics::Synchronous)
      continue;
    Expected<Schedule> other =
        generateOne(generator.name, problem, widening, options);
    std::optional<double> value;
    if (other)
      value = valueOf(problem, *other, options);
    if (!value || (least && *value >= *least))
      continue;
    least = value;
    best = std::move(other);
  }
  if (best)
    best->name = "auto";
  return best;
}

Expected<Schedule>
veeline::schedule::generateForWidths(std::string_view name,
                                     const Problem &problem,
                                     const GeneratorOptions &options) {
  const Placement &placement = problem.placement;
  if (placement.kind() == PlacementKind::List)
    return Error{
        ErrorKind::NotApplicable,
        "stages of several ranks need a placement by rule, not a list"};
  Expected<Placement> wide = Placement::get(placement.kind(), problem.ranks(),
                                            placement.chunksPerStage());
  if (!wide)
    return wide.takeError();
  Widening widening(problem, std::move(*wide));
  Expected<Schedule> schedule =
      name == "auto" ? bestOfAll(problem, widening, options)
                     : generateOne(name, problem, widening, options);
  if (schedule)
    return schedule;
  Error error = schedule.takeError();
  // The stage of the error is one of the wide problem.
  if (error.stage)
    error.stage = problem.stageOfRank(*error.stage);
  error.message += " (stages of several ranks count as so many stages, here " +
                   std::to_string(problem.ranks()) + ")";
  return error;
}
