//===- Bounds.cpp - lower bounds on any schedule --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For one microbatch, an operation X has a *head* and a *tail*. The head is the
// longest chain of operations and transfers that ends where X may start. The
// tail is the longest chain that has to follow its end. No schedule starts X
// before its head, or ends earlier than its tail after X: each operation takes
// at least its cost (also within an overlapped block), and each transfer takes
// at least the time of its edge (also with contention or blocking). A gradient
// leaves a chunk after its B, or later if the backward is fused, so chains
// count only B unless `fusedBackward`.
//
// If a stage has several ranks, each argument about a stage is about one rank,
// the microbatches that it runs, and the limit of its stage.
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Bounds.h"

#include "veeline/Schedule/Flow.h"
#include "veeline/Schedule/Offload.h"
#include "veeline/Schedule/Simulator.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>

using namespace veeline::schedule;

const char *veeline::schedule::toString(BoundKind kind) {
  switch (kind) {
  case BoundKind::Busy:
    return "busy time";
  case BoundKind::FillAndDrain:
    return "fill and drain";
  case BoundKind::CriticalPath:
    return "critical path";
  case BoundKind::Memory:
    return "memory";
  case BoundKind::Update:
    return "update";
  }
  return "?";
}

static constexpr double never = -std::numeric_limits<double>::infinity();
static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
/// The times of a chunk for one microbatch: F; the part of the backward that
/// its gradient waits for; and the least rest of the backward, for which
/// nothing waits. A separate W takes `weight`, which exceeds `rest` if B and W
/// share work. R runs between F and the backward, and waits for no gradient.
struct Costs {
  double forward, backward, rest, weight, recompute;
};

/// The longest chains to the start (heads) or from the end (tails) of each of
/// the three parts, by chunk; `never` if there is none.
struct Chains {
  explicit Chains(int chunks)
      : forward(chunks, never), backward(chunks, never), rest(chunks, never) {}
  std::vector<double> forward, backward, rest;
};

/// A share of the work of a stage, with its head and tail.
struct Job {
  double head, time, tail;
  bool isForward;
};

/// How the work of a stage with a memory limit begins and ends.
struct Ends {
  double work = 0;
  /// The time before its first F, and before its first B.
  double fill = infinity, gradient = infinity;
  /// The time after its last B.
  double drain = infinity;
  /// The maximal time of F before the first B, and of W after the last.
  double forwards = 0, weights = 0;

  double together() const {
    return std::max(fill, gradient - forwards) + work +
           std::max(0.0, drain - weights);
  }
};

/// The subject of an argument: a stage, or one of its ranks.
struct Rank {
  int stage, microbatches;
};

/// The data of all bounds.
class Analysis {
public:
  Analysis(const Problem &problem, const BoundOptions &options);
  Bounds run();
  PeriodBound runPeriod();

private:
  template <typename IsStart> Chains heads(int first, IsStart isStart) const;
  template <typename IsEnd> Chains tails(int first, IsEnd isEnd) const;
  double roundTrip(int chunk) const;
  std::vector<Job> jobs(const Rank &rank, const Chains &heads,
                        const Chains &tails) const;
  double oneStage(const std::vector<Job> &jobs) const;
  double memory(const Rank &rank, const Chains &heads,
                const Chains &tails) const;
  std::optional<double> heldFor(const Rank &rank) const;
  double circulation(const Rank &rank) const;
  double rounds(int chunk, const Rank &rank, std::int64_t limit,
                const Chains &heads, const Chains &tails) const;
  Ends ends(const Rank &rank, const Chains &heads, const Chains &tails) const;
  double spanOver(const Rank &other, const Chains &heads,
                  const Chains &tails) const;
  double busy(const Rank &rank) const;
  double turn(const Rank &rank, int chunk) const;
  Bound period(const Rank &rank) const;
  Bound best(const Rank &rank, const Chains &heads, const Chains &tails) const;
  StageBounds boundsOf(const Rank &rank, const Chains &heads,
                       const Chains &tails) const;

  const Problem &problem;
  Flow flow;
  std::vector<Costs> costs;
  std::vector<Rank> ranks;
  Chains allHeads, allTails;
  /// By chunk; empty without limits.
  std::vector<double> roundTrips;
};
} // namespace

