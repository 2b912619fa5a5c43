//===- Profile.h - measured times of a pipeline's parts ---------*- C++ -*-===//
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

/// How long operations of one kind took, over all microbatches and steps.
struct Measured {
  /// The mean without the shortest and the longest tenth, in microseconds. A
  /// step is the sum of such means, but not quite of medians.
  double microseconds = 0;
  int64_t samples = 0;
};

/// What `veeline train --profile` has measured.
struct Profile {
  struct Chunk {
    std::optional<Measured> forward, backwardInput, backwardWeight;
    std::optional<Measured> backward; ///< Fused.
    std::optional<Measured> recomputation;
  };
  /// From the end of a send to the end of the receive that waited for it.
  /// None if no rank ever waited.
  struct Edge {
    std::optional<Measured> activation, gradient;
  };
  /// From the last rank's post to the end of the wait of a rank that waited
  /// before that, and the bytes, on average.
  struct AllReduce {
    Measured time;
    double bytes = 0;
  };
  int64_t steps = 0;
  /// From the first begin of an F, or the end of the step before if that is
  /// later, to the last end of a B, a W, an update or a wait for an all-reduce:
  /// the median of the steps, and the prediction, if any.
  double stepMicroseconds = 0;
  std::optional<double> predictedStepMicroseconds;
  std::vector<Chunk> chunks;
  std::vector<Edge> edges;
  std::optional<AllReduce> allReduce;
  /// All updates of a step together.
  std::optional<Measured> updates;
};

/// Measures by the events of the ranks of `program`. Leaves out the first of
/// several steps, which makes primitives and touches memory. The prediction is
/// for ranks that share `cores`, of steps that `followOn`: a rank begins one
/// before others have ended the last. O(n log n) with n events.
Profile measure(const artifact::Program &program,
                const std::vector<std::vector<Event>> &ranks,
                int64_t cores = INT64_MAX, bool followOn = false);

/// As JSON, for `veeline compile --profile`; docs/runtime.md has the format.
/// `limitsNorm` says whether steps had limits for which optimistic updates keep
/// copies.
std::string toJson(const Profile &profile, const artifact::Metadata &metadata,
                   const artifact::Program &program, bool limitsNorm = false);

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_PROFILE_H
