//===- Recompute.cpp - recomputation ahead of the backward ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Recompute.h"

#include "Generators/Generators.h"
#include "veeline/Schedule/Execution.h"
#include "veeline/Schedule/Memory.h"
#include "veeline/Schedule/Simulator.h"

#include <algorithm>
#include <numeric>

using namespace veeline::schedule;

bool veeline::schedule::hasRecompute(const Problem &problem) {
  return std::any_of(problem.chunks.begin(), problem.chunks.end(),
                     [](const Chunk &chunk) { return chunk.hasRecompute; });
}

bool veeline::schedule::runsRecompute(const Schedule &schedule) {
  for (const std::vector<Op> &ops : schedule.stages)
    for (const Op &op : ops)
      if (op.kind == OpKind::Recompute)
        return true;
  return false;
}

/// By chunk: whether the order runs an R of it.
static std::vector<bool> chunksWithRecompute(const Problem &problem,
                                             const Schedule &schedule) {
  std::vector<bool> with(problem.numChunks());
  for (const std::vector<Op> &ops : schedule.stages)
    for (const Op &op : ops)
      if (op.kind == OpKind::Recompute && op.chunk < problem.numChunks())
        with[op.chunk] = true;
  return with;
}

bool veeline::schedule::lacksRecompute(const Problem &problem,
                                       const Schedule &schedule) {
  std::vector<bool> with = chunksWithRecompute(problem, schedule);
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    if (problem.chunks[chunk].hasRecompute && !with[chunk])
      return true;
  return false;
}

Problem veeline::schedule::asOrdered(const Problem &problem,
                                     const Schedule &schedule) {
  std::vector<bool> with = chunksWithRecompute(problem, schedule);
  Problem ordered = problem;
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    if (!with[chunk])
      ordered.chunks[chunk] = ordered.chunks[chunk].withRecomputeInside();
  return ordered;
}

Problem veeline::schedule::withRecomputeInside(const Problem &problem) {
  Problem inside = problem;
  for (Chunk &chunk : inside.chunks)
    chunk = chunk.withRecomputeInside();
  return inside;
}

//===----------------------------------------------------------------------===//
// Placing R
//===----------------------------------------------------------------------===//

/// Whether `op` is the first backward of a microbatch that has an R.
static bool needsRecompute(const Problem &problem, const Op &op) {
  const Chunk &chunk = problem.chunks[op.chunk];
  return chunk.hasRecompute &&
         (op.kind == OpKind::BackwardInput || op.kind == OpKind::Backward ||
          (op.kind == OpKind::BackwardWeight && !chunk.hasBackwardInput));
}

/// Adds each R right before its backward, or before the overlapped block of
/// that.
static Schedule insertRecompute(const Problem &problem, Schedule schedule) {
  Schedule result = schedule;
  std::vector<bool> has = chunksWithRecompute(problem, schedule);
  BlockCursor blocks(schedule);
  for (int rank = 0, e = problem.ranks(); rank < e; ++rank) {
    const std::vector<Op> &ops = schedule.stages[rank];
    std::vector<Op> &order = result.stages[rank];
    order.clear();
    if (!result.overlapped.empty())
      result.overlapped[rank].clear();
    // The position of each step, together with the R before it.
    std::vector<int> places;
    for (int step = 0, end = static_cast<int>(ops.size()); step < end;) {
      int last = step + blocks.sizeAt(rank, step);
      places.insert(places.end(), last - step, static_cast<int>(order.size()));
      for (int i = step; i < last; ++i)
        if (needsRecompute(problem, ops[i]) && !has[ops[i].chunk])
          order.push_back({OpKind::Recompute, ops[i].chunk, ops[i].microbatch});
      if (last > step + 1)
        result.overlapped[rank].push_back(static_cast<int>(order.size()));
      for (; step < last; ++step)
        order.push_back(ops[step]);
    }
    if (!result.offloads.empty())
      for (Offload &it : result.offloads[rank]) {
        it.leaves = places[it.leaves];
        it.returns = places[it.returns];
      }
  }
  return result;
}

namespace {
/// Moves the R of one rank into the times in which the rank waits.
class Mover {
public:
  Mover(const Problem &problem, const Schedule &schedule, const OpIndex &index,
        const Simulation &simulation, int rank, std::int64_t limit);

  /// Moves R that take at most 1 / `share` of the time that they fill.
  void run(double share);
  /// Returns the new order. `overlapped` has the steps of blocks in the old
  /// order, and is updated.
  std::vector<Op> take(std::vector<int> *overlapped);

private:
  bool canMove(int from, int to) const;
  void move(int from, int to);
  const Problem &problem;
  const OpIndex &index;
  const std::vector<Op> &ops;
  const std::vector<double> &start, &end;
  std::int64_t limit;
  std::vector<HeldMemory> memory;
  BlockCursor blocks;
  int rank;
  /// The step before which each operation runs: its own, or an earlier one.
  std::vector<int> target;
  /// The maximal distance by which an R moves, so that checking memory takes
  /// linear time.
  int window;
};
} // namespace

