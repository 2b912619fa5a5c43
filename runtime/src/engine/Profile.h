//===- Profile.h - what a pipeline's parts take ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_PROFILE_H
#define VEELINE_RUNTIME_ENGINE_PROFILE_H

#include "Timeline.h"

#include <optional>
#include <string>

namespace veeline::engine {

/// What operations of one kind took, all microbatches and steps together.
struct Measured {
  /// The mean without the shortest and the longest tenth, in microseconds: of
  /// such means a step is the sum, and of medians not quite.
  double microseconds = 0;
  int64_t samples = 0;
};

/// What `veeline train --profile` has measured.
struct Profile {
  struct Chunk {
    std::optional<Measured> forward, backwardInput, backwardWeight;
    std::optional<Measured> backward; ///< Fused.
  };
  /// From the end of a send to the end of the receive that waited for it.
  /// None where no rank ever waited.
  struct Edge {
    std::optional<Measured> activation, gradient;
  };
  /// From where the last replica posts to the end of the wait of one that was
  /// there before, and of how many bytes, on average.
  struct AllReduce {
    Measured time;
    double bytes = 0;
  };
  int64_t steps = 0;
  /// From the first begin of an F to the last end of a B, a W or a wait for an
  /// all-reduce of a step, the median of the steps; and what was predicted
  /// (none: nothing was).
  double stepMicroseconds = 0;
  std::optional<double> predictedStepMicroseconds;
  std::vector<Chunk> chunks;
  std::vector<Edge> edges;
  std::optional<AllReduce> allReduce;
};

/// Measures on the events of `program`, those of each rank. Of all their steps
/// the first is left out where there are more: it makes primitives and touches
/// memory. O(n log n) with n events. What was predicted is of ranks that share
/// `cores`.
Profile measure(const artifact::Program &program,
                const std::vector<std::vector<Event>> &ranks,
                int64_t cores = INT64_MAX);

/// As JSON, for `veeline compile --profile`; docs/runtime.md has the format.
std::string toJson(const Profile &profile, const artifact::Metadata &metadata,
                   const artifact::Program &program);

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_PROFILE_H
