//===- Loop.cpp - steps that follow each other ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Loop.h"

#include "veeline/Schedule/Execution.h"
#include "veeline/Schedule/LoopGraph.h"

#include <algorithm>
#include <map>
#include <optional>

using namespace veeline::schedule;

bool veeline::schedule::isCyclic(const Schedule &schedule) {
  return std::any_of(schedule.stages.begin(), schedule.stages.end(),
                     [](const std::vector<Op> &ops) {
                       return std::any_of(ops.begin(), ops.end(),
                                          [](const Op &op) { return op.late; });
                     });
}

//===----------------------------------------------------------------------===//
// Unrolling
//===----------------------------------------------------------------------===//

Unrolled veeline::schedule::unroll(const Problem &problem,
                                   const Schedule &schedule, int steps) {
  Unrolled result{problem, {schedule.name, {}, {}, schedule.warnings, {}}};
  int m = problem.microbatches;
  result.problem.microbatches = steps * m;
  result.schedule.stages.resize(schedule.stages.size());
  if (!schedule.overlapped.empty())
    result.schedule.overlapped.resize(schedule.stages.size());
  result.schedule.offloads.resize(schedule.offloads.size());
  for (std::size_t rank = 0; rank < schedule.stages.size(); ++rank) {
    std::vector<Op> &order = result.schedule.stages[rank];
    // The turn after the last step runs only its late operations.
    for (int turn = 0; turn <= steps; ++turn) {
      auto first = static_cast<int>(order.size());
      if (turn < steps && !schedule.overlapped.empty())
        for (int step : schedule.overlapped[rank])
          result.schedule.overlapped[rank].push_back(first + step);
      // The new position of each step of the turn, or of the operation that
      // follows.
      std::vector<int> places;
      for (const Op &op : schedule.stages[rank]) {
        places.push_back(static_cast<int>(order.size()));
        if (int step = turn - op.late; step >= 0 && step < steps)
          order.push_back({op.kind, op.chunk, op.microbatch + step * m});
      }
      if (turn < steps && !schedule.offloads.empty())
        for (const Offload &it : schedule.offloads[rank])
          result.schedule.offloads[rank].push_back(
              {it.chunk, it.microbatch + turn * m, places[it.leaves],
               places[it.returns]});
    }
  }
  return result;
}

Expected<Solution> veeline::schedule::drawn(const Solution &solution) {
  if (!isCyclic(solution.schedule))
    return solution;
  Unrolled steps = unroll(solution.problem, solution.schedule, drawnSteps);
  Expected<Simulation> run =
      simulate(steps.problem, steps.schedule, solution.simulation.options);
  if (!run)
    return run.takeError();
  return Solution{std::move(steps.problem), std::move(steps.schedule),
                  std::move(*run)};
}

Expected<TurnTimes> veeline::schedule::turnTimes(const Problem &problem,
                                                 const Schedule &schedule) {
  if (!isCyclic(schedule)) {
    Expected<Simulation> run = simulate(problem, schedule);
    if (!run)
      return run.takeError();
    return TurnTimes{std::move(run->start), std::move(run->end)};
  }
  Unrolled steps = unroll(problem, schedule, drawnSteps);
  Expected<Simulation> run = simulate(steps.problem, steps.schedule);
  if (!run)
    return run.takeError();
  TurnTimes times;
  double begin = maxTime;
  for (std::size_t rank = 0; rank < schedule.stages.size(); ++rank) {
    const std::vector<Op> &order = schedule.stages[rank];
    // The first turn has no late operations.
    auto first = std::count_if(order.begin(), order.end(),
                               [](const Op &op) { return !op.late; });
    auto last = first + static_cast<std::ptrdiff_t>(order.size());
    auto cut = [&](const std::vector<double> &all) {
      return std::vector<double>(all.begin() + first, all.begin() + last);
    };
    times.start.push_back(cut(run->start[rank]));
    times.end.push_back(cut(run->end[rank]));
    if (!order.empty())
      begin = std::min(begin, times.start.back().front());
  }
  for (auto *ofRanks : {&times.start, &times.end})
    for (std::vector<double> &ofRank : *ofRanks)
      for (double &time : ofRank)
        time -= begin;
  return times;
}

