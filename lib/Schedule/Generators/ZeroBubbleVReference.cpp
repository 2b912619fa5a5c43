//===- ZeroBubbleVReference.cpp - ZB-V as published -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qi, Wan, Huang, Lin: Zero Bubble Pipeline Parallelism (2024,
// arXiv:2401.10241), section 6. p = 3, m = 3, equal costs, chunks by letters
// (F of chunk s: F, of chunk 2p-1-s: f):
//
//   stage 0: F0 F1 F2 .  .  f0 b0 f1 b1 f2 b2 B0 w0 B1 w1 B2 w2 W0 W1 W2
//   stage 1: .  F0 F1 F2 f0 .  f1 b0 f2 b1 B0 b2 B1 w0 B2 w1 W0 w2 W1 W2
//   stage 2: .  .  F0 f0 F1 f1 F2 f2 b0 B0 b1 B1 b2 B2 w0 W0 w1 W1 w2 W2
//
// The construction (VRounds.cpp):
// - F of chunk s go down the stages, those of chunk 2p-1-s go up. On the way
//   up, stage s and all before it take one more F of the first chunk, as long
//   as its memory has room for 2 + 2s chunks and the F ends before the one that
//   comes up;
// - until the first B, the last stages run F of both chunks alternately, until
//   each stage has as many as the one before;
// - rounds follow, in which each stage places one B and one F. It takes the
//   chunk that is behind if the neighbour has delivered, else the other;
// - W wait in a queue, first in, first out. One runs if an operation would not
//   fit into memory; if it ends before an operation's input is available; if
//   the gap before an operation would make the stage the one that waits
//   longest; and at the end. The third case is optional before an F and before
//   a B of the chunk 2p-1-s, which gives four variants. Each is repeated, with
//   the waits of its stages approved in advance, as long as the longest wait
//   decreases. The variant with the shortest longest wait wins.
//
// All decisions are made with the mean costs of all chunks, as published, and
// with the longest wait as objective, whatever the options say. Memory is that
// of each chunk. The published code asserts if a limit does not admit the
// order. Here the order without the extra forwards is used if it fits;
// otherwise the error names what that needs. The bubble of span with F = B = W
// and free transfers is 0 once m >= 2p, in the memory of 1F1B.
//
//===----------------------------------------------------------------------===//

#include "ZeroBubbleVReference.h"
#include "Attempts.h"
#include "Generators.h"
#include "VRounds.h"
#include "veeline/Base/Check.h"

#include <limits>

using namespace veeline::schedule;

/// Returns the problem as the published algorithm sees it: all chunks cost the
/// same and have a B, and all transfers cost the same.
static Problem meanProblem(const Problem &problem) {
  Problem mean = problem;
  double forward = 0, backwardInput = 0, backwardWeight = 0;
  for (const Chunk &chunk : problem.chunks) {
    forward += chunk.forward;
    backwardInput += chunk.backwardInput;
    backwardWeight += chunk.backwardWeight;
  }
  // Equal costs are kept exactly.
  auto average = [&](double sum, double Chunk::*cost) {
    bool equal = true;
    for (const Chunk &chunk : problem.chunks)
      equal &= chunk.*cost == problem.chunks[0].*cost;
    return equal ? problem.chunks[0].*cost : sum / problem.numChunks();
  };
  forward = average(forward, &Chunk::forward);
  backwardInput = average(backwardInput, &Chunk::backwardInput);
  backwardWeight = average(backwardWeight, &Chunk::backwardWeight);
  for (Chunk &chunk : mean.chunks) {
    chunk.forward = forward;
    chunk.backwardInput = backwardInput;
    chunk.backwardWeight = backwardWeight;
    chunk.hasBackwardInput = true;
  }
  double sum = 0, least = std::numeric_limits<double>::infinity(), most = 0;
  for (const Edge &edge : problem.edges)
    for (double transfer : {edge.forwardTransfer, edge.backwardTransfer}) {
      sum += transfer;
      least = std::min(least, transfer);
      most = std::max(most, transfer);
    }
  double transfer = least < most ? sum / (2.0 * problem.edges.size()) : most;
  for (Edge &edge : mean.edges)
    edge.forwardTransfer = edge.backwardTransfer = transfer;
  return mean;
}

