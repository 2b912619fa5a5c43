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

namespace {
/// Keeps the best of several schedules of one problem.
class Best {
public:
  /// Skips `known`, an order that was tried elsewhere.
  Best(const Problem &problem, Objective objective,
       const std::vector<std::vector<Op>> &known = {})
      : problem(problem), objective(objective), known(known) {}

  /// Offers a schedule without offloads. Adds the offloads that it needs.
  void offer(Expected<Schedule> order) {
    if (order && (order->stages == last || order->stages == known))
      return;
    if (order) {
      last = order->stages;
      order = addOffloads(problem, std::move(*order), objective);
    }
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
  const Problem &problem;
  Objective objective;
  std::vector<std::vector<Op>> known, last;
  std::optional<Solution> best;
  std::optional<Error> error;
};
} // namespace

static constexpr double triedShares[] = {0, 0.5, 0.75, 0.9, 1};

static Expected<Solution>
solveWithinLimits(std::string_view name, const Problem &problem,
                  GeneratorOptions plain,
                  const std::vector<std::vector<Op>> &known = {}) {
  plain.searchSeconds /= std::size(triedShares) + 1;
  Best best(problem, plain.objective, known);
  for (double share : triedShares)
    best.offer(generate(name, withoutShare(problem, share), plain));
  Problem unlimited = problem;
  unlimited.memoryLimits.clear();
  best.offer(generate(name, unlimited, plain));
  return best.take();
}

/// Tries lower and lower limits, as long as the step does not become longer.
static Expected<Solution> solveWithoutLimits(std::string_view name,
                                             const Problem &problem,
                                             GeneratorOptions plain,
                                             double tolerance) {
  constexpr double fractions[] = {0.875, 0.75, 0.5, 0.25, 0.125};
  plain.searchSeconds /= std::size(fractions) + 1;
  Expected<Schedule> order = generate(name, problem, plain);
  if (!order)
    return order.takeError();
  Expected<Simulation> before = simulate(problem, *order);
  if (!before)
    return before.takeError();
  double longest = before->value(plain.objective) * (1 + tolerance);
  std::vector<std::vector<Op>> known = order->stages;
  Best best(problem, plain.objective);
  best.offer(std::move(order));
  Expected<Solution> lowest = best.take();
  for (double fraction : fractions) {
    Problem limited = problem;
    limited.memoryLimits.assign(
        problem.stages(),
        static_cast<std::int64_t>(fraction *
                                  static_cast<double>(before->peakMemory())));
    Expected<Solution> found = solveWithinLimits(name, limited, plain, known);
    if (!lowest || !found || found->simulation.value(plain.objective) > longest)
      break;
    if (found->simulation.peakMemory() < lowest->simulation.peakMemory())
      lowest = std::move(found);
  }
  return lowest;
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