Analysis::Analysis(const Problem &problem, const BoundOptions &options)
    : problem(problem), flow(problem), allHeads(0), allTails(0) {
  for (const Chunk &chunk : problem.chunks) {
    if (options.fusedBackward || !chunk.hasBackwardInput)
      costs.push_back(
          {chunk.forward, chunk.cost(OpKind::Backward), 0, 0, chunk.recompute});
    else
      // In a fused backward, W does not repeat the work that it shares with B.
      costs.push_back({chunk.forward, chunk.backwardInput,
                       chunk.backwardWeight - chunk.backwardShared,
                       chunk.backwardWeight, chunk.recompute});
  }
  for (int rank = 0; rank < problem.ranks(); ++rank)
    ranks.push_back({problem.stageOfRank(rank), problem.microbatchesOf(rank)});
  auto any = [](int) { return true; };
  allHeads = heads(0, any);
  allTails = tails(0, any);
  if (!problem.memoryLimits.empty())
    for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
      roundTrips.push_back(roundTrip(chunk));
}

/// Heads of chains that begin with the F of a chunk for which `isStart` holds.
/// No such chunk precedes `first`.
template <typename IsStart>
Chains Analysis::heads(int first, IsStart isStart) const {
  int count = problem.numChunks();
  Chains result(count);
  for (int chunk = first; chunk < count; ++chunk) {
    double &head = result.forward[chunk];
    if (isStart(chunk))
      head = 0;
    for (const Link &link : flow.forwardInputs[chunk])
      head = std::max(head, result.forward[link.chunk] +
                                costs[link.chunk].forward + link.transfer);
  }
  for (int chunk = count - 1; chunk >= 0; --chunk) {
    double &head = result.backward[chunk];
    head =
        result.forward[chunk] + costs[chunk].forward + costs[chunk].recompute;
    for (const Link &link : flow.backwardInputs[chunk])
      head = std::max(head, result.backward[link.chunk] +
                                costs[link.chunk].backward + link.transfer);
    result.rest[chunk] = head + costs[chunk].backward;
  }
  return result;
}

/// Tails of chains that end with an operation of a chunk for which `isEnd`
/// holds. No such chunk precedes `first`, and of F, only those of chunks from
/// `first` on are covered.
template <typename IsEnd> Chains Analysis::tails(int first, IsEnd isEnd) const {
  int count = problem.numChunks();
  Chains result(count);
  for (int chunk = 0; chunk < count; ++chunk) {
    double &tail = result.backward[chunk];
    if (isEnd(chunk)) {
      result.rest[chunk] = 0;
      tail = costs[chunk].rest;
    }
    for (const Link &link : flow.backwardUsers[chunk])
      tail = std::max(tail, link.transfer + costs[link.chunk].backward +
                                result.backward[link.chunk]);
  }
  for (int chunk = count - 1; chunk >= first; --chunk) {
    double &tail = result.forward[chunk];
    tail =
        costs[chunk].recompute + costs[chunk].backward + result.backward[chunk];
    for (const Link &link : flow.forwardUsers[chunk])
      tail = std::max(tail, link.transfer + costs[link.chunk].forward +
                                result.forward[link.chunk]);
  }
  return result;
}

/// The least time from the start of F of a chunk to the end of its B.
double Analysis::roundTrip(int chunk) const {
  return heads(chunk, [&](int other) { return other == chunk; }).rest[chunk];
}

std::vector<Job> Analysis::jobs(const Rank &rank, const Chains &heads,
                                const Chains &tails) const {
  std::vector<Job> result;
  double m = rank.microbatches;
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    int chunk = problem.placement.globalChunk(rank.stage, local);
    const Costs &cost = costs[chunk];
    result.push_back(
        {heads.forward[chunk], m * cost.forward, tails.forward[chunk], true});
    result.push_back({heads.backward[chunk], m * cost.backward,
                      tails.backward[chunk], false});
    if (cost.rest > 0)
      result.push_back({heads.rest[chunk], m * cost.rest, 0, false});
    if (cost.recompute > 0)
      result.push_back({heads.forward[chunk] + cost.forward, m * cost.recompute,
                        cost.backward + tails.backward[chunk], false});
  }
  return result;
}

