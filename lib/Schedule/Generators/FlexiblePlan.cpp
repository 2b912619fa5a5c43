//===- FlexiblePlan.cpp - a plan that adapts to gaps ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlexiblePlan.h"

#include "Agenda.h"

using namespace veeline::schedule;

static constexpr double never = Agenda::never;

namespace {
class FlexibleRunner {
public:
  FlexibleRunner(LegBuilder &builder, const Plan &plan,
                 const FlexiblePlanOptions &options);
  bool run();

private:
  /// The position of a stage in its plan.
  struct Progress {
    const std::int32_t *next, *end;
    /// By code: the steps that were run ahead of their turn.
    int *ahead;
    int numAhead;
    /// The memory of the W that the stage owes (not above 0).
    std::int64_t owedMemory;
  };

  static void skipDone(Progress &stage);
  bool act(int stage, double time);
  double findCandidates(int stage, double time, double bound);
  int findAhead(int stage);
  bool place(int stage, int code, double ready);
  void placeWeight(int stage);

  LegBuilder &builder;
  const LegProblem &problem;
  const FlexiblePlanOptions &options;
  std::vector<Progress> progress;
  /// By stage and code.
  std::vector<int> aheadCounts;
  /// By code, for one stage.
  std::vector<int> passed;
  /// By code: the steps that `findAhead` may return.
  std::vector<std::uint8_t> isCandidate;
  int numCandidates = 0;
  Agenda agenda;
};
} // namespace

FlexibleRunner::FlexibleRunner(LegBuilder &builder, const Plan &plan,
                               const FlexiblePlanOptions &options)
    : builder(builder), problem(builder.getProblem()), options(options),
      aheadCounts(static_cast<std::size_t>(problem.stages()) * problem.codes()),
      passed(problem.codes()), isCandidate(problem.codes()), agenda(builder) {
  int *ahead = aheadCounts.data();
  for (const std::vector<std::int32_t> &steps : plan) {
    progress.push_back(
        {steps.data(), steps.data() + steps.size(), ahead, 0, 0});
    ahead += problem.codes();
  }
}

/// Skips steps that were run ahead.
void FlexibleRunner::skipDone(Progress &stage) {
  for (; stage.next != stage.end; ++stage.next) {
    int code = *stage.next;
    if (code == planWeight)
      continue;
    if (stage.numAhead == 0 || stage.ahead[code] == 0)
      return;
    --stage.ahead[code];
    --stage.numAhead;
  }
}

void FlexibleRunner::placeWeight(int stage) {
  progress[stage].owedMemory -= builder.oldestOwed(stage).memory;
  builder.placeWeight(stage);
  agenda.wake(stage, builder.now(stage));
}

/// Places a step whose inputs are available, after as many W as make room for
/// it. Returns false if there is no room.
bool FlexibleRunner::place(int stage, int code, double ready) {
  const LegProblem::Leg &info = problem.leg(stage, code);
  while (builder.memory(stage) + info.memory > problem.limit(stage)) {
    if (!builder.owesWeight(stage))
      return false;
    placeWeight(stage);
  }
  builder.place(stage, code, ready);
  progress[stage].owedMemory += info.weightMemory;
  agenda.wake(stage, builder.now(stage));
  if (!info.hasInputGradient)
    return true;
  agenda.wakeUsers(stage, info);
  return true;
}

/// Finds the legs, other than that of the next step, whose next microbatch
/// could run now and end by `bound`. Returns the time when the next input of
/// any leg is available.
double FlexibleRunner::findCandidates(int stage, double time, double bound) {
  double earliest = never;
  int planned = *progress[stage].next;
  std::int64_t room = problem.limit(stage) - builder.memory(stage);
  numCandidates = 0;
  for (int code = 0; code < problem.codes(); ++code) {
    isCandidate[code] = false;
    if (builder.placed(stage, code) == problem.microbatches())
      continue;
    double ready = builder.readyTime(stage, code);
    if (ready > time)
      earliest = std::min(earliest, ready);
    if (ready > time || ready == LegBuilder::unknown || code == planned)
      continue;
    const LegProblem::Leg &info = problem.leg(stage, code);
    if (time + info.cost > bound + options.overrun * info.cost ||
        info.memory > room)
      continue;
    isCandidate[code] = true;
    ++numCandidates;
  }
  return earliest;
}

/// Returns the first candidate within the window that leaves room for the steps
/// before it, or -1.
int FlexibleRunner::findAhead(int stage) {
  const Progress &own = progress[stage];
  std::int64_t limit = problem.limit(stage);
  std::int64_t held = builder.memory(stage) + own.owedMemory, peak = held;
  const std::int32_t *end =
      own.next + std::min<std::ptrdiff_t>(own.end - own.next,
                                          options.window + std::ptrdiff_t(1));
  std::fill(passed.begin(), passed.end(), 0);
  for (const std::int32_t *step = own.next; step != end && numCandidates > 0;
       ++step) {
    int code = *step;
    if (code == planWeight)
      continue;
    if (passed[code] < own.ahead[code]) {
      ++passed[code];
      continue;
    }
    const LegProblem::Leg &info = problem.leg(stage, code);
    std::int64_t kept = info.memory + info.weightMemory;
    // Only the first step of each code is next for its leg.
    if (isCandidate[code]) {
      if (peak + kept <= limit)
        return code;
      isCandidate[code] = false;
      --numCandidates;
    }
    peak = std::max(peak, held + info.memory);
    held += kept;
  }
  return -1;
}

bool FlexibleRunner::act(int stage, double time) {
  Progress &own = progress[stage];
  skipDone(own);
  if (own.next == own.end) {
    if (builder.owesWeight(stage))
      placeWeight(stage);
    else
      agenda.wake(stage, never);
    return true;
  }
  int code = *own.next;
  double ready = builder.readyTime(stage, code);
  if (ready != LegBuilder::unknown && ready <= time) {
    ++own.next;
    return place(stage, code, ready);
  }
  // An input that has not begun will take at least about as long as this step.
  double bound = ready != LegBuilder::unknown
                     ? ready
                     : time + problem.leg(stage, code).cost;
  double wake = never;
  if (options.window > 0) {
    wake = findCandidates(stage, time, bound);
    int later = numCandidates > 0 ? findAhead(stage) : -1;
    if (later >= 0) {
      ++own.ahead[later];
      ++own.numAhead;
      return place(stage, later, builder.readyTime(stage, later));
    }
  }
  if (builder.owesWeight(stage)) {
    LegBuilder::Owed weight = builder.oldestOwed(stage);
    if (std::max(time, weight.ready) + weight.cost <=
        bound + options.weightOverrun * weight.cost) {
      placeWeight(stage);
      return true;
    }
  }
  agenda.wake(stage,
              ready != LegBuilder::unknown ? std::min(ready, wake) : wake);
  return true;
}

bool FlexibleRunner::run() {
  if (!agenda.run([&](int stage, double time) {
        return act(stage, time) && !builder.isHopeless();
      }))
    return false;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    skipDone(progress[stage]);
    if (progress[stage].next != progress[stage].end ||
        builder.owesWeight(stage))
      return false;
  }
  return true;
}

bool veeline::schedule::buildFlexiblePlan(LegBuilder &builder, const Plan &plan,
                                          const FlexiblePlanOptions &options) {
  builder.reset();
  return FlexibleRunner(builder, plan, options).run();
}
