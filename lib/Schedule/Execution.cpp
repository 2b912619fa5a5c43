//===- Execution.cpp - running a schedule in order ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Execution.h"
#include "HostCopies.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

using namespace veeline::schedule;

namespace {
/// Computes when messages arrive if each link between stages carries one at a
/// time.
class Links {
public:
  Links(const Problem &problem, const Flow &flow)
      : flow(flow), link(problem.edges.size()), arrivals(flow.messageSlots()) {
    std::vector<std::array<int, 3>> pairs;
    for (int i = 0, e = problem.edges.size(); i < e; ++i)
      pairs.push_back({problem.placement.stageOf(problem.edges[i].from),
                       problem.placement.stageOf(problem.edges[i].to), i});
    std::sort(pairs.begin(), pairs.end());
    // Each pair of stages that an edge joins has a link in either direction. An
    // edge from s to t and one from t to s share both. Each pair of their ranks
    // has links of its own.
    std::map<std::pair<int, int>, Bundle> bundles;
    int count = 0;
    for (auto [from, to, i] : pairs)
      for (bool gradient : {false, true}) {
        std::pair key = gradient ? std::pair(to, from) : std::pair(from, to);
        Bundle bundle{count, problem.width(key.first),
                      problem.width(key.second)};
        auto [entry, isNew] = bundles.try_emplace(key, bundle);
        if (isNew)
          count += bundle.sources * bundle.targets;
        link[i][gradient] = entry->second;
      }
    freeAt.resize(count);
  }

  void send(const Link &edge, int microbatch, bool gradient, double time) {
    double &free = freeAt[link[edge.edge][gradient].at(microbatch)];
    free = std::max(free, time) + edge.transfer;
    arrivals[flow.messageSlot(edge.edge, microbatch, gradient)] = free;
  }
  double arrival(int edge, int microbatch, bool gradient) const {
    return arrivals[flow.messageSlot(edge, microbatch, gradient)];
  }

private:
  /// The links from the ranks of one stage to those of another.
  struct Bundle {
    int first = 0, sources = 1, targets = 1;
    /// The link that a microbatch takes.
    int at(int microbatch) const {
      return first + microbatch % sources * targets + microbatch % targets;
    }
  };

  const Flow &flow;
  std::vector<std::array<Bundle, 2>> link;
  std::vector<double> freeAt, arrivals;
};

/// The times at which the inputs of operations are available.
struct Ready {
  double forward = 0, gradient = 0, offload = 0;
  double time() const { return std::max({forward, gradient, offload}); }
};

/// An operation that cannot run, and the input that is missing.
struct Missing {
  int step;
  Position input;
};

/// Runs each stage until it has to wait for an operation of another one, and
/// resumes it once that has run. Every operation is visited once when it runs
/// and once for each time it has to wait, so the total time is linear.
class Executor {
public:
  Executor(const Problem &problem, const Flow &flow, const Schedule &schedule,
           const OpIndex &index, bool contention);
  Expected<Execution> run();

private:
  /// Whether the next operations on the stage can run. Sets `ready` to the
  /// times when their inputs are available, or `missing` to one that is not.
  bool isReady(int stage, int size, Ready &ready, Missing &missing) const;
  bool isReady(const Op &op, Ready &ready, Position &missing) const;
  bool needs(const Op &op, const Link &link, int step, bool gradient,
             double &ready, Position &missing) const;
  bool needsOwn(const Op &op, int step, Position &missing) const;
  bool needsGradients(const Op &op, Ready &ready, Position &missing) const;
  bool needsLate(const Op &op, Ready &ready, Position &missing) const;
  void runStage(int stage);
  void runBlock(int stage, int size, Ready ready);
  void send(const Op &op, double time);
  void wake(int stage);
  Missing missingInput(int stage) const;
  Error deadlock() const;

