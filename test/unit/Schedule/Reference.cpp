//===- Reference.cpp - a slow, obvious simulator and verifier -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace veeline::schedule;

namespace {
/// What an operation gives to others.
enum Product { Output, InputGradient, WeightGradient, Recomputed };
using Key = std::tuple<Product, int, int>;

struct Dependency {
  Key key;
  double transfer;
  /// Index of the edge; -1: within the chunk.
  int edge;
};
} // namespace

static std::vector<Dependency> dependenciesOf(const Problem &problem, Op op) {
  auto transfer = [&](const Edge &edge, double cost) {
    return problem.placement.stageOf(edge.from) ==
                   problem.placement.stageOf(edge.to)
               ? 0
               : cost;
  };
  std::vector<Dependency> result;
  int edges = problem.edges.size();
  if (op.kind == OpKind::Forward) {
    for (int i = 0; i < edges; ++i)
      if (const Edge &edge = problem.edges[i]; edge.to == op.chunk)
        result.push_back({{Output, edge.from, op.microbatch},
                          transfer(edge, edge.forwardTransfer),
                          i});
    return result;
  }
  if (op.kind == OpKind::BackwardWeight &&
      problem.chunks[op.chunk].hasBackwardInput)
    return {{{InputGradient, op.chunk, op.microbatch}, 0, -1}};
  result.push_back({{Output, op.chunk, op.microbatch}, 0, -1});
  if (op.kind == OpKind::Recompute)
    return result;
  if (problem.chunks[op.chunk].hasRecompute)
    result.push_back({{Recomputed, op.chunk, op.microbatch}, 0, -1});
  for (int i = 0; i < edges; ++i)
    if (const Edge &edge = problem.edges[i];
        edge.from == op.chunk && edge.carriesGradient)
      result.push_back({{InputGradient, edge.to, op.microbatch},
                        transfer(edge, edge.backwardTransfer),
                        i});
  return result;
}

static std::vector<Product> productsOf(OpKind kind) {
  switch (kind) {
  case OpKind::Forward:
    return {Output};
  case OpKind::BackwardInput:
    return {InputGradient};
  case OpKind::BackwardWeight:
    return {WeightGradient};
  case OpKind::Backward:
    return {InputGradient, WeightGradient};
  case OpKind::Recompute:
    return {Recomputed};
  }
  return {};
}

/// The operations that run together from a step on.
static std::vector<Op> togetherAt(const Schedule &schedule, int stage,
                                  std::size_t step) {
  std::vector<Op> ops{schedule.stages[stage][step]};
  if (!schedule.overlapped.empty())
    for (int first : schedule.overlapped[stage])
      if (first == static_cast<int>(step))
        ops.push_back(schedule.stages[stage][step + 1]);
  return ops;
}

static double timeOf(const Problem &problem, const std::vector<Op> &ops) {
  std::vector<double> costs;
  for (const Op &op : ops)
    costs.push_back(problem.chunks[op.chunk].cost(op.kind));
  std::sort(costs.rbegin(), costs.rend());
  double time = costs[0];
  if (costs.size() == 2)
    time += (1 - problem.overlap) * costs[1];
  return time;
}

namespace {
/// The state of a simulation with buffered messages.
struct Run {
  std::map<Key, double> done;
  /// With contention: when each message arrived (edge, microbatch, gradient),
  /// and until when each link is taken (from, to).
  std::map<std::tuple<int, int, bool>, double> arrived;
  std::map<std::pair<int, int>, double> linkFree;
  Simulation result;
  std::vector<double> now;
  /// Until when the links to the host and back are taken, by stage.
  std::map<int, double> outFree, backFree;
};
} // namespace

/// Whether an operation is the first one that takes what F keeps.
static bool isReader(const Problem &problem, const Op &op) {
  if (problem.chunks[op.chunk].hasRecompute)
    return op.kind == OpKind::Recompute;
  return op.kind == OpKind::Backward || op.kind == OpKind::BackwardInput ||
         (op.kind == OpKind::BackwardWeight &&
          !problem.chunks[op.chunk].hasBackwardInput);
}

static bool concerns(const Offload &offload, const Op &op) {
  return op.chunk == offload.chunk && op.microbatch == offload.microbatch;
}

/// Where the reader of what is offloaded stands.
static std::size_t readerOf(const Problem &problem, const std::vector<Op> &ops,
                            const Offload &offload) {
  std::size_t step = 0;
  while (!isReader(problem, ops[step]) || !concerns(offload, ops[step]))
    ++step;
  return step;
}

