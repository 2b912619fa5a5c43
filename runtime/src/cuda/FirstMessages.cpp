//===- FirstMessages.cpp - connecting ranks that send messages ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FirstMessages.h"

#include "CudaRank.h"
#include "NcclCalls.h"

#include <memory>
#include <set>
#include <tuple>

using namespace veeline;
using namespace veeline::cuda;

namespace {
/// The ranks to which a rank sends, and from which it receives, on one
/// communicator.
struct Peers {
  std::set<int32_t> sends, receives;
};
} // namespace

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
  return peers;
}

/// Adds the peers with which the rank exchanges shares of sums.
static void addPeersOfSums(const CudaRank &rank,
                           std::map<int32_t, Peers> &peers) {
  std::vector<NcclCall> calls;
  for (const artifact::Reduction &reduction : rank.description->reductions) {
    addFirstCalls(rank, reduction, calls);
    addLastCalls(rank, reduction, calls);
  }
  for (const NcclCall &call : calls)
    if (call.isMessage())
      (call.kind == NcclCall::send ? peers[call.communicator].sends
                                   : peers[call.communicator].receives)
          .insert(call.peer);
}

/// Issues one message of one byte for each peer and direction, as one group.
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

/// Waits until what was issued on a communicator is over.
static Status finish(const Communicators &communicators, int32_t number,
                     const CudaRank &rank, const engine::Network &network,
                     double timeoutSeconds) {
  Deadline deadline(network, timeoutSeconds);
  const std::string what = "NCCL's communicator " + std::to_string(number) +
                           ": its ranks have not connected";
  VEELINE_TRY_VALUE(bool isIssued, communicators.settle(number, [&] {
    return deadline.isOver();
  }));
  if (!isIssued)
    return deadline.status(what);
  for (;; deadline.wait()) {
    VEELINE_TRY_VALUE(bool isDone, areDone(rank.driver(), rank.allStreams()));
    if (isDone)
      return Status::success();
    VEELINE_TRY(communicators.check());
    if (deadline.isOver())
      return deadline.status(what);
  }
}

static Status exchange(const Communicators &communicators,
                       const std::map<int32_t, Peers> &allPeers,
                       const CudaRank &rank, const engine::Network &network,
                       const DeviceMemory &memory, double timeoutSeconds) {
  for (const auto &[number, peers] : allPeers) {
    VEELINE_TRY(
        issue(communicators, number, peers, memory, rank.computeStream()));
    VEELINE_TRY(finish(communicators, number, rank, network, timeoutSeconds));
  }
  return Status::success();
}

/// How NCCL connects the ranks of a sum depends on its size, so these are the
/// calls of a step. They find nothing in the arena that matters yet.
static Status addUpOnce(const Communicators &communicators,
                        const CudaRank &rank, const engine::Network &network,
                        double timeoutSeconds) {
  if (rank.program->sums != Sums::nccl)
    return Status::success();
  for (const artifact::Reduction &reduction : rank.description->reductions) {
    std::vector<NcclCall> calls;
    addFirstCalls(rank, reduction, calls);
    if (calls.empty())
      continue;
    VEELINE_TRY(issueGroup(communicators, rank.computeStream(), calls));
    VEELINE_TRY(finish(communicators, reduction.communicator, rank, network,
                       timeoutSeconds));
  }
  return Status::success();
}

Status cuda::exchangeFirstMessages(Communicators &communicators,
                                   const CudaRank &rank,
                                   engine::Network &network,
                                   double timeoutSeconds) {
  VEELINE_TRY(checkSums(communicators, rank));
  std::map<int32_t, Peers> peers = peersOf(*rank.program, rank.index);
  addPeersOfSums(rank, peers);
  if (peers.empty() && rank.description->reductions.empty())
    return Status::success();
  auto memory = std::make_unique<DeviceMemory>();
  VEELINE_TRY(memory->allocate(
      rank.gpu(), 1 + static_cast<int64_t>(rank.program->ranks.size())));
  Status status =
      exchange(communicators, peers, rank, network, *memory, timeoutSeconds);
  if (status.ok())
    status = addUpOnce(communicators, rank, network, timeoutSeconds);
  if (status.ok())
    return status;
  // Makes the others abort theirs, too. If work is still under way, it uses the
  // memory, which is therefore leaked.
  network.announce("rank " + std::to_string(rank.index) + ": " +
                   status.message());
  if (!communicators.abort())
    std::ignore = memory.release();
  return status;
}
