//===- VRounds.cpp - the rounds of the published ZB-V ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VRounds.h"

using namespace veeline::schedule;

static constexpr Direction Forward = Direction::Forward;
static constexpr Direction Backward = Direction::Backward;

namespace {
class Rounds {
public:
  Rounds(LegBuilder &builder, const VRoundsOptions &options,
         VRoundsFills &fills);
  bool run();

private:
  bool firstV();
  void extraForwards(int stage);
  void fillUp();
  bool round();
  int backwardLeg(int stage) const;
  int forwardLeg(int stage) const;
  bool placeBackward(int stage, int leg);
  bool placeForward(int stage);
  bool isFinished() const;
  bool place(Direction direction, int stage, int leg);
  bool runWeightsUntil(int stage, double ready, bool fill);
  bool makeRoom(int stage, std::int64_t amount);

  bool isLeft(Direction direction, int stage, int leg) const {
    return builder.placed(direction, stage, leg) < m;
  }

  LegBuilder &builder;
  const LegProblem &problem;
  const VRoundsOptions &options;
  VRoundsFills &fills;
  int p, m;
  double maxApproved = 0;
  bool lacksMemory = false;
  std::vector<std::uint8_t> legs;
};
} // namespace

Rounds::Rounds(LegBuilder &builder, const VRoundsOptions &options,
               VRoundsFills &fills)
    : builder(builder), problem(builder.getProblem()), options(options),
      fills(fills), p(problem.stages()), m(problem.microbatches()), legs(p) {
  for (double idle : options.approvedIdle)
    maxApproved = std::max(maxApproved, idle);
}

/// Runs W until `amount` fits into memory. Returns false if it never will.
bool Rounds::makeRoom(int stage, std::int64_t amount) {
  while (builder.memory(stage) + amount > problem.limit(stage)) {
    if (!builder.owesWeight(stage)) {
      lacksMemory = true;
      return false;
    }
    builder.placeWeight(stage);
  }
  return true;
}

/// Places an operation if its inputs are available and memory admits it.
bool Rounds::place(Direction direction, int stage, int leg) {
  if (!isLeft(direction, stage, leg) ||
      builder.readyTime(direction, stage, leg) == LegBuilder::unknown ||
      !makeRoom(stage, problem.leg(direction, stage, leg).memory))
    return false;
  builder.place(direction, stage, leg);
  return true;
}

/// Runs W that fit into the gap before `ready`. Then, with `fill`, runs one
/// more if the remaining gap would make this the worst stage. Returns whether
/// that one ran.
bool Rounds::runWeightsUntil(int stage, double ready, bool fill) {
  auto fits = [&] {
    LegBuilder::Owed weight = builder.oldestOwed(stage);
    return std::max(builder.now(stage), weight.ready) + weight.cost <= ready;
  };
  while (builder.owesWeight(stage) && fits())
    builder.placeWeight(stage);
  if (!fill || !builder.owesWeight(stage))
    return false;
  double allowed = builder.maxIdle();
  if (!options.approvedIdle.empty())
    allowed = std::max(allowed, maxApproved - options.approvedIdle[stage]);
  double gap = ready - builder.now(stage);
  if (gap <= allowed - builder.idle(stage) ||
      builder.oldestOwed(stage).ready > ready)
    return false;
  builder.placeWeight(stage);
  return true;
}

/// Places forwards of leg 0 that fit on a stage before its first F of leg 1,
/// each with those of the stages before it.
void Rounds::extraForwards(int stage) {
  double ready = builder.readyTime(Forward, stage, 1);
  double cost = problem.leg(Forward, stage, 0).cost;
  std::int64_t held = std::max(problem.leg(Forward, stage, 0).memory,
                               problem.leg(Forward, stage, 1).memory);
  // Leaves room for the forwards that come before the first W can release
  // anything.
  std::int64_t reserve = held * (2 + 2 * stage);
  while (builder.memory(stage) + reserve <= problem.limit(stage) &&
         builder.now(stage) + cost <= ready && isLeft(Forward, stage, 0))
    for (int before = 0; before <= stage; ++before)
      if (!place(Forward, before, 0))
        return;
}

/// Places the first microbatch down and up, with more forwards on the way.
bool Rounds::firstV() {
  for (int stage = 0; stage < p; ++stage)
    if (!place(Forward, stage, 0))
      return false;
  for (int stage = p - 1; stage >= 0; --stage) {
    if (stage < p - 1 && options.extraForwards)
      extraForwards(stage);
    if (!place(Forward, stage, 1))
      return false;
  }
  return true;
}