Mover::Mover(const Problem &problem, const Schedule &schedule,
             const OpIndex &index, const Simulation &simulation, int rank,
             std::int64_t limit)
    : problem(problem), index(index), ops(schedule.stages[rank]),
      start(simulation.start[rank]), end(simulation.end[rank]), limit(limit),
      memory(heldMemory(problem, schedule, rank)), blocks(schedule), rank(rank),
      target(ops.size()), window(64 + 4 * problem.numChunks()) {
  std::iota(target.begin(), target.end(), 0);
}

/// Whether the operation at `from`, which adds memory, can run before `to`.
bool Mover::canMove(int from, int to) const {
  const Op &op = ops[from];
  int forward = index.forward(op.chunk, op.microbatch);
  std::int64_t added = problem.chunks[op.chunk].recomputeMemory;
  return forward < to && std::all_of(memory.begin() + to, memory.begin() + from,
                                     [&](const HeldMemory &held) {
                                       return held.during + added <= limit;
                                     });
}

void Mover::move(int from, int to) {
  target[from] = to;
  std::int64_t added = problem.chunks[ops[from].chunk].recomputeMemory;
  for (int step = to; step < from; ++step)
    memory[step].during += added;
}

void Mover::run(double share) {
  std::vector<int> all;
  for (int step = 0, e = static_cast<int>(ops.size()); step < e; ++step)
    if (ops[step].kind == OpKind::Recompute)
      all.push_back(step);
  auto next = all.begin();
  for (int step = 1, last = static_cast<int>(ops.size()); step < last;) {
    double idle = start[step] - end[step - 1];
    while (next != all.end() && *next <= step)
      ++next;
    for (; next != all.end() && *next < step + window; ++next) {
      double time = problem.chunks[ops[*next].chunk].recompute;
      if (idle <= 0 || idle < share * time || !canMove(*next, step))
        break;
      move(*next, step);
      idle -= time;
    }
    step += blocks.sizeAt(rank, step);
  }
}

std::vector<Op> Mover::take(std::vector<int> *overlapped) {
  std::vector<std::vector<Op>> moved(ops.size() + 1);
  for (int step = 0, e = static_cast<int>(ops.size()); step < e; ++step)
    if (target[step] != step)
      moved[target[step]].push_back(ops[step]);
  std::vector<Op> order;
  std::vector<int> steps;
  for (int step = 0, e = static_cast<int>(ops.size()); step < e; ++step) {
    order.insert(order.end(), moved[step].begin(), moved[step].end());
    steps.push_back(static_cast<int>(order.size()));
    if (target[step] == step)
      order.push_back(ops[step]);
  }
  if (overlapped)
    for (int &step : *overlapped)
      step = steps[step];
  return order;
}

/// The memory that R may use when it runs ahead: the limits of stages, or the
/// peak of all ranks, which is held anyway.
static std::int64_t roomOf(const Problem &problem, const Simulation &simulation,
                           int rank) {
  return problem.memoryLimit(problem.stageOfRank(rank))
      .value_or(simulation.peakMemory());
}

Expected<Schedule> veeline::schedule::addRecompute(const Problem &problem,
                                                   Schedule schedule,
                                                   Objective objective) {
  schedule = insertRecompute(problem, std::move(schedule));
  // Offloaded values return in time for the present position of R.
  if (!schedule.offloads.empty())
    return schedule;
  Expected<Simulation> best = simulate(problem, schedule);
  if (!best)
    return best.takeError();
  std::vector<std::int64_t> room;
  for (int rank = 0; rank < problem.ranks(); ++rank)
    room.push_back(roomOf(problem, *best, rank));
  // An R that fits into the time that it fills delays nothing. One that does
  // not fit may delay others, but is worth a try.
  for (double share : {1.0, 0.5, 0.25})
    for (int round = 0; round < 4; ++round) {
      Expected<OpIndex> index = OpIndex::build(problem, schedule);
      if (!index)
        return index.takeError();
      Schedule trial = schedule;
      for (int rank = 0; rank < problem.ranks(); ++rank) {
        Mover mover(problem, schedule, *index, *best, rank, room[rank]);
        mover.run(share);
        trial.stages[rank] = mover.take(
            trial.overlapped.empty() ? nullptr : &trial.overlapped[rank]);
      }
      if (trial.stages == schedule.stages)
        break;
      Expected<Simulation> simulation = simulate(problem, trial);
      if (!simulation || simulation->value(objective) >= best->value(objective))
        break;
      schedule = std::move(trial);
      best = std::move(simulation);
    }
  return schedule;
}

//===----------------------------------------------------------------------===//
// Orders by name
//===----------------------------------------------------------------------===//

/// The memory that the largest R of each stage adds.
static std::vector<std::int64_t> reserveOf(const Problem &problem) {
  std::vector<std::int64_t> reserve(problem.stages());
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk) {
    std::int64_t &ofStage = reserve[problem.placement.stageOf(chunk)];
    ofStage = std::max(ofStage, problem.chunks[chunk].recomputeMemory);
  }
  return reserve;
}

