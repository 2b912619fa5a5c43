//===- Offload.cpp - activations in the host's memory ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Offload.h"

#include "veeline/Schedule/Limits.h"

#include <algorithm>

using namespace veeline::schedule;

bool veeline::schedule::canOffload(const Problem &problem) {
  return std::any_of(
      problem.chunks.begin(), problem.chunks.end(),
      [](const Chunk &chunk) { return chunk.offloadMemory > 0; });
}

void veeline::schedule::setOffload(Problem &problem, double time,
                                   std::optional<double> share) {
  if (!share && !canOffload(problem))
    share = 1;
  for (Chunk &chunk : problem.chunks) {
    if (share)
      chunk.offloadMemory = static_cast<std::int64_t>(
          *share * static_cast<double>(chunk.forwardMemory));
    chunk.offloadTime = time * static_cast<double>(chunk.offloadMemory);
  }
}

Problem veeline::schedule::withoutShare(const Problem &problem, double share) {
  Problem lighter = problem;
  for (Chunk &chunk : lighter.chunks) {
    auto away = static_cast<std::int64_t>(
        share * static_cast<double>(chunk.offloadMemory));
    chunk.forwardMemory -= away;
    // A chunk without B releases all that it holds in W.
    (chunk.hasRecompute       ? chunk.recomputeMemory
     : chunk.hasBackwardInput ? chunk.backwardInputMemory
                              : chunk.backwardWeightMemory) += away;
    chunk.offloadMemory -= away;
  }
  return lighter;
}

std::int64_t veeline::schedule::leastLimitWithOffloads(const Problem &problem,
                                                       int stage) {
  std::int64_t least = leastLimit(withoutShare(problem, 1), stage).limit;
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    int chunk = problem.placement.globalChunk(stage, local);
    least = std::max(least, problem.chunks[chunk].forwardMemory);
  }
  return least;
}

/// Of all ranks.
using Orders = std::vector<std::vector<Op>>;

namespace {
/// Keeps the best of several schedules of one problem.
class Best {
public:
  Best(const Problem &problem, Objective objective)
      : problem(problem), objective(objective) {}

  /// Takes a schedule without offloads, which get what they have to. What is
  /// wrong with an order of another problem says less than what this one lacks.
  void offer(Expected<Schedule> order) {
    if (!order) {
      error = error.value_or(order.takeError());
      return;
    }
    if (!isNew(order->stages))
      return;
    order = addOffloads(problem, std::move(*order), objective);
    Expected<Simulation> simulation =
        order ? simulate(problem, *order) : order.takeError();
    if (!simulation)
      error = simulation.takeError();
    else if (!best ||
             simulation->value(objective) < best->simulation.value(objective))
      best = Solution{problem, std::move(*order), std::move(*simulation)};
  }
  Expected<Solution> take() {
    if (!best)
      return error.value_or(
          Error{ErrorKind::OutOfMemory, "there is no other order"});
    return std::move(*best);
  }

private:
  bool isNew(const Orders &order) {
    if (std::find(known.begin(), known.end(), order) != known.end())
      return false;
    known.push_back(order);
    return true;
  }

  const Problem &problem;
  Objective objective;
  std::vector<Orders> known;
  std::optional<Solution> best;
  std::optional<Error> error;
};
} // namespace

/// The problems for which orders are generated: without which shares of what
/// can be offloaded, and for which fractions of a limit.
namespace {
struct Variants {
  std::vector<double> shares, fractions;
  std::size_t size() const { return shares.size() * fractions.size(); }
};
} // namespace

/// `auto` searches for each order, which takes its time.
static bool isSearch(std::string_view name) { return name == "auto"; }

/// An order for a lower limit may wait for fewer copies under this one.
static Variants variantsWithinLimits(std::string_view name) {
  return {{0, 0.5, 0.75, 0.9, 1},
          isSearch(name) ? std::vector<double>{1}
                         : std::vector<double>{1, 0.75, 0.5}};
}

/// Of the peak of the order without offloads.
static Variants variantsWithoutLimits(std::string_view name) {
  return {isSearch(name) ? std::vector<double>{0.5, 1}
                         : std::vector<double>{0, 0.5, 0.75, 0.9, 1},
          {0.875, 0.75, 0.5, 0.25, 0.125}};
}