/// When a stage that has come to a step may go on, as far as copies to the host
/// and back are concerned.
static double awaitCopies(const Problem &problem, const Schedule &schedule,
                          int stage, int step, const std::vector<Op> &together,
                          Run &run) {
  double time = run.now[stage];
  if (schedule.offloads.empty())
    return time;
  const std::vector<Offload> &offloads = schedule.offloads[stage];
  std::vector<OffloadTimes> &times = run.result.offloads[stage];
  for (std::size_t i = 0; i < offloads.size(); ++i)
    if (offloads[i].leaves == step)
      time = std::max(time, times[i].outEnd);
  std::map<std::size_t, std::size_t> returning;
  for (std::size_t i = 0; i < offloads.size(); ++i) {
    if (offloads[i].leaves == step)
      times[i].left = time;
    if (offloads[i].returns == step)
      returning[readerOf(problem, schedule.stages[stage], offloads[i])] = i;
  }
  for (auto [reader, i] : returning) {
    times[i].returned = time;
    times[i].backStart = std::max(time, run.backFree[stage]);
    times[i].backEnd = run.backFree[stage] =
        times[i].backStart + problem.chunks[offloads[i].chunk].offloadTime;
  }
  for (std::size_t i = 0; i < offloads.size(); ++i)
    for (const Op &op : together)
      if (isReader(problem, op) && concerns(offloads[i], op))
        time = std::max(time, times[i].backEnd);
  return time;
}

/// Begins the copy of what an F keeps.
static void copyOut(const Problem &problem, const Schedule &schedule, int stage,
                    const Op &op, double end, Run &run) {
  if (schedule.offloads.empty() || op.kind != OpKind::Forward)
    return;
  for (std::size_t i = 0; i < schedule.offloads[stage].size(); ++i) {
    if (!concerns(schedule.offloads[stage][i], op))
      continue;
    OffloadTimes &times = run.result.offloads[stage][i];
    times.outStart = std::max(end, run.outFree[stage]);
    times.outEnd = run.outFree[stage] =
        times.outStart + problem.chunks[op.chunk].offloadTime;
  }
}

static void sendAll(const Problem &problem, const Op &op, double time,
                    Run &run) {
  if (op.kind == OpKind::BackwardWeight || op.kind == OpKind::Recompute)
    return;
  bool gradient = op.kind != OpKind::Forward;
  for (std::size_t i = 0; i < problem.edges.size(); ++i) {
    const Edge &edge = problem.edges[i];
    if ((gradient ? edge.to : edge.from) != op.chunk ||
        (gradient && !edge.carriesGradient))
      continue;
    int from = problem.placement.stageOf(edge.from);
    int to = problem.placement.stageOf(edge.to);
    if (gradient)
      std::swap(from, to);
    double &free = run.linkFree[{from, to}];
    free = std::max(free, time) +
           (gradient ? edge.backwardTransfer : edge.forwardTransfer);
    run.arrived[{static_cast<int>(i), op.microbatch, gradient}] =
        from == to ? time : free;
  }
}

/// Runs what is next on a stage if it can.
static bool step(const Problem &problem, const Schedule &schedule,
                 bool contention, int stage, Run &run) {
  std::size_t next = run.result.end[stage].size();
  if (next == schedule.stages[stage].size())
    return false;
  std::vector<Op> ops = togetherAt(schedule, stage, next);
  double forward = 0, gradient = 0;
  for (const Op &op : ops)
    for (const Dependency &dependency : dependenciesOf(problem, op)) {
      auto found = run.done.find(dependency.key);
      if (found == run.done.end())
        return false;
      double there = found->second + dependency.transfer;
      if (contention && dependency.edge >= 0)
        there = run.arrived.at(
            {dependency.edge, op.microbatch, op.kind != OpKind::Forward});
      // Its own forward is an input that no stage ever waits for.
      double &latest = op.kind == OpKind::Forward ? forward : gradient;
      latest = std::max(latest, there);
    }
  double host =
      awaitCopies(problem, schedule, stage, static_cast<int>(next), ops, run);
  double start = std::max({host, forward, gradient});
  double end = start + timeOf(problem, ops);
  Waiting &waiting = run.result.stages[stage].waiting;
  bool isForHost = host > forward && host > gradient;
  double &cause = next == 0            ? waiting.fill
                  : isForHost          ? waiting.offload
                  : gradient > forward ? waiting.gradient
                                       : waiting.forward;
  cause += start - run.now[stage];
  run.now[stage] = end;
  for (const Op &op : ops) {
    run.result.start[stage].push_back(start);
    run.result.end[stage].push_back(end);
    for (Product product : productsOf(op.kind))
      run.done[{product, op.chunk, op.microbatch}] = end;
    copyOut(problem, schedule, stage, op, end, run);
    if (contention)
      sendAll(problem, op, end, run);
  }
  return true;
}

