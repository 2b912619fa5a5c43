//===- DeviceWatch.cpp - detection of GPUs without progress ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceWatch.h"

#include "CudaRank.h"
#include "LocalTransport.h"
#include "veeline/Base/Clock.h"

#include <algorithm>
#include <cstdio>

using namespace veeline;
using namespace veeline::cuda;

static std::atomic<bool> isWorkAbandoned{false};

bool cuda::hasAbandonedWork() { return isWorkAbandoned.load(); }

void cuda::abandonWork() { isWorkAbandoned.store(true); }

void DeviceWatch::beginStep() {
  std::lock_guard<std::mutex> lock(mutex);
  lastPlace = place();
  since = nanoseconds();
}

int64_t DeviceWatch::sleepMilliseconds() const {
  double seconds = std::min(stallSeconds, timeoutSeconds);
  return std::clamp<int64_t>(static_cast<int64_t>(seconds * 125), 1, 1000);
}

/// A hash of the positions of the ranks and of their GPUs. It changes with
/// progress.
uint64_t DeviceWatch::place() const {
  uint64_t sum = 0;
  for (auto [rank, transport] : ranks) {
    sum = sum * 31 + rank->moves.load(std::memory_order_acquire);
    for (int32_t i = 0; i < rank->numComputeStreams(); ++i)
      sum = sum * 31 + transport->markOf(i);
  }
  return sum;
}

bool DeviceWatch::hasStalled() {
  if (isStuck())
    return true;
  // Another thread is polling already.
  std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  if (!lock)
    return false;
  int64_t now = nanoseconds();
  uint64_t at = place();
  if (at != lastPlace) {
    lastPlace = at;
    since = now;
    return false;
  }
  bool isSound = fault.status().ok();
  // From the fault on, work that is under way gets its time.
  if (!isSound && !hasSeenFault) {
    hasSeenFault = true;
    since = now;
    return false;
  }
  double limit =
      isSound ? stallSeconds : std::min(stallSeconds, timeoutSeconds);
  if (double(now - since) < limit * 1e9)
    return false;
  if (isSound)
    raiseStall();
  abandonWork();
  stuck.store(true, std::memory_order_release);
  return true;
}

static bool isMessage(const CudaRank &rank) {
  int32_t op = rank.currentOp;
  if (op < 0)
    return false;
  artifact::OpKind kind = rank.description->ops[static_cast<size_t>(op)].kind;
  return kind == artifact::OpKind::send || kind == artifact::OpKind::recv ||
         artifact::postsReduction(kind) || artifact::waitsForReduction(kind);
}

/// Raises the fault of a stall, with the position of each rank. The first rank
/// that waits for no other rank is listed first, because the others wait for
/// it. One of these may be in the step after that of another.
void DeviceWatch::raiseStall() {
  std::vector<CudaRank *> busy;
  for (auto [rank, transport] : ranks)
    if (transport->showPlace(*rank))
      busy.push_back(rank);
  auto orderOf = [](const CudaRank *rank) {
    bool waits = rank->awaited >= 0 || isMessage(*rank);
    return std::pair(waits, rank->step.load());
  };
  auto least = std::min_element(busy.begin(), busy.end(),
                                [&](const CudaRank *a, const CudaRank *b) {
                                  return orderOf(a) < orderOf(b);
                                });
  const CudaRank *first =
      least != busy.end() && !orderOf(*least).first ? *least : nullptr;
  std::string places;
  int64_t step = 0;
  for (const CudaRank *rank : busy) {
    ShortText text;
    group.describe(text, *rank);
    std::string place = "; " + std::string(text.view());
    places.insert(rank == first ? 0 : places.size(), place);
    step = step == 0 ? rank->step.load() : std::min(step, rank->step.load());
  }
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%g s", stallSeconds);
  fault.raise((first ? "rank " + std::to_string(first->index) + " has"
                     : std::string("all ranks have")) +
                  " made no progress for " + seconds + " (--stall-timeout)" +
                  places,
              step);
}
