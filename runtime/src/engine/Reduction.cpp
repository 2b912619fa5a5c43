//===- Reduction.cpp - sums of gradients over replicas --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"

#include "Rank.h"

#include "veeline/Base/Check.h"
#include "veeline/Base/Shards.h"

#include <algorithm>
#include <cstring>

using namespace veeline;
using namespace veeline::engine;

static constexpr uint32_t oneStep = 2;

/// The number of elements that are added at a time. Those of all replicas fit
/// into the cache.
static constexpr int64_t blockSize = 4096;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Share engine::shareOf(int64_t numElements, int32_t k, int32_t count) {
  // Computes n*k/d without a product that may overflow.
  auto boundary = [&](int64_t i) {
    return numElements / count * i + numElements % count * i / count;
  };
  return {boundary(k), boundary(k + 1)};
}

Share engine::shareOf(const artifact::ReducedPiece &piece, int32_t k,
                      int32_t count) {
  if (!piece.gathers && !piece.scatters)
    return shareOf(piece.numElements, k, count);
  Division division = piece.division(count);
  Shard own = piece.gathers ? division.own(k) : division.reduced(k);
  return {own.first, own.first + own.count};
}

template <typename T>
static void addTyped(const std::vector<const char *> &parts,
                     const std::vector<SumTarget> &targets, Share share) {
  alignas(64) T sum[blockSize];
  for (int64_t begin = share.begin; begin < share.end; begin += blockSize) {
    int64_t count = std::min(blockSize, share.end - begin);
    auto at = [&](const char *part) {
      return reinterpret_cast<const T *>(part) + begin;
    };
    std::copy_n(at(parts[0]), count, sum);
    for (size_t j = 1; j < parts.size(); ++j) {
      const T *part = at(parts[j]);
      for (int64_t i = 0; i < count; ++i)
        sum[i] += part[i];
    }
    for (const SumTarget &target : targets) {
      int64_t first = std::max(begin, target.wanted.begin);
      int64_t end = std::min(begin + count, target.wanted.end);
      if (first < end)
        std::copy_n(sum + (first - begin), end - first,
                    reinterpret_cast<T *>(target.sums) + first);
    }
  }
}

void engine::addInOrder(artifact::DataType type,
                        const std::vector<const char *> &parts,
                        const std::vector<SumTarget> &targets, Share share) {
  type == artifact::DataType::f64 ? addTyped<double>(parts, targets, share)
                                  : addTyped<float>(parts, targets, share);
}

bool Reduction::countWait(veeline_rank &rank) {
  if (numWaited == numPosted) {
    rank.fail("gradients of replicas are waited for, but none were posted");
    return false;
  }
  ++numWaited;
  return true;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

SharedSum::SharedSum(Group &group, int32_t index,
                     const artifact::ReducedPiece &piece,
                     std::vector<char *> accumulators)
    : group(group), index(index), piece(piece), sums(std::move(accumulators)),
      parts(sums.begin(), sums.end()) {
  auto count = static_cast<int32_t>(sums.size());
  for (int32_t k = 0; k < count; ++k)
    targets.push_back({sums[static_cast<size_t>(k)],
                       piece.scatters ? shareOf(piece, k, count)
                                      : Share{0, piece.numElements}});
}

int64_t SharedSum::numBlocks() const {
  return (piece.numElements + blockSize - 1) / blockSize;
}

/// Copies the elements of a block that each rank has updated to the other
/// ranks.
void SharedSum::copyShares(Share block) const {
  int64_t size = artifact::byteSize(piece.type);
  for (size_t owner = 0; owner < sums.size(); ++owner) {
    Share own = shareOf(piece, static_cast<int32_t>(owner),
                        static_cast<int32_t>(sums.size()));
    int64_t begin = std::max(own.begin, block.begin);
    int64_t end = std::min(own.end, block.end);
    for (size_t target = 0; target < sums.size() && begin < end; ++target)
      if (target != owner)
        std::memcpy(sums[target] + begin * size, sums[owner] + begin * size,
                    static_cast<size_t>((end - begin) * size));
  }
}

/// Adds blocks of step `step` until no block is left.
void SharedSum::add(uint32_t step) {
  uint64_t next = nextBlock.load(std::memory_order_acquire);
  for (;;) {
    auto block = static_cast<int64_t>(next & 0xffff'ffff);
    if (next >> 32 != step || block >= numBlocks())
      return;
    if (!nextBlock.compare_exchange_weak(next, next + 1,
                                         std::memory_order_acq_rel))
      continue;
    Share elements{block * blockSize,
                   std::min((block + 1) * blockSize, piece.numElements)};
    if (piece.gathers)
      copyShares(elements);
    else
      addInOrder(piece.type, parts, targets, elements);
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1)
      added.add(oneStep);
    next = nextBlock.load(std::memory_order_acquire);
  }
}

void ThreadReduction::post(veeline_rank &) {
  ++numPosted;
  SharedSum &sum = *shared;
  uint64_t arrival = sum.arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (arrival != uint64_t(numPosted) * sum.sums.size())
    return;
  // All others have posted this step, and none is in an earlier one.
  sum.left.store(sum.numBlocks(), std::memory_order_relaxed);
  sum.nextBlock.store(uint64_t(numPosted) << 32, std::memory_order_release);
  sum.complete.add(oneStep);
  sum.add(numPosted);
}

void ThreadReduction::wait(veeline_rank &rank) {
  if (!countWait(rank))
    return;
  SharedSum &sum = *shared;
  uint32_t target = numWaited * oneStep;
  bool isThere = sum.group.waitFor(rank, sum.index, sum.complete, target);
  if (isThere)
    sum.add(numWaited);
  if (!isThere || !sum.group.waitFor(rank, sum.index, sum.added, target))
    rank.failed = true;
}

void ThreadReduction::abort() {
  shared->complete.setBits(faultBit);
  shared->added.setBits(faultBit);
}
