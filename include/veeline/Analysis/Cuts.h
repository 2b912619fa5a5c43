//===- Cuts.h - where to cut a sequence of pieces ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses where a sequence of pieces is cut into chunks. Plain C++, no MLIR
// types.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_CUTS_H
#define VEELINE_ANALYSIS_CUTS_H

#include <cstdint>
#include <span>
#include <vector>

namespace veeline {

/// The weights of a piece that cuts depend on.
struct PieceWeight {
  /// Time, in any unit.
  double cost = 0.0;
  /// Bytes that cross a cut after this piece.
  uint64_t bytesAfter = 0;
};

/// The quality of a choice of cuts. Members are compared in order; less is
/// better.
struct CutQuality {
  /// The load of the heaviest stage: its cost divided by its number of ranks.
  double heaviest = 0.0;
  /// The bytes that cross all cuts between chunks on different stages.
  uint64_t bytes = 0;
  /// The sum of the squares of the chunks' loads. It is least if the chunks of
  /// a stage are equal, as schedules with several chunks a stage assume.
  double unevenness = 0.0;

  /// True if this is better than `other`. Sums of costs that differ only by
  /// rounding count as equal.
  bool isBetterThan(const CutQuality &other) const;
};

/// The number of ranks of `stage`; 1 if `widths` is empty.
inline int widthOf(std::span<const int> widths, int stage) {
  return widths.empty() ? 1 : widths[stage];
}

/// The quality of the cuts that give chunk k, on stage `stageOf[k]`,
/// `counts[k]` pieces.
CutQuality evaluateCuts(std::span<const PieceWeight> pieces,
                        std::span<const int> stageOf,
                        std::span<const int> counts,
                        std::span<const int> widths = {});

/// Stages whose loads differ by less than this share count as equally heavy,
/// since costs are estimates.
inline constexpr double loadMargin = 0.02;

/// Cuts `pieces` into stageOf.size() contiguous chunks of at least one piece
/// each; returns the number of pieces of each chunk. It first minimises the
/// load of the heaviest stage up to `loadMargin`, then the bytes that cross
/// cuts, then the unevenness of chunks. Needs pieces.size() >= stageOf.size()
/// >= 1. The load of a stage with w ranks (`widths`) is its cost divided by w.
///
/// The result is exact if there are few ways to cut, if every stage holds one
/// chunk, or if the chunks nest as in a V (stageOf is a palindrome). The last
/// two cases bisect a bound on the heaviest stage, with a dynamic program for
/// each bound. With n pieces and p stages this takes at most O(p n^4), and far
/// less in practice, since few ranges stay below the bound. For other
/// placements the problem is NP-hard. There a search re-cuts windows of chunks
/// (WindowCuts.h). Then single cuts, and pairs of neighbouring cuts, are moved
/// as long as bytes or unevenness improve.
std::vector<int> chooseCuts(std::span<const PieceWeight> pieces,
                            std::span<const int> stageOf,
                            std::span<const int> widths = {});

} // namespace veeline

#endif // VEELINE_ANALYSIS_CUTS_H
