//===- FlatProblem.cpp - a problem in flat arrays, for search -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlatProblem.h"

#include <algorithm>

using namespace veeline::schedule;

static constexpr OpKind splitKinds[] = {OpKind::Forward, OpKind::BackwardInput,
                                        OpKind::BackwardWeight};

/// Adds the gradient that comes back over an edge to the inputs of a backward.
static void addGradients(const Problem &problem,
                         std::vector<std::vector<FlatProblem::Link>> &inputs,
                         const Edge &edge, double transfer) {
  if (!edge.carriesGradient)
    return;
  OpKind waits = problem.chunks[edge.from].hasBackwardInput
                     ? OpKind::BackwardInput
                     : OpKind::BackwardWeight;
  inputs[FlatProblem::kindOf(edge.from, waits)].push_back(
      {FlatProblem::kindOf(edge.to, OpKind::BackwardInput), transfer});
}

void FlatProblem::addInputs(const Problem &problem) {
  std::vector<std::vector<Link>> inputs(table.size());
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk) {
    int forward = kindOf(chunk, OpKind::Forward);
    int input = kindOf(chunk, OpKind::BackwardInput);
    int weight = kindOf(chunk, OpKind::BackwardWeight);
    if (problem.chunks[chunk].hasBackwardInput) {
      inputs[input].push_back({forward, 0});
      inputs[weight].push_back({input, 0});
    } else {
      inputs[weight].push_back({forward, 0});
    }
  }
  for (const Edge &edge : problem.edges) {
    bool far = problem.placement.stageOf(edge.from) !=
               problem.placement.stageOf(edge.to);
    inputs[kindOf(edge.to, OpKind::Forward)].push_back(
        {kindOf(edge.from, OpKind::Forward), far ? edge.forwardTransfer : 0});
    addGradients(problem, inputs, edge, far ? edge.backwardTransfer : 0);
  }
  link(inputs);
}

void FlatProblem::link(std::vector<std::vector<Link>> &inputs) {
  std::vector<std::vector<Link>> users(table.size());
  for (int kind = 0; kind < kinds(); ++kind)
    for (const Link &input : inputs[kind])
      users[input.kind].push_back({kind, input.transfer});
  for (int kind = 0; kind < kinds(); ++kind) {
    Kind &entry = table[kind];
    entry.inputBegin = static_cast<int>(inputLinks.size());
    inputLinks.insert(inputLinks.end(), inputs[kind].begin(),
                      inputs[kind].end());
    entry.inputEnd = static_cast<int>(inputLinks.size());
    entry.userBegin = static_cast<int>(userLinks.size());
    userLinks.insert(userLinks.end(), users[kind].begin(), users[kind].end());
    entry.userEnd = static_cast<int>(userLinks.size());
  }
}

FlatProblem::FlatProblem(const Problem &problem)
    : numMicrobatches(problem.microbatches), perStage(problem.chunksPerStage()),
      table(3 * problem.numChunks()), limits(problem.stages(), unlimited),
      busyTimes(problem.stages()) {
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    for (OpKind kind : splitKinds) {
      Kind &entry = table[kindOf(chunk, kind)];
      entry.stage = problem.placement.stageOf(chunk);
      entry.cost = problem.chunks[chunk].cost(kind);
      entry.memory = problem.chunks[chunk].memory(kind);
      entry.exists = kind != OpKind::BackwardInput ||
                     problem.chunks[chunk].hasBackwardInput;
      busyTimes[entry.stage] += entry.cost * numMicrobatches;
    }
  for (int stage = 0; stage < stages(); ++stage) {
    limits[stage] = problem.memoryLimit(stage).value_or(limits[stage]);
    for (int local = 0; local < perStage; ++local)
      passKinds.push_back(
          kindOf(problem.placement.globalChunk(stage, local), OpKind::Forward));
    for (int local = perStage - 1; local >= 0; --local)
      passKinds.push_back(kindOf(problem.placement.globalChunk(stage, local),
                                 OpKind::BackwardInput));
  }
  addInputs(problem);
  addGroups(problem);
}

void FlatProblem::addGroups(const Problem &problem) {
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk) {
    groups.push_back(chunk);
    slips.push_back(problem.chunks[chunk].hasBackwardInput);
  }
  for (const std::vector<int> &chunks : problem.tied) {
    bool isOnOneStage =
        std::all_of(chunks.begin(), chunks.end(), [&](int chunk) {
          return problem.placement.stageOf(chunk) ==
                 problem.placement.stageOf(chunks.front());
        });
    for (int chunk : chunks) {
      groups[chunk] = chunks.front();
      slips[chunk] = slips[chunk] && isOnOneStage;
    }
  }
}

Op FlatProblem::op(int node) const {
  int kind = node / numMicrobatches;
  return {splitKinds[kind % 3], kind / 3, node % numMicrobatches};
}