static Simulation emptySimulation(const Problem &problem) {
  Simulation result;
  result.start.resize(problem.stages());
  result.end.resize(problem.stages());
  result.stages.resize(problem.stages());
  return result;
}

static void addMemory(const Problem &problem, const Schedule &schedule,
                      int stage, Simulation &result) {
  StageStatistics &statistics = result.stages[stage];
  result.memory.emplace_back();
  std::int64_t memory = 0;
  for (std::size_t step = 0; step < schedule.stages[stage].size();) {
    std::vector<Op> ops = togetherAt(schedule, stage, step);
    if (!schedule.offloads.empty())
      for (const Offload &it : schedule.offloads[stage]) {
        std::int64_t amount = problem.chunks[it.chunk].offloadMemory;
        memory -= it.leaves == static_cast<int>(step) ? amount : 0;
        memory += it.returns == static_cast<int>(step) ? amount : 0;
      }
    std::int64_t during = memory, after = memory;
    for (const Op &op : ops) {
      std::int64_t change = problem.chunks[op.chunk].memory(op.kind);
      during += std::max<std::int64_t>(change, 0);
      after += change;
    }
    if (ops.size() == 2)
      result.memory.back().push_back(during);
    result.memory.back().push_back(after);
    statistics.peakMemory = std::max(statistics.peakMemory, during);
    statistics.busy += timeOf(problem, ops);
    memory = after;
    step += ops.size();
  }
}

static void addStatistics(const Problem &problem, const Schedule &schedule,
                          Simulation &result) {
  for (int stage = 0; stage < problem.stages(); ++stage) {
    addMemory(problem, schedule, stage, result);
    StageStatistics &statistics = result.stages[stage];
    statistics.firstStart = result.start[stage].front();
    statistics.lastEnd = result.end[stage].back();
    result.makespan = std::max(result.makespan, statistics.lastEnd);
  }
  for (StageStatistics &stage : result.stages) {
    stage.waiting.drain = result.makespan - stage.lastEnd;
    double span = stage.lastEnd - stage.firstStart;
    if (result.makespan > 0)
      result.bubbleMakespan =
          std::max(result.bubbleMakespan, 1 - stage.busy / result.makespan);
    if (span > 0)
      result.bubbleSpan = std::max(result.bubbleSpan, 1 - stage.busy / span);
  }
}

std::optional<Simulation> veeline::schedule::reference::simulate(
    const Problem &problem, const Schedule &schedule, bool contention) {
  Run run;
  run.now.resize(problem.stages());
  run.result = emptySimulation(problem);
  for (const std::vector<Offload> &ofStage : schedule.offloads)
    run.result.offloads.emplace_back(ofStage.size());
  bool advanced = true;
  while (advanced) {
    advanced = false;
    for (int stage = 0; stage < problem.stages(); ++stage)
      while (step(problem, schedule, contention, stage, run))
        advanced = true;
  }
  for (int stage = 0; stage < problem.stages(); ++stage)
    if (run.result.end[stage].size() != schedule.stages[stage].size())
      return std::nullopt;
  addStatistics(problem, schedule, run.result);
  return run.result;
}

namespace {
/// What a stage does next: a message, or operations from a step on.
struct Action {
  int message = -1;
  std::size_t step = 0;
};
} // namespace

