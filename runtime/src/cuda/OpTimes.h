//===- OpTimes.h - when a GPU did what -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_OPTIMES_H
#define VEELINE_RUNTIME_CUDA_OPTIMES_H

#include "Device.h"
#include "Timeline.h"

#include <optional>

namespace veeline::cuda {

/// A moment that the host and a GPU agree on.
class StepOrigin {
public:
  Status prepare(const Device &device);
  /// Is now: waits for `stream`, which has nothing to do.
  Status set(api::Stream stream);
  /// In nanoseconds() of the host; nothing where the GPU does not say when the
  /// event was.
  std::optional<int64_t> timeOf(const Event &event) const;

private:
  const Driver *driver = nullptr;
  Event origin;
  int64_t time = 0;
};

/// When the operations of a rank's step begin and end on its GPU, by events in
/// their compute streams. Not of steps that are replayed, whose events a graph
/// has.
class OpTimes {
public:
  /// Of `numOps` operations, each once in a step. The device, to which
  /// `newOrigin` belongs, is current.
  Status prepare(const Device &device, const StepOrigin &newOrigin,
                 size_t numOps);

  void beginStep() { issued.clear(); }
  Status begin(int32_t op, api::Stream stream);
  /// `length` is that of the microbatch, where it varies.
  Status end(int32_t op, int64_t length, api::Stream stream);

  /// Adds the operations of the step that have ended, of those of `rank`: a GPU
  /// that receives waits, where it has one compute stream. Where it cannot say
  /// when that was, as after a fault, it is when they were issued.
  void addTo(engine::Timeline &timeline, const artifact::Rank &rank) const;

private:
  struct Issued {
    int32_t op;
    int64_t length, begin, end; ///< In nanoseconds() of the host.
  };

  const Driver *driver = nullptr;
  const StepOrigin *origin = nullptr;
  std::vector<Event> begins, ends; ///< By operation.
  int64_t issuedAt = 0;            ///< The begin of the one that runs.
  std::vector<Issued> issued;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_OPTIMES_H