//===----------------------------------------------------------------------===//
// Period
//===----------------------------------------------------------------------===//

namespace {
/// One turn of a schedule as a graph. A rank is a gate. So is a parameter that
/// several ranks hold, because all of them wait for its update.
class TurnGraph {
public:
  TurnGraph(const Problem &problem, const Schedule &schedule,
            const OpIndex &index, const Execution &execution);
  LoopGraph::Period solve() const { return graph->solve(); }

private:
  template <typename Visitor>
  void forEachInput(const Op &op, Visitor visit) const;
  template <typename Visitor>
  void forEachLateInput(const Op &op, Visitor visit) const;
  void add(Position position, int size);
  int listOffloads(int gate);
  void addCopiesOut(int rank, int step);
  void addCopiesBack(int rank, int step);
  void findCrossings(int firstGate);
  void addToUpdate(Position position);

  const Problem &problem;
  const Schedule &schedule;
  const OpIndex &index;
  Flow flow;
  /// The gate of a chunk's parameters; -1 if only one rank holds them.
  std::vector<int> updates;
  /// A gradient that a late backward receives from one that is not late. It is
  /// a gate, which the message of the latter holds.
  struct Crossing {
    int gate;
    double transfer;
  };
  /// By rank and step: of the backward that makes the gradient, and of the late
  /// one.
  std::multimap<std::pair<int, int>, Crossing> made, taken;
  /// The copies of an offload. The copies out and those back of a rank pass the
  /// gates of its links one after the other, like its operations.
  struct Copies {
    int offload;
    double time;
  };
  /// By rank and step: what F sends, what returns before the step, and what is
  /// read there.
  std::multimap<std::pair<int, int>, Copies> sent, returning, reading;
  /// The last offload that leaves before a step. It suffices, because copies
  /// out are in order.
  std::map<std::pair<int, int>, int> leaving;
  /// By rank: the nodes of copies, and the last node of each link.
  std::vector<std::vector<int>> copiesOut, copiesBack;
  std::vector<int> lastOut, lastBack;
  /// The gate of the link out of each rank; that of the link back is the next
  /// one.
  std::vector<int> links;
  /// The node of each operation; both operations of an overlapped block have
  /// the same.
  std::vector<std::vector<int>> nodes;
  std::optional<LoopGraph> graph;
};
} // namespace

/// Returns the gates of parameters, by chunk. They follow those of ranks.
static std::vector<int> findUpdates(const Problem &problem) {
  std::vector<int> updates(problem.numChunks(), -1);
  int gates = problem.ranks();
  for (const std::vector<int> &chunks : problem.tied) {
    for (int chunk : chunks)
      updates[chunk] = gates;
    ++gates;
  }
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    if (updates[chunk] < 0 &&
        problem.width(problem.placement.stageOf(chunk)) > 1)
      updates[chunk] = gates++;
  return updates;
}

static int countGates(const Problem &problem, const std::vector<int> &updates) {
  return std::max(problem.ranks(),
                  1 + *std::max_element(updates.begin(), updates.end()));
}

TurnGraph::TurnGraph(const Problem &problem, const Schedule &schedule,
                     const OpIndex &index, const Execution &execution)
    : problem(problem), schedule(schedule), index(index), flow(problem),
      updates(findUpdates(problem)) {
  int gates = countGates(problem, updates);
  findCrossings(gates);
  graph.emplace(listOffloads(gates + static_cast<int>(made.size())));
  for (const std::vector<Op> &ops : schedule.stages)
    nodes.emplace_back(ops.size(), -1);
  BlockCursor blocks(schedule);
  for (Position position : execution.topological)
    if (nodes[position.stage][position.step] < 0)
      add(position, blocks.sizeAt(position.stage, position.step));
  for (int rank = 0, e = static_cast<int>(copiesOut.size()); rank < e; ++rank)
    if (lastOut[rank] >= 0) {
      graph->hold(links[rank], lastOut[rank]);
      graph->hold(links[rank] + 1, lastBack[rank]);
    }
}

