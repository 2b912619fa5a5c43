//===- VPlan.cpp - a V schedule with a fixed order of F and B -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VPlan.h"

using namespace veeline::schedule;

namespace {
/// Appends one stage's block order.
class StagePlan {
public:
  StagePlan(std::vector<std::uint8_t> &order, int microbatches)
      : order(order), microbatches(microbatches) {}

  /// One operation, unless its microbatch is beyond the real ones.
  void add(Direction direction, int leg) {
    int code = static_cast<int>(direction) * 2 + leg;
    if (count[code]++ < microbatches)
      order.push_back(static_cast<std::uint8_t>(code));
  }
  void addWithWeight(int leg) {
    int before = order.size();
    add(Direction::Backward, leg);
    if (static_cast<int>(order.size()) > before)
      order.push_back(planWeight);
  }
  int placed(Direction direction, int leg) const {
    return count[static_cast<int>(direction) * 2 + leg];
  }

private:
  std::vector<std::uint8_t> &order;
  int microbatches;
  int count[4] = {};
};
} // namespace

VPlan veeline::schedule::blockPlan(int stages, int microbatches) {
  constexpr Direction F = Direction::Forward, B = Direction::Backward;
  // The phases need 2p-1 microbatches; those that do not exist are left out.
  int total = std::max(2 * stages - 1, microbatches);
  VPlan plan(stages);
  for (int stage = 0; stage < stages; ++stage) {
    plan[stage].reserve(std::size_t(6) * microbatches);
    StagePlan order(plan[stage], microbatches);
    for (int i = 0; i < 2 * (stages - stage) - 1; ++i)
      order.add(F, 0);
    for (int i = 0; i < stage; ++i) {
      order.add(F, 1);
      order.add(F, 0);
    }
    for (int i = 0; i < stages - stage; ++i) {
      order.add(F, 1);
      order.addWithWeight(0);
    }
    while (order.placed(F, 1) < total) {
      if (order.placed(F, 0) < total)
        order.add(F, 0);
      order.addWithWeight(1);
      order.add(F, 1);
      order.addWithWeight(0);
    }
    for (int i = 0; i < stage; ++i) {
      order.add(B, 1);
      order.add(B, 0);
    }
    for (int i = 0; i < stages - stage; ++i)
      order.addWithWeight(1);
  }
  return plan;
}

namespace {
/// Runs each stage until its next operation waits for one not placed yet. What
/// a stage does depends only on times that are known by then, so the result
/// does not depend on the order in which stages are visited.
class PlanRunner {
public:
  PlanRunner(VBuilder &builder, const VPlan &plan, const VPlanOptions &options)
      : builder(builder), problem(builder.getProblem()), plan(plan),
        options(options), next(problem.stages()) {}
  bool run();

private:
  bool runStage(int stage, bool &advanced);
  bool placeNext(int stage, Direction direction, int leg, double ready);
  bool isFinished(int stage) const { return next[stage] == plan[stage].size(); }

  VBuilder &builder;
  const VProblem &problem;
  const VPlan &plan;
  const VPlanOptions &options;
  std::vector<std::size_t> next;
};
} // namespace

bool PlanRunner::placeNext(int stage, Direction direction, int leg,
                           double ready) {
  const VProblem::Leg &info = problem.leg(direction, stage, leg);
  while (builder.memory(stage) + info.memory > problem.limit(stage)) {
    if (!builder.owesWeight(stage))
      return false;
    builder.placeWeight(stage);
  }
  auto fits = [&] {
    const VBuilder::Owed &weight = builder.oldestOwed(stage);
    double now = builder.now(stage);
    return now < ready && weight.ready <= ready &&
           std::max(now, weight.ready) + weight.cost <=
               ready + options.overrun * weight.cost;
  };
  while (builder.owesWeight(stage) && fits())
    builder.placeWeight(stage);
  builder.place(direction, stage, leg);
  return true;
}

bool PlanRunner::runStage(int stage, bool &advanced) {
  while (!isFinished(stage)) {
    std::uint8_t code = plan[stage][next[stage]];
    if (code == planWeight) {
      if (options.keepWeights && builder.owesWeight(stage))
        builder.placeWeight(stage);
      ++next[stage];
      continue;
    }
    Direction direction = code < 2 ? Direction::Forward : Direction::Backward;
    double ready = builder.readyTime(direction, stage, code % 2);
    if (ready == VBuilder::unknown)
      return true;
    if (!placeNext(stage, direction, code % 2, ready))
      return false;
    advanced = true;
    ++next[stage];
  }
  return true;
}

bool PlanRunner::run() {
  // Data goes down and up the stages, so sweeps in both directions advance.
  bool advanced = true;
  int p = problem.stages();
  while (advanced) {
    advanced = false;
    for (int stage = 0; stage < p; ++stage)
      if (!runStage(stage, advanced))
        return false;
    for (int stage = p - 1; stage >= 0; --stage)
      if (!runStage(stage, advanced))
        return false;
  }
  for (int stage = 0; stage < p; ++stage) {
    if (!isFinished(stage))
      return false;
    while (builder.owesWeight(stage))
      builder.placeWeight(stage);
  }
  return true;
}

bool veeline::schedule::buildVPlan(VBuilder &builder, const VPlan &plan,
                                   const VPlanOptions &options) {
  builder.reset();
  return PlanRunner(builder, plan, options).run();
}
