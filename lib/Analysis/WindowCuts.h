//===- WindowCuts.h - cuts for any placement --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_ANALYSIS_WINDOWCUTS_H
#define VEELINE_LIB_ANALYSIS_WINDOWCUTS_H

#include "veeline/Analysis/Cuts.h"

namespace veeline {

/// Starting from `counts`, looks for cuts whose heaviest stage is as light as
/// possible under any placement. (To find the lightest of all is NP-hard:
/// numbers can be partitioned with it.)
///
/// A window of neighbouring chunks on different stages is cut in the best
/// possible way at once, the other chunks being what they are: bisection over
/// the load of the heaviest stage, each chunk taking what its stage still can.
/// Windows everywhere, until nothing improves; then again from a random change
/// of a few cuts, always with the same random numbers, for a fixed amount of
/// work or until the heaviest stage is as light as a lower bound says.
std::vector<int> searchWindowCuts(std::span<const PieceWeight> pieces,
                                  std::span<const int> stageOf,
                                  std::span<const int> counts,
                                  std::span<const int> widths);

} // namespace veeline

#endif // VEELINE_LIB_ANALYSIS_WINDOWCUTS_H