/// Operations of a stage run one at a time. Any set of them runs after the
/// least of their heads and before the least of their tails, so their work plus
/// these two is a lower bound. The best of these bounds over all sets is the
/// time of one machine that may interrupt its jobs and always runs the
/// available one with the longest tail (Jackson 1955, Carlier 1982). An
/// operation has the same head and tail for all microbatches, so these make one
/// job.
static double oneMachine(std::vector<Job> jobs) {
  std::sort(jobs.begin(), jobs.end(),
            [](const Job &a, const Job &b) { return a.head < b.head; });
  struct Left {
    double tail, time;
    bool operator<(const Left &other) const { return tail < other.tail; }
  };
  std::priority_queue<Left> available;
  double now = 0, latest = 0;
  for (std::size_t next = 0; next < jobs.size() || !available.empty();) {
    if (available.empty())
      now = std::max(now, jobs[next].head);
    for (; next < jobs.size() && jobs[next].head <= now; ++next)
      available.push({jobs[next].tail, jobs[next].time});
    Left job = available.top();
    available.pop();
    double until = next < jobs.size() ? jobs[next].head : now + job.time;
    double worked = std::min(job.time, until - now);
    now += worked;
    job.time -= worked;
    // A rest that is smaller than rounding counts as done.
    if (job.time > 1e-12 * now)
      available.push(job);
    else
      latest = std::max(latest, now + job.tail);
  }
  return latest;
}

/// Like `oneMachine`, but also valid for overlapped blocks. A block saves at
/// most its share of its F, and at most its share of its backward, and only if
/// both belong to the set in question. So one bound results from shortening all
/// F, and another from shortening all backwards.
double Analysis::oneStage(const std::vector<Job> &jobs) const {
  if (problem.overlap == 0)
    return oneMachine(jobs);
  double best = 0;
  for (bool shortenForwards : {false, true}) {
    std::vector<Job> shorter = jobs;
    for (Job &job : shorter)
      if (job.isForward == shortenForwards)
        job.time *= 1 - problem.overlap;
    best = std::max(best, oneMachine(std::move(shorter)));
  }
  return best;
}

/// Returns the least time from the first to the last start of F of a chunk.
///
/// The chunk holds at least `held` of the stage's `limit` from the start of an
/// F for a round trip, so at most L = limit / held microbatches are on it at
/// once. Let S(1) <= S(2) <= ... be the starts of its F. When F number i + L
/// starts, at least i of those before it have finished their round trips; the
/// i-th to do so started at S(i) or later. Hence S(i + L) >= S(i) + round trip,
/// and S(m) >= S(1) + floor((m-1) / L) round trips + ((m-1) mod L) F.
static double lastStart(std::int64_t microbatches, std::int64_t limit,
                        std::int64_t held, double roundTrip, double forward) {
  std::int64_t before = microbatches - 1, most = limit / held;
  if (most == 0)
    return infinity;
  std::int64_t rounds = before / most, rest = before % most;
  return static_cast<double>(rounds) * roundTrip +
         static_cast<double>(rest) * forward;
}

/// A bound by `lastStart`: the last F of a chunk is followed by its own round
/// trip and tail. The memory of F is held until the end of B. The minimum of it
/// and of what B keeps is held until the end of W.
double Analysis::rounds(int chunk, const Rank &rank, std::int64_t limit,
                        const Chains &heads, const Chains &tails) const {
  const Chunk &memory = problem.chunks[chunk];
  std::int64_t held = memory.forwardMemory;
  std::int64_t kept = std::min(held, held + memory.backwardInputMemory);
  const Costs &cost = costs[chunk];
  double trip = roundTrips[chunk], last = 0;
  if (held > 0)
    last = lastStart(rank.microbatches, limit, held, trip, cost.forward);
  if (kept > 0)
    last = std::max(last, lastStart(rank.microbatches, limit, kept,
                                    trip + cost.rest, cost.forward));
  return heads.forward[chunk] + last + trip + tails.backward[chunk];
}

/// The least time for which the microbatches of a step fill the limit of the
/// rank, by the integral of memory over time. The integral is at least what
/// every microbatch holds for its round trip on each chunk, and what B keeps
/// while W runs. The memory of a stage is a multiple of the greatest common
/// divisor of what its operations add, so the limit may be rounded down to a
/// multiple, too. None if nothing is held; infinite if nothing fits.
std::optional<double> Analysis::heldFor(const Rank &rank) const {
  double sum = 0;
  std::int64_t divisor = 0;
  bool holds = false;
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    int chunk = problem.placement.globalChunk(rank.stage, local);
    const Chunk &memory = problem.chunks[chunk];
    std::int64_t held = memory.forwardMemory;
    std::int64_t kept = held + memory.backwardInputMemory;
    sum += static_cast<double>(held) * roundTrips[chunk] +
           static_cast<double>(std::min(held, kept)) * costs[chunk].rest;
    divisor = std::gcd(divisor, std::gcd(held, kept));
    holds |= held > 0;
  }
  if (!holds)
    return std::nullopt;
  std::int64_t limit = *problem.memoryLimit(rank.stage) / divisor * divisor;
  if (limit == 0)
    return infinity;
  return sum / static_cast<double>(limit) * rank.microbatches;
}