/// Splits the fused backwards of one stage. Checks the order and the memory.
static bool flattenStage(const FlatProblem &flat, const std::vector<Op> &ops,
                         std::int64_t limit, std::vector<int> &seen,
                         std::vector<int> &order) {
  std::int64_t memory = 0;
  for (const Op &op : ops)
    if (op.late)
      memory -= flat.kind(FlatProblem::kindOf(op.chunk, op.kind)).memory;
  auto add = [&](int chunk, OpKind opKind, int microbatch) {
    int kind = FlatProblem::kindOf(chunk, opKind);
    if (!flat.kind(kind).exists)
      return true;
    memory += flat.kind(kind).memory;
    order.push_back(flat.node(kind, microbatch));
    bool ascends = opKind != OpKind::Forward || seen[kind]++ == microbatch;
    return ascends && memory <= limit;
  };
  for (const Op &op : ops) {
    bool fused = op.kind == OpKind::Backward;
    if (!add(op.chunk, fused ? OpKind::BackwardInput : op.kind, op.microbatch))
      return false;
    if (fused && !add(op.chunk, OpKind::BackwardWeight, op.microbatch))
      return false;
  }
  return true;
}

std::optional<FlatOrders> veeline::schedule::flatten(const FlatProblem &flat,
                                                     const Schedule &schedule) {
  for (const std::vector<int> &blocks : schedule.overlapped)
    if (!blocks.empty())
      return std::nullopt;
  FlatOrders orders(flat.stages());
  std::vector<int> seen(flat.kinds());
  for (int stage = 0; stage < flat.stages(); ++stage)
    if (!flattenStage(flat, schedule.stages[stage], flat.limit(stage), seen,
                      orders[stage]))
      return std::nullopt;
  return orders;
}

void veeline::schedule::findLate(const FlatProblem &flat,
                                 const FlatOrders &orders,
                                 std::vector<char> &late,
                                 std::vector<std::int64_t> &carried) {
  late.assign(flat.nodes(), 0);
  carried.assign(flat.stages(), 0);
  std::vector<char> seen(flat.nodes());
  for (int stage = 0; stage < flat.stages(); ++stage)
    for (int node : orders[stage]) {
      seen[node] = 1;
      int kind = node / flat.microbatches();
      if (kind % 3 != static_cast<int>(OpKind::BackwardWeight))
        continue;
      int own = flat.kind(kind - 1).exists ? kind - 1 : kind - 2;
      late[node] = !seen[flat.node(own, node % flat.microbatches())];
      if (late[node])
        carried[stage] -= flat.kind(kind).memory;
    }
}

bool veeline::schedule::fitsLoop(const FlatProblem &flat,
                                 const FlatOrders &orders) {
  std::vector<char> late;
  std::vector<std::int64_t> carried;
  findLate(flat, orders, late, carried);
  // By chunk: whether its group has begun the next step; of the W in a turn,
  // the last late one, the last other one, and the first late one.
  int chunks = flat.kinds() / 3, m = flat.microbatches();
  std::vector<char> begun(chunks);
  std::vector<int> lastLate(chunks, -1), last(chunks, -1), firstLate(chunks, m);
  for (int stage = 0; stage < flat.stages(); ++stage) {
    std::int64_t held = carried[stage];
    for (int node : orders[stage]) {
      int kind = node / m, chunk = kind / 3, microbatch = node % m;
      held += flat.kind(kind).memory;
      if (held > flat.limit(stage))
        return false;
      if (kind % 3 == static_cast<int>(OpKind::Forward))
        begun[flat.group(chunk)] = 1;
      if (kind % 3 != static_cast<int>(OpKind::BackwardWeight))
        continue;
      if (late[node] && (begun[flat.group(chunk)] || !flat.maySlip(chunk)))
        return false;
      int &before = late[node] ? lastLate[chunk] : last[chunk];
      if (microbatch < before || (!late[node] && microbatch > firstLate[chunk]))
        return false;
      before = microbatch;
      if (late[node])
        firstLate[chunk] = std::min(firstLate[chunk], microbatch);
    }
  }
  return true;
}

/// Turns orders so that no turn begins with late W: such a W can equally well
/// end the turn before.
static FlatOrders withFewLate(const FlatProblem &flat, FlatOrders orders) {
  std::vector<char> late;
  std::vector<std::int64_t> carried;
  findLate(flat, orders, late, carried);
  for (std::vector<int> &order : orders)
    std::rotate(order.begin(),
                std::find_if(order.begin(), order.end(),
                             [&](int node) { return !late[node]; }),
                order.end());
  return orders;
}

Schedule veeline::schedule::unflatten(const FlatProblem &flat,
                                      const FlatOrders &turned) {
  Schedule schedule;
  schedule.stages.resize(flat.stages());
  FlatOrders orders = withFewLate(flat, turned);
  std::vector<char> late;
  std::vector<std::int64_t> carried;
  findLate(flat, orders, late, carried);
  for (int stage = 0; stage < flat.stages(); ++stage) {
    schedule.stages[stage].reserve(orders[stage].size());
    for (int node : orders[stage]) {
      schedule.stages[stage].push_back(flat.op(node));
      schedule.stages[stage].back().late = late[node];
    }
  }
  return schedule;
}