  const Problem &problem;
  const Flow &flow;
  const Schedule &schedule;
  const OpIndex &index;
  BlockCursor blocks;
  std::optional<Links> links;
  /// By rank, if anything is offloaded.
  std::vector<HostCopies> copies;
  Execution result;
  std::vector<int> progress;
  std::vector<double> now;
  /// `waiting[s]` lists what other stages wait for from stage s.
  struct Waiter {
    int stage;
    int step;
  };
  std::vector<std::vector<Waiter>> waiting;
  std::vector<int> worklist;
};
} // namespace

double veeline::schedule::blockTime(const Problem &problem,
                                    const std::vector<Op> &ops, int step,
                                    int size) {
  auto cost = [&](const Op &op) {
    return problem.chunks[op.chunk].cost(op.kind);
  };
  double first = cost(ops[step]);
  if (size == 1)
    return first;
  double second = cost(ops[step + 1]);
  return std::max(first, second) +
         (1 - problem.overlap) * std::min(first, second);
}

/// Returns the memory that late operations hold when a turn begins, which is
/// what they release.
static std::int64_t carriedMemory(const Problem &problem,
                                  const std::vector<Op> &ops) {
  std::int64_t held = 0;
  for (const Op &op : ops)
    if (op.late)
      held -= problem.chunks[op.chunk].memory(op.kind);
  return held;
}

/// Returns, by step, the memory that leaves and returns before it.
static std::vector<std::int64_t>
offloadedBefore(const Problem &problem, const Schedule &schedule, int stage) {
  std::vector<std::int64_t> changes(schedule.stages[stage].size());
  if (!schedule.offloads.empty())
    for (const Offload &offload : schedule.offloads[stage]) {
      std::int64_t memory = problem.chunks[offload.chunk].offloadMemory;
      changes[offload.leaves] -= memory;
      changes[offload.returns] += memory;
    }
  return changes;
}

std::vector<HeldMemory> veeline::schedule::heldMemory(const Problem &problem,
                                                      const Schedule &schedule,
                                                      int stage) {
  const std::vector<Op> &ops = schedule.stages[stage];
  std::vector<std::int64_t> offloaded =
      offloadedBefore(problem, schedule, stage);
  std::vector<HeldMemory> memory;
  memory.reserve(ops.size());
  BlockCursor blocks(schedule);
  std::int64_t held = carriedMemory(problem, ops);
  for (int step = 0, e = ops.size(); step < e;) {
    int last = step + blocks.sizeAt(stage, step);
    held += offloaded[step];
    std::int64_t during = held;
    for (int i = step; i < last; ++i) {
      std::int64_t change = problem.chunks[ops[i].chunk].memory(ops[i].kind);
      during += std::max<std::int64_t>(change, 0);
      held += change;
    }
    for (; step < last; ++step)
      memory.push_back({during, step + 1 < last ? during : held});
  }
  return memory;
}

std::vector<std::int64_t>
veeline::schedule::memoryAfter(const Problem &problem, const Schedule &schedule,
                               int stage) {
  std::vector<std::int64_t> memory;
  memory.reserve(schedule.stages[stage].size());
  for (const HeldMemory &held : heldMemory(problem, schedule, stage))
    memory.push_back(held.after);
  return memory;
}

Executor::Executor(const Problem &problem, const Flow &flow,
                   const Schedule &schedule, const OpIndex &index,
                   bool contention)
    : problem(problem), flow(flow), schedule(schedule), index(index),
      blocks(schedule), progress(problem.ranks()), now(problem.ranks()),
      waiting(problem.ranks()) {
  if (contention)
    links.emplace(problem, flow);
  std::size_t total = 0;
  result.start.resize(problem.ranks());
  result.end.resize(problem.ranks());
  result.waiting.resize(problem.ranks());
  for (int stage = problem.ranks() - 1; stage >= 0; --stage) {
    std::size_t size = schedule.stages[stage].size();
    result.start[stage].resize(size);
    result.end[stage].resize(size);
    total += size;
    worklist.push_back(stage);
  }
  result.topological.reserve(total);
  if (!schedule.offloads.empty())
    for (int rank = 0; rank < problem.ranks(); ++rank)
      copies.emplace_back(problem, schedule, index, rank);
}