/// The greater of `rounds` over all chunks and a bound by `heldFor`. Memory
/// never exceeds the limit, so the time of `heldFor` is at most that from the
/// first F to the last B or W.
double Analysis::memory(const Rank &rank, const Chains &heads,
                        const Chains &tails) const {
  std::optional<double> time = heldFor(rank);
  if (!time || *time == infinity)
    return time.value_or(0);
  double fill = infinity, drain = infinity, best = 0;
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    int chunk = problem.placement.globalChunk(rank.stage, local);
    fill = std::min(fill, heads.forward[chunk]);
    drain =
        std::min(drain, costs[chunk].weight > 0 ? 0 : tails.backward[chunk]);
    best = std::max(best, rounds(chunk, rank, problem.memoryLimits[rank.stage],
                                 heads, tails));
  }
  return std::max(best, fill + *time + drain);
}

/// A bound for the time from one step to the next. Once a loop is stationary,
/// memory at the end of a turn equals that at its beginning, and each part of
/// what a microbatch holds falls into some turn. So the integral over a turn is
/// that of all microbatches of a step. The same holds for the number of
/// microbatches on a chunk, of which limit / held fit.
double Analysis::circulation(const Rank &rank) const {
  double best = heldFor(rank).value_or(0);
  std::int64_t limit = problem.memoryLimits[rank.stage];
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    int chunk = problem.placement.globalChunk(rank.stage, local);
    std::int64_t held = problem.chunks[chunk].forwardMemory;
    std::int64_t kept =
        std::min(held, held + problem.chunks[chunk].backwardInputMemory);
    auto offer = [&](std::int64_t memory, double time) {
      if (memory <= 0)
        return;
      std::int64_t most = limit / memory;
      best = std::max(best, most == 0 ? infinity
                                      : rank.microbatches * time /
                                            static_cast<double>(most));
    };
    offer(held, roundTrips[chunk]);
    offer(kept, roundTrips[chunk] + costs[chunk].rest);
  }
  return best;
}

namespace {
/// An operation of one microbatch and the memory that is held with it.
struct Holder {
  double time;
  std::int64_t memory;
};
} // namespace

/// The maximal time that up to `microbatches` of each take while they hold at
/// most `limit` together. This is a knapsack problem that allows fractions.
static double mostTime(std::vector<Holder> holders, double microbatches,
                       std::int64_t limit) {
  std::int64_t divisor = 0;
  for (const Holder &holder : holders)
    divisor = std::gcd(divisor, holder.memory);
  double left =
      static_cast<double>(divisor > 0 ? limit / divisor * divisor : limit);
  std::sort(holders.begin(), holders.end(),
            [](const Holder &a, const Holder &b) {
              return a.time * static_cast<double>(b.memory) >
                     b.time * static_cast<double>(a.memory);
            });
  double time = 0;
  for (const Holder &holder : holders) {
    double memory = static_cast<double>(holder.memory), count = microbatches;
    if (memory > 0)
      count = std::min(count, left / memory);
    left -= count * memory;
    time += count * holder.time;
  }
  return time;
}

/// Bounds the beginning and the end of a stage's work. Before the first
/// gradient reaches a stage, it runs only F, which release nothing. So it runs
/// no more of them than fit into its limit, and is idle for the rest of that
/// time. Between its last B and the end of the step, it runs only W, each of
/// which kept something until then. Again no more of them run than fit.
Ends Analysis::ends(const Rank &rank, const Chains &heads,
                    const Chains &tails) const {
  std::vector<Holder> forwards, weights;
  Ends result;
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    int chunk = problem.placement.globalChunk(rank.stage, local);
    const Chunk &memory = problem.chunks[chunk];
    const Costs &cost = costs[chunk];
    forwards.push_back({cost.forward, memory.forwardMemory});
    weights.push_back(
        {cost.weight, memory.forwardMemory + memory.backwardInputMemory});
    // Overlapped blocks may hide this share of every F.
    result.work += rank.microbatches * (cost.forward * (1 - problem.overlap) +
                                        cost.backward + cost.rest);
    result.fill = std::min(result.fill, heads.forward[chunk]);
    result.gradient = std::min(result.gradient, heads.backward[chunk]);
    double after = never;
    for (const Link &link : flow.backwardUsers[chunk])
      after = std::max(after, link.transfer + costs[link.chunk].backward +
                                  tails.backward[link.chunk]);
    result.drain = std::min(result.drain, after);
  }
  std::int64_t limit = problem.memoryLimits[rank.stage];
  result.forwards = mostTime(std::move(forwards), rank.microbatches, limit);
  result.weights = mostTime(std::move(weights), rank.microbatches, limit);
  return result;
}

