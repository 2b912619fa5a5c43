//===- ListBuilder.cpp - list scheduling under a memory limit -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ListBuilder.h"

#include "Agenda.h"

using namespace veeline::schedule;

static constexpr double never = Agenda::never;

namespace {
class Lister {
public:
  Lister(LegBuilder &builder, const LegListOptions &options);
  bool run();

private:
  void addStops(int stage);
  void act(int stage, double time);
  bool tryOne(int stage, double time, int code, double &nextReady);
  bool tryWeight(int stage, double time, double nextReady);
  bool isSafeAfter(int stage, int code) const;
  double reserved(int stage, int code) const;
  bool makeRoom(int stage, std::int64_t amount);

  /// What a microbatch holds on its way through a stage before step `code`, if
  /// W runs right after its B; and the maximum that the rest of it, from that
  /// step on, adds to this.
  std::int64_t &held(int stage, int code) {
    return heldBefore[static_cast<std::size_t>(stage) * (codes + 1) + code];
  }
  std::int64_t held(int stage, int code) const {
    return heldBefore[static_cast<std::size_t>(stage) * (codes + 1) + code];
  }
  std::int64_t &need(int stage, int code) {
    return needFrom[static_cast<std::size_t>(stage) * (codes + 1) + code];
  }
  std::int64_t need(int stage, int code) const {
    return needFrom[static_cast<std::size_t>(stage) * (codes + 1) + code];
  }

  LegBuilder &builder;
  const LegProblem &problem;
  const LegListOptions &options;
  int m, codes;
  std::vector<std::int64_t> heldBefore, needFrom;
  /// The memory of the W that a stage owes (not above 0).
  std::vector<std::int64_t> owedMemory;
  Agenda agenda;
  /// Codes in the order of priority.
  std::vector<int> priority;
};
} // namespace

void Lister::addStops(int stage) {
  for (int code = 0; code < codes; ++code) {
    const LegProblem::Leg &leg = problem.leg(stage, code);
    held(stage, code + 1) = held(stage, code) + leg.memory + leg.weightMemory;
  }
  for (int code = codes - 1; code >= 0; --code) {
    const LegProblem::Leg &leg = problem.leg(stage, code);
    std::int64_t step = leg.memory + leg.weightMemory;
    need(stage, code) = std::max(
        {std::int64_t(0), leg.memory, step, step + need(stage, code + 1)});
  }
}

Lister::Lister(LegBuilder &builder, const LegListOptions &options)
    : builder(builder), problem(builder.getProblem()), options(options),
      m(problem.microbatches()), codes(problem.codes()),
      heldBefore(static_cast<std::size_t>(problem.stages()) * (codes + 1)),
      needFrom(heldBefore.size()), owedMemory(problem.stages()),
      agenda(builder) {
  for (int stage = 0; stage < problem.stages(); ++stage)
    addStops(stage);
  int v = problem.legs();
  Direction second = options.first == Direction::Forward ? Direction::Backward
                                                         : Direction::Forward;
  for (Direction direction : {options.first, second})
    for (int i = 0; i < v; ++i)
      priority.push_back(
          problem.code(direction, options.lastLegFirst ? v - 1 - i : i));
}

/// What a forward step has to leave free for the remaining forwards of the
/// microbatches before it.
double Lister::reserved(int stage, int code) const {
  double reserved = 0, rest = 0;
  for (int step = problem.legs() - 1; step >= 1; --step) {
    rest += static_cast<double>(problem.leg(stage, step).memory);
    int waiting = builder.placed(stage, step - 1) -
                  builder.placed(stage, step) + (step - 1 == code) -
                  (step == code);
    reserved += waiting * rest;
  }
  return options.reserve * reserved;
}

/// Whether a stage that runs the next step `code` now could then finish all
/// microbatches that it has begun, oldest first. Microbatches at the same step
/// are alike, and each leaves less behind than it found, so only the first of
/// them has to be checked.
bool Lister::isSafeAfter(int stage, int code) const {
  std::int64_t memory = builder.memory(stage) + owedMemory[stage] +
                        held(stage, code + 1) - held(stage, code);
  std::int64_t limit = problem.limit(stage);
  if (code < problem.legs() - 1 && options.reserve > 0 &&
      builder.placed(stage, code) > builder.placed(stage, codes - 1) &&
      static_cast<double>(memory) + reserved(stage, code) >
          static_cast<double>(limit))
    return false;
  int further = builder.placed(stage, codes - 1) + (codes - 1 == code);
  for (int step = codes - 1; step >= 1; --step) {
    int reached = builder.placed(stage, step - 1) + (step - 1 == code);
    int waiting = reached - further;
    further = reached;
    if (waiting > 0 && memory + need(stage, step) > limit)
      return false;
    memory -= waiting * held(stage, step);
  }
  return true;
}

bool Lister::makeRoom(int stage, std::int64_t amount) {
  while (builder.memory(stage) + amount > problem.limit(stage)) {
    if (!builder.owesWeight(stage))
      return false;
    owedMemory[stage] -= builder.oldestOwed(stage).memory;
    builder.placeWeight(stage);
  }
  return true;
}

/// Runs the next microbatch of one step if it is ready and safe. If it only has
/// to wait, lowers `nextReady` to that time.
bool Lister::tryOne(int stage, double time, int code, double &nextReady) {
  if (builder.placed(stage, code) == m)
    return false;
  double ready = builder.readyTime(stage, code);
  if (ready == LegBuilder::unknown || !isSafeAfter(stage, code))
    return false;
  if (ready > time) {
    nextReady = std::min(nextReady, ready);
    return false;
  }
  const LegProblem::Leg &info = problem.leg(stage, code);
  if (!makeRoom(stage, info.memory))
    return false;
  builder.place(stage, code, ready);
  owedMemory[stage] += info.weightMemory;
  agenda.wake(stage, builder.now(stage));
  if (info.hasInputGradient)
    agenda.wakeUsers(stage, info);
  return true;
}

bool Lister::tryWeight(int stage, double time, double nextReady) {
  if (!builder.owesWeight(stage))
    return false;
  LegBuilder::Owed weight = builder.oldestOwed(stage);
  double end = std::max(time, weight.ready) + weight.cost;
  if (end > nextReady + options.overrun * weight.cost)
    return false;
  owedMemory[stage] -= weight.memory;
  builder.placeWeight(stage);
  agenda.wake(stage, builder.now(stage));
  return true;
}

void Lister::act(int stage, double time) {
  double nextReady = never;
  for (int code : priority)
    if (tryOne(stage, time, code, nextReady))
      return;
  if (!tryWeight(stage, time, nextReady))
    agenda.wake(stage, nextReady);
}

bool Lister::run() {
  return agenda.run([&](int stage, double time) {
    act(stage, time);
    return !builder.isHopeless();
  });
}

bool veeline::schedule::buildList(LegBuilder &builder,
                                  const LegListOptions &options) {
  builder.reset();
  return Lister(builder, options).run();
}
