//===- Orders.cpp - shared code of fixed orders ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Orders.h"

#include <algorithm>

using namespace veeline::schedule;

std::vector<Op> veeline::schedule::oneForwardOneBackward(int chunk,
                                                         int microbatches,
                                                         int ahead) {
  ahead = std::min(ahead, microbatches);
  std::vector<Op> ops;
  ops.reserve(std::size_t(2) * microbatches);
  for (int i = 0; i < ahead; ++i)
    ops.push_back({OpKind::Forward, chunk, i});
  for (int i = 0; i < microbatches; ++i) {
    ops.push_back({OpKind::Backward, chunk, i});
    if (i + ahead < microbatches)
      ops.push_back({OpKind::Forward, chunk, i + ahead});
  }
  return ops;
}

namespace {
/// A turn of a stage: one of its chunks and a microbatch.
struct Turn {
  int local;
  int microbatch;
};
} // namespace

/// The forwards of every stage, in order.
static std::vector<Turn> forwardTurns(const std::vector<int> &groups,
                                      int chunksPerStage) {
  std::vector<Turn> turns;
  int first = 0;
  for (int size : groups) {
    for (int local = 0; local < chunksPerStage; ++local)
      for (int i = 0; i < size; ++i)
        turns.push_back({local, first + i});
    first += size;
  }
  return turns;
}

std::vector<int> veeline::schedule::groupsOf(int stages, int microbatches) {
  std::vector<int> groups(std::max(1, microbatches / stages), stages);
  groups.back() = microbatches - stages * (static_cast<int>(groups.size()) - 1);
  return groups;
}

Schedule veeline::schedule::interleavedSchedule(const char *name,
                                                const Problem &problem,
                                                const std::vector<int> &groups,
                                                int warmUpGroup) {
  const Placement &placement = problem.placement;
  int p = problem.stages(), v = problem.chunksPerStage();
  std::vector<Turn> turns = forwardTurns(groups, v);
  std::size_t total = turns.size();
  Schedule schedule{name, {}};
  schedule.stages.resize(p);
  for (int stage = 0; stage < p; ++stage) {
    std::vector<Op> &ops = schedule.stages[stage];
    ops.reserve(2 * total);
    auto forward = [&](std::size_t n) {
      auto [local, microbatch] = turns[n];
      ops.push_back(
          {OpKind::Forward, placement.globalChunk(stage, local), microbatch});
    };
    auto backward = [&](std::size_t n) {
      auto [local, microbatch] = turns[n];
      ops.push_back({OpKind::Backward,
                     placement.globalChunk(stage, v - 1 - local), microbatch});
    };
    std::size_t warmUp = std::min(2 * std::size_t(p - stage - 1) +
                                      std::size_t(v - 1) * warmUpGroup,
                                  total);
    for (std::size_t n = 0; n < warmUp; ++n)
      forward(n);
    for (std::size_t n = warmUp; n < total; ++n) {
      forward(n);
      backward(n - warmUp);
    }
    for (std::size_t n = total - warmUp; n < total; ++n)
      backward(n);
  }
  return schedule;
}

SplitOrder::SplitOrder(const Problem &problem, int stage)
    : chunk(problem.placement.globalChunk(stage, 0)),
      microbatches(problem.microbatches),
      hasBackwardInput(problem.chunks[chunk].hasBackwardInput) {
  ops.reserve(std::size_t(3) * microbatches);
}

void SplitOrder::backwardInput() {
  int microbatch = backwards++;
  if (hasBackwardInput)
    ops.push_back({OpKind::BackwardInput, chunk, microbatch});
}

std::vector<Op> SplitOrder::finish() {
  while (weights < microbatches)
    backwardWeight();
  return std::move(ops);
}
