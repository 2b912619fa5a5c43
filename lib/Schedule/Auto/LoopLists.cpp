//===- LoopLists.cpp - list scheduling of a loop --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopLists.h"

using namespace veeline::schedule;

static Problem manySteps(const Problem &problem) {
  Problem many = problem;
  many.microbatches *= LoopLists::steps;
  return many;
}

LoopLists::LoopLists(const Problem &problem, const FlatProblem &flat)
    : flat(flat), unrolled(manySteps(problem)),
      judge(flat, Objective::Period, /*seed=*/1) {}

static bool isWeight(int kind) {
  return kind % 3 == static_cast<int>(OpKind::BackwardWeight);
}

namespace {
/// A W that runs in the turn after that of its step, and the number of F and B
/// that run before it there.
struct LateWeight {
  int node, before;
};
} // namespace

/// Inserts late W into the next turn, by the number of F and B before them.
/// Returns false if that would be at the end of the turn.
static bool merge(const FlatProblem &flat, const std::vector<int> &turn,
                  const std::vector<LateWeight> &late,
                  std::vector<int> &order) {
  auto next = late.begin();
  int passed = 0;
  for (int node : turn) {
    bool passes = !isWeight(node / flat.microbatches());
    while (passes && next != late.end() && next->before <= passed)
      order.push_back((next++)->node);
    order.push_back(node);
    passed += passes;
  }
  return next == late.end();
}

/// Takes the turn that begins a step. A turn has as many F and B as a step.
bool LoopLists::take(int step, const FlatOrders &all,
                     FlatOrders &orders) const {
  int m = flat.microbatches();
  orders.assign(flat.stages(), {});
  for (int stage = 0; stage < flat.stages(); ++stage) {
    std::vector<int> turn;
    std::vector<LateWeight> late;
    int perStep = 0, passed = 0;
    for (int node : all[stage])
      perStep += !isWeight(node / unrolled.microbatches());
    perStep = std::max(1, perStep / steps);
    for (int node : all[stage]) {
      int kind = node / unrolled.microbatches();
      int microbatch = node % unrolled.microbatches();
      passed += !isWeight(kind);
      if (microbatch / m != step)
        continue;
      int own = flat.node(kind, microbatch % m);
      int turnsBefore = (passed - 1) / perStep;
      if (isWeight(kind) && turnsBefore > step)
        late.push_back({own, passed - turnsBefore * perStep});
      else
        turn.push_back(own);
    }
    if (!merge(flat, turn, late, orders[stage]))
      return false;
  }
  return fitsLoop(flat, orders);
}

std::optional<LoopLists::Turn> LoopLists::run(const ListOptions &options) {
  ListOptions ofSteps = options;
  ofSteps.stepLength = flat.microbatches();
  FlatOrders all = listSchedule(unrolled, ofSteps).orders, orders;
  std::optional<Turn> best;
  for (int step = 1; step + 1 < steps; ++step)
    if (take(step, all, orders) && judge.load(orders) &&
        (!best || judge.score() < best->period))
      best = {judge.score(), orders};
  return best;
}
