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
/// with both halves.
double getWork(const schedule::Chunk &chunk, bool isFused);

/// Finds choices of what chunk `number` recomputes, from the least time to the
/// most; none is both slower and larger than another. They are corners of the
/// convex hull of bytes kept against time: its two ends, and at most `maxCuts`
/// between them. The minimum cut finds a corner for a price of time in bytes (a
/// rate). `withNamed` adds the choices that have a name and ratios of the
/// chunk's pieces, unless another choice is as good. Each choice costs one
/// differentiation of the chunk.
mlir::FailureOr<std::vector<const ChunkVariant *>>
findRecomputePoints(MemoryTrial &trial, int number, bool isFused, int maxCuts,
                    bool withNamed);

} // namespace veeline

#endif // VEELINE_LIB_PIPELINES_RECOMPUTEPOINTS_H
