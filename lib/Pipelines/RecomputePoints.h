//===- RecomputePoints.h - what a chunk can recompute -----------*- C++ -*-===//
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

/// Choices of what chunk `number` computes again, from the least time to the
/// most; none is both slower and larger than another. Those are the corners of
/// the convex hull of bytes kept against time, which the minimum cut gives for
/// a price of time in bytes (a rate), at most `maxCuts` of them besides its two
/// ends; and, `withNamed`, the choices that have a name and ratios of the
/// chunk's pieces, where they are none of these. Each costs one differentiation
/// of the chunk.
mlir::FailureOr<std::vector<const ChunkVariant *>>
findRecomputePoints(MemoryTrial &trial, int number, bool isFused, int maxCuts,
                    bool withNamed);

} // namespace veeline

#endif // VEELINE_LIB_PIPELINES_RECOMPUTEPOINTS_H
