//===- LocalTransport.h - messages of ranks that share a GPU ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_LOCALTRANSPORT_H
#define VEELINE_RUNTIME_CUDA_LOCALTRANSPORT_H

#include "DeviceChannel.h"
#include "DeviceReduction.h"
#include "DeviceWatch.h"
#include "Transport.h"

#include <memory>

namespace veeline::cuda {

/// The transport of a rank that is a thread, like the other ranks on its GPU.
///
/// Compute streams write the number of their current operation to memory of the
/// host, also from a graph. So any thread can see the position of the GPU.
class LocalTransport final : public Transport {
public:
  /// `channels` are by the rank's channel numbers. Null for a channel of which
  /// the rank has no end.
  LocalTransport(std::vector<DeviceChannel *> channels, DeviceWatch &watch)
      : channels(std::move(channels)), watch(watch) {}

  Status prepare(CudaRank &rank);

  /// Sets the pieces of each reduction in the rank's table. The rank has the
  /// number `newMember` in its stage. All arenas have to be allocated.
  void setReductions(
      std::vector<std::vector<std::shared_ptr<DeviceReduction>>> newReductions,
      size_t newMember);

  void beginStep(CudaRank &rank, size_t, bool) override { beginLate(rank); }
  void beginLate(CudaRank &rank) override;
  void beginOp(CudaRank &rank, int32_t op) override;
  Expected<bool> await(CudaRank &rank, const Event &event,
                       const std::function<bool()> &isEnough) override;
  void drain(CudaRank &rank) override;
  void beginGroup(CudaRank &rank) override;
  void endGroup(CudaRank &rank) override;
  void post(CudaRank &rank, int32_t channel, void *slot) override;
  void wait(CudaRank &rank, int32_t channel) override;
  void send(CudaRank &rank, int32_t channel, const void *value,
            int64_t bytes) override;
  void settle(CudaRank &rank, int32_t stream) override;
  void postSum(CudaRank &rank, int32_t reduction) override;
  void waitForSum(CudaRank &rank, int32_t reduction) override;
  /// Ends waits for reductions. A channel belongs to two ranks, so its owner
  /// ends the waits for it.
  void abort() override;

  /// The current operation of the compute stream, plus 1, or 0 before the first
  /// operation. After the step, it is the number of operations, plus 1.
  uint32_t markOf(int32_t compute) const;
  /// Sets the position of the rank to that of its GPU. Returns false if it has
  /// nothing left to do. May be called from any thread, once no rank makes
  /// progress.
  bool showPlace(CudaRank &rank) const;

private:
  const std::vector<DeviceChannel *> channels;
  DeviceWatch &watch;
  Marks marks; ///< By compute stream.
  /// A send whose value must not change yet: the compute stream that issued it,
  /// the message stream, and the event that ends it.
  struct Sent {
    int32_t compute, stream;
    const Event *event;
  };
  std::vector<Sent> unsettled, ofGroup;
  bool isInGroup = false;
  std::vector<std::vector<std::shared_ptr<DeviceReduction>>> reductions;
  std::vector<uint32_t> numPosted, numWaited; ///< By reduction.
  size_t member = 0;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_LOCALTRANSPORT_H
