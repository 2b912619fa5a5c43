//===- Exact.cpp - the best schedule of a tiny problem --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exact.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

using namespace veeline::schedule;

namespace {
class Search {
public:
  Search(const Problem &problem, Objective objective, bool fused, double below)
      : problem(problem), objective(objective), fused(fused), best(below),
        now(problem.stages()), begun(problem.stages(), -1),
        left(problem.stages()), held(problem.stages()) {
    for (int chunk = 0; chunk < problem.numChunks(); ++chunk) {
      const Chunk &costs = problem.chunks[chunk];
      left[problem.placement.stageOf(chunk)] +=
          problem.microbatches * (cost(F, chunk) + cost(B, chunk) +
                                  (isWhole(chunk) ? 0 : cost(W, chunk)));
      operations +=
          problem.microbatches * (fused || !costs.hasBackwardInput ? 2 : 3);
    }
  }

  std::optional<double> run() {
    extend(0, 0);
    return found ? std::optional(best) : std::nullopt;
  }

private:
  /// F, B or W of a chunk and microbatch. A fused Backward is a B without a W;
  /// so is the backward of a chunk that has no B.
  using Key = std::tuple<int, int, int>;
  enum { F, B, W };

  bool isWhole(int chunk) const {
    return fused || !problem.chunks[chunk].hasBackwardInput;
  }
  double cost(int what, int chunk) const {
    const Chunk &costs = problem.chunks[chunk];
    if (what == B && isWhole(chunk))
      return costs.cost(OpKind::Backward);
    return what == F   ? costs.forward
           : what == B ? costs.backwardInput
                       : costs.backwardWeight;
  }
  std::int64_t memory(int what, int chunk) const {
    const Chunk &memory = problem.chunks[chunk];
    if (what == B && isWhole(chunk))
      return memory.memory(OpKind::Backward);
    return what == F   ? memory.forwardMemory
           : what == B ? memory.backwardInputMemory
                       : memory.backwardWeightMemory;
  }

  /// Sets `start` to when an operation could run next, if it could.
  bool mayRun(int what, int chunk, int microbatch, double &start) const {
    if (ends.contains({what, chunk, microbatch}))
      return false;
    if (what != F && microbatch > 0 &&
        !ends.contains({what, chunk, microbatch - 1}))
      return false;
    int stage = problem.placement.stageOf(chunk);
    start = now[stage];
    auto needs = [&](int input, int from, double transfer) {
      auto end = ends.find({input, from, microbatch});
      if (end == ends.end())
        return false;
      bool far = problem.placement.stageOf(from) != stage;
      start = std::max(start, end->second + (far ? transfer : 0));
      return true;
    };
    if (what == W)
      return needs(B, chunk, 0);
    if (what == B && !needs(F, chunk, 0))
      return false;
    for (const Edge &edge : problem.edges) {
      if (what == F && edge.to == chunk &&
          !needs(F, edge.from, edge.forwardTransfer))
        return false;
      if (what == B && edge.from == chunk && edge.carriesGradient &&
          !needs(B, edge.to, edge.backwardTransfer))
        return false;
    }
    return true;
  }

  /// What the objective is at least, with the work that is left.
  double bound() const {
    double worst = 0;
    for (std::size_t stage = 0; stage < now.size(); ++stage) {
      double from = objective == Objective::Makespan || begun[stage] < 0
                        ? 0
                        : begun[stage];
      if (objective == Objective::Makespan || begun[stage] >= 0)
        worst = std::max(worst, now[stage] + left[stage] - from);
    }
    return worst;
  }

  /// `last`: the start of the previous operation, and its stage.
  void extend(double last, int lastStage) {
    if (bound() >= best - 1e-9)
      return;
    if (static_cast<int>(ends.size()) == operations) {
      best = bound();
      found = true;
      return;
    }
    for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
      for (int what : {B, F, W})
        for (int i = 0; i < problem.microbatches; ++i) {
          double start;
          int stage = problem.placement.stageOf(chunk);
          if ((what == W && isWhole(chunk)) || !mayRun(what, chunk, i, start) ||
              std::pair(start, stage) < std::pair(last, lastStage))
            continue;
          append(what, chunk, i, start);
        }
  }

  void append(int what, int chunk, int microbatch, double start) {
    int stage = problem.placement.stageOf(chunk);
    std::int64_t more = memory(what, chunk);
    std::optional<std::int64_t> limit = problem.memoryLimit(stage);
    if (limit && held[stage] + more > *limit)
      return;
    double oldNow = now[stage], oldBegun = begun[stage];
    now[stage] = start + cost(what, chunk);
    if (begun[stage] < 0)
      begun[stage] = start;
    left[stage] -= cost(what, chunk);
    held[stage] += more;
    ends[{what, chunk, microbatch}] = now[stage];
    extend(start, stage);
    ends.erase({what, chunk, microbatch});
    held[stage] -= more;
    left[stage] += cost(what, chunk);
    begun[stage] = oldBegun;
    now[stage] = oldNow;
  }

  const Problem &problem;
  Objective objective;
  bool fused;
  double best;
  bool found = false;
  int operations = 0;
  std::map<Key, double> ends;
  std::vector<double> now, begun, left;
  std::vector<std::int64_t> held;
};
} // namespace

std::optional<double> veeline::schedule::reference::leastTime(
    const Problem &problem, Objective objective, bool fused, double below) {
  return Search(problem, objective, fused, below).run();
}