namespace {
/// Generates orders without R, adds R, and keeps the best that is within the
/// limits.
class OrderSearch {
public:
  OrderSearch(std::string_view name, const Problem &problem,
              const GeneratorOptions &options)
      : name(name), problem(problem), options(options),
        reserve(reserveOf(problem)) {
    this->options.searchSeconds /= 2;
  }

  /// Tries the orders for `plain`, in which no chunk has an R. If limits leave
  /// no room for R, tries others with lower limits.
  void run(Problem plain);
  /// Tries the order that runs one microbatch after the other.
  void runSequential();
  bool found() const { return best.has_value(); }
  Expected<Schedule> take();

private:
  /// Tries one order. Lowers the limits of `plain` by the amount by which its
  /// stages exceed those of the problem. Returns false if there is nothing more
  /// to try.
  bool tryOrder(std::string_view generator, Problem &plain);
  bool lowerLimits(const Schedule &schedule, Problem &plain) const;
  void note(Error found) {
    if (!error)
      error = std::move(found);
  }

  std::string_view name;
  const Problem &problem;
  GeneratorOptions options;
  std::vector<std::int64_t> reserve;
  std::vector<std::vector<std::vector<Op>>> tried;
  std::optional<Solution> best;
  /// The first error, which refers to the original limits.
  std::optional<Error> error;
};
} // namespace

bool OrderSearch::lowerLimits(const Schedule &schedule, Problem &plain) const {
  if (plain.memoryLimits.empty())
    return false;
  std::vector<std::int64_t> excess(problem.stages());
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    int stage = problem.stageOfRank(rank);
    for (const HeldMemory &held : heldMemory(problem, schedule, rank))
      excess[stage] =
          std::max(excess[stage], held.during - problem.memoryLimits[stage]);
  }
  for (int stage = 0; stage < problem.stages(); ++stage) {
    plain.memoryLimits[stage] -= excess[stage];
    if (plain.memoryLimits[stage] < 0)
      return false;
  }
  return true;
}

bool OrderSearch::tryOrder(std::string_view generator, Problem &plain) {
  Expected<Schedule> order = generateInLimits(generator, plain, options);
  if (!order) {
    Error failure = order.takeError();
    // The sum of what the plain order needs and what an R needs is sufficient.
    if (failure.leastLimit && failure.stage && reserve[*failure.stage] > 0) {
      *failure.leastLimit += reserve[*failure.stage];
      failure.message +=
          "; an R adds up to " + formatMemory(problem, reserve[*failure.stage]);
    }
    note(std::move(failure));
    return false;
  }
  if (std::find(tried.begin(), tried.end(), order->stages) != tried.end())
    return false;
  tried.push_back(order->stages);
  order = addRecompute(problem, std::move(*order), options.objective);
  if (!order) {
    note(order.takeError());
    return false;
  }
  Schedule schedule = *order;
  Expected<Solution> solution = solve(problem, std::move(*order));
  if (solution) {
    if (!best || solution->simulation.value(options.objective) <
                     best->simulation.value(options.objective))
      best = std::move(*solution);
    return false;
  }
  bool isMemory = solution.error().kind == ErrorKind::OutOfMemory;
  note(solution.takeError());
  return isMemory && lowerLimits(schedule, plain);
}

void OrderSearch::run(Problem plain) {
  constexpr int mostRounds = 6;
  bool isFound = found();
  Problem lower = plain;
  for (int round = 0; round < mostRounds && tryOrder(name, lower); ++round) {
  }
  if (found() != isFound || isFound || plain.memoryLimits.empty())
    return;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    std::int64_t &limit = plain.memoryLimits[stage];
    limit = std::max<std::int64_t>(0, limit - reserve[stage]);
  }
  tryOrder(name, plain);
}

void OrderSearch::runSequential() {
  Problem plain = withRecomputeInside(problem);
  plain.memoryLimits.clear();
  tryOrder("sequential", plain);
}

Expected<Schedule> OrderSearch::take() {
  if (best)
    return std::move(best->schedule);
  return std::move(*error);
}

Expected<Schedule>
veeline::schedule::generateWithRecompute(std::string_view name,
                                         const Problem &problem,
                                         const GeneratorOptions &options) {
  if (problem.updates != UpdateSemantics::Synchronous)
    return Error{ErrorKind::NotApplicable,
                 "schedule " + std::string(name) +
                     " has backwards of the step before, which recompute "
                     "inside and not ahead"};
  OrderSearch search(name, problem, options);
  search.run(withRecomputeInside(problem));
  // Without R, chains of gradients are shorter.
  Problem without = problem;
  for (Chunk &chunk : without.chunks)
    chunk.recompute = 0;
  search.run(withRecomputeInside(without));
  if (!search.found() && name == "auto")
    search.runSequential();
  Expected<Schedule> schedule = search.take();
  if (schedule)
    schedule->name = name;
  return schedule;
}
