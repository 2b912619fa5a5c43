//===- Hanayo.cpp - 1F1B on a wave ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Liu et al., Hanayo: Harnessing Wave-like Pipeline Parallelism for Enhanced
// Large Model Training Efficiency (2023), arXiv:2308.15762. Chunks run back and
// forth over the stages, so that a microbatch stays on a stage where it turns.
// The order is that of the ideal pipeline, in which F takes 1 and a fused
// backward 2 units, and transfers are free. A free stage starts, of the
// operations that are ready,
//   - the backward of the oldest microbatch; else
//   - the forward of the chunk that is furthest in the model.
// A stage never holds more than p activations (vp chunks), or fewer if a limit
// requires it. It takes a forward of its chunk r only if v-1-r chunks then
// remain free. That is enough for the oldest microbatch to come back to its
// later chunks, so stages cannot wait for each other. At most 2p microbatches
// are in flight. p = 2, v = 2, m = 2:
//
//   stage 0: 0F0 0F1 .   3F0 3BW0--- 3F1 3BW1--- .   0BW0--- .   .   0BW1---
//   stage 1:     1F0 2F0 1F1 2F1 .   2BW0--- 1BW0--- 2BW1--- 1BW1---
//
// The paper has m = p. For more microbatches, two further orders are tried. One
// prefers the chunk nearest to the input. The other repeats one microbatch
// every 3v units, with each of its operations as early as it fits between those
// of the others. The order that is best at the costs of the problem wins.
//
// A stage holds at most min(p, m) activations. For v = 2, m <= p, equal chunks,
// free transfers and a backward of at least two forwards, the bubble is
// 1 - m(F+B+W)/(p(F+B+W) + (m-1)(B+W)). O(operations · (v + log p) + pv^3),
// times log(pv) under a memory limit.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "veeline/Schedule/Simulator.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>

using namespace veeline::schedule;

namespace {
/// The ideal pipeline, simulated event by event.
class IdealWave {
public:
  enum class First { Furthest, Nearest };
  /// A stage holds at most `capacity` chunks, which is at least v.
  IdealWave(const Problem &problem, First first, std::int64_t capacity);
  Schedule run();

private:
  struct Backward {
    int microbatch;
    int chunk;
    bool operator>(const Backward &other) const {
      return std::pair(microbatch, chunk) >
             std::pair(other.microbatch, other.chunk);
    }
  };
  struct Running {
    std::int64_t end;
    int stage;
    Op op;
    bool operator>(const Running &other) const {
      return std::pair(end, stage) > std::pair(other.end, other.stage);
    }
  };
  template <typename T>
  using Queue = std::priority_queue<T, std::vector<T>, std::greater<T>>;
  struct Stage {
    Queue<Backward> backwards;
    bool isBusy = false;
    /// The number of chunks between their F and the end of their backward.
    int held = 0;
  };
  /// Forwards of a chunk run in order. Counts those that are ready, and those
  /// that have started.
  struct Forwards {
    int ready = 0;
    int started = 0;
  };

  std::optional<Op> choose(int stage);
  void startAll();
  void finish(const Running &running);
  void makeReady(int chunk) {
    ++forwards[chunk].ready;
    idle.push_back(problem.placement.stageOf(chunk));
  }

  const Problem &problem;
  First first;
  std::int64_t capacity;
  std::int64_t now = 0;
  std::vector<Stage> stages;
  std::vector<Forwards> forwards;
  /// Stages that may have something to start.
  std::vector<int> idle;
  Queue<Running> running;
  Schedule schedule;
};
} // namespace

IdealWave::IdealWave(const Problem &problem, First first, std::int64_t capacity)
    : problem(problem), first(first), capacity(capacity),
      stages(problem.stages()), forwards(problem.numChunks()) {
  schedule.name = "hanayo";
  schedule.stages.resize(problem.stages());
  for (std::vector<Op> &ops : schedule.stages)
    ops.reserve(std::size_t(2) * problem.chunksPerStage() *
                problem.microbatches);
}

