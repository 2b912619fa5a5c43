//===- OpTimes.h - when operations ran on a GPU -----------------*- C++ -*-===//
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

/// A moment whose time is known on the host and on a GPU.
class StepOrigin {
public:
  Status prepare(const Device &device);
  /// Sets it to now, by an event in `stream`, which is idle.
  Status set(api::Stream stream);
  /// The time of `event` in the host's nanoseconds(), if the GPU knows it.
  std::optional<int64_t> timeOf(const Event &event) const;

private:
  const Driver *driver = nullptr;
  Event origin;
  int64_t time = 0;
};

/// Measures when the operations of a rank's step begin and end on its GPU, by
/// events in their compute streams. Not for steps that are replayed: their
/// events belong to the graph.
class OpTimes {
public:
  /// `numOps` operations run, each once a step. The device, to which
  /// `newOrigin` belongs, is current.
  Status prepare(const Device &device, const StepOrigin &newOrigin,
                 size_t numOps);

  void beginStep() { issued.clear(); }
  Status begin(int32_t op, api::Stream stream);
  /// `length` is that of the microbatch, where it varies.
  Status end(int32_t op, int64_t length, api::Stream stream);

  /// Adds the step's operations that have ended; `rank` describes them. With
  /// one compute stream a GPU is idle while it receives. If the GPU does not
  /// know a time, as after a fault, it is when the operation was issued.
  void addTo(engine::Timeline &timeline, const artifact::Rank &rank) const;

private:
  struct Issued {
    int32_t op;
    int64_t length, begin, end; ///< In nanoseconds() of the host.
  };

  const StepOrigin *origin = nullptr;
  std::vector<Event> begins, ends; ///< By operation.
  int64_t issuedAt = 0;            ///< When the current one began to be issued.
  std::vector<Issued> issued;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_OPTIMES_H
