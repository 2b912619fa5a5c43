//===- NcclCalls.cpp - calls of NCCL that a rank issues -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NcclCalls.h"

#include "CudaRank.h"
#include "Reduction.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::cuda;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static Status issueCall(const Communicators &communicators, api::Stream stream,
                        const NcclCall &call) {
  const Nccl &nccl = communicators.library();
  VEELINE_TRY_VALUE(NcclType type, ncclTypeOf(call.type));
  auto count = static_cast<size_t>(call.elements * type.elements);
  api::Comm comm = communicators.handle(call.communicator);
  int peer = communicators.peer(call.communicator, call.peer);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address on the GPU.
  auto *place = reinterpret_cast<char *>(call.place);
  // Where this rank's share of those of all members begins.
  char *own = place + communicators.self(call.communicator) * call.elements *
                          artifact::byteSize(call.type);
  switch (call.kind) {
  case NcclCall::send:
    return nccl.check(
        "ncclSend",
        nccl.ncclSend(place, count, type.number, peer, comm, stream), comm);
  case NcclCall::receive:
    return nccl.check(
        "ncclRecv",
        nccl.ncclRecv(place, count, type.number, peer, comm, stream), comm);
  case NcclCall::allReduce:
    return nccl.check("ncclAllReduce",
                      nccl.ncclAllReduce(place, place, count, type.number,
                                         api::ncclSum, comm, stream),
                      comm);
  case NcclCall::reduceScatter:
    return nccl.check("ncclReduceScatter",
                      nccl.ncclReduceScatter(place, own, count, type.number,
                                             api::ncclSum, comm, stream),
                      comm);
  case NcclCall::reduce:
    return nccl.check("ncclReduce",
                      nccl.ncclReduce(place, place, count, type.number,
                                      api::ncclSum, peer, comm, stream),
                      comm);
  case NcclCall::allGather:
    return nccl.check(
        "ncclAllGather",
        nccl.ncclAllGather(own, place, count, type.number, comm, stream), comm);
  case NcclCall::broadcast:
    return nccl.check("ncclBroadcast",
                      nccl.ncclBroadcast(place, place, count, type.number, peer,
                                         comm, stream),
                      comm);
  }
  return Status::error("a call of NCCL is of no known kind");
}

Status cuda::issueGroup(const Communicators &communicators, api::Stream stream,
                        const std::vector<NcclCall> &calls) {
  const Nccl &nccl = communicators.library();
  VEELINE_TRY(VEELINE_CALL(nccl, ncclGroupStart));
  Status first = Status::success();
  for (const NcclCall &call : calls) {
    first = issueCall(communicators, stream, call);
    if (first.ok())
      continue;
    if (call.isMessage())
      first = Status::error(first.message() + " (" +
                            (call.kind == NcclCall::send ? "to" : "from") +
                            " rank " + std::to_string(call.peer) + ")");
    break;
  }
  Status end = VEELINE_CALL(nccl, ncclGroupEnd);
  return first.ok() ? end : first;
}

//===----------------------------------------------------------------------===//
// Pieces of reductions
//===----------------------------------------------------------------------===//

namespace {
/// A piece of a reduction, and the number of the rank in its stage.
struct PieceOf {
  const artifact::ReducedPiece &piece;
  int32_t communicator;
  std::vector<int32_t> members;
  int32_t self;
  api::DevicePointer arena;

  int32_t count() const { return static_cast<int32_t>(members.size()); }
  Division division() const { return piece.division(count()); }
  engine::Share share(int32_t member) const {
    return engine::shareOf(piece, member, count());
  }
  int64_t elements(int32_t member) const {
    return share(member).end - share(member).begin;
  }
  /// The place of an accumulator, or of an element of a gathered parameter.
  api::DevicePointer place(int64_t element) const {
    return arena + static_cast<uint64_t>(
                       piece.offset + element * artifact::byteSize(piece.type));
  }
  api::DevicePointer accumulators(int32_t member) const {
    return place(share(member).begin);
  }
  /// The place to which the contribution of `member` to the rank's share is
  /// sent.
  api::DevicePointer buffer(int32_t member) const {
    int64_t number = member < self ? member : member - 1;
    return arena +
           static_cast<uint64_t>(piece.bufferOffset + number * piece.stride);
  }
  NcclCall call(NcclCall::Kind kind, api::DevicePointer place, int64_t elements,
                int32_t member = 0) const {
    return {kind,       place,        elements,
            piece.type, communicator, members[static_cast<size_t>(member)]};
  }
};
} // namespace