namespace {
/// Runs the variants and keeps the one whose stages wait least.
class Reference {
public:
  explicit Reference(const LegProblem &legs) : builder(legs) {}
  bool run(bool extraForwards);
  const LegBuilder::Orders &orders() const { return best; }

private:
  void tryVariant(VRoundsOptions variant, VRoundsFills &fills);
  void offer() {
    if (found && builder.maxIdle() >= leastIdle)
      return;
    found = true;
    leastIdle = builder.maxIdle();
    builder.swapOrders(best);
  }

  LegBuilder builder;
  bool found = false;
  double leastIdle = 0;
  LegBuilder::Orders best;
};
} // namespace

void Reference::tryVariant(VRoundsOptions variant, VRoundsFills &fills) {
  // Only a shorter wait is useful. The first attempt has nothing to beat.
  LegGoal goal{{}, {}, LegGoal::never};
  do {
    builder.setGoal(goal);
    if (!buildVRounds(builder, variant, fills))
      return;
    offer();
    if (builder.maxIdle() >= goal.idle)
      return;
    goal.idle = builder.maxIdle();
    variant.approvedIdle.clear();
    for (int stage = 0; stage < builder.getProblem().stages(); ++stage)
      variant.approvedIdle.push_back(builder.idle(stage));
  } while (goal.idle > 0);
}

bool Reference::run(bool extraForwards) {
  VRoundsVariants variants;
  for (bool fillBeforeBackward : {true, false})
    for (bool fillBeforeForward : {true, false}) {
      VRoundsOptions variant;
      variant.fillBeforeForward = fillBeforeForward;
      variant.fillBeforeBackward = fillBeforeBackward;
      variant.extraForwards = extraForwards;
      variant.strict = true;
      if (variants.isKnown(variant))
        continue;
      tryVariant(variant, variants.of(variant));
      if (found && leastIdle == 0)
        return true;
    }
  return found;
}

std::vector<std::int64_t>
veeline::schedule::referenceLimits(const Problem &problem) {
  Problem mean = meanProblem(problem);
  LegProblem legs(mean);
  for (int stage = 0; stage < legs.stages(); ++stage)
    legs.setLimit(stage, std::numeric_limits<std::int64_t>::max() / 2);
  LegBuilder builder(legs);
  VRoundsOptions options;
  options.extraForwards = false;
  VRoundsFills fills;
  buildVRounds(builder, options, fills);
  return leastLimitsOf(legs, builder.orders());
}

Expected<LegBuilder::Orders>
veeline::schedule::referenceOrders(const Problem &problem) {
  Problem mean = meanProblem(problem);
  LegProblem legs(mean);
  Reference reference(legs);
  if (reference.run(true))
    return reference.orders();
  std::vector<std::int64_t> least = referenceLimits(problem);
  for (int stage = 0; stage < legs.stages(); ++stage)
    if (!legs.hasGivenLimit(stage))
      legs.setLimit(stage, std::max(legs.limit(stage), least[stage]));
  if (Status status = checkLimits(problem, legs, "zb-v-reference", least,
                                  "the published order needs");
      !status)
    return status.takeError();
  // The order of F and B without extra forwards is the same for all costs, and
  // `least` is the memory that it needs.
  [[maybe_unused]] bool isFound = reference.run(true) || reference.run(false);
  VEELINE_CHECK(isFound, "the limits admit the order without extra forwards");
  return reference.orders();
}

Expected<Schedule>
veeline::schedule::generateZeroBubbleVReference(const Problem &problem,
                                                const GeneratorOptions &) {
  Expected<LegBuilder::Orders> orders = referenceOrders(problem);
  if (!orders)
    return orders.takeError();
  Schedule schedule = LegBuilder::decode(*orders, problem);
  schedule.name = "zb-v-reference";
  return schedule;
}