/// Whether an input from another chunk is available. Raises `ready` to its
/// arrival.
bool Executor::needs(const Op &op, const Link &link, int step, bool gradient,
                     double &ready, Position &missing) const {
  int stage = problem.rankOf(link.chunk, op.microbatch);
  if (progress[stage] <= step) {
    missing = {stage, step};
    return false;
  }
  double arrival = result.end[stage][step] + link.transfer;
  if (links && problem.placement.stageOf(link.chunk) !=
                   problem.placement.stageOf(op.chunk))
    arrival = links->arrival(link.edge, op.microbatch, gradient);
  ready = std::max(ready, arrival);
  return true;
}

/// Whether an earlier operation of the same chunk has run.
bool Executor::needsOwn(const Op &op, int step, Position &missing) const {
  int stage = problem.rankOf(op.chunk, op.microbatch);
  if (progress[stage] > step)
    return true;
  missing = {stage, step};
  return false;
}

bool Executor::needsGradients(const Op &op, Ready &ready,
                              Position &missing) const {
  if (!needsOwn(op, index.forward(op.chunk, op.microbatch), missing) ||
      (problem.chunks[op.chunk].hasRecompute &&
       !needsOwn(op, index.recompute(op.chunk, op.microbatch), missing)))
    return false;
  for (const Link &link : flow.backwardInputs[op.chunk])
    if (!needs(op, link, index.backwardInput(link.chunk, op.microbatch), true,
               ready.gradient, missing))
      return false;
  return true;
}

/// A late operation waits for operations of the turn before, unless they are
/// late, too.
bool Executor::needsLate(const Op &op, Ready &ready, Position &missing) const {
  if (op.kind != OpKind::Backward)
    return true;
  for (const Link &link : flow.backwardInputs[op.chunk]) {
    int rank = problem.rankOf(link.chunk, op.microbatch);
    int step = index.backwardInput(link.chunk, op.microbatch);
    if (schedule.stages[rank][step].late &&
        !needs(op, link, step, true, ready.gradient, missing))
      return false;
  }
  return true;
}

bool Executor::isReady(const Op &op, Ready &ready, Position &missing) const {
  if (op.late)
    return needsLate(op, ready, missing);
  switch (op.kind) {
  case OpKind::Forward:
    for (const Link &link : flow.forwardInputs[op.chunk])
      if (!needs(op, link, index.forward(link.chunk, op.microbatch), false,
                 ready.forward, missing))
        return false;
    return true;
  case OpKind::BackwardWeight:
    if (problem.chunks[op.chunk].hasBackwardInput)
      return needsOwn(op, index.backwardInput(op.chunk, op.microbatch),
                      missing);
    return needsGradients(op, ready, missing);
  case OpKind::BackwardInput:
  case OpKind::Backward:
    return needsGradients(op, ready, missing);
  case OpKind::Recompute:
    return needsOwn(op, index.forward(op.chunk, op.microbatch), missing);
  }
  return true;
}

bool Executor::isReady(int stage, int size, Ready &ready,
                       Missing &missing) const {
  for (int i = 0; i < size; ++i) {
    missing.step = progress[stage] + i;
    if (!isReady(schedule.stages[stage][missing.step], ready, missing.input))
      return false;
  }
  return true;
}

/// Passes the outputs of an operation to the links.
void Executor::send(const Op &op, double time) {
  for (const Link &link : flow.usersOf(op))
    if (problem.placement.stageOf(link.chunk) !=
        problem.placement.stageOf(op.chunk))
      links->send(link, op.microbatch, op.kind != OpKind::Forward, time);
}

