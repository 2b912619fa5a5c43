//===- Limits.cpp - the least memory that any schedule needs --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Limits.h"

#include "veeline/Schedule/Flow.h"
#include "veeline/Schedule/Memory.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace veeline::schedule;

namespace {
/// The memory that a chunk holds for a microbatch: at its F, at its Backward
/// including what R adds, and the minimum between the two.
struct Held {
  explicit Held(const Chunk &chunk)
      : atForward(chunk.forwardMemory),
        atBackward(chunk.forwardMemory + chunk.recomputeMemory),
        between(std::min(atForward, atBackward)) {}
  std::int64_t atForward, atBackward, between;
};

/// The order that dependencies, over paths through all stages, impose on F and
/// Backward of one microbatch on one stage, by local chunk.
class StageOrder {
public:
  StageOrder(const Problem &problem, const Flow &flow, int stage);

  int size() const { return static_cast<int>(chunks.size()); }
  int chunk(int local) const { return chunks[local]; }
  /// The minimum that the chunk holds from its F to its Backward. An R that
  /// releases memory runs right after F.
  std::int64_t memory(int local) const { return held[local].between; }
  std::int64_t atForward(int local) const { return held[local].atForward; }
  std::int64_t atBackward(int local) const { return held[local].atBackward; }
  /// Whether every Backward only releases memory.
  bool onlyReleases() const {
    return std::all_of(held.begin(), held.end(), [](const Held &it) {
      return it.atBackward <= it.between;
    });
  }
  bool forwardBeforeForward(int a, int b) const {
    return reached[a].forward[b];
  }
  bool forwardBeforeBackward(int a, int b) const {
    return reached[a].backward[b];
  }
  bool backwardBeforeBackward(int a, int b) const {
    return backwardReached[a][b];
  }

private:
  struct Reached {
    std::vector<bool> forward, backward;
  };
  std::vector<bool> onStage(const std::vector<bool> &all) const;

  std::vector<int> chunks;
  std::vector<Held> held;
  std::vector<Reached> reached;
  std::vector<std::vector<bool>> backwardReached;
};
} // namespace

/// Marks all chunks whose backward runs after that of a marked chunk.
static void followBackwards(const Flow &flow, std::vector<bool> &marked) {
  for (int chunk = static_cast<int>(marked.size()) - 1; chunk >= 0; --chunk)
    if (marked[chunk])
      for (const Link &link : flow.backwardUsers[chunk])
        marked[link.chunk] = true;
}

std::vector<bool> StageOrder::onStage(const std::vector<bool> &all) const {
  std::vector<bool> result;
  result.reserve(chunks.size());
  for (int chunk : chunks)
    result.push_back(all[chunk]);
  return result;
}

StageOrder::StageOrder(const Problem &problem, const Flow &flow, int stage) {
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    chunks.push_back(problem.placement.globalChunk(stage, local));
    held.emplace_back(problem.chunks[chunks.back()]);
  }
  int count = problem.numChunks();
  for (int from : chunks) {
    // Edges lead to later chunks, so one pass in model order finds all.
    std::vector<bool> forward(count);
    forward[from] = true;
    for (int chunk = from; chunk < count; ++chunk)
      if (forward[chunk])
        for (const Link &link : flow.forwardUsers[chunk])
          forward[link.chunk] = true;
    std::vector<bool> backward = forward;
    followBackwards(flow, backward);
    reached.push_back({onStage(forward), onStage(backward)});
    std::vector<bool> after(count);
    after[from] = true;
    followBackwards(flow, after);
    backwardReached.push_back(onStage(after));
  }
}

/// Finds the chunk before whose Backward the stage has to hold most.
static void findWitness(const StageOrder &order, LeastLimit &result) {
  std::int64_t most = -1;
  for (int last = 0; last < order.size(); ++last) {
    std::int64_t sum = 0;
    std::vector<int> together;
    for (int local = 0; local < order.size(); ++local)
      if (order.forwardBeforeBackward(local, last) &&
          order.backwardBeforeBackward(last, local)) {
        sum += local == last ? order.atBackward(local) : order.memory(local);
        together.push_back(order.chunk(local));
      }
    if (sum <= most)
      continue;
    most = sum;
    result.limit = sum;
    result.witness = order.chunk(last);
    result.together = std::move(together);
  }
}

