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

/// How ranks that are processes with a GPU each add up gradients, and gather
/// parameters. Other ranks add in order in any case.
enum class Sums {
  ordered, ///< In the order of the ranks, through buffers.
  nccl     ///< By NCCL's own functions, in an order that it chooses.
};

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

/// The number of parts of a gradient whose squares are added up one by one, and
/// then in order. It depends on nothing but the number of elements, so that a
/// norm has the same bits however the parts are divided among ranks. All parts
/// have the same size.
constexpr int64_t normParts(int64_t numElements) {
  // Enough parts to fill a device, of enough elements to be worth a block.
  constexpr int64_t mostParts = 256, fewestElements = 256;
  for (int64_t parts = std::min(mostParts, numElements / fewestElements);
       parts > 1; --parts)
    if (numElements % parts == 0)
      return parts;
  return 1;
}

/// The parts of the norm that are member `k`'s: those that begin in its
/// `ownShard`. The last members may have none.
constexpr Shard ownNormParts(int64_t numElements, int64_t count, int64_t k) {
  int64_t size = std::max<int64_t>(numElements / normParts(numElements), 1);
  Shard own = ownShard(numElements, count, k);
  int64_t first = (own.first + size - 1) / size;
  return {first, (own.first + own.count + size - 1) / size - first};
}

/// The number of norm parts that each member of `count` computes where all run
/// the same code.
constexpr int64_t normPartsOfShard(int64_t numElements, int64_t count) {
  int64_t most = 1;
  for (int64_t k = 0; k < count; ++k)
    most = std::max(most, ownNormParts(numElements, count, k).count);
  return most;
}

/// The parts that member `k` computes then. They include its `ownNormParts`.
constexpr Shard computedNormParts(int64_t numElements, int64_t count,
                                  int64_t k) {
  int64_t parts = normPartsOfShard(numElements, count);
  return {std::min(ownNormParts(numElements, count, k).first,
                   normParts(numElements) - parts),
          parts};
}

/// The elements of the gradient that member `k` needs: those that it updates,
/// and those of its `ownNormParts`.
constexpr Shard reducedElements(int64_t numElements, int64_t count, int64_t k) {
  Shard updated = shardOf(numElements, count, k);
  Shard parts = ownNormParts(numElements, count, k);
  int64_t size = numElements / normParts(numElements);
  int64_t end = updated.first + updated.count;
  if (parts.count > 0)
    end = std::max(end, (parts.first + parts.count) * size);
  return {updated.first, end - updated.first};
}

/// How the update of a parameter is divided among the `count` members of a
/// stage: each has a share of the elements, or one of them, the owner, has all.
struct Division {
  int64_t numElements = 0, count = 1;
  int64_t owner = -1;

  /// These are as the functions above.
  constexpr Shard own(int64_t k) const {
    return owner < 0 ? ownShard(numElements, count, k) : all(k, numElements);
  }
  constexpr Shard updated(int64_t k) const {
    return owner < 0 ? shardOf(numElements, count, k) : all(k, numElements);
  }
  constexpr Shard ownNormParts(int64_t k) const {
    return owner < 0 ? veeline::ownNormParts(numElements, count, k)
                     : all(k, normParts(numElements));
  }
  constexpr int64_t firstNormPart(int64_t k) const {
    return owner < 0 ? computedNormParts(numElements, count, k).first : 0;
  }
  constexpr Shard reduced(int64_t k) const {
    return owner < 0 ? reducedElements(numElements, count, k)
                     : all(k, numElements);
  }
  /// The most elements that a member needs.
  constexpr int64_t mostReduced() const {
    int64_t most = owner < 0 ? 0 : numElements;
    for (int64_t k = 0; owner < 0 && k < count; ++k)
      most = std::max(most, reduced(k).count);
    return most;
  }

private:
  constexpr Shard all(int64_t k, int64_t elements) const {
    return {0, k == owner ? elements : 0};
  }
};

} // namespace veeline

#endif // VEELINE_BASE_SHARDS_H