/// A bound on the span of the stage that has chunk 0, if it has one rank. That
/// span begins before everything else, and includes what another stage runs
/// between its first gradient and its last B.
double Analysis::spanOver(const Rank &other, const Chains &heads,
                          const Chains &tails) const {
  Ends ends = this->ends(other, heads, tails);
  if (ends.fill == never || ends.drain == never)
    return 0;
  return ends.gradient +
         std::max(0.0, ends.work - ends.forwards - ends.weights) + ends.drain;
}

/// A bound for the time from the first F of a chunk to its update, before which
/// no F of the next step may run. In between are all F, B and W of the chunk.
/// The same holds for F and B of each chunk on its stage that a chain leads to
/// and back from. W of other chunks may slip into the next step.
double Analysis::turn(const Rank &rank, int chunk) const {
  auto isIt = [&](int other) { return other == chunk; };
  Chains heads = this->heads(chunk, isIt), tails = this->tails(chunk, isIt);
  std::vector<Job> jobs;
  double m = rank.microbatches;
  auto add = [&](double head, double time, double tail, bool isForward) {
    if (head != never && tail != never)
      jobs.push_back({head, m * time, tail, isForward});
  };
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    int other = problem.placement.globalChunk(rank.stage, local);
    const Costs &cost = costs[other];
    add(heads.forward[other], cost.forward, tails.forward[other], true);
    add(heads.backward[other], cost.backward, tails.backward[other], false);
    if (cost.recompute > 0 && heads.forward[other] != never)
      add(heads.forward[other] + cost.forward, cost.recompute,
          tails.backward[other] == never
              ? never
              : cost.backward + tails.backward[other],
          false);
    if (other == chunk)
      add(heads.rest[other], cost.rest, 0, false);
  }
  return oneStage(jobs);
}

/// A bound for the time from one step to the next on a rank.
Bound Analysis::period(const Rank &rank) const {
  Chains none(problem.numChunks());
  none.forward.assign(problem.numChunks(), 0);
  none.backward = none.rest = none.forward;
  Bound best{oneStage(jobs(rank, none, none)), BoundKind::Busy};
  double held = problem.memoryLimits.empty() ? 0 : circulation(rank);
  if (held > best.time * (1 + 1e-12))
    best = {held, BoundKind::Memory};
  // Of the ranks of a stage, the first one has the most work.
  bool isFirst = problem.widths.empty() ||
                 rank.microbatches ==
                     problem.microbatchesOf(problem.firstRankOf(rank.stage));
  if (!isFirst || problem.numChunks() > PeriodBound::mostChunks ||
      problem.updates != UpdateSemantics::Synchronous)
    return best;
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    double time = turn(rank, problem.placement.globalChunk(rank.stage, local));
    if (time > best.time * (1 + 1e-12))
      best = {time, BoundKind::Update};
  }
  return best;
}

/// The best of all arguments; of equal ones, the simplest.
Bound Analysis::best(const Rank &rank, const Chains &heads,
                     const Chains &tails) const {
  Bound best;
  auto offer = [&](double time, BoundKind kind) {
    if (time > best.time * (1 + 1e-12))
      best = {time, kind};
  };
  std::vector<Job> work = jobs(rank, heads, tails), alone = work;
  for (Job &job : alone)
    job.head = job.tail = 0;
  offer(oneStage(alone), BoundKind::Busy);
  for (const Job &job : work)
    offer(job.head + job.time / rank.microbatches + job.tail,
          BoundKind::CriticalPath);
  offer(oneStage(work), BoundKind::FillAndDrain);
  if (!problem.memoryLimits.empty())
    offer(std::max(memory(rank, heads, tails),
                   ends(rank, heads, tails).together()),
          BoundKind::Memory);
  return best;
}

