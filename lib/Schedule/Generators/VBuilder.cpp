//===- VBuilder.cpp - a schedule on a V under construction ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VBuilder.h"

#include <limits>

using namespace veeline::schedule;

/// Whether any operation of the problem is said to hold memory.
static bool knowsMemory(const Problem &problem) {
  return std::any_of(
      problem.chunks.begin(), problem.chunks.end(), [](const Chunk &chunk) {
        return chunk.forwardMemory != 0 || chunk.backwardInputMemory != 0;
      });
}

VProblem::VProblem(const Problem &problem)
    : numStages(problem.stages()), numMicrobatches(problem.microbatches),
      flow(problem), legs(4 * problem.stages()), limits(problem.stages()) {
  // A problem without memory is scheduled as if each F held one unit.
  bool hasMemory = knowsMemory(problem);
  for (int stage = 0; stage < numStages; ++stage) {
    std::int64_t held = 0;
    for (int leg = 0; leg < 2; ++leg) {
      int number = chunk(Direction::Forward, stage, leg);
      const Chunk &chunk = problem.chunks[number];
      std::int64_t forward = hasMemory ? chunk.forwardMemory : 1;
      std::int64_t backward = hasMemory ? chunk.backwardInputMemory : 0;
      held += std::max(forward, forward + backward);
      legs[stage * 4 + leg] = {number,
                               chunk.forward,
                               forward,
                               0,
                               0,
                               true,
                               flow.forwardInputs[number],
                               flow.forwardUsers[number]};
      legs[stage * 4 + 3 - leg] = {number,
                                   chunk.backwardInput,
                                   backward,
                                   chunk.backwardWeight,
                                   -forward - backward,
                                   chunk.hasBackwardInput,
                                   flow.backwardInputs[number],
                                   flow.backwardUsers[number]};
      lacksInputGradient |= !chunk.hasBackwardInput;
    }
    // Without a limit, what 1F1B's worst stage would hold of this stage.
    limits[stage] = held * numStages;
    if (hasMemory && problem.memoryLimit(stage))
      limits[stage] = *problem.memoryLimit(stage);
  }
}

std::int64_t VProblem::leastLimit(int stage) const {
  std::int64_t held = 0, peak = 0;
  auto add = [&](std::int64_t memory) {
    held += memory;
    peak = std::max(peak, held);
  };
  for (int number = 0; number < 2; ++number)
    add(leg(Direction::Forward, stage, number).memory);
  for (int number = 0; number < 2; ++number) {
    add(leg(Direction::Backward, stage, number).memory);
    add(leg(Direction::Backward, stage, number).weightMemory);
  }
  return peak;
}

VBuilder::VBuilder(const VProblem &problem)
    : problem(problem), states(problem.stages()),
      ends(std::size_t(4) * problem.stages() * problem.microbatches()),
      owed(std::size_t(2) * problem.stages() * problem.microbatches()),
      codes(problem.stages()) {
  for (std::vector<std::uint8_t> &order : codes)
    order.reserve(std::size_t(6) * problem.microbatches());
  reset();
}

void VBuilder::reset() {
  std::fill(states.begin(), states.end(), State{0, unknown, 0, 0, 0, {}, 0, 0});
  std::fill(ends.begin(), ends.end(), unknown);
  for (std::vector<std::uint8_t> &order : codes)
    order.clear();
  greatestIdle = 0;
}

double VBuilder::makespan() const {
  double latest = 0;
  for (const State &state : states)
    latest = std::max(latest, state.now);
  return latest;
}

double VBuilder::span() const {
  double longest = 0;
  for (const State &state : states)
    longest = std::max(longest, state.now - state.firstStart);
  return longest;
}

std::int64_t VBuilder::peakMemory() const {
  std::int64_t peak = 0;
  for (const State &state : states)
    peak = std::max(peak, state.peak);
  return peak;
}

Schedule VBuilder::decode(const Orders &orders, int stages) {
  Schedule schedule;
  schedule.stages.resize(stages);
  for (int stage = 0; stage < stages; ++stage) {
    int next[6] = {};
    schedule.stages[stage].reserve(orders[stage].size());
    for (std::uint8_t code : orders[stage]) {
      constexpr OpKind kinds[] = {OpKind::Forward, OpKind::BackwardInput,
                                  OpKind::BackwardWeight};
      Direction direction = code < 2 ? Direction::Forward : Direction::Backward;
      schedule.stages[stage].push_back(
          {kinds[code / 2],
           VProblem::chunkOf(stages, direction, stage, code % 2),
           next[code]++});
    }
  }
  return schedule;
}
