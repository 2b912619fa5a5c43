//===- LoopPattern.cpp - a loop on a V without a bubble -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This pattern is ours, not from a paper. Stage s holds chunk s, whose
// operations are F, B and W here, and chunk 2p-1-s, with f, b and w. All take
// one unit of time. Microbatches come in bursts of p, one every two units, and
// a burst begins every 6p units. In the burst that begins at 0, microbatch i
// runs
//
//   F at s + 2i          f at 2p-1-s + 2i
//   b at 2p + s + 2i     B at 4p-1-s + 2i
//   W at 4p + s + 2i     w at 6p-1-s + 2i.
//
// F, b and W of a stage follow each other on its slots of one parity, f, B and
// w on those of the other parity. Each of the six takes p of the 3p slots of
// its parity, so no slot is empty, and none is taken twice, even by the next
// burst. Every operation starts one unit or more after what it waits for: F of
// stage s after F of stage s-1, f of stage p-1 after its F, f of stage s after
// f of stage s+1, b of stage 0 after its f, and so on.
//
// W of a burst end before F of the next one begins, at 6p + s, and w before f
// does, at 8p-1-s. So updates are in time if the next burst belongs to the next
// step. At most p microbatches are held of each chunk, which is p activations.
// The last p-1-s w of stage s run in the next turn, whose F begin before.
//
//===----------------------------------------------------------------------===//

#include "LoopPattern.h"

#include <algorithm>

using namespace veeline::schedule;

namespace {
/// One of the six rows of operations of a stage.
struct Row {
  int chunk;
  OpKind kind;
  /// The time at which microbatch 0 of a burst runs.
  int first;
};

struct Slot {
  int time, node;
  bool operator<(const Slot &other) const { return time < other.time; }
};
} // namespace

static std::vector<int> orderOf(const FlatProblem &flat, int stage) {
  int p = flat.stages(), m = flat.microbatches();
  int down = stage, up = 2 * p - 1 - stage;
  constexpr OpKind F = OpKind::Forward, B = OpKind::BackwardInput,
                   W = OpKind::BackwardWeight;
  const Row rows[] = {{down, F, stage},         {up, F, 2 * p - 1 - stage},
                      {up, B, 2 * p + stage},   {down, B, 4 * p - 1 - stage},
                      {down, W, 4 * p + stage}, {up, W, 6 * p - 1 - stage}};
  int turn = 6 * p * ((m + p - 1) / p);
  std::vector<Slot> slots;
  slots.reserve(std::size(rows) * static_cast<std::size_t>(m));
  for (const Row &row : rows) {
    int kind = FlatProblem::kindOf(row.chunk, row.kind);
    if (!flat.kind(kind).exists)
      continue;
    for (int microbatch = 0; microbatch < m; ++microbatch) {
      int time = 6 * p * (microbatch / p) + row.first + 2 * (microbatch % p);
      bool isLate = time >= turn + stage;
      slots.push_back(
          {isLate ? time - turn : time, flat.node(kind, microbatch)});
    }
  }
  std::sort(slots.begin(), slots.end());
  std::vector<int> order;
  order.reserve(slots.size());
  for (const Slot &slot : slots)
    order.push_back(slot.node);
  return order;
}

std::optional<FlatOrders>
veeline::schedule::loopPattern(const Problem &problem,
                               const FlatProblem &flat) {
  if (problem.placement.kind() != PlacementKind::V)
    return std::nullopt;
  FlatOrders orders;
  for (int stage = 0; stage < flat.stages(); ++stage)
    orders.push_back(orderOf(flat, stage));
  if (!fitsLoop(flat, orders))
    return std::nullopt;
  return orders;
}
