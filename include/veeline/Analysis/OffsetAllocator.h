//===- OffsetAllocator.h - offsets of buffers with known lifetimes --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lays out buffers whose lifetimes are known at compile time in one block of
// memory (offline dynamic storage allocation). It plans both the workspace of a
// function and the arena of a rank. Plain C++, no MLIR types.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_OFFSETALLOCATOR_H
#define VEELINE_ANALYSIS_OFFSETALLOCATOR_H

#include <cstdint>
#include <span>
#include <vector>

namespace veeline {

/// A buffer of `size` bytes that is live at the points t with begin <= t < end.
/// One with begin >= end is live nowhere: it gets offset 0 and no memory.
struct LiveInterval {
  int64_t begin = 0;
  int64_t end = 0;
  uint64_t size = 0;
};

/// Which intervals are live at the same time on a device with several streams,
/// which run side by side. Points are then operations, in the order in which
/// they are issued. Of two intervals, the one that begins later, at the point
/// b, is not live together with the other one if b is at least the other one's
/// `ends` for its stream.
struct StreamLives {
  size_t numStreams = 1;
  /// By interval: the stream of the operation at which it begins.
  std::vector<uint32_t> streams;
  /// For each interval one point for each stream, none smaller than its `end`:
  /// what is issued to that stream from there on comes after all of the
  /// interval's uses.
  std::vector<int64_t> ends;
};

/// Where every interval was placed.
struct OffsetPlan {
  /// In bytes, in the order of the intervals, each a multiple of the alignment.
  std::vector<uint64_t> offsets;
  /// Bytes of the block that holds all of them.
  uint64_t totalBytes = 0;
  /// The largest sum, over all points, of the sizes of the intervals that are
  /// live there, as given (not rounded up): no plan is smaller.
  uint64_t peakLiveBytes = 0;
};

/// The largest sum of sizes live at one point. O(n log n).
uint64_t peakLiveBytes(std::span<const LiveInterval> intervals);

/// Places the intervals so that those that are live at the same time do not
/// overlap.
///
/// Several greedy orders are tried (by size and by breadth, after Pisarchyk and
/// Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020; by
/// time; by area), each placing a buffer into the smallest gap between placed
/// buffers that it overlaps in time; the best result is improved by a bounded
/// number of reorderings that move the buffers at the top, and those below
/// them, to the front. It stops as soon as a plan meets the lower bound.
///
/// The result depends on the input alone. O(n (w + log n) log n) with w the
/// number of buffers live at the same time, the number of reorderings bounded
/// by a constant amount of work. `alignment` is a power of two.
OffsetPlan planOffsets(std::span<const LiveInterval> intervals,
                       uint64_t alignment = 64);

/// The same, where `lives` says which intervals are live at the same time. The
/// peak is that of the order in which operations are issued. O(n w v log n)
/// with v streams.
OffsetPlan planOffsets(std::span<const LiveInterval> intervals,
                       const StreamLives &lives, uint64_t alignment = 64);

/// The same for one turn of a loop, whose points are 0 <= t < `turn`. A buffer
/// with `end` > `turn` is live up to the end of its turn, and in the next one
/// up to `end` - `turn`, which is at most its `begin`.
OffsetPlan planLoopOffsets(std::span<const LiveInterval> intervals,
                           int64_t turn, uint64_t alignment = 64);
/// The largest sum of sizes live at one point of such a loop. O(n log n).
uint64_t peakLoopBytes(std::span<const LiveInterval> intervals, int64_t turn);

/// True where each offset of `plan` is aligned and inside of the block, and no
/// two intervals that are live at the same time overlap. Checked builds ask it
/// about every plan. O(n w).
bool isValidPlan(std::span<const LiveInterval> intervals,
                 const OffsetPlan &plan, uint64_t alignment = 64);
bool isValidPlan(std::span<const LiveInterval> intervals,
                 const StreamLives &lives, const OffsetPlan &plan,
                 uint64_t alignment = 64);
bool isValidLoopPlan(std::span<const LiveInterval> intervals, int64_t turn,
                     const OffsetPlan &plan, uint64_t alignment = 64);

} // namespace veeline

#endif // VEELINE_ANALYSIS_OFFSETALLOCATOR_H
