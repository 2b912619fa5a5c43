//===- Flow.h - data flow between chunks, indexed ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_FLOW_H
#define VEELINE_SCHEDULE_FLOW_H

#include "veeline/Schedule/Problem.h"

#include <span>
#include <vector>

namespace veeline::schedule {

/// One end of an edge, as seen from the chunk at the other end.
struct Link {
  int chunk;
  /// Index into `Problem::edges`.
  int edge;
  /// The time of the transfer; 0 if both chunks are on one stage.
  double transfer;
};

/// A list of links for each chunk, stored in one array.
class LinkTable {
public:
  explicit LinkTable(int chunks) : begin(chunks + 1) {}
  std::span<const Link> operator[](int chunk) const {
    return {links.data() + begin[chunk],
            static_cast<std::size_t>(begin[chunk + 1] - begin[chunk])};
  }

private:
  friend struct Flow;
  std::vector<int> begin;
  std::vector<Link> links;
};

/// The edges of a problem, indexed by chunk in all directions.
struct Flow {
  explicit Flow(const Problem &problem);

  /// F(k) waits for F of these.
  LinkTable forwardInputs;
  /// F of these wait for F(k).
  LinkTable forwardUsers;
  /// The backward of k waits for the backward of these.
  LinkTable backwardInputs;
  /// The backwards of these wait for the backward of k.
  LinkTable backwardUsers;

  /// The links to the users of an operation's output; none for a W or an R.
  std::span<const Link> usersOf(const Op &op) const {
    if (op.kind == OpKind::BackwardWeight || op.kind == OpKind::Recompute)
      return {};
    return (op.kind == OpKind::Forward ? forwardUsers
                                       : backwardUsers)[op.chunk];
  }

  /// A message is determined by its edge, its microbatch and its direction.
  /// These number all possible messages from 0 on.
  std::size_t messageSlots() const { return edges * microbatches * 2; }
  std::size_t messageSlot(int edge, int microbatch, bool gradient) const {
    return (edge * microbatches + microbatch) * 2 + gradient;
  }

private:
  std::size_t edges, microbatches;
};

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_FLOW_H