namespace {
/// Runs forwards in a given order, and every Backward as soon as possible. If a
/// Backward only releases memory, running it earlier never needs more.
class ReleaseEarly {
public:
  ReleaseEarly(const StageOrder &order)
      : order(order), forward(order.size()), backward(order.size()) {}

  bool mayForward(int local) const {
    for (int other = 0; other < order.size(); ++other)
      if (other != local && order.forwardBeforeForward(other, local) &&
          !forward[other])
        return false;
    return !forward[local];
  }
  /// Returns the maximum that is held.
  std::int64_t runForward(int local, std::vector<Op> &ops) {
    forward[local] = true;
    ops.push_back({OpKind::Forward, order.chunk(local), 0});
    std::int64_t peak = held + order.atForward(local);
    held += order.memory(local);
    // Later chunks are released first.
    for (int other = order.size() - 1; other >= 0; --other)
      if (mayBackward(other)) {
        backward[other] = true;
        ops.push_back({OpKind::Backward, order.chunk(other), 0});
        held -= order.memory(other);
        peak = std::max(peak, held + order.atBackward(other));
      }
    return peak;
  }
  std::int64_t holds() const { return held; }

private:
  bool mayBackward(int local) const {
    if (backward[local])
      return false;
    for (int other = 0; other < order.size(); ++other)
      if ((order.forwardBeforeBackward(other, local) && !forward[other]) ||
          (other != local && order.backwardBeforeBackward(other, local) &&
           !backward[other]))
        return false;
    return true;
  }

  const StageOrder &order;
  std::vector<bool> forward, backward;
  std::int64_t held = 0;
};
} // namespace

/// Sets `attained` and `order` by running the forwards in this order.
static void attain(const StageOrder &order, const std::vector<int> &forwards,
                   LeastLimit &result) {
  ReleaseEarly run(order);
  result.attained = 0;
  result.order.clear();
  for (int local : forwards)
    result.attained =
        std::max(result.attained, run.runForward(local, result.order));
}

namespace {
/// Finds the best order by dynamic programming over the sets of forwards that
/// have run. What has been released is a function of that set. So the peak up
/// to a set is the minimum over its last forward.
class SubsetSearch {
public:
  SubsetSearch(const StageOrder &order)
      : order(order), peak(std::size_t(1) << order.size(), unreached),
        last(peak.size()) {}

  std::vector<int> run() {
    peak[0] = 0;
    for (std::size_t set = 0; set < peak.size(); ++set)
      if (peak[set] != unreached)
        extend(set);
    std::vector<int> forwards;
    for (std::size_t set = peak.size() - 1; set != 0;
         set -= std::size_t(1) << last[set])
      forwards.push_back(last[set]);
    std::reverse(forwards.begin(), forwards.end());
    return forwards;
  }

private:
  void extend(std::size_t set) {
    ReleaseEarly run(order);
    std::vector<Op> ops;
    // Local chunks are in model order, in which every set can be run.
    for (int local = 0; local < order.size(); ++local)
      if (set >> local & 1)
        run.runForward(local, ops);
    for (int local = 0; local < order.size(); ++local) {
      if (!run.mayForward(local))
        continue;
      std::size_t next = set | std::size_t(1) << local;
      std::int64_t needed =
          std::max(peak[set], run.holds() + order.atForward(local));
      if (needed < peak[next]) {
        peak[next] = needed;
        last[next] = local;
      }
    }
  }

  static constexpr std::int64_t unreached =
      std::numeric_limits<std::int64_t>::max();
  const StageOrder &order;
  std::vector<std::int64_t> peak;
  std::vector<int> last;
};
} // namespace

/// Whether a stage can run its F and Backward of a microbatch in only one
/// order. That is so if it has one chunk, or if every forward needs that of the
/// chunk before, and every backward that of the chunk after.
static bool hasOneOrder(const Problem &problem, const Flow &flow) {
  auto has = [](std::span<const Link> links, int chunk) {
    return std::any_of(links.begin(), links.end(),
                       [&](const Link &link) { return link.chunk == chunk; });
  };
  if (problem.chunksPerStage() == 1)
    return true;
  for (int chunk = 1; chunk < problem.numChunks(); ++chunk)
    if (!has(flow.forwardInputs[chunk], chunk - 1) ||
        !has(flow.backwardInputs[chunk - 1], chunk))
      return false;
  return true;
}

