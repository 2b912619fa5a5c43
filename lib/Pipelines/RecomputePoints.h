//===- RecomputePoints.h - choices of recomputation of a chunk --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_PIPELINES_RECOMPUTEPOINTS_H
#define VEELINE_LIB_PIPELINES_RECOMPUTEPOINTS_H

#include "MemoryAttempt.h"

namespace veeline {

/// The time of a chunk's operations on one microbatch, with a fused backward or
/// with B and W.
double getWork(const schedule::Chunk &chunk, bool isFused);

/// Finds choices of what chunk `number` recomputes, from the least time to the
/// most. No choice is both slower and larger than another.
///
/// The choices are corners of the convex hull of bytes kept against time: its
/// two ends, and at most `maxCuts` corners between them. For a price of time in
/// bytes (a rate), the minimum cut finds a corner. `withNamed` adds the choices
/// with a name, and ratios of the chunk's pieces, unless another choice is as
/// good. Each choice takes one differentiation of the chunk.
mlir::FailureOr<std::vector<const ChunkVariant *>>
findRecomputePoints(MemoryTrial &trial, int number, bool isFused, int maxCuts,
                    bool withNamed);

} // namespace veeline

#endif // VEELINE_LIB_PIPELINES_RECOMPUTEPOINTS_H
