//===- NcclTransport.h - messages between processes -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_NCCLTRANSPORT_H
#define VEELINE_RUNTIME_CUDA_NCCLTRANSPORT_H

#include "Identity.h"
#include "NcclCalls.h"
#include "Transport.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <set>
#include <utility>

namespace veeline::cuda {

/// The transport of a rank with its own process and GPU. What the rank issues
/// as one unit, a group or a single message, is one NCCL group. Units run in
/// the order in which they are issued, which was proved free of deadlock.
///
/// A unit begins after what precedes it in the compute streams of its messages,
/// and after the unit before it. If the tables have one stream for sends and
/// another for receives, units of the two run in parallel. Waiting for a unit
/// means waiting for an event.
///
/// Streams write the number of the unit that is over, and of the unit for which
/// a compute stream waits, to memory of the host, also from a graph. So any
/// thread can see what a rank waits for.
class NcclTransport final : public Transport {
public:
  /// With `checksMessages`, an identity precedes each message. After a fault,
  /// the thread that issues or replays the step calls `beforeAbort`.
  NcclTransport(Communicators &communicators, double timeoutSeconds,
                bool checksMessages, std::function<void()> beforeAbort)
      : communicators(communicators), timeoutSeconds(timeoutSeconds),
        isChecking(checksMessages), beforeAbort(std::move(beforeAbort)) {}

  /// Creates the events. The rank must have its arena and streams.
  Status prepare(CudaRank &rank);
  /// Whether the device runs units of both streams in parallel.
  bool areBeside(int32_t stream, int32_t other) const {
    return beside.count(std::minmax(stream, other)) > 0;
  }

  void beginStep(CudaRank &rank, size_t slot, bool isReplayed) override;
  void beginLate(CudaRank &rank) override;
  void beginGroup(CudaRank &rank) override;
  void endGroup(CudaRank &rank) override;
  void post(CudaRank &rank, int32_t channel, void *slot) override;
  void wait(CudaRank &rank, int32_t channel) override;
  void send(CudaRank &rank, int32_t channel, const void *value,
            int64_t bytes) override;
  void settle(CudaRank &rank, int32_t stream) override;
  void postSum(CudaRank &rank, int32_t reduction) override;
  void waitForSum(CudaRank &rank, int32_t reduction) override;
  void readBack(CudaRank &rank, size_t slot) override;
  void inspectStep(CudaRank &rank, size_t slot) override;
  void keepForGraph(size_t slot) override;
  Expected<bool> await(CudaRank &rank, const Event &event,
                       const std::function<bool()> &isEnough) override;
  void drain(CudaRank &rank) override;
  void abort() override { isAborted.store(true, std::memory_order_release); }
  bool isIdle() const override;

  /// Whether the rank's thread sleeps while its device works.
  bool isDeviceAwaited() const {
    return waitsForDevice.load(std::memory_order_relaxed);
  }

private:
  /// What is issued at once.
  struct Unit {
    std::vector<NcclCall> messages;
    std::vector<int32_t> reductions; ///< Reductions of the rank's table.
    int32_t stream = -1;
    std::vector<int32_t> computes; ///< The compute streams that take part.
    /// The compute streams whose values it sends.
    std::vector<int32_t> senders;
    /// The rank's currentOp and awaited (see veeline_rank) while the unit is
    /// under way.
    int32_t op = -1, awaited = -1;
  };
  struct End {
    uint32_t numPosted = 0, numWaited = 0, numSent = 0;
    std::vector<uint32_t> units; ///< The unit of each receive of a step.
    size_t firstIdentity = 0;    ///< The first identity of its messages.
  };
  /// A check after the step: what operation `op` expected of a channel, and the
  /// number of the identity that it received.
  struct Expectation {
    int32_t channel, op;
    engine::Identity identity;
    size_t number;
  };

  bool add(CudaRank &rank, int32_t stream, int32_t awaited);
  void addIdentity(bool isSend, const artifact::Channel &channel,
                   size_t number);
  bool sendIdentity(CudaRank &rank, int32_t channel, uint32_t number);
  engine::Identity &identityAt(size_t number) const;
  api::DevicePointer addressOfIdentity(size_t number) const;
  /// The place of an identity. The places of a step differ from those of the
  /// step before.
  static size_t placeOfIdentity(const End &end, uint32_t number) {
    return end.firstIdentity + number % (2 * end.units.size());
  }
  void issue(CudaRank &rank);
  void addSender(const CudaRank &rank);
  bool orderUnit(CudaRank &rank, const Unit &unit, uint32_t number);
  bool issueUnit(CudaRank &rank, const Unit &unit, uint32_t number);
  static bool launchSums(CudaRank &rank, const Unit &unit);
  bool runGroup(CudaRank &rank, const Unit &unit,
                const std::vector<NcclCall> &calls);
  bool mark(CudaRank &rank, int32_t stream, uint32_t value);
  void waitForUnit(CudaRank &rank, uint32_t number);
  const Unit *findAwaited(const CudaRank &rank, int32_t compute) const;
  const Unit *findAwaited(const CudaRank &rank) const;
  void showWaits(CudaRank &rank);
  Expected<bool> look(CudaRank &rank, const Event &event,
                      const std::function<bool()> &isEnough);

  Communicators &communicators;
  const double timeoutSeconds;
  const bool isChecking;
  const std::function<void()> beforeAbort;
  std::atomic<bool> isAborted{false}, waitsForDevice{false};
  std::set<std::pair<int32_t, int32_t>> beside; ///< The lower one first.

  bool isInGroup = false;
  Unit next;                 ///< What issue() issues next.
  std::vector<Unit> units;   ///< Those of the step that have been issued.
  std::vector<Unit> ofGraph; ///< Those of a step that is replayed.
  bool areOfGraph = false;   ///< Whether `units` are those of the graph.
  std::vector<Event> done;   ///< By unit.
  Event computed;
  std::vector<End> ends;           ///< By channel of the rank.
  std::vector<uint32_t> sumUnits;  ///< By reduction.
  std::vector<bool> isSumUnderWay; ///< By reduction.

  /// The identities of two steps' messages, allocated only with checks.
  PinnedMemory identitiesOfHost;
  DeviceMemory identitiesOfDevice;
  std::vector<Expectation> expectations[2]; ///< By slot.
  std::vector<Expectation> expectedOfGraph;
  size_t currentSlot = 0;

  /// By compute stream: units that may still be sending its values.
  std::vector<std::vector<uint32_t>> unsettled;

  /// By stream, the last mark that it wrote: 2n + 2 after unit n, and 2n + 1
  /// when a compute stream begins to wait for unit n. `seen` is what the host
  /// has read.
  Marks marks;
  std::vector<uint32_t> seen;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_NCCLTRANSPORT_H