/// Returns what all forwards and then all backwards attain, which every problem
/// permits. If there are other orders, the limit is what any of them needs for
/// the largest chunk alone.
static LeastLimit withForwardsFirst(const Problem &problem, bool hasOneOrder,
                                    int stage) {
  LeastLimit result{0, 0, {}};
  std::vector<int> chunks;
  std::size_t first = 0, end = 0;
  std::int64_t held = 0;
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    chunks.push_back(problem.placement.globalChunk(stage, local));
    result.order.push_back({OpKind::Forward, chunks.back(), 0});
    Held memory(problem.chunks[chunks.back()]);
    std::int64_t own = std::max(memory.atForward, memory.atBackward);
    result.attained = std::max(result.attained, held + own);
    std::int64_t together = hasOneOrder ? held + own : own;
    held += memory.between;
    if (result.witness && together <= result.limit)
      continue;
    result.limit = together;
    result.witness = chunks.back();
    first = hasOneOrder ? 0 : local;
    end = chunks.size();
  }
  result.together.assign(chunks.begin() + first, chunks.begin() + end);
  for (std::size_t local = chunks.size(); local-- > 0;)
    result.order.push_back({OpKind::Backward, chunks[local], 0});
  return result;
}

/// Whether evaluating all orders of all stages takes seconds at most.
static bool isOrderable(const Problem &problem) {
  std::int64_t chunks = problem.numChunks(), v = problem.chunksPerStage();
  return chunks * (chunks + v * v) <= LeastLimit::maxStepsOrdered;
}

static LeastLimit leastLimit(const Problem &problem, const Flow &flow,
                             bool hasOneOrder, int stage) {
  if (hasOneOrder || !isOrderable(problem))
    return withForwardsFirst(problem, hasOneOrder, stage);
  StageOrder order(problem, flow, stage);
  LeastLimit result{0, 0, {}};
  findWitness(order, result);
  std::vector<int> inModelOrder(order.size());
  std::iota(inModelOrder.begin(), inModelOrder.end(), 0);
  attain(order, inModelOrder, result);
  if (result.attained == result.limit || !order.onlyReleases() ||
      order.size() > LeastLimit::maxChunksSearched)
    return result;
  attain(order, SubsetSearch(order).run(), result);
  if (result.attained != result.limit) {
    result.limit = result.attained;
    result.witness.reset();
    result.together.clear();
  }
  return result;
}

LeastLimit veeline::schedule::leastLimit(const Problem &problem, int stage) {
  Flow flow(problem);
  return ::leastLimit(problem, flow, hasOneOrder(problem, flow), stage);
}

static std::string reason(const LeastLimit &least) {
  if (!least.witness)
    return "";
  constexpr std::size_t mostNamed = 16;
  std::size_t count = least.together.size();
  std::size_t named = count > mostNamed ? 3 : count;
  std::string chunks;
  for (std::size_t i = 0; i < named; ++i)
    chunks += (i == 0 ? " " : ", ") + std::to_string(least.together[i]);
  if (named < count)
    chunks += " and " + std::to_string(count - named) + " more";
  return ": before the backward of chunk " + std::to_string(*least.witness) +
         " it holds what the forwards of " + (count == 1 ? "chunk" : "chunks") +
         chunks + " add";
}

Status veeline::schedule::checkLimits(const Problem &problem) {
  if (problem.memoryLimits.empty())
    return Status::success();
  Flow flow(problem);
  bool isSimple = hasOneOrder(problem, flow);
  for (int stage = 0; stage < problem.stages(); ++stage) {
    LeastLimit least = ::leastLimit(problem, flow, isSimple, stage);
    std::int64_t limit = problem.memoryLimits[stage];
    if (limit >= least.limit)
      continue;
    Error error{ErrorKind::OutOfMemory,
                "stage " + std::to_string(stage) +
                    ": no schedule fits the memory limit of " +
                    formatMemory(problem, limit) +
                    "; one microbatch alone needs " +
                    formatMemory(problem, least.limit) + reason(least)};
    error.stage = stage;
    error.leastLimit = least.limit;
    error.leastOfAnySchedule = least.limit;
    return error;
  }
  return Status::success();
}
