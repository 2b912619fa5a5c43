//===- DualPipeV.cpp - the V-shaped half of DualPipe ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DeepSeek-AI, DeepSeek-V3 Technical Report (2024), arXiv:2412.19437, section
// 3.2.1, and its V-shaped half, "DualPipeV" (2025). Stage s holds chunks s and
// 2p-1-s, here D (down) and U (up). In the steady state a stage pairs the
// forward of one chunk with the backward of the other; with `overlapBlocks` a
// pair is a block in which communication of one hides behind computation of the
// other. With r = p-1-s, stage s runs
//
//   1. 2r times      FD
//   2. s+1 times     FD, FU
//   3. r times       BU, W, FU               split backward
//   4. m-2p+s+1 ×    (FD, BWU), (FU, BWD)    pairs
//   5. r times       BWU, (FU, BWD)
//   6. s+1 times     BU, BD                  split from the second half on
//   7. r times       W, BD                   split
//   8. s+1 times     W
//
// where W is the oldest that is owed; the first FD and BWU of step 4 are no
// block on the last stage. p = 2, m = 4:
//
//   stage 0: 0F0 0F1 0F2 3F0 3B0 3W0 3F1 0F3 3BW1 3F2 0BW0 3BW2 3F3 0BW1 ...
//   stage 1: 1F0 2F0 1F1 2F1 1F2 2BW0 2F2 1BW0 1F3 2BW1 2F3 1BW1 2BW2 1BW2 ...
//
// This needs m >= 2p. For fewer microbatches, the stages run the last m
// microbatches of the schedule for 2p: an order stays valid if microbatches are
// left out, and W fill the waits at the end of a step.
//
// A stage holds at most 2p+1 of its chunks' activations, which is p + 1/2 of
// its own. For equal chunks, free transfers, m >= 2p and W <= min(F, B), the
// time of the bubble is at most the published (p-1)(F + 2B - W) a chunk without
// overlap. It is (p-1)(2F - W) if F = B.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"

#include "veeline/Base/Text.h"

#include <algorithm>

using namespace veeline::schedule;

namespace {
/// The order of one stage under construction, without the microbatches before
/// `firstMicrobatch`.
class StageOrder {
public:
  enum Leg { Down, Up };
  StageOrder(const Problem &problem, int stage, int firstMicrobatch)
      : problem(problem), stage(stage), firstMicrobatch(firstMicrobatch) {}

  void forward(Leg leg) { append(OpKind::Forward, leg, forwards[leg]++); }
  void backward(Leg leg) { append(OpKind::Backward, leg, backwards[leg]++); }
  /// Adds a backward whose W runs later.
  void backwardInput(Leg leg);
  void oldestWeight();
  /// Adds a forward and a backward that can run as a block.
  void pair(Leg forwardLeg, Leg backwardLeg);

  std::vector<Op> ops;
  /// The steps at which a block begins.
  std::vector<int> blocks;

private:
  void append(OpKind kind, Leg leg, int microbatch);

  const Problem &problem;
  int stage, firstMicrobatch;
  int forwards[2] = {}, backwards[2] = {};
  struct Owed {
    Leg leg;
    int microbatch;
  };
  std::vector<Owed> owed;
  std::size_t paid = 0;
};
} // namespace

void StageOrder::append(OpKind kind, Leg leg, int microbatch) {
  int chunk = problem.placement.globalChunk(stage, leg);
  if (microbatch < firstMicrobatch || (kind == OpKind::BackwardInput &&
                                       !problem.chunks[chunk].hasBackwardInput))
    return;
  ops.push_back({kind, chunk, microbatch - firstMicrobatch});
}

void StageOrder::backwardInput(Leg leg) {
  owed.push_back({leg, backwards[leg]});
  append(OpKind::BackwardInput, leg, backwards[leg]++);
}

void StageOrder::oldestWeight() {
  append(OpKind::BackwardWeight, owed[paid].leg, owed[paid].microbatch);
  ++paid;
}

void StageOrder::pair(Leg forwardLeg, Leg backwardLeg) {
  std::size_t begin = ops.size();
  forward(forwardLeg);
  backward(backwardLeg);
  if (ops.size() == begin + 2)
    blocks.push_back(begin);
}

/// Builds stage `stage` of the schedule for `microbatches` >= 2p.
static void buildStage(StageOrder &order, int stages, int stage,
                       int microbatches) {
  using enum StageOrder::Leg;
  int after = stages - 1 - stage, upTo = stage + 1;
  auto repeat = [](int count, auto body) {
    for (int i = 0; i < count; ++i)
      body(i);
  };
  repeat(2 * after, [&](int) { order.forward(Down); });
  repeat(upTo, [&](int) {
    order.forward(Down);
    order.forward(Up);
  });
  repeat(after, [&](int) {
    order.backwardInput(Up);
    order.oldestWeight();
    order.forward(Up);
  });
  repeat(microbatches - 2 * stages + upTo, [&](int i) {
    if (i == 0 && after == 0) {
      order.forward(Down);
      order.backward(Up);
    } else {
      order.pair(Down, Up);
    }
    order.pair(Up, Down);
  });
  repeat(after, [&](int) {
    order.backward(Up);
    order.pair(Up, Down);
  });
  // Of these 2(s+1) alternating backwards, s+1 are split.
  repeat(2 * upTo, [&](int i) {
    StageOrder::Leg leg = i % 2 == 0 ? Up : Down;
    if (i < upTo)
      order.backward(leg);
    else
      order.backwardInput(leg);
  });
  repeat(after, [&](int) {
    order.oldestWeight();
    order.backwardInput(Down);
  });
  repeat(upTo, [&](int) { order.oldestWeight(); });
}

Expected<Schedule>
veeline::schedule::generateDualPipeV(const Problem &problem,
                                     const GeneratorOptions &options) {
  int p = problem.stages(), m = problem.microbatches;
  int planned = std::max(m, 2 * p);
  Schedule schedule{"dualpipe-v", {}};
  for (int stage = 0; stage < p; ++stage) {
    StageOrder order(problem, stage, planned - m);
    buildStage(order, p, stage, planned);
    schedule.stages.push_back(std::move(order.ops));
    if (options.overlapBlocks)
      schedule.overlapped.push_back(std::move(order.blocks));
  }
  bool hasBlocks =
      std::any_of(schedule.overlapped.begin(), schedule.overlapped.end(),
                  [](const std::vector<int> &steps) { return !steps.empty(); });
  if (options.overlapBlocks && !hasBlocks)
    schedule.warnings.push_back(
        "--overlap-blocks makes no block of " + counted(m, "microbatch") +
        "; dualpipe-v has some from 2p = " + std::to_string(2 * p) + " on");
  return schedule;
}