std::optional<Op> IdealWave::choose(int number) {
  Stage &stage = stages[number];
  if (!stage.backwards.empty()) {
    auto [microbatch, chunk] = stage.backwards.top();
    stage.backwards.pop();
    return Op{OpKind::Backward, chunk, microbatch};
  }
  int v = problem.chunksPerStage();
  std::int64_t free = capacity - stage.held;
  for (int i = 0; i < v; ++i) {
    int local = first == First::Furthest ? v - 1 - i : i;
    int chunk = problem.placement.globalChunk(number, local);
    Forwards &of = forwards[chunk];
    if (of.started == of.ready || free <= v - 1 - local)
      continue;
    ++stage.held;
    return Op{OpKind::Forward, chunk, of.started++};
  }
  return std::nullopt;
}

void IdealWave::startAll() {
  for (int stage : idle) {
    if (stages[stage].isBusy)
      continue;
    std::optional<Op> op = choose(stage);
    if (!op)
      continue;
    schedule.stages[stage].push_back(*op);
    stages[stage].isBusy = true;
    running.push({now + (op->kind == OpKind::Forward ? 1 : 2), stage, *op});
  }
  idle.clear();
}

void IdealWave::finish(const Running &done) {
  stages[done.stage].isBusy = false;
  idle.push_back(done.stage);
  auto [kind, chunk, microbatch, late] = done.op;
  if (kind == OpKind::Forward && chunk + 1 < problem.numChunks()) {
    makeReady(chunk + 1);
    return;
  }
  if (kind == OpKind::Backward)
    --stages[done.stage].held;
  int next = kind == OpKind::Forward ? chunk : chunk - 1;
  if (next >= 0) {
    int stage = problem.placement.stageOf(next);
    stages[stage].backwards.push({microbatch, next});
    idle.push_back(stage);
  } else if (forwards[0].ready < problem.microbatches) {
    makeReady(0);
  }
}

Schedule IdealWave::run() {
  forwards[0].ready = std::min(2 * problem.stages(), problem.microbatches);
  idle.push_back(problem.placement.stageOf(0));
  startAll();
  while (!running.empty()) {
    now = running.top().end;
    while (!running.empty() && running.top().end == now) {
      Running done = running.top();
      running.pop();
      finish(done);
    }
    startAll();
  }
  return std::move(schedule);
}

namespace {
/// One microbatch on the ideal pipeline, placed so that a copy of it can start
/// every 3v units without two operations of a stage at the same time.
class RepeatedWave {
public:
  explicit RepeatedWave(const Problem &problem)
      : problem(problem), period(3 * problem.chunksPerStage()),
        isTaken(problem.stages(), std::vector<bool>(period)),
        forwardsLeft(problem.stages(), problem.chunksPerStage()) {}
  /// None if a stage would hold more than p activations.
  std::optional<Schedule> run();

private:
  struct Placed {
    int start;
    OpKind kind;
    int chunk;
  };
  void place(OpKind kind, int chunk);
  bool fits(int stage, int start, int length);
  void take(int stage, int start, int length, bool value) {
    for (int i = 0; i < length; ++i)
      isTaken[stage][(start + i) % period] = value;
  }
  int oddGaps(int stage) const;
  std::optional<std::vector<Op>> repeat(std::vector<Placed> ops) const;

  const Problem &problem;
  int period;
  std::vector<std::vector<bool>> isTaken;
  std::vector<int> forwardsLeft;
  std::vector<std::vector<Placed>> stages;
  int now = 0;
};
} // namespace

/// The number of gaps of odd length between times that are taken.
int RepeatedWave::oddGaps(int stage) const {
  const std::vector<bool> &taken = isTaken[stage];
  auto first = std::find(taken.begin(), taken.end(), true) - taken.begin();
  int odd = 0, gap = 0;
  for (int i = 1; i <= period; ++i) {
    ++gap;
    if (!taken[(first + i) % period])
      continue;
    odd += (gap - 1) % 2;
    gap = 0;
  }
  return odd;
}

/// Takes the time if it is free, and if the rest then has room for all later
/// operations. A backward needs two adjacent units, so only a forward can make
/// a gap of odd length even.
bool RepeatedWave::fits(int stage, int start, int length) {
  for (int i = 0; i < length; ++i)
    if (isTaken[stage][(start + i) % period])
      return false;
  take(stage, start, length, true);
  if (oddGaps(stage) <= forwardsLeft[stage] - (length == 1))
    return true;
  take(stage, start, length, false);
  return false;
}

