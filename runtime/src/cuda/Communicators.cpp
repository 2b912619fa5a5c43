//===- Communicators.cpp - NCCL's communicators of a process --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Communicators.h"

#include "BlockedSignals.h"
#include "DeviceWatch.h"
#include "Driver.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>
#include <system_error>
#include <thread>

using namespace veeline;
using namespace veeline::cuda;

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

std::map<int32_t, std::vector<int32_t>>
cuda::membersOfCommunicators(const artifact::Program &program) {
  std::map<int32_t, std::set<int32_t>> sets;
  for (const artifact::Channel &channel : program.channels)
    if (channel.kind != artifact::ChannelKind::shape)
      sets[channel.communicator].insert({channel.fromRank, channel.toRank});
  for (size_t rank = 0; rank < program.ranks.size(); ++rank)
    for (const artifact::Reduction &reduction : program.ranks[rank].reductions)
      for (int32_t member : program.ranksOf(program.placeOf(rank).stage))
        sets[reduction.communicator].insert(member);
  std::map<int32_t, std::vector<int32_t>> members;
  for (const auto &[number, set] : sets)
    members[number].assign(set.begin(), set.end());
  return members;
}

int Communicators::peer(int32_t number, int32_t rank) const {
  const std::vector<int32_t> &members = all.at(number).members;
  auto it = std::lower_bound(members.begin(), members.end(), rank);
  return static_cast<int>(it - members.begin());
}

//===----------------------------------------------------------------------===//
// Begin and end
//===----------------------------------------------------------------------===//

/// The ids of all communicators. The first member of each creates it.
static Expected<std::map<int32_t, api::UniqueId>>
shareIds(const Nccl &nccl, engine::Network &network,
         const std::map<int32_t, std::vector<int32_t>> &members) {
  constexpr size_t bytes = sizeof(api::UniqueId::internal);
  std::string mine;
  for (const auto &[number, ranks] : members) {
    if (ranks.front() != network.rank())
      continue;
    api::UniqueId id = {};
    VEELINE_TRY(VEELINE_CALL(nccl, ncclGetUniqueId, &id));
    mine.append(id.internal, bytes);
  }
  VEELINE_TRY_VALUE(std::vector<std::string> texts,
                    network.exchange(std::move(mine)));
  std::map<int32_t, api::UniqueId> ids;
  /// The number of each rank in the communicator.
  std::map<int32_t, size_t> at;
  for (const auto &[number, ranks] : members) {
    const std::string &text = texts[static_cast<size_t>(ranks.front())];
    size_t &offset = at[ranks.front()];
    if (text.size() < offset + bytes)
      return Status::error("rank " + std::to_string(ranks.front()) +
                           " has no id for NCCL's communicator " +
                           std::to_string(number));
    std::memcpy(ids[number].internal, text.data() + offset, bytes);
    offset += bytes;
  }
  return ids;
}

Expected<std::unique_ptr<Communicators>>
Communicators::connect(const Nccl &nccl, const artifact::Program &program,
                       engine::Network &network, const CudaOptions &options) {
  auto members = membersOfCommunicators(program);
  VEELINE_TRY_VALUE(auto ids, shareIds(nccl, network, members));
  std::unique_ptr<Communicators> made(
      new Communicators(nccl, options, network.rank()));
  // All processes join in the order of numbers, so that no process waits
  // forever.
  for (auto &[number, ranks] : members) {
    if (!std::binary_search(ranks.begin(), ranks.end(), network.rank()))
      continue;
    made->all[number].members = std::move(ranks);
    if (Status status = made->join(number, ids[number], network); !status.ok())
      return Status::error("NCCL's communicator " + std::to_string(number) +
                           ": " + status.message());
  }
  return made;
}

Status Deadline::status(const std::string &what) const {
  if (const char *failure = network.knownFailure())
    return Status::error(failure);
  char text[64];
  std::snprintf(text, sizeof(text), "%g s (--timeout)", seconds);
  return Status::error(what + " within " + text +
                       "; NCCL_DEBUG=INFO has NCCL say how it tries to");
}