/// Adds the waiting time before an operation to its cause.
static void addWaiting(Waiting &waiting, bool isFirst, double now,
                       const Ready &ready) {
  double &cause =
      isFirst ? waiting.fill
      : ready.offload > ready.forward && ready.offload > ready.gradient
          ? waiting.offload
      : ready.gradient > ready.forward ? waiting.gradient
                                       : waiting.forward;
  cause += std::max(0.0, ready.time() - now);
}

void Executor::runBlock(int stage, int size, Ready ready) {
  const std::vector<Op> &ops = schedule.stages[stage];
  int &step = progress[stage];
  if (!copies.empty())
    ready.offload = copies[stage].begin(step, size, now[stage]);
  addWaiting(result.waiting[stage], step == 0, now[stage], ready);
  double start = std::max(now[stage], ready.time());
  now[stage] = start + blockTime(problem, ops, step, size);
  for (int last = step + size; step < last; ++step) {
    result.start[stage][step] = start;
    result.end[stage][step] = now[stage];
    result.topological.push_back({stage, step});
    if (!copies.empty())
      copies[stage].end(step, now[stage]);
    if (links)
      send(ops[step], now[stage]);
  }
}

void Executor::runStage(int stage) {
  int end = schedule.stages[stage].size();
  while (progress[stage] < end) {
    Ready ready;
    Missing missing;
    int size = blocks.sizeAt(stage, progress[stage]);
    if (!isReady(stage, size, ready, missing)) {
      if (missing.input.stage != stage)
        waiting[missing.input.stage].push_back({stage, missing.input.step});
      return;
    }
    runBlock(stage, size, ready);
  }
}

void Executor::wake(int stage) {
  std::vector<Waiter> &waiters = waiting[stage];
  for (std::size_t i = 0; i < waiters.size();) {
    if (waiters[i].step >= progress[stage]) {
      ++i;
      continue;
    }
    worklist.push_back(waiters[i].stage);
    waiters[i] = waiters.back();
    waiters.pop_back();
  }
}

Expected<Execution> Executor::run() {
  while (!worklist.empty()) {
    int stage = worklist.back();
    worklist.pop_back();
    runStage(stage);
    wake(stage);
  }
  for (int stage = 0; stage < problem.ranks(); ++stage)
    if (progress[stage] != static_cast<int>(schedule.stages[stage].size()))
      return deadlock();
  for (HostCopies &ofRank : copies)
    result.offloads.push_back(ofRank.takeTimes());
  return std::move(result);
}

Missing Executor::missingInput(int stage) const {
  Ready ready;
  Missing missing;
  isReady(stage, blocks.sizeAt(stage, progress[stage]), ready, missing);
  return missing;
}

/// Every unfinished stage waits for another unfinished one, so following them
/// from anywhere ends in a cycle.
Error Executor::deadlock() const {
  int stage = 0;
  while (progress[stage] == static_cast<int>(schedule.stages[stage].size()))
    ++stage;
  std::vector<bool> seen(problem.ranks());
  while (!seen[stage]) {
    seen[stage] = true;
    stage = missingInput(stage).input.stage;
  }

  std::string circle;
  std::vector<Position> positions;
  int first = stage, firstStep = missingInput(stage).step;
  do {
    auto [step, input] = missingInput(stage);
    positions.push_back({stage, step});
    if (stage != first)
      circle += "; there, step " + std::to_string(step) + ", " +
                describe(schedule.stages[stage][step]) + ",";
    circle += " waits for " +
              describe(schedule.stages[input.stage][input.step]) +
              ", which is step " + std::to_string(input.step) + " of " +
              problem.nameOfRank(input.stage);
    stage = input.stage;
  } while (stage != first);

  Error error = errorAt(ErrorKind::Deadlock, problem, schedule, first,
                        firstStep, "never runs: it" + circle);
  error.neighbourhood = neighbourhood(problem, schedule, positions);
  return error;
}

Expected<Execution> veeline::schedule::execute(const Problem &problem,
                                               const Flow &flow,
                                               const Schedule &schedule,
                                               const OpIndex &index,
                                               bool contention) {
  return Executor(problem, flow, schedule, index, contention).run();
}
