//===- OffsetAllocator.h - offsets of buffers with known lifetimes --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assigns offsets in one block of memory to buffers whose lifetimes are known
// at compile time (offline dynamic storage allocation). It plans both the
// workspace of a function and the arena of a rank. Plain C++, no MLIR types.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_OFFSETALLOCATOR_H
#define VEELINE_ANALYSIS_OFFSETALLOCATOR_H

#include <cstdint>
#include <span>
#include <vector>

namespace veeline {

/// A buffer of `size` bytes that is live at the points t with begin <= t < end.
/// If begin >= end, it is never live, and gets offset 0 and no memory.
struct LiveInterval {
  int64_t begin = 0;
  int64_t end = 0;
  uint64_t size = 0;
};

/// Determines which intervals are live at the same time on a device with
/// several concurrent streams. Points are then operations, in issue order. Let
/// one interval begin at point b on stream s, and let another one begin before
/// b. They are live at the same time unless b is at least the other interval's
/// `ends` for stream s.
struct StreamLives {
  size_t numStreams = 1;
  /// For each interval, the stream of the operation at which it begins.
  std::vector<uint32_t> streams;
  /// For each interval, one point for each stream: operations that are issued
  /// to that stream from this point on run after all uses of the interval. No
  /// point is smaller than the interval's `end`.
  std::vector<int64_t> ends;
};

/// The placement of all intervals.
struct OffsetPlan {
  /// In bytes, in the order of the intervals. Each is a multiple of the
  /// alignment.
  std::vector<uint64_t> offsets;
  /// The size of the block that holds all of them.
  uint64_t totalBytes = 0;
  /// The maximum, over all points, of the sum of the sizes (not rounded up) of
  /// the intervals that are live there. No plan can be smaller.
  uint64_t peakLiveBytes = 0;
};

/// The `OffsetPlan::peakLiveBytes` of the intervals. O(n log n).
uint64_t peakLiveBytes(std::span<const LiveInterval> intervals);

/// Places the intervals so that no two that are live at the same time overlap
/// in memory.
///
/// Several greedy orders are tried: by size and by breadth, after Pisarchyk and
/// Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020; by
/// time; by area. Each buffer goes into the smallest gap between placed buffers
/// that are live at the same time. The best result is improved by a bounded
/// number of reorderings, which move the buffers at the top, and those below
/// them, to the front of the order. The search stops when a plan meets the
/// lower bound.
///
/// The result is deterministic. O(n (w + log n) log n), with w the number of
/// buffers that are live at the same time; reorderings are bounded by a
/// constant amount of work. `alignment` is a power of two.
OffsetPlan planOffsets(std::span<const LiveInterval> intervals,
                       uint64_t alignment = 64);

/// The same, but `lives` determines which intervals are live at the same time.
/// The peak is that of the issue order. O(n w v log n) with v streams.
OffsetPlan planOffsets(std::span<const LiveInterval> intervals,
                       const StreamLives &lives, uint64_t alignment = 64);

/// The same for one turn of a loop, whose points are 0 <= t < `turn`. A buffer
/// with `end` > `turn` is live until the end of its turn, and in the next turn
/// until `end` - `turn`, which is at most its `begin`.
OffsetPlan planLoopOffsets(std::span<const LiveInterval> intervals,
                           int64_t turn, uint64_t alignment = 64);
/// The largest sum of sizes live at one point of such a loop. O(n log n).
uint64_t peakLoopBytes(std::span<const LiveInterval> intervals, int64_t turn);

/// True if each offset of `plan` is aligned and inside of the block, and no two
/// intervals that are live at the same time overlap. Builds with our own checks
/// check every plan. O(n w).
bool isValidPlan(std::span<const LiveInterval> intervals,
                 const OffsetPlan &plan, uint64_t alignment = 64);
bool isValidPlan(std::span<const LiveInterval> intervals,
                 const StreamLives &lives, const OffsetPlan &plan,
                 uint64_t alignment = 64);
bool isValidLoopPlan(std::span<const LiveInterval> intervals, int64_t turn,
                     const OffsetPlan &plan, uint64_t alignment = 64);

} // namespace veeline

#endif // VEELINE_ANALYSIS_OFFSETALLOCATOR_H
