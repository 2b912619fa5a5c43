//===- Shards.h - shares of a parameter ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which elements of a parameter each of the ranks updates that share its
// optimiser's state: stage 1 of Rajbhandari et al., "ZeRO: Memory Optimizations
// Toward Training Trillion Parameter Models", 2020.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_SHARDS_H
#define VEELINE_BASE_SHARDS_H

#include <algorithm>
#include <cstdint>

namespace veeline {

/// Elements from `first` on.
struct Shard {
  int64_t first = 0, count = 0;
  bool operator==(const Shard &) const = default;
};

/// Shares begin at multiples of this many elements, so that vectors of a CPU
/// and loads of a GPU are aligned in each.
inline constexpr int64_t shardAlignment = 16;

/// The elements between the begins of two shares of `numElements`, of `count`.
constexpr int64_t shardStride(int64_t numElements, int64_t count) {
  int64_t least = (numElements + count - 1) / count;
  return (least + shardAlignment - 1) / shardAlignment * shardAlignment;
}

/// The elements that member `k` of `count` gives to the others: every element
/// is in one share. The last ones may be empty.
constexpr Shard ownShard(int64_t numElements, int64_t count, int64_t k) {
  int64_t stride = shardStride(numElements, count);
  int64_t first = std::min(k * stride, numElements);
  return {first, std::min(stride, numElements - first)};
}

/// The elements that each member updates, of which it has the state. Members
/// have as many, because they run the same code: where the stride is no divisor
/// of `numElements`, some update elements of another one's share as well, to
/// the same bits.
constexpr int64_t shardElements(int64_t numElements, int64_t count) {
  return std::min(numElements, shardStride(numElements, count) +
                                   numElements % shardAlignment);
}

/// Those of member `k`; they include its `ownShard`.
constexpr Shard shardOf(int64_t numElements, int64_t count, int64_t k) {
  int64_t elements = shardElements(numElements, count);
  return {std::min(k * shardStride(numElements, count), numElements - elements),
          elements};
}

} // namespace veeline

#endif // VEELINE_BASE_SHARDS_H
