//===- FlexiblePlan.cpp - a plan that gives way to gaps -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlexiblePlan.h"

#include <limits>
#include <queue>

using namespace veeline::schedule;

static constexpr double never = std::numeric_limits<double>::infinity();

namespace {
class FlexibleRunner {
public:
  FlexibleRunner(LegBuilder &builder, const Plan &plan,
                 const FlexiblePlanOptions &options);
  bool run();

private:
  struct Event {
    double time;
    int stage;
    bool operator>(const Event &other) const {
      return time != other.time ? time > other.time : stage > other.stage;
    }
  };

  int &ahead(int stage, int code) {
    return aheadCounts[static_cast<std::size_t>(stage) * problem.codes() +
                       code];
  }
  void skipDone(int stage);
  bool act(int stage, double time);
  int findAhead(int stage, double time, double bound);
  bool place(int stage, int code);
  void placeWeight(int stage);
  double nextInput(int stage, double time) const;
  void schedule(int stage, double time);

  LegBuilder &builder;
  const LegProblem &problem;
  const Plan &plan;
  const FlexiblePlanOptions &options;
  std::vector<std::size_t> next;
  /// By stage and code: steps that were run ahead of their turn.
  std::vector<int> aheadCounts, passed;
  /// Memory of the W that a stage owes (not above 0).
  std::vector<std::int64_t> owedMemory;
  std::vector<double> wakeTime;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
};
} // namespace

FlexibleRunner::FlexibleRunner(LegBuilder &builder, const Plan &plan,
                               const FlexiblePlanOptions &options)
    : builder(builder), problem(builder.getProblem()), plan(plan),
      options(options), next(problem.stages()),
      aheadCounts(static_cast<std::size_t>(problem.stages()) * problem.codes()),
      passed(problem.codes()), owedMemory(problem.stages()),
      wakeTime(problem.stages(), never) {}

/// Goes past what was run ahead.
void FlexibleRunner::skipDone(int stage) {
  const std::vector<std::int32_t> &steps = plan[stage];
  for (std::size_t &i = next[stage]; i < steps.size(); ++i) {
    if (steps[i] == planWeight)
      continue;
    if (ahead(stage, steps[i]) == 0)
      return;
    --ahead(stage, steps[i]);
  }
}

void FlexibleRunner::schedule(int stage, double time) {
  wakeTime[stage] = time;
  if (time < never)
    events.push({time, stage});
}

void FlexibleRunner::placeWeight(int stage) {
  owedMemory[stage] -= builder.oldestOwed(stage).memory;
  builder.placeWeight(stage);
  schedule(stage, builder.now(stage));
}

/// Places a step whose inputs are there, after W that make room for it. False:
/// there is no room.
bool FlexibleRunner::place(int stage, int code) {
  const LegProblem::Leg &info = problem.leg(stage, code);
  while (builder.memory(stage) + info.memory > problem.limit(stage)) {
    if (!builder.owesWeight(stage))
      return false;
    placeWeight(stage);
  }
  builder.place(stage, code);
  owedMemory[stage] += info.weightMemory;
  schedule(stage, builder.now(stage));
  if (!info.hasInputGradient)
    return true;
  for (const Link &user : info.users) {
    int other = problem.stageOf(user.chunk);
    double time =
        std::max(builder.now(other), builder.now(stage) + user.transfer);
    if (other != stage && time < wakeTime[other])
      schedule(other, time);
  }
  return true;
}

/// The first step within the window that is ready, ends by `bound` and leaves
/// room for those before it; -1: none.
int FlexibleRunner::findAhead(int stage, double time, double bound) {
  const std::vector<std::int32_t> &steps = plan[stage];
  std::int64_t limit = problem.limit(stage);
  std::int64_t held = builder.memory(stage) + owedMemory[stage], peak = held;
  std::size_t end = std::min(
      steps.size(), next[stage] + static_cast<std::size_t>(options.window) + 1);
  std::fill(passed.begin(), passed.end(), 0);
  int seen = 0;
  for (std::size_t i = next[stage]; i < end && seen < problem.codes(); ++i) {
    int code = steps[i];
    if (code == planWeight)
      continue;
    if (passed[code] < ahead(stage, code)) {
      ++passed[code];
      continue;
    }
    const LegProblem::Leg &info = problem.leg(stage, code);
    std::int64_t kept = info.memory + info.weightMemory;
    // Only the first of each code is next for its leg.
    if (passed[code] == ahead(stage, code) && i > next[stage]) {
      double ready = builder.readyTime(stage, code);
      if (ready != LegBuilder::unknown && ready <= time &&
          time + info.cost <= bound + options.overrun * info.cost &&
          peak + kept <= limit && builder.memory(stage) + info.memory <= limit)
        return code;
    }
    if (passed[code] == ahead(stage, code)) {
      ++passed[code];
      ++seen;
    }
    peak = std::max(peak, held + info.memory);
    held += kept;
  }
  return -1;
}

/// When the next input of any leg is there, after `time`.
double FlexibleRunner::nextInput(int stage, double time) const {
  double earliest = never;
  for (int code = 0; code < problem.codes(); ++code) {
    if (builder.placed(stage, code) == problem.microbatches())
      continue;
    double ready = builder.readyTime(stage, code);
    if (ready > time)
      earliest = std::min(earliest, ready);
  }
  return earliest;
}

bool FlexibleRunner::act(int stage, double time) {
  wakeTime[stage] = never;
  skipDone(stage);
  if (next[stage] == plan[stage].size()) {
    if (builder.owesWeight(stage))
      placeWeight(stage);
    return true;
  }
  int code = plan[stage][next[stage]];
  double ready = builder.readyTime(stage, code);
  if (ready != LegBuilder::unknown && ready <= time) {
    ++next[stage];
    return place(stage, code);
  }
  // An input that has not begun takes at least about as long as this step.
  double bound = ready != LegBuilder::unknown
                     ? ready
                     : time + problem.leg(stage, code).cost;
  if (options.window > 0) {
    int later = findAhead(stage, time, bound);
    if (later >= 0) {
      ++ahead(stage, later);
      return place(stage, later);
    }
  }
  if (builder.owesWeight(stage)) {
    const LegBuilder::Owed &weight = builder.oldestOwed(stage);
    if (std::max(time, weight.ready) + weight.cost <=
        bound + options.weightOverrun * weight.cost) {
      placeWeight(stage);
      return true;
    }
  }
  double wake = options.window > 0 ? nextInput(stage, time) : never;
  schedule(stage, ready != LegBuilder::unknown ? std::min(ready, wake) : wake);
  return true;
}

bool FlexibleRunner::run() {
  for (int stage = 0; stage < problem.stages(); ++stage)
    schedule(stage, 0);
  while (!events.empty()) {
    Event event = events.top();
    events.pop();
    if (event.time == wakeTime[event.stage] &&
        (!act(event.stage, event.time) || builder.isHopeless()))
      return false;
  }
  for (int stage = 0; stage < problem.stages(); ++stage) {
    skipDone(stage);
    if (next[stage] != plan[stage].size() || builder.owesWeight(stage))
      return false;
  }
  return true;
}

bool veeline::schedule::buildFlexiblePlan(LegBuilder &builder, const Plan &plan,
                                          const FlexiblePlanOptions &options) {
  builder.reset();
  return FlexibleRunner(builder, plan, options).run();
}