/// Numbers gates from `gate` on. Returns the next number.
int TurnGraph::listOffloads(int gate) {
  for (std::size_t rank = 0; rank < schedule.offloads.size(); ++rank) {
    const std::vector<Offload> &offloads = schedule.offloads[rank];
    links.push_back(gate);
    gate += offloads.empty() ? 0 : 2;
    copiesOut.emplace_back(offloads.size(), -1);
    copiesBack.emplace_back(offloads.size(), -1);
    std::vector<std::pair<int, int>> readers;
    for (std::size_t i = 0; i < offloads.size(); ++i) {
      const Offload &it = offloads[i];
      Copies copies{static_cast<int>(i), problem.chunks[it.chunk].offloadTime};
      auto key = [&](int step) {
        return std::pair(static_cast<int>(rank), step);
      };
      int reader = index.reader(problem, it.chunk, it.microbatch);
      sent.insert({key(index.forward(it.chunk, it.microbatch)), copies});
      leaving[key(it.leaves)] = copies.offload;
      reading.insert({key(reader), copies});
      readers.push_back({reader, static_cast<int>(i)});
    }
    // Copies back before the same step are in the order of the readers.
    std::sort(readers.begin(), readers.end());
    for (auto [reader, i] : readers)
      returning.insert({{static_cast<int>(rank), offloads[i].returns},
                        {i, problem.chunks[offloads[i].chunk].offloadTime}});
  }
  lastOut.assign(copiesOut.size(), -1);
  lastBack = lastOut;
  return gate;
}

/// Adds the copy to the host of what an F keeps.
void TurnGraph::addCopiesOut(int rank, int step) {
  auto [begin, end] = sent.equal_range({rank, step});
  for (auto it = begin; it != end; ++it) {
    int node = graph->add(it->second.time);
    graph->after(nodes[rank][step], 0);
    if (lastOut[rank] < 0)
      graph->behind(links[rank]);
    else
      graph->after(lastOut[rank], 0);
    copiesOut[rank][it->second.offload] = lastOut[rank] = node;
  }
}

/// Adds the copies back that begin before a step.
void TurnGraph::addCopiesBack(int rank, int step) {
  auto [begin, end] = returning.equal_range({rank, step});
  for (auto it = begin; it != end; ++it) {
    int node = graph->add(it->second.time);
    graph->after(nodes[rank][step - 1], 0);
    if (auto left = leaving.find({rank, step}); left != leaving.end())
      graph->after(copiesOut[rank][left->second], 0);
    if (lastBack[rank] < 0)
      graph->behind(links[rank] + 1);
    else
      graph->after(lastBack[rank], 0);
    copiesBack[rank][it->second.offload] = lastBack[rank] = node;
  }
}

/// Calls `visit` with the node of each operation for which an operation waits
/// in its own turn, and with the time of the transfer from there.
template <typename Visitor>
void TurnGraph::forEachInput(const Op &op, Visitor visit) const {
  if (op.late)
    return forEachLateInput(op, [&](const Link &link, Position input) {
      if (schedule.stages[input.stage][input.step].late)
        visit(nodes[input.stage][input.step], link.transfer);
    });
  auto from = [&](int chunk, int step, double transfer) {
    visit(nodes[problem.rankOf(chunk, op.microbatch)][step], transfer);
  };
  if (op.kind == OpKind::Forward) {
    for (const Link &link : flow.forwardInputs[op.chunk])
      from(link.chunk, index.forward(link.chunk, op.microbatch), link.transfer);
    return;
  }
  if (op.kind == OpKind::BackwardWeight &&
      problem.chunks[op.chunk].hasBackwardInput)
    return from(op.chunk, index.backwardInput(op.chunk, op.microbatch), 0);
  from(op.chunk, index.forward(op.chunk, op.microbatch), 0);
  if (op.kind == OpKind::Recompute)
    return;
  for (const Link &link : flow.backwardInputs[op.chunk])
    from(link.chunk, index.backwardInput(link.chunk, op.microbatch),
         link.transfer);
}

/// Calls `visit` with each operation from which a late backward receives
/// gradients.
template <typename Visitor>
void TurnGraph::forEachLateInput(const Op &op, Visitor visit) const {
  if (op.kind != OpKind::Backward)
    return;
  for (const Link &link : flow.backwardInputs[op.chunk])
    visit(link, Position{problem.rankOf(link.chunk, op.microbatch),
                         index.backwardInput(link.chunk, op.microbatch)});
}