void RepeatedWave::place(OpKind kind, int chunk) {
  int length = kind == OpKind::Forward ? 1 : 2;
  int stage = problem.placement.stageOf(chunk);
  // There is always room: a gap of even length, or one for a forward.
  while (!fits(stage, now, length))
    ++now;
  forwardsLeft[stage] -= kind == OpKind::Forward;
  stages[stage].push_back({now, kind, chunk});
  now += length;
}

/// Returns all microbatches of a stage, in the order of time.
std::optional<std::vector<Op>>
RepeatedWave::repeat(std::vector<Placed> ops) const {
  int m = problem.microbatches, v = problem.chunksPerStage();
  std::sort(ops.begin(), ops.end(), [&](const Placed &a, const Placed &b) {
    return a.start % period < b.start % period;
  });
  int last = 0;
  for (const Placed &op : ops)
    last = std::max(last, op.start / period);
  std::vector<Op> order;
  order.reserve(ops.size() * m);
  std::int64_t held = 0, most = std::int64_t(v) * problem.stages();
  for (int round = 0; round < m + last; ++round)
    for (const Placed &op : ops) {
      int microbatch = round - op.start / period;
      if (microbatch < 0 || microbatch >= m)
        continue;
      held += op.kind == OpKind::Forward ? 1 : -1;
      if (held > most)
        return std::nullopt;
      order.push_back({op.kind, op.chunk, microbatch});
    }
  return order;
}

std::optional<Schedule> RepeatedWave::run() {
  stages.resize(problem.stages());
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    place(OpKind::Forward, chunk);
  for (int chunk = problem.numChunks() - 1; chunk >= 0; --chunk)
    place(OpKind::Backward, chunk);
  Schedule schedule{"hanayo", {}};
  for (std::vector<Placed> &ops : stages) {
    std::optional<std::vector<Op>> order = repeat(std::move(ops));
    if (!order)
      return std::nullopt;
    schedule.stages.push_back(std::move(*order));
  }
  return schedule;
}

/// The value that the objective minimises.
static Expected<double> timeOf(const Problem &problem, const Schedule &schedule,
                               Objective objective) {
  Expected<Simulation> result = simulate(problem, schedule);
  if (!result)
    return result.takeError();
  return result->value(objective);
}

static bool fitsMemory(const Problem &problem, const Schedule &schedule) {
  if (problem.memoryLimits.empty())
    return true;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    std::int64_t held = 0;
    for (const Op &op : schedule.stages[stage]) {
      held += problem.chunks[op.chunk].memory(op.kind);
      if (held > problem.memoryLimits[stage])
        return false;
    }
  }
  return true;
}

/// Returns the greatest capacity, up to p activations, that fits into memory.
/// If none does, returns the least one: one microbatch at a time on every
/// stage, with the least memory of any order.
static std::int64_t chooseCapacity(const Problem &problem) {
  std::int64_t fits = problem.chunksPerStage();
  std::int64_t tooMuch = fits * problem.stages() + 1;
  for (std::int64_t next = tooMuch - 1; fits + 1 < tooMuch;
       next = (fits + tooMuch) / 2) {
    Schedule schedule =
        IdealWave(problem, IdealWave::First::Furthest, next).run();
    (fitsMemory(problem, schedule) ? fits : tooMuch) = next;
  }
  return fits;
}

Expected<Schedule>
veeline::schedule::generateHanayo(const Problem &problem,
                                  const GeneratorOptions &options) {
  using First = IdealWave::First;
  std::int64_t capacity = chooseCapacity(problem);
  Schedule best = IdealWave(problem, First::Furthest, capacity).run();
  if (problem.microbatches <= problem.stages())
    return best;
  std::vector<Schedule> others{
      IdealWave(problem, First::Nearest, capacity).run()};
  constexpr int maxRepeatedChunks = 32;
  if (problem.chunksPerStage() <= maxRepeatedChunks)
    if (std::optional<Schedule> repeated = RepeatedWave(problem).run())
      others.push_back(std::move(*repeated));
  Expected<double> bestTime = timeOf(problem, best, options.objective);
  if (!bestTime)
    return bestTime.takeError();
  for (Schedule &other : others) {
    if (!fitsMemory(problem, other))
      continue;
    Expected<double> time = timeOf(problem, other, options.objective);
    if (!time)
      return time.takeError();
    if (*time < *bestTime) {
      bestTime = time;
      best = std::move(other);
    }
  }
  return best;
}