static PieceOf pieceOf(const CudaRank &rank,
                       const artifact::Reduction &reduction,
                       const artifact::ReducedPiece &piece) {
  auto number = static_cast<size_t>(rank.index);
  std::vector<int32_t> members =
      rank.program->ranksOf(rank.program->placeOf(number).stage);
  auto self = std::find(members.begin(), members.end(), rank.index);
  auto at = static_cast<int32_t>(self - members.begin());
  return {piece, reduction.communicator, std::move(members), at,
          rank.memory().address()};
}

//===----------------------------------------------------------------------===//
// Sums in the order of members
//===----------------------------------------------------------------------===//

/// Adds the messages of one of two phases. In the first, all contributions are
/// sent to the owners of shares. In the second (`areSums`), the sums are sent
/// to all ranks, unless they are scattered.
static void addMessages(const PieceOf &piece, bool areSums,
                        std::vector<NcclCall> &calls) {
  // A gather has no first phase, because its shares are complete.
  if (areSums ? piece.piece.scatters : piece.piece.gathers)
    return;
  for (int32_t member = 0; member < piece.count(); ++member) {
    if (member == piece.self)
      continue;
    auto add = [&](NcclCall::Kind kind, api::DevicePointer place,
                   int32_t owner) {
      if (piece.elements(owner) > 0)
        calls.push_back(piece.call(kind, place, piece.elements(owner), member));
    };
    int32_t sent = areSums ? piece.self : member;
    int32_t received = areSums ? member : piece.self;
    add(NcclCall::send, piece.accumulators(sent), sent);
    add(NcclCall::receive,
        areSums ? piece.accumulators(member) : piece.buffer(member), received);
  }
}