/// Lists what a stage does in order if it calls its messages in the order of
/// the list.
static std::vector<Action> programOf(const Schedule &schedule,
                                     const std::vector<Message> &messages,
                                     int stage) {
  std::vector<int> queue;
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (messages[i].sourceStage == stage || messages[i].targetStage == stage)
      queue.push_back(i);
  std::vector<Action> program;
  std::size_t called = 0;
  // Calls everything up to the last message that belongs to these steps.
  auto callFor = [&](bool sends, int first, int last) {
    std::size_t until = called;
    for (std::size_t i = called; i < queue.size(); ++i) {
      const Message &message = messages[queue[i]];
      bool isSend = message.sourceStage == stage;
      int step = isSend ? message.sourceStep : message.targetStep;
      if (isSend == sends && step >= first && step < last)
        until = i + 1;
    }
    while (called < until)
      program.push_back({queue[called++], 0});
  };
  for (std::size_t step = 0; step < schedule.stages[stage].size();) {
    int first = step, last = step + togetherAt(schedule, stage, step).size();
    callFor(false, first, last);
    program.push_back({-1, step});
    callFor(true, first, last);
    step = last;
  }
  return program;
}

std::optional<Simulation> veeline::schedule::reference::simulateRendezvous(
    const Problem &problem, const Schedule &schedule,
    const std::vector<Message> &messages) {
  int p = problem.stages();
  std::vector<std::vector<Action>> programs;
  for (int stage = 0; stage < p; ++stage)
    programs.push_back(programOf(schedule, messages, stage));
  std::vector<std::size_t> next(p);
  std::vector<double> now(p);
  Simulation result = emptySimulation(problem);

  auto waitUntil = [&](int stage, double time, double Waiting::*cause) {
    std::size_t done = result.end[stage].size();
    if (done > 0 && done < schedule.stages[stage].size())
      result.stages[stage].waiting.*cause += time - now[stage];
    now[stage] = time;
    ++next[stage];
  };
  bool advanced = true;
  while (advanced) {
    advanced = false;
    for (int stage = 0; stage < p; ++stage) {
      if (next[stage] == programs[stage].size())
        continue;
      Action action = programs[stage][next[stage]];
      if (action.message < 0) {
        std::vector<Op> ops = togetherAt(schedule, stage, action.step);
        if (action.step == 0)
          result.stages[stage].waiting.fill = now[stage];
        for (std::size_t i = 0; i < ops.size(); ++i) {
          result.start[stage].push_back(now[stage]);
          result.end[stage].push_back(now[stage] + timeOf(problem, ops));
        }
        now[stage] = result.end[stage].back();
        ++next[stage];
        advanced = true;
        continue;
      }
      // Messages are looked at from their senders.
      const Message &message = messages[action.message];
      int target = message.targetStage;
      if (message.sourceStage != stage ||
          next[target] == programs[target].size() ||
          programs[target][next[target]].message != action.message)
        continue;
      const Edge &edge = problem.edges[message.edge];
      double end =
          std::max(now[stage], now[target]) +
          (message.gradient ? edge.backwardTransfer : edge.forwardTransfer);
      waitUntil(target, end,
                message.gradient ? &Waiting::gradient : &Waiting::forward);
      waitUntil(stage, end, &Waiting::send);
      advanced = true;
    }
  }
  for (int stage = 0; stage < p; ++stage)
    if (next[stage] != programs[stage].size())
      return std::nullopt;
  addStatistics(problem, schedule, result);
  return result;
}

/// Blocks are one forward and one backward of two microbatches, side by side.
static bool hasGoodBlocks(const Schedule &schedule) {
  if (schedule.overlapped.empty())
    return true;
  if (schedule.overlapped.size() != schedule.stages.size())
    return false;
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    std::vector<int> taken(schedule.stages[stage].size());
    int previous = -1;
    for (int step : schedule.overlapped[stage]) {
      if (step <= previous || step + 1 >= static_cast<int>(taken.size()))
        return false;
      previous = step;
      Op a = schedule.stages[stage][step], b = schedule.stages[stage][step + 1];
      if (taken[step]++ || taken[step + 1]++ || a.microbatch == b.microbatch)
        return false;
      if (a.kind != OpKind::Forward)
        std::swap(a, b);
      if (a.kind != OpKind::Forward || b.kind == OpKind::Forward ||
          b.kind == OpKind::BackwardWeight || b.kind == OpKind::Recompute)
        return false;
    }
  }
  return true;
}

