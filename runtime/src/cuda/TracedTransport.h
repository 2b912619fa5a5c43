//===- TracedTransport.h - a transport that prints messages -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_TRACEDTRANSPORT_H
#define VEELINE_RUNTIME_CUDA_TRACEDTRANSPORT_H

#include "TensorTrace.h"
#include "Transport.h"

#include <deque>
#include <memory>

namespace veeline::cuda {

/// A Transport that prints the messages of another one. The rank waits for its
/// device, and reads each message before it is sent and after it has arrived.
/// So a step is never captured.
class TracedTransport final : public Transport {
public:
  /// The rank must have its channels and streams.
  TracedTransport(std::unique_ptr<Transport> transport, CudaRank &rank,
                  const artifact::Metadata &metadata);

  void beginStep(CudaRank &rank, size_t slot, bool isReplayed) override;
  void beginLate(CudaRank &rank) override { transport->beginLate(rank); }
  void beginGroup(CudaRank &rank) override;
  void endGroup(CudaRank &rank) override;
  void beginOp(CudaRank &rank, int32_t op) override;
  void post(CudaRank &rank, int32_t channel, void *slot) override;
  void wait(CudaRank &rank, int32_t channel) override;
  void send(CudaRank &rank, int32_t channel, const void *value,
            int64_t bytes) override;
  void settle(CudaRank &rank, int32_t stream) override;
  void postSum(CudaRank &rank, int32_t reduction) override;
  void waitForSum(CudaRank &rank, int32_t reduction) override;
  void readBack(CudaRank &rank, size_t slot) override;
  void inspectStep(CudaRank &rank, size_t slot) override {
    transport->inspectStep(rank, slot);
  }
  void inspectGradients(CudaRank &rank,
                        const std::vector<double> &squares) override;
  Expected<bool> await(CudaRank &rank, const Event &event,
                       const std::function<bool()> &isEnough) override;
  void drain(CudaRank &rank) override { transport->drain(rank); }
  void abort() override { transport->abort(); }
  bool isIdle() const override { return transport->isIdle(); }

private:
  struct End {
    /// The number of messages that were printed.
    uint32_t number = 0;
    std::deque<const void *> places; ///< Those of posted receives.
  };
  void print(CudaRank &rank, const char *what, int32_t channel,
             const void *place);
  const char *read(CudaRank &rank, const void *place, int64_t bytes);

  std::unique_ptr<Transport> transport;
  engine::TensorTrace trace;
  std::vector<End> ends; ///< By channel of the rank.
  std::string bytes;     ///< The last bytes that were read.
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_TRACEDTRANSPORT_H
