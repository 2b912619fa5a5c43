//===- Shards.h - shards of a parameter -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The partition of a parameter among the ranks that share its optimiser's
// state: stage 1 of Rajbhandari et al., "ZeRO: Memory Optimizations Toward
// Training Trillion Parameter Models", 2020.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_SHARDS_H
#define VEELINE_BASE_SHARDS_H

#include <algorithm>
#include <cstdint>

namespace veeline {

/// `count` elements, beginning with element `first`.
struct Shard {
  int64_t first = 0, count = 0;
  bool operator==(const Shard &) const = default;
};

/// Shards begin at multiples of this many elements, so that vectors of a CPU
/// and loads of a GPU are aligned in each.
inline constexpr int64_t shardAlignment = 16;

/// The distance between the beginnings of consecutive shards, in elements, if
/// `numElements` are divided into `count` shards.
constexpr int64_t shardStride(int64_t numElements, int64_t count) {
  int64_t least = (numElements + count - 1) / count;
  return (least + shardAlignment - 1) / shardAlignment * shardAlignment;
}

/// The elements that member `k` of `count` sends to the others. Every element
/// is in exactly one such shard; the last ones may be empty.
constexpr Shard ownShard(int64_t numElements, int64_t count, int64_t k) {
  int64_t stride = shardStride(numElements, count);
  int64_t first = std::min(k * stride, numElements);
  return {first, std::min(stride, numElements - first)};
}

/// The number of elements that each member updates and has the state of. It is
/// the same for all members, because they run the same code. If the stride does
/// not divide `numElements`, some members also update elements of another
/// member's shard, with the same bits.
constexpr int64_t shardElements(int64_t numElements, int64_t count) {
  return std::min(numElements, shardStride(numElements, count) +
                                   numElements % shardAlignment);
}

/// The elements that member `k` updates. They include its `ownShard`.
constexpr Shard shardOf(int64_t numElements, int64_t count, int64_t k) {
  int64_t elements = shardElements(numElements, count);
  return {std::min(k * shardStride(numElements, count), numElements - elements),
          elements};
}

} // namespace veeline

#endif // VEELINE_BASE_SHARDS_H
