//===- Plan.cpp - a fixed order of F and B --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

using namespace veeline::schedule;

namespace {
/// Appends one stage's block order.
class StagePlan {
public:
  StagePlan(std::vector<std::int32_t> &order, int microbatches)
      : order(order), microbatches(microbatches) {}

  /// Adds an operation, unless its microbatch does not exist.
  void add(Direction direction, int leg) {
    int code = static_cast<int>(direction) * 2 + leg;
    if (count[code]++ < microbatches)
      order.push_back(code);
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
  std::vector<std::int32_t> &order;
  int microbatches;
  int count[4] = {};
};
} // namespace

Plan veeline::schedule::blockPlan(int stages, int microbatches) {
  constexpr Direction F = Direction::Forward, B = Direction::Backward;
  // The phases need 2p-1 microbatches; those that do not exist are left out.
  int total = std::max(2 * stages - 1, microbatches);
  Plan plan(stages);
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
/// Runs each stage until its next operation waits for one that is not placed
/// yet. What a stage does depends only on times that are known by then, so the
/// result does not depend on the order in which stages are visited.
class PlanRunner {
public:
  PlanRunner(LegBuilder &builder, const Plan &plan, const PlanOptions &options)
      : builder(builder), problem(builder.getProblem()), plan(plan),
        options(options), next(problem.stages()), asked(problem.stages()),
        weights(problem.stages()) {}
  bool run();

private:
  bool runStage(int stage, bool &advanced);
  bool placeNext(int stage, int code, double ready);
  void placeWeight(int stage) {
    if (!builder.owesWeight(stage))
      return;
    builder.placeWeight(stage);
    ++weights[stage];
  }
  bool isFinished(int stage) const { return next[stage] == plan[stage].size(); }

  LegBuilder &builder;
  const LegProblem &problem;
  const Plan &plan;
  const PlanOptions &options;
  std::vector<std::size_t> next;
  /// The number of W that the plan has asked for, and the number that have run.
  std::vector<int> asked, weights;
};
} // namespace

bool PlanRunner::placeNext(int stage, int code, double ready) {
  const LegProblem::Leg &info = problem.leg(stage, code);
  while (builder.memory(stage) + info.memory > problem.limit(stage)) {
    if (!builder.owesWeight(stage))
      return false;
    placeWeight(stage);
  }
  auto fits = [&] {
    LegBuilder::Owed weight = builder.oldestOwed(stage);
    double now = builder.now(stage);
    return now < ready && weight.ready <= ready &&
           std::max(now, weight.ready) + weight.cost <=
               ready + options.overrun * weight.cost;
  };
  while (builder.owesWeight(stage) && fits())
    placeWeight(stage);
  builder.place(stage, code);
  return true;
}

bool PlanRunner::runStage(int stage, bool &advanced) {
  while (!isFinished(stage)) {
    std::int32_t code = plan[stage][next[stage]];
    if (code == planWeight) {
      if (options.keepWeights && ++asked[stage] > weights[stage])
        placeWeight(stage);
      ++next[stage];
      continue;
    }
    double ready = builder.readyTime(stage, code);
    if (ready == LegBuilder::unknown)
      return true;
    if (!placeNext(stage, code, ready) || builder.isHopeless())
      return false;
    advanced = true;
    ++next[stage];
  }
  return true;
}

bool PlanRunner::run() {
  // Data moves down and up the stages, so sweeps in both directions advance.
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

bool veeline::schedule::buildPlan(LegBuilder &builder, const Plan &plan,
                                  const PlanOptions &options) {
  builder.reset();
  return PlanRunner(builder, plan, options).run();
}

Plan veeline::schedule::planOf(const LegProblem &problem,
                               const LegBuilder::Orders &orders) {
  Plan plan = orders;
  for (std::vector<std::int32_t> &order : plan)
    for (std::int32_t &code : order)
      if (code >= problem.codes())
        code = planWeight;
  return plan;
}
