//===- FirstMessages.cpp - connecting ranks that send messages ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FirstMessages.h"

#include "CudaRank.h"
#include "Pause.h"

#include <cstdio>
#include <memory>
#include <set>

using namespace veeline;
using namespace veeline::cuda;

namespace {
/// Whom a rank sends to and receives from on one communicator.
struct Peers {
  std::set<int32_t> sends, receives;
};

/// Ends a wait in the host after some time, or when the network has failed.
class Deadline {
public:
  Deadline(const engine::Network &network, double seconds)
      : network(network), seconds(seconds) {}
  bool isOver() const {
    return network.knownFailure() ||
           double(pause.nanoseconds()) > seconds * 1e9;
  }
  void wait() const { pause(); }
  Status status(int32_t communicator) const;

private:
  const engine::Network &network;
  const double seconds;
  Pause pause;
};
} // namespace

Status Deadline::status(int32_t communicator) const {
  if (const char *failure = network.knownFailure())
    return Status::error(failure);
  char text[64];
  std::snprintf(text, sizeof(text), "%g s (--timeout)", seconds);
  return Status::error("NCCL's communicator " + std::to_string(communicator) +
                       ": its ranks have not connected within " + text +
                       "; NCCL_DEBUG=INFO has NCCL say how it tries to");
}

static std::map<int32_t, Peers> peersOf(const artifact::Program &program,
                                        int32_t rank) {
  std::map<int32_t, Peers> peers;
  for (const artifact::Channel &channel : program.channels) {
    if (channel.kind == artifact::ChannelKind::shape ||
        channel.fromRank == channel.toRank)
      continue;
    if (channel.fromRank == rank)
      peers[channel.communicator].sends.insert(channel.toRank);
    if (channel.toRank == rank)
      peers[channel.communicator].receives.insert(channel.fromRank);
  }
  auto number = static_cast<size_t>(rank);
  for (const artifact::Reduction &reduction : program.ranks[number].reductions)
    for (int32_t member : program.ranksOf(program.placeOf(number).stage))
      if (member != rank) {
        peers[reduction.communicator].sends.insert(member);
        peers[reduction.communicator].receives.insert(member);
      }
  return peers;
}

/// Issues one message of a byte for each peer and direction, as one group.
static Status issue(const Communicators &communicators, int32_t number,
                    const Peers &peers, const DeviceMemory &memory,
                    api::Stream stream) {
  const Nccl &nccl = communicators.library();
  api::Comm comm = communicators.handle(number);
  int type = ncclTypeOf(artifact::DataType::i8)->number;
  VEELINE_TRY(VEELINE_CALL(nccl, ncclGroupStart));
  Status first = Status::success();
  for (int32_t peer : peers.sends)
    if (first.ok())
      first = nccl.check("ncclSend",
                         nccl.ncclSend(memory.data(), 1, type,
                                       communicators.peer(number, peer), comm,
                                       stream),
                         comm);
  char *place = memory.data() + 1;
  for (int32_t peer : peers.receives)
    if (first.ok())
      first = nccl.check("ncclRecv",
                         nccl.ncclRecv(place++, 1, type,
                                       communicators.peer(number, peer), comm,
                                       stream),
                         comm);
  Status end = VEELINE_CALL(nccl, ncclGroupEnd);
  return first.ok() ? end : first;
}

static Status exchange(const Communicators &communicators,
                       const std::map<int32_t, Peers> &allPeers,
                       const CudaRank &rank, const engine::Network &network,
                       const DeviceMemory &memory, double timeoutSeconds) {
  for (const auto &[number, peers] : allPeers) {
    Deadline deadline(network, timeoutSeconds);
    VEELINE_TRY(
        issue(communicators, number, peers, memory, rank.computeStream()));
    Expected<bool> isIssued =
        communicators.settle(number, [&] { return deadline.isOver(); });
    if (!isIssued.ok())
      return isIssued.status();
    if (!*isIssued)
      return deadline.status(number);
    for (bool isDone = false;; deadline.wait()) {
      VEELINE_TRY(areDone(rank.driver(), {rank.computeStream()}, isDone));
      if (isDone)
        break;
      VEELINE_TRY(communicators.check());
      if (deadline.isOver())
        return deadline.status(number);
    }
  }
  return Status::success();
}

Status cuda::exchangeFirstMessages(Communicators &communicators,
                                   const CudaRank &rank,
                                   engine::Network &network,
                                   double timeoutSeconds) {
  std::map<int32_t, Peers> peers = peersOf(*rank.program, rank.index);
  if (peers.empty())
    return Status::success();
  auto memory = std::make_unique<DeviceMemory>();
  VEELINE_TRY(memory->allocate(
      rank.gpu(), 1 + static_cast<int64_t>(rank.program->ranks.size())));
  Status status =
      exchange(communicators, peers, rank, network, *memory, timeoutSeconds);
  if (status.ok())
    return status;
  // Has the others abort theirs, too. If work is still under way, it reads and
  // writes the memory, which is leaked.
  network.announce("rank " + std::to_string(rank.index) + ": " +
                   status.message());
  if (!communicators.abort())
    (void)memory.release();
  return status;
}
