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
  /// The mean without the shortest and the longest tenth, in microseconds.
  /// Means, unlike medians, add up to the time of a step.
  double microseconds = 0;
  int64_t samples = 0;
};

/// The measurements of `veeline train --profile`.
struct Profile {
  struct Chunk {
    std::optional<Measured> forward, backwardInput, backwardWeight;
    std::optional<Measured> backward; ///< Fused.
    std::optional<Measured> recomputation;
  };
  /// From the end of a send to the end of the receive that waited for it. None
  /// if no rank ever waited.
  struct Edge {
    std::optional<Measured> activation, gradient;
  };
  /// From the post of the last rank to the end of the wait of a rank that had
  /// begun to wait before, and the bytes; both on average.
  struct AllReduce {
    Measured time;
    double bytes = 0;
  };
  int64_t steps = 0;
  /// The duration of a step: the median over the steps, and the prediction, if
  /// any. A step starts with the first F, or at the end of the step before if
  /// that is later. It ends with the last B, W, update or wait for an
  /// all-reduce.
  double stepMicroseconds = 0;
  std::optional<double> predictedStepMicroseconds;
  std::vector<Chunk> chunks;
  std::vector<Edge> edges;
  std::optional<AllReduce> allReduce;
  /// All updates of a step together.
  std::optional<Measured> updates;
};

/// Measures by the events of the ranks of `program`. If there are several
/// steps, leaves out the first, which creates primitives and touches memory.
/// The prediction is for ranks that share `cores`. With `followOn`, a rank
/// begins a step before other ranks have ended the previous one. O(n log n)
/// with n events.
Profile measure(const artifact::Program &program,
                const std::vector<std::vector<Event>> &ranks,
                int64_t cores = INT64_MAX, bool followOn = false);

/// Returns the profile as JSON, for `veeline compile --profile`;
/// docs/runtime.md has the format. `limitsNorm` says whether steps had limits
/// for which optimistic updates keep copies.
std::string toJson(const Profile &profile, const artifact::Metadata &metadata,
                   const artifact::Program &program, bool limitsNorm = false);

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_PROFILE_H
