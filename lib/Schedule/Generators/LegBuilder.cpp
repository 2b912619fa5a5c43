//===- LegBuilder.cpp - a schedule under construction ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LegBuilder.h"

using namespace veeline::schedule;

/// Whether the problem specifies memory for any operation.
static bool knowsMemory(const Problem &problem) {
  return std::any_of(
      problem.chunks.begin(), problem.chunks.end(), [](const Chunk &chunk) {
        return chunk.forwardMemory != 0 || chunk.backwardInputMemory != 0;
      });
}

static Link firstOf(std::span<const Link> links) {
  return links.empty() ? Link{} : links[0];
}

/// The earliest times at which the first F of each chunk can start.
static std::vector<double> headsOf(const Problem &problem, const Flow &flow) {
  std::vector<double> heads(problem.numChunks());
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    for (const Link &link : flow.forwardInputs[chunk])
      heads[chunk] = std::max(
          heads[chunk], heads[link.chunk] + problem.chunks[link.chunk].forward +
                            link.transfer);
  return heads;
}

LegProblem::LegProblem(const Problem &problem)
    : numStages(problem.stages()), numLegs(problem.chunksPerStage()),
      numMicrobatches(problem.microbatches), flow(problem),
      legTable(std::size_t(2) * problem.numChunks()),
      workOfStage(problem.stages()),
      fillOfStage(problem.stages(), std::numeric_limits<double>::infinity()),
      limits(problem.stages()), heldOfStage(problem.stages()),
      isGiven(problem.stages()) {
  std::vector<double> heads = headsOf(problem, flow);
  // A problem without memory is scheduled as if each F held one unit.
  bool hasMemory = knowsMemory(problem);
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    stageOfChunk.push_back(problem.placement.stageOf(chunk));
  for (int stage = 0; stage < numStages; ++stage) {
    Leg *legs = legTable.data() + static_cast<std::size_t>(stage) * codes();
    for (int local = 0; local < numLegs; ++local) {
      int number = problem.placement.globalChunk(stage, local);
      const Chunk &chunk = problem.chunks[number];
      std::int64_t forward = hasMemory ? chunk.forwardMemory : 1;
      std::int64_t backward = hasMemory ? chunk.backwardInputMemory : 0;
      heldOfStage[stage] += std::max(forward, forward + backward);
      workOfStage[stage] +=
          numMicrobatches *
          (chunk.forward + chunk.backwardInput + chunk.backwardWeight);
      fillOfStage[stage] = std::min(fillOfStage[stage], heads[number]);
      legs[local] = {number,
                     chunk.forward,
                     forward,
                     0,
                     0,
                     true,
                     flow.forwardInputs[number],
                     flow.forwardUsers[number],
                     firstOf(flow.forwardInputs[number])};
      legs[codes() - 1 - local] = {number,
                                   chunk.backwardInput,
                                   backward,
                                   chunk.backwardWeight,
                                   -forward - backward,
                                   chunk.hasBackwardInput,
                                   flow.backwardInputs[number],
                                   flow.backwardUsers[number],
                                   firstOf(flow.backwardInputs[number])};
      lacksInputGradient |= !chunk.hasBackwardInput;
    }
    std::optional<std::int64_t> limit;
    if (hasMemory)
      limit = problem.memoryLimit(stage);
    isGiven[stage] = limit.has_value();
    limits[stage] = limit.value_or(heldOfStage[stage] * numStages);
  }
}

std::int64_t LegProblem::leastLimit(int stage) const {
  std::int64_t held = 0, peak = 0;
  auto add = [&](std::int64_t memory) {
    held += memory;
    peak = std::max(peak, held);
  };
  for (int code = 0; code < codes(); ++code) {
    add(leg(stage, code).memory);
    add(leg(stage, code).weightMemory);
  }
  return peak;
}

LegBuilder::LegBuilder(const LegProblem &problem)
    : problem(problem), states(problem.stages()),
      counts(static_cast<std::size_t>(problem.stages()) * problem.codes()),
      weightCounts(counts.size() / 2),
      ends(counts.size() * problem.microbatches()), chunks(counts.size() / 2),
      owedStride(std::size_t(1) * problem.legs() * problem.microbatches() + 32),
      owed(problem.stages() * owedStride), placedCodes(problem.stages()) {
  reset();
}

void LegBuilder::reset() {
  std::fill(states.begin(), states.end(), State{0, unknown, 0, 0, 0, 0});
  std::fill(counts.begin(), counts.end(), 0);
  std::fill(weightCounts.begin(), weightCounts.end(), 0);
  std::fill(ends.begin(), ends.end(), unknown);
  placedCodes.resize(problem.stages());
  for (std::vector<std::int32_t> &order : placedCodes) {
    order.clear();
    order.reserve(std::size_t(3) * problem.legs() * problem.microbatches());
  }
  greatestIdle = leastMakespan = leastSpan = 0;
  greatestPeak = 0;
  hopeless = false;
}

/// Whether `key` is no better than `goal`, up to rounding.
static bool missesGoal(const Key &key, const Key &goal) {
  constexpr double rounding = 1 + 1e-12;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] * rounding < goal[i])
      return false;
    if (key[i] > goal[i] * rounding)
      return true;
  }
  return true;
}

void LegBuilder::judge(int stage) {
  const State &state = states[stage];
  greatestIdle = std::max(greatestIdle, state.idle);
  greatestPeak = std::max(greatestPeak, state.memory);
  double span = state.idle + problem.work(stage);
  leastSpan = std::max(leastSpan, span);
  leastMakespan = std::max(leastMakespan, state.firstStart + span);
  double memory = static_cast<double>(greatestPeak);
  hopeless = greatestIdle >= goal.idle &&
             missesGoal({leastMakespan, leastSpan, memory}, goal.makespan) &&
             missesGoal({leastSpan, leastMakespan, memory}, goal.span);
}

double LegBuilder::makespan() const {
  double latest = 0;
  for (const State &state : states)
    latest = std::max(latest, state.now);
  return latest;
}

double LegBuilder::span() const {
  double longest = 0;
  for (const State &state : states)
    longest = std::max(longest, state.now - state.firstStart);
  return longest;
}

Key LegBuilder::key(Objective objective) const {
  Key key{makespan(), span(), static_cast<double>(peakMemory())};
  if (objective == Objective::Span)
    std::swap(key[0], key[1]);
  return key;
}

Schedule LegBuilder::decode(const Orders &orders, const Problem &problem) {
  int v = problem.chunksPerStage();
  Schedule schedule;
  schedule.stages.resize(orders.size());
  std::vector<int> next(std::size_t(3) * v);
  for (std::size_t stage = 0; stage < orders.size(); ++stage) {
    std::fill(next.begin(), next.end(), 0);
    schedule.stages[stage].reserve(orders[stage].size());
    for (std::int32_t code : orders[stage]) {
      constexpr OpKind kinds[] = {OpKind::Forward, OpKind::BackwardInput,
                                  OpKind::BackwardWeight};
      int leg = code % v;
      int chunk =
          problem.placement.globalChunk(stage, code < v ? leg : v - 1 - leg);
      int microbatch = next[code]++;
      if (code / v != 1 || problem.chunks[chunk].hasBackwardInput)
        schedule.stages[stage].push_back({kinds[code / v], chunk, microbatch});
    }
  }
  return schedule;
}
