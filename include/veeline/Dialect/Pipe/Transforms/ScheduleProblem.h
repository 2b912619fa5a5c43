//===- ScheduleProblem.h - pipelines as scheduling problems -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface between the IR and the schedule library, which does not depend
// on MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEPROBLEM_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEPROBLEM_H

#include "veeline/Analysis/Profile.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Schedule/Schedule.h"

namespace veeline::pipe {

/// On chunks, an integer: the number of their pieces, if it is not 1. (The ends
/// of pieces are also marked in the chunk's part of the model, but
/// bufferization does not keep these marks.)
inline constexpr llvm::StringLiteral piecesAttrName = "pieces";
/// On pipelines, an array of two numbers for each edge of the EdgeTable, except
/// edges of parameters: the measured times of a message and of its gradient, in
/// nanoseconds.
inline constexpr llvm::StringLiteral transfersAttrName = "transfers";
/// On pipelines whose activations may be offloaded: the bandwidth of each
/// rank's links to the host's memory and back, in bytes per nanosecond.
inline constexpr llvm::StringLiteral offloadAttrName = "offload_bandwidth";
/// On pipelines, two numbers: the bytes of a measured all-reduce, and its time
/// in nanoseconds.
inline constexpr llvm::StringLiteral allReduceAttrName = "all_reduce";
/// On pipelines: the same for measured updates, and the name of their
/// optimiser.
inline constexpr llvm::StringLiteral updatesAttrName = "updates";
inline constexpr llvm::StringLiteral updatesOfAttrName = "updates_of";

/// The number of pieces of a chunk; 1 without the attribute.
int64_t getNumPieces(ChunkOp chunk);

/// The times and memory of a chunk that has been differentiated and has a cost.
schedule::Chunk describeChunk(ChunkOp chunk,
                              mlir::SymbolTableCollection &symbols);

/// The scheduling problem of a pipeline that has been differentiated. Times are
/// in nanoseconds, memory is in bytes. F adds the memory that backward
/// functions keep alive, and B and W release it. Edges are numbered as in the
/// EdgeTable, without edges of parameters. Fails with a diagnostic at the
/// pipeline or a chunk.
mlir::FailureOr<schedule::Problem>
buildProblem(PipelineOp pipeline, int64_t microbatches,
             mlir::SymbolTableCollection &symbols);

/// The time of an all-reduce of `bytes` over `members` ranks, in nanoseconds.
/// It is the measured time, scaled by the bytes. Without a measurement, it is
/// twice the sum of the time of a message and the time to move what a rank
/// sends, which is its contributions and its share of the sums.
double estimateAllReduce(PipelineOp pipeline, int64_t bytes, int64_t members);

/// The schedule's operation that a work op of a program stands for; none for
/// other ops.
std::optional<schedule::Op> getScheduleOp(mlir::Operation *op);

/// The kind of function that an operation of a schedule runs.
ChunkFunctionKind getFunctionKind(schedule::OpKind kind);

/// The kind of function that a work op of a program runs; none for other ops.
std::optional<ChunkFunctionKind> getFunctionKind(mlir::Operation *op);

/// True if the chunk has a function for `kind`. In the schedule library every
/// chunk has F and a backward. But a chunk without parameters has no function
/// for W, and one on which no gradient depends has none for any backward.
/// Programs leave these operations out.
bool hasFunction(ChunkOp chunk, schedule::OpKind kind);

/// The schedule of a pipeline's programs, which are given in the order of
/// ranks. Operations that programs leave out are added.
schedule::Schedule readSchedule(PipelineOp pipeline,
                                llvm::ArrayRef<ProgramOp> programs);

/// The programs of `pipeline` in the order of ranks.
llvm::SmallVector<ProgramOp> getPrograms(PipelineOp pipeline);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEPROBLEM_H