/// Every product is made exactly once, by an operation of the right stage, in
/// ascending microbatch order where that matters.
static bool isComplete(const Problem &problem, const Schedule &schedule) {
  if (static_cast<int>(schedule.stages.size()) != problem.stages() ||
      !hasGoodBlocks(schedule))
    return false;
  std::map<Key, int> count;
  std::map<std::pair<Product, int>, int> last;
  for (int stage = 0; stage < problem.stages(); ++stage)
    for (const Op &op : schedule.stages[stage]) {
      if (op.chunk < 0 || op.chunk >= problem.numChunks() ||
          op.microbatch < 0 || op.microbatch >= problem.microbatches ||
          problem.placement.stageOf(op.chunk) != stage)
        return false;
      if (op.kind == OpKind::BackwardInput &&
          !problem.chunks[op.chunk].hasBackwardInput)
        return false;
      if (op.kind == OpKind::Recompute &&
          !problem.chunks[op.chunk].hasRecompute)
        return false;
      for (Product product : productsOf(op.kind)) {
        if (++count[{product, op.chunk, op.microbatch}] > 1)
          return false;
        auto [previous, isFirst] =
            last.try_emplace({product, op.chunk}, op.microbatch);
        if (product != Output && product != Recomputed &&
            previous->second > op.microbatch)
          return false;
        previous->second = op.microbatch;
      }
    }
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    for (int microbatch = 0; microbatch < problem.microbatches; ++microbatch)
      for (Product product :
           {Output, InputGradient, WeightGradient, Recomputed})
        if (!count.contains({product, chunk, microbatch}) &&
            (product != InputGradient ||
             problem.chunks[chunk].hasBackwardInput) &&
            (product != Recomputed || problem.chunks[chunk].hasRecompute))
          return false;
  return true;
}

/// Three steps, one after the other. None where operations are late that may
/// not be.
static std::optional<Schedule> threeSteps(const Problem &problem,
                                          const Schedule &schedule) {
  Schedule steps;
  for (const std::vector<Op> &ops : schedule.stages) {
    std::vector<Op> order;
    for (int turn = 0; turn < 4; ++turn)
      for (Op op : ops) {
        int step = op.late ? turn - 1 : turn;
        if (op.late && op.kind != OpKind::BackwardWeight)
          return std::nullopt;
        if (step < 0 || step > 2)
          continue;
        op.late = false;
        op.microbatch += step * problem.microbatches;
        order.push_back(op);
      }
    steps.stages.push_back(std::move(order));
  }
  return steps;
}

/// Whether every F of a step stands after all W of the step before that give
/// gradients of its parameters, on its own stage. On others they must not be
/// late.
static bool updatesInTime(const Problem &problem, const Schedule &schedule,
                          const Schedule &steps) {
  auto share = [&](int one, int other) {
    bool tied = one == other;
    for (const std::vector<int> &chunks : problem.tied)
      tied |= std::count(chunks.begin(), chunks.end(), one) > 0 &&
              std::count(chunks.begin(), chunks.end(), other) > 0;
    return tied;
  };
  for (std::size_t stage = 0; stage < steps.stages.size(); ++stage) {
    for (const Op &op : schedule.stages[stage])
      for (int other = 0; op.late && other < problem.numChunks(); ++other)
        if (share(op.chunk, other) &&
            problem.placement.stageOf(other) != static_cast<int>(stage))
          return false;
    const std::vector<Op> &ops = steps.stages[stage];
    for (std::size_t first = 0; first < ops.size(); ++first)
      for (std::size_t second = first + 1; second < ops.size(); ++second)
        if (ops[first].kind == OpKind::Forward &&
            ops[second].kind == OpKind::BackwardWeight &&
            share(ops[first].chunk, ops[second].chunk) &&
            ops[second].microbatch / problem.microbatches <
                ops[first].microbatch / problem.microbatches)
          return false;
  }
  return true;
}

static bool isCyclicallyValid(const Problem &problem,
                              const Schedule &schedule) {
  std::optional<Schedule> steps = threeSteps(problem, schedule);
  if (!steps || !schedule.overlapped.empty() || !problem.widths.empty() ||
      !updatesInTime(problem, schedule, *steps))
    return false;
  Problem three = problem;
  three.microbatches *= 3;
  return veeline::schedule::reference::isValid(three, *steps);
}

bool veeline::schedule::reference::isValid(const Problem &problem,
                                           const Schedule &schedule) {
  for (const std::vector<Op> &ops : schedule.stages)
    for (const Op &op : ops)
      if (op.late)
        return isCyclicallyValid(problem, schedule);
  if (!isComplete(problem, schedule))
    return false;
  std::optional<Simulation> result = reference::simulate(problem, schedule);
  if (!result)
    return false;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    std::optional<std::int64_t> limit = problem.memoryLimit(stage);
    if (limit && result->stages[stage].peakMemory > *limit)
      return false;
  }
  return true;
}
