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

/// Of a rank that is a thread, as the others on its GPU are.
///
/// Its compute streams write into memory of the host which operation they are
/// at, also from a graph: so everybody can see what its GPU does.
class LocalTransport final : public Transport {
public:
  /// By the rank's numbers of channels; null where it has no end.
  LocalTransport(std::vector<DeviceChannel *> channels, DeviceWatch &watch)
      : channels(std::move(channels)), watch(watch) {}

  Status prepare(CudaRank &rank);

  /// The pieces of each reduction of the rank's table, of which it is the
  /// `newMember` of its stage. Once all ranks have their arenas.
  void setReductions(
      std::vector<std::vector<std::shared_ptr<DeviceReduction>>> newReductions,
      size_t newMember);

  void beginStep(CudaRank &rank, bool isReplayed) override;
  void beginOp(CudaRank &rank, int32_t op) override;
  Status finish(CudaRank &rank,
                const std::vector<api::Stream> &streams) override;
  void beginGroup(CudaRank &rank) override;
  void endGroup(CudaRank &rank) override;
  void post(CudaRank &rank, int32_t channel, void *slot) override;
  void wait(CudaRank &rank, int32_t channel) override;
  void send(CudaRank &rank, int32_t channel, const void *value,
            int64_t bytes) override;
  void settle(CudaRank &rank, int32_t stream) override;
  void postSum(CudaRank &rank, int32_t reduction) override;
  void waitForSum(CudaRank &rank, int32_t reduction) override;
  /// Of its reductions: channels are of two ranks, and their owner's to wake.
  void abort() override;

  /// One more than the operation that the compute stream is at, or than the
  /// last one where its step is over; 0: none yet.
  uint32_t markOf(int32_t compute) const;
  /// Says what its GPU is at as what the rank is at, where it still does
  /// something. From any thread, once nobody makes progress.
  bool showPlace(CudaRank &rank) const;

private:
  const std::vector<DeviceChannel *> channels;
  DeviceWatch &watch;
  PinnedMemory marks; ///< By compute stream.
  /// A send whose value must still stay, the compute stream that it is of, and
  /// the stream that it is on.
  struct Sent {
    int32_t compute, stream;
    api::Event event;
  };
  std::vector<Sent> unsettled, ofGroup;
  bool isInGroup = false;
  std::vector<std::vector<std::shared_ptr<DeviceReduction>>> reductions;
  std::vector<uint32_t> numPosted, numWaited; ///< By reduction.
  size_t member = 0;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_LOCALTRANSPORT_H