Status Communicators::join(int32_t number, const api::UniqueId &id,
                           engine::Network &network) {
  Entry &entry = all[number];
  api::NcclConfig config;
  config.blocking = 0;
  if (options.minNcclChannels > 0) {
    config.minCtas = options.minNcclChannels;
    config.maxCtas = options.maxNcclChannels;
  }
  VEELINE_TRY(nccl.check(
      "ncclCommInitRankConfig",
      nccl.ncclCommInitRankConfig(&entry.comm,
                                  static_cast<int>(entry.members.size()), id,
                                  peer(number, network.rank()), &config)));
  Deadline deadline(network, options.timeoutSeconds);
  VEELINE_TRY_VALUE(bool hasJoined,
                    settle(number, [&] { return deadline.isOver(); }));
  if (hasJoined)
    return Status::success();
  std::string ranks;
  for (int32_t rank : entry.members)
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  return deadline.status("ranks " + ranks + " have not met");
}

/// Aborts all communicators at once. Freeing a communicator's memory waits for
/// the whole device, and work of the other communicators ends only when these
/// are aborted, too.
bool Communicators::abort() {
  auto numLeft = std::make_shared<std::atomic<size_t>>(0);
  bool isOver = true;
  for (auto &[number, entry] : all) {
    if (!entry.comm)
      continue;
    ++*numLeft;
    BlockedSignals blocked;
    try {
      // Errors are ignored, because there is nobody to report them to. The
      // thread uses nothing of `this`, which may not exist any more by then.
      std::thread([abort = nccl.ncclCommAbort, comm = entry.comm, numLeft] {
        (void)abort(comm);
        --*numLeft;
      }).detach();
    } catch (const std::system_error &) {
      isOver = false;
    }
  }
  all.clear();
  Pause pause;
  while (isOver && *numLeft > 0) {
    pause();
    isOver =
        double(pause.nanoseconds()) < abortShare * options.timeoutSeconds * 1e9;
  }
  if (!isOver)
    abandonWork();
  return isOver;
}

Status Communicators::close(double seconds) {
  Pause pause;
  for (auto &[number, entry] : all) {
    VEELINE_TRY(nccl.check("ncclCommFinalize",
                           nccl.ncclCommFinalize(entry.comm), entry.comm));
    auto isLate = [&] { return double(pause.nanoseconds()) > seconds * 1e9; };
    VEELINE_TRY_VALUE(bool isOver, settle(number, isLate));
    if (!isOver)
      return Status::error("ncclCommFinalize does not come to an end");
    VEELINE_TRY(nccl.check("ncclCommDestroy", nccl.ncclCommDestroy(entry.comm),
                           entry.comm));
    entry.comm = nullptr;
  }
  all.clear();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Polling
//===----------------------------------------------------------------------===//

Expected<bool>
Communicators::settle(int32_t number,
                      const std::function<bool()> &isAborted) const {
  api::Comm comm = handle(number);
  Pause pause;
  for (;;) {
    api::NcclResult state = api::ncclSuccess;
    VEELINE_TRY(nccl.check("ncclCommGetAsyncError",
                           nccl.ncclCommGetAsyncError(comm, &state), comm));
    VEELINE_TRY(nccl.check("in the background", state, comm));
    if (state == api::ncclSuccess)
      return true;
    if (isAborted())
      return false;
    pause();
  }
}

Status Communicators::check() const {
  for (const auto &[number, entry] : all) {
    api::NcclResult state = api::ncclSuccess;
    VEELINE_TRY(nccl.check("ncclCommGetAsyncError",
                           nccl.ncclCommGetAsyncError(entry.comm, &state),
                           entry.comm));
    VEELINE_TRY(nccl.check("in the background", state, entry.comm));
  }
  return Status::success();
}
