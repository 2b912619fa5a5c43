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
/// possible under any placement. (The lightest of all is NP-hard to find:
/// number partitioning is a special case.)
///
/// A window of neighbouring chunks on different stages is re-cut in the best
/// way, while the other chunks stay as they are: by bisection over the load of
/// the heaviest stage, each chunk taking what its stage still can. That is
/// repeated with windows everywhere until nothing improves, then again from a
/// random change of a few cuts, always with the same random numbers. The search
/// ends after a fixed amount of work, or when the heaviest stage is as light as
/// a lower bound.
std::vector<int> searchWindowCuts(std::span<const PieceWeight> pieces,
                                  std::span<const int> stageOf,
                                  std::span<const int> counts,
                                  std::span<const int> widths);

} // namespace veeline

#endif // VEELINE_LIB_ANALYSIS_WINDOWCUTS_H