bool cuda::launchSums(CudaRank &rank, const artifact::Reduction &reduction,
                      api::Stream stream) {
  if (rank.program->sums == Sums::nccl)
    return true;
  for (const artifact::ReducedPiece &each : reduction.pieces) {
    if (each.gathers)
      continue;
    PieceOf piece = pieceOf(rank, reduction, each);
    int64_t elements = piece.elements(piece.self);
    std::vector<api::DevicePointer> parts;
    parts.reserve(piece.members.size());
    for (int32_t i = 0; i < piece.count(); ++i)
      parts.push_back(i == piece.self ? piece.accumulators(i)
                                      : piece.buffer(i));
    if (elements > 0 &&
        !rank.launchSum(stream, each.sumKernel, piece.accumulators(piece.self),
                        parts, elements))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Sums by NCCL
//===----------------------------------------------------------------------===//

/// Adds a call for the shares of all members at once, which have to be equal
/// and in the order of the communicator's ranks, or else one for each member.
/// These shares do not overlap: calls of a group run side by side, so none may
/// write what another one reads.
static void addDivided(const PieceOf &piece, NcclCall::Kind ofAll,
                       NcclCall::Kind ofEach, std::vector<NcclCall> &calls) {
  Division division = piece.division();
  bool isEven =
      division.owner < 0 &&
      division.own(0).count * division.count == division.numElements &&
      std::is_sorted(piece.members.begin(), piece.members.end());
  if (isEven)
    return calls.push_back(
        piece.call(ofAll, piece.place(0), division.own(0).count));
  for (int32_t member = 0; member < piece.count(); ++member)
    if (Shard own = division.own(member); own.count > 0)
      calls.push_back(
          piece.call(ofEach, piece.place(own.first), own.count, member));
}

/// The elements of member `owner`'s share that member `other` needs, too.
static Shard sharedElements(const Division &division, int32_t owner,
                            int32_t other) {
  Shard own = division.own(owner), needed = division.reduced(other);
  int64_t first = std::max(own.first, needed.first);
  int64_t end = std::min(own.first + own.count, needed.first + needed.count);
  return {first, std::max<int64_t>(end - first, 0)};
}

/// The most elements of a scattered sum that all members get if some need
/// elements of others' shares, which saves a call for each and a second group.
static constexpr int64_t mostForAll = 2048;

static bool isForAll(const PieceOf &piece) {
  if (!piece.piece.scatters || piece.piece.owner >= 0 ||
      piece.piece.numElements > mostForAll)
    return false;
  Division division = piece.division();
  for (int32_t member = 0; member < piece.count(); ++member)
    if (division.reduced(member) != division.own(member))
      return true;
  return false;
}

static void addSum(const PieceOf &piece, std::vector<NcclCall> &calls) {
  if (piece.piece.gathers)
    addDivided(piece, NcclCall::allGather, NcclCall::broadcast, calls);
  else if (piece.piece.scatters && !isForAll(piece))
    addDivided(piece, NcclCall::reduceScatter, NcclCall::reduce, calls);
  else
    calls.push_back(piece.call(NcclCall::allReduce, piece.place(0),
                               piece.piece.numElements));
}

/// Members may need elements of each other's shares (veeline/Base/Shards.h).
/// They get the same bits by copying: NCCL may add each share in another order.
static void addOverlaps(const PieceOf &piece, std::vector<NcclCall> &calls) {
  if (!piece.piece.scatters || isForAll(piece))
    return;
  Division division = piece.division();
  for (int32_t member = 0; member < piece.count(); ++member) {
    if (member == piece.self)
      continue;
    Shard sent = sharedElements(division, piece.self, member);
    Shard received = sharedElements(division, member, piece.self);
    if (sent.count > 0)
      calls.push_back(piece.call(NcclCall::send, piece.place(sent.first),
                                 sent.count, member));
    if (received.count > 0)
      calls.push_back(piece.call(NcclCall::receive, piece.place(received.first),
                                 received.count, member));
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

void cuda::addFirstCalls(const CudaRank &rank,
                         const artifact::Reduction &reduction,
                         std::vector<NcclCall> &calls) {
  bool isNccl = rank.program->sums == Sums::nccl;
  for (const artifact::ReducedPiece &each : reduction.pieces) {
    PieceOf piece = pieceOf(rank, reduction, each);
    isNccl ? addSum(piece, calls)
           : addMessages(piece, /*areSums=*/false, calls);
  }
}

void cuda::addLastCalls(const CudaRank &rank,
                        const artifact::Reduction &reduction,
                        std::vector<NcclCall> &calls) {
  bool isNccl = rank.program->sums == Sums::nccl;
  for (const artifact::ReducedPiece &each : reduction.pieces) {
    PieceOf piece = pieceOf(rank, reduction, each);
    isNccl ? addOverlaps(piece, calls)
           : addMessages(piece, /*areSums=*/true, calls);
  }
}

Status cuda::checkSums(const Communicators &communicators,
                       const CudaRank &rank) {
  if (rank.program->sums != Sums::nccl)
    return Status::success();
  auto number = static_cast<size_t>(rank.index);
  std::vector<int32_t> stage =
      rank.program->ranksOf(rank.program->placeOf(number).stage);
  std::sort(stage.begin(), stage.end());
  for (const artifact::Reduction &reduction : rank.description->reductions)
    if (communicators.members(reduction.communicator) != stage)
      return Status::error(
          "gradients of chunk " + std::to_string(reduction.chunk) +
          ": NCCL's communicator " + std::to_string(reduction.communicator) +
          " does not consist of the ranks that add them up, which sums by "
          "NCCL need; compile with --sums ordered");
  return Status::success();
}
