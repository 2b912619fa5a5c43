//===- OpTimes.h - times of operations on a GPU -----------------*- C++ -*-===//
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

/// A moment of each step whose time is known on the host and on a GPU. It is
/// needed because times between events lose precision with their distance.
class StepOrigin {
public:
  Status prepare(const Device &device);
  /// Records the moment of step `number` by an event in `stream`. It has to
  /// come after the moment of step `number` - 1, and before the operations of
  /// the step. If `isIdle`, the stream has nothing to do, so the moment is now.
  Status note(uint32_t number, api::Stream stream, bool isIdle);
  /// Computes the time of that moment, once it has passed, from that of the
  /// step before.
  void settle(uint32_t number);
  /// The time of `event`, of step `number`, in the host's nanoseconds(), if the
  /// GPU knows it.
  std::optional<int64_t> timeOf(uint32_t number, const Event &event) const;

private:
  /// The moments of a step, of the one before, and of the next one, which may
  /// have begun.
  struct Moment {
    Event event;
    std::optional<int64_t> time;
  };
  const Moment &of(uint32_t number) const { return moments[number % 3]; }

  const Driver *driver = nullptr;
  Moment moments[3];
};

/// Measures when the operations of a rank's step begin and end on its GPU, by
/// events in their compute streams. Not for steps that are replayed, because
/// their events belong to the graph.
class OpTimes {
public:
  /// Prepares for `numOps` operations, each of which runs once in a step. The
  /// device of `newOrigin` has to be current.
  Status prepare(const Device &device, const StepOrigin &newOrigin,
                 size_t numOps);

  void beginStep() { issued.clear(); }
  Status begin(int32_t op, api::Stream stream);
  /// Ends an operation. `length` is that of the microbatch, if it varies.
  Status end(int32_t op, int64_t length, api::Stream stream);

  /// Adds the operations of step `step` that have ended, and late ones of the
  /// step before. `rank` describes them, and `number` is that of their origin.
  /// With one compute stream, a GPU is idle while it receives. If the GPU does
  /// not know a time, for example after a fault, it is the time when the
  /// operation was issued.
  void addTo(engine::Timeline &timeline, const artifact::Rank &rank,
             uint32_t number, int64_t step) const;

private:
  struct Issued {
    int32_t op;
    int64_t length, begin, end; ///< In nanoseconds() of the host.
  };

  const StepOrigin *origin = nullptr;
  std::vector<Event> begins, ends; ///< By operation.
  /// The time when the current one began to be issued.
  int64_t issuedAt = 0;
  std::vector<Issued> issued;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_OPTIMES_H
