//===- Cuts.h - where to cut a sequence of pieces ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain C++, no MLIR types.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_CUTS_H
#define VEELINE_ANALYSIS_CUTS_H

#include <cstdint>
#include <span>
#include <vector>

namespace veeline {

/// A piece, as far as cutting goes.
struct PieceWeight {
  /// Time, in any unit.
  double cost = 0.0;
  /// Bytes that cross a cut after this piece.
  uint64_t bytesAfter = 0;
};

/// How good a choice of cuts is. Members are compared in order; less is better.
struct CutQuality {
  /// The load of the heaviest stage: its cost divided by its number of ranks.
  double heaviest = 0.0;
  /// The bytes that cross all cuts between chunks on different stages.
  uint64_t bytes = 0;
  /// The sum of the squares of the chunks' loads. It is least where the chunks
  /// of a stage are equal, as schedules with several chunks a stage assume.
  double unevenness = 0.0;

  /// True if this is better than `other`. Sums of costs that differ by rounding
  /// only count as equal.
  bool isBetterThan(const CutQuality &other) const;
};

/// The number of ranks of `stage`; 1 where `widths`, by stage, is empty.
inline int widthOf(std::span<const int> widths, int stage) {
  return widths.empty() ? 1 : widths[stage];
}

/// The quality of giving chunk k `counts[k]` pieces, `stageOf[k]` its stage.
CutQuality evaluateCuts(std::span<const PieceWeight> pieces,
                        std::span<const int> stageOf,
                        std::span<const int> counts,
                        std::span<const int> widths = {});

/// Stages whose loads differ by less than this share count as equally heavy:
/// costs are estimates, and no better than that.
inline constexpr double loadMargin = 0.02;

/// Cuts `pieces` into stageOf.size() contiguous chunks of at least one piece
/// each, so that the heaviest stage is as light as possible up to `loadMargin`,
/// then so that the fewest bytes cross cuts, then so that chunks are even.
/// Needs pieces.size() >= stageOf.size() >= 1. The load of a stage with w ranks
/// (`widths`) is a w-th of its cost.
///
/// The result is exact where there are few ways to cut, where every stage holds
/// one chunk, and where the chunks nest as in a V (stageOf is a palindrome).
/// The last two cases bisect a bound on the heaviest stage, with a dynamic
/// program for each bound: at most O(p n^4) with n pieces and p stages, and in
/// practice far less, since few ranges stay below the bound. For other
/// placements the lightest stage is NP-hard to find. There a search re-cuts
/// windows of chunks (WindowCuts.h); then single cuts, and pairs of
/// neighbouring ones, move while bytes or evenness gain.
std::vector<int> chooseCuts(std::span<const PieceWeight> pieces,
                            std::span<const int> stageOf,
                            std::span<const int> widths = {});

} // namespace veeline

#endif // VEELINE_ANALYSIS_CUTS_H