static std::int64_t scaled(std::int64_t limit, double factor) {
  return static_cast<std::int64_t>(factor * static_cast<double>(limit));
}

static Expected<Solution> solveWithinLimits(std::string_view name,
                                            const Problem &problem,
                                            GeneratorOptions plain) {
  Variants variants = variantsWithinLimits(name);
  plain.searchSeconds /= static_cast<double>(variants.size() + 1);
  Best best(problem, plain.objective);
  for (double fraction : variants.fractions)
    for (double share : variants.shares) {
      Problem lighter = withoutShare(problem, share);
      for (std::int64_t &limit : lighter.memoryLimits)
        limit = scaled(limit, fraction);
      best.offer(generate(name, lighter, plain));
    }
  Problem unlimited = problem;
  unlimited.memoryLimits.clear();
  best.offer(generate(name, unlimited, plain));
  return best.take();
}

namespace {
/// Keeps the schedule with the lowest peak of those that take `longest` at
/// most, and of several the shortest.
class Lowest {
public:
  Lowest(const Problem &problem, Objective objective, double longest)
      : problem(problem), objective(objective), longest(longest) {}

  /// Takes a schedule without offloads and without limits.
  void offer(Schedule order) {
    if (std::find(known.begin(), known.end(), order.stages) != known.end())
      return;
    known.push_back(order.stages);
    Expected<Simulation> before = simulate(problem, order);
    if (!before || before->value(objective) > longest)
      return;
    Expected<Schedule> lower =
        addOffloads(problem, std::move(order), objective,
                    longest / before->value(objective) - 1);
    Expected<Simulation> after =
        lower ? simulate(problem, *lower) : lower.takeError();
    if (after && after->value(objective) <= longest &&
        (!best || isBetter(*after, best->simulation)))
      best = Solution{problem, std::move(*lower), std::move(*after)};
  }
  std::optional<Solution> take() { return std::move(best); }

private:
  bool isBetter(const Simulation &one, const Simulation &other) const {
    return std::pair(one.peakMemory(), one.value(objective)) <
           std::pair(other.peakMemory(), other.value(objective));
  }

  const Problem &problem;
  Objective objective;
  double longest;
  std::vector<Orders> known;
  std::optional<Solution> best;
};
} // namespace

/// Orders for lower and lower limits, of which every one is lowered as far as
/// the step becomes no longer.
static Expected<Solution> solveWithoutLimits(std::string_view name,
                                             const Problem &problem,
                                             GeneratorOptions plain,
                                             double tolerance) {
  Variants variants = variantsWithoutLimits(name);
  plain.searchSeconds /= static_cast<double>(variants.size() + 1);
  Expected<Schedule> order = generate(name, problem, plain);
  if (!order)
    return order.takeError();
  Expected<Simulation> before = simulate(problem, *order);
  if (!before)
    return before.takeError();
  Lowest lowest(problem, plain.objective,
                before->value(plain.objective) * (1 + tolerance));
  Solution unloaded{problem, *order, *before};
  lowest.offer(std::move(*order));
  for (double fraction : variants.fractions)
    for (double share : variants.shares) {
      Problem limited = withoutShare(problem, share);
      limited.memoryLimits.assign(problem.stages(),
                                  scaled(before->peakMemory(), fraction));
      if (Expected<Schedule> found = generate(name, limited, plain))
        lowest.offer(std::move(*found));
    }
  if (std::optional<Solution> best = lowest.take())
    return std::move(*best);
  return unloaded;
}

Expected<Schedule> veeline::schedule::generateWithOffloads(
    std::string_view name, const Problem &problem,
    const GeneratorOptions &options, double tolerance) {
  GeneratorOptions plain = options;
  plain.offload = false;
  auto solve = [&]() -> Expected<Schedule> {
    if (!canOffload(problem))
      return generate(name, problem, plain);
    Expected<Solution> solution =
        problem.memoryLimits.empty()
            ? solveWithoutLimits(name, problem, plain, tolerance)
            : solveWithinLimits(name, problem, plain);
    if (!solution)
      return solution.takeError();
    return std::move(solution->schedule);
  };
  Expected<Schedule> schedule = solve();
  if (schedule)
    warnOfNoOffloads(problem, *schedule, plain.objective);
  return schedule;
}