/// Places forwards of later stages while the first backward comes down to them.
/// If memory does not admit one, the rounds will place it.
void Rounds::fillUp() {
  auto forwards = [&](int stage, int leg) {
    return builder.placed(Forward, stage, leg);
  };
  int leg = 0;
  for (int stage = 1; stage < p; ++stage) {
    int before = stage - 1, inVain = 0;
    while (inVain < 2 && (forwards(stage, 0) + forwards(stage, 1) <
                              forwards(before, 0) + forwards(before, 1) ||
                          (forwards(stage, 1) <= forwards(before, 1) &&
                           forwards(before, 1) < m))) {
      ++inVain;
      for (int later = p - 1; later >= stage; --later)
        if (place(Forward, later, leg))
          inVain = 0;
      leg = 1 - leg;
    }
  }
}

/// The leg whose B a stage takes in this round.
int Rounds::backwardLeg(int stage) const {
  int down = builder.placed(Backward, stage, 0);
  int up = builder.placed(Backward, stage, 1);
  if (up >= down)
    return 0;
  if (stage == p - 1 || down >= m)
    return 1;
  return builder.isPlaced(Backward, stage + 1, 1, up) ? 1 : 0;
}

/// The leg whose F a stage takes in this round, or -1.
int Rounds::forwardLeg(int stage) const {
  int down = builder.placed(Forward, stage, 0);
  int up = builder.placed(Forward, stage, 1);
  if (up >= m)
    return -1;
  if (up >= down)
    return 0;
  if (stage == p - 1 || builder.isPlaced(Forward, stage + 1, 1, up))
    return 1;
  if (down < m && (stage == 0 || builder.isPlaced(Forward, stage - 1, 0, down)))
    return 0;
  return -1;
}

bool Rounds::placeBackward(int stage, int leg) {
  const LegProblem::Leg &info = problem.leg(Backward, stage, leg);
  if (!isLeft(Backward, stage, leg))
    return false;
  double ready = builder.readyTime(Backward, stage, leg);
  if (ready == LegBuilder::unknown)
    return false;
  if (info.hasInputGradient) {
    if (!makeRoom(stage, info.memory))
      return false;
    bool filled =
        runWeightsUntil(stage, ready, leg == 1 || options.fillBeforeBackward);
    fills.beforeBackward |= filled && leg == 0;
    builder.place(Backward, stage, leg);
    return true;
  }
  if (!options.weightAtOnce) {
    builder.place(Backward, stage, leg);
    return true;
  }
  runWeightsUntil(stage, ready, true);
  builder.place(Backward, stage, leg);
  while (builder.owesWeight(stage) && builder.oldestOwed(stage).leg != leg)
    builder.placeWeight(stage);
  builder.placeWeight(stage);
  return true;
}

bool Rounds::placeForward(int stage) {
  int leg = forwardLeg(stage);
  if (leg < 0)
    return false;
  double ready = builder.readyTime(Forward, stage, leg);
  if (ready == LegBuilder::unknown ||
      !makeRoom(stage, problem.leg(Forward, stage, leg).memory))
    return false;
  fills.beforeForward |=
      runWeightsUntil(stage, ready, options.fillBeforeForward);
  builder.place(Forward, stage, leg);
  return true;
}

/// Places operations of one round. Returns false if nothing could be placed.
bool Rounds::round() {
  bool advanced = false;
  for (int stage = 0; stage < p; ++stage)
    legs[stage] = static_cast<std::uint8_t>(backwardLeg(stage));
  for (int stage = p - 1; stage >= 0; --stage)
    if (legs[stage] == 1)
      advanced |= placeBackward(stage, 1);
  for (int stage = 0; stage < p; ++stage)
    if (legs[stage] == 0)
      advanced |= placeBackward(stage, 0);
  for (int stage = 0; stage < p; ++stage)
    advanced |= placeForward(stage);
  return advanced;
}

bool Rounds::isFinished() const {
  for (int stage = 0; stage < p; ++stage)
    if (isLeft(Backward, stage, 0) || isLeft(Backward, stage, 1))
      return false;
  return true;
}

bool Rounds::run() {
  if (!firstV())
    return false;
  fillUp();
  while (!builder.isHopeless() && round()) {
  }
  if (!isFinished() || (options.strict && lacksMemory))
    return false;
  for (int stage = 0; stage < p; ++stage)
    while (builder.owesWeight(stage))
      builder.placeWeight(stage);
  return true;
}

bool veeline::schedule::buildVRounds(LegBuilder &builder,
                                     const VRoundsOptions &options,
                                     VRoundsFills &fills) {
  builder.reset();
  return Rounds(builder, options, fills).run();
}

bool VRoundsVariants::isKnown(const VRoundsOptions &options) {
  VRoundsOptions more = options;
  more.fillBeforeForward = true;
  if (!options.fillBeforeForward && !of(more).beforeForward) {
    of(options) = of(more);
    return true;
  }
  more = options;
  more.fillBeforeBackward = true;
  if (!options.fillBeforeBackward && !of(more).beforeBackward) {
    of(options) = of(more);
    return true;
  }
  return false;
}