void TurnGraph::findCrossings(int firstGate) {
  int gate = firstGate;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const std::vector<Op> &ops = schedule.stages[rank];
    for (int step = 0, e = static_cast<int>(ops.size()); step < e; ++step) {
      if (!ops[step].late)
        continue;
      forEachLateInput(ops[step], [&](const Link &link, Position input) {
        if (schedule.stages[input.stage][input.step].late)
          return;
        made.insert({{input.stage, input.step}, {gate, link.transfer}});
        taken.insert({{rank, step}, {gate++, link.transfer}});
      });
    }
  }
}

void TurnGraph::add(Position position, int size) {
  auto [rank, first] = position;
  const std::vector<Op> &ops = schedule.stages[rank];
  addCopiesBack(rank, first);
  int node = graph->add(blockTime(problem, ops, first, size));
  if (first == 0)
    graph->behind(rank);
  else
    graph->after(nodes[rank][first - 1], 0);
  for (int step = first; step < first + size; ++step) {
    forEachInput(ops[step], [&](int input, double transfer) {
      graph->after(input, transfer);
    });
    auto [begin, end] = taken.equal_range({rank, step});
    for (auto crossing = begin; crossing != end; ++crossing)
      graph->behind(crossing->second.gate);
    if (auto left = leaving.find({rank, step}); left != leaving.end())
      graph->after(copiesOut[rank][left->second], 0);
    auto [read, isRead] = reading.equal_range({rank, step});
    for (auto it = read; it != isRead; ++it)
      graph->after(copiesBack[rank][it->second.offload], 0);
    nodes[rank][step] = node;
    addToUpdate({rank, step});
  }
  if (first + size == static_cast<int>(ops.size()))
    graph->hold(rank, node);
  for (int step = first; step < first + size; ++step)
    addCopiesOut(rank, step);
  for (int step = first; step < first + size; ++step) {
    auto [begin, end] = made.equal_range({rank, step});
    for (auto crossing = begin; crossing != end; ++crossing) {
      int arrival = graph->add(crossing->second.transfer);
      graph->after(node, 0);
      graph->hold(crossing->second.gate, arrival);
    }
  }
}

/// The first F of a chunk waits for the update of its parameters, if the update
/// is a gate and forwards wait for it. The last W, whichever it is, holds the
/// gate.
void TurnGraph::addToUpdate(Position position) {
  const Op &op = schedule.stages[position.stage][position.step];
  if (updates[op.chunk] < 0 || problem.updates != UpdateSemantics::Synchronous)
    return;
  if (op.kind == OpKind::Forward)
    graph->behind(updates[op.chunk]);
  if (op.kind == OpKind::BackwardWeight || op.kind == OpKind::Backward)
    graph->hold(updates[op.chunk], nodes[position.stage][position.step]);
}

static double busyTime(const Problem &problem, const Schedule &schedule,
                       int rank) {
  const std::vector<Op> &ops = schedule.stages[rank];
  BlockCursor blocks(schedule);
  double busy = 0;
  for (int step = 0, e = static_cast<int>(ops.size()); step < e;) {
    int size = blocks.sizeAt(rank, step);
    busy += blockTime(problem, ops, step, size);
    step += size;
  }
  return busy;
}

Loop veeline::schedule::loopOf(const Problem &problem, const Schedule &schedule,
                               const OpIndex &index,
                               const Execution &execution) {
  LoopGraph::Period period =
      TurnGraph(problem, schedule, index, execution).solve();
  Loop loop{period.time, 0, 0, std::move(period.open)};
  loop.begin.resize(problem.ranks());
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    double bubble = bubbleOf(busyTime(problem, schedule, rank), loop.period);
    if (bubble <= loop.bubble)
      continue;
    loop.bubble = bubble;
    loop.rank = rank;
  }
  return loop;
}

Expected<Loop> veeline::schedule::loopOf(const Problem &problem,
                                         const Schedule &schedule) {
  Expected<OpIndex> index = OpIndex::build(problem, schedule);
  if (!index)
    return index.takeError();
  Expected<Execution> execution =
      execute(problem, Flow(problem), schedule, *index);
  if (!execution)
    return execution.takeError();
  return loopOf(problem, schedule, *index, *execution);
}