double Analysis::busy(const Rank &rank) const {
  double time = 0;
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    const Chunk &chunk =
        problem.chunks[problem.placement.globalChunk(rank.stage, local)];
    time += rank.microbatches *
            (chunk.forward + chunk.recompute + chunk.cost(OpKind::Backward));
  }
  return time;
}

/// `spanHeads` and `spanTails` are those of chains between operations of the
/// rank's stage.
StageBounds Analysis::boundsOf(const Rank &rank, const Chains &spanHeads,
                               const Chains &spanTails) const {
  StageBounds bounds;
  int stage = rank.stage;
  bounds.busy = busy(rank);
  bounds.makespan = best(rank, allHeads, allTails);
  bounds.span = best(rank, spanHeads, spanTails);
  if (problem.placement.stageOf(0) != stage || problem.width(stage) > 1 ||
      problem.memoryLimits.empty())
    return bounds;
  for (const Rank &other : ranks) {
    double time =
        other.stage == stage ? 0 : spanOver(other, spanHeads, spanTails);
    if (time > bounds.span.time * (1 + 1e-12))
      bounds.span = {time, BoundKind::Memory};
  }
  return bounds;
}

// For the span of a stage, time starts with its first operation and stops with
// its last one. So only chains between operations of the stage count.
Bounds Analysis::run() {
  Bounds result;
  double least = infinity;
  Chains spanHeads(0), spanTails(0);
  for (int i = 0, e = ranks.size(); i < e; ++i) {
    int stage = ranks[i].stage;
    if (i == 0 || ranks[i - 1].stage != stage) {
      auto isHere = [&](int chunk) {
        return problem.placement.stageOf(chunk) == stage;
      };
      int first = problem.placement.globalChunk(stage, 0);
      spanHeads = heads(first, isHere);
      spanTails = tails(first, isHere);
    }
    StageBounds bounds = boundsOf(ranks[i], spanHeads, spanTails);
    if (bounds.makespan.time > result.makespan.time) {
      result.makespan = bounds.makespan;
      result.makespanStage = i;
    }
    if (bounds.span.time > result.span.time) {
      result.span = bounds.span;
      result.spanStage = i;
    }
    least = std::min(least, bounds.busy);
    result.bubbleSpan =
        std::max(result.bubbleSpan, bubbleOf(bounds.busy, bounds.span.time));
    result.stages.push_back(bounds);
  }
  result.bubbleMakespan = bubbleOf(least, result.makespan.time);
  return result;
}

PeriodBound Analysis::runPeriod() {
  PeriodBound result;
  double least = infinity;
  for (int i = 0, e = static_cast<int>(ranks.size()); i < e; ++i) {
    Bound bound = period(ranks[i]);
    least = std::min(least, busy(ranks[i]));
    if (bound.time <= result.period.time)
      continue;
    result.period = bound;
    result.rank = i;
  }
  result.bubble = bubbleOf(least, result.period.time);
  return result;
}

/// The problem with the memory that the arguments about memory use: chunks hold
/// memory that they can offload only from their reader on, memory that R adds
/// only from the backward on, and never what R releases.
static Problem lightest(const Problem &problem) {
  Problem lighter = withoutShare(problem, 1);
  for (Chunk &chunk : lighter.chunks) {
    std::int64_t &holder = chunk.recomputeMemory < 0 ? chunk.forwardMemory
                           : chunk.hasBackwardInput
                               ? chunk.backwardInputMemory
                               : chunk.backwardWeightMemory;
    holder += chunk.recomputeMemory;
    chunk.recomputeMemory = 0;
  }
  return lighter;
}

Bounds veeline::schedule::lowerBounds(const Problem &problem,
                                      const BoundOptions &options) {
  return Analysis(lightest(problem), options).run();
}

PeriodBound veeline::schedule::lowerPeriodBound(const Problem &problem,
                                                const BoundOptions &options) {
  return Analysis(lightest(problem), options).runPeriod();
}

Bound veeline::schedule::lowerBound(const Problem &problem, Objective objective,
                                    const BoundOptions &options) {
  if (objective == Objective::Period)
    return lowerPeriodBound(problem, options).period;
  Bounds bounds = lowerBounds(problem, options);
  return objective == Objective::Makespan ? bounds.makespan : bounds.span;
}
