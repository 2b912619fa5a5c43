//===- ScheduleProblem.h - pipelines as scheduling problems -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bridge between the IR and the schedule library, which knows no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEPROBLEM_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEPROBLEM_H

#include "veeline/Analysis/Profile.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Schedule/Schedule.h"

namespace veeline::pipe {

/// On chunks, an integer: how many pieces of the model they have, where it is
/// not 1. (The ends of pieces are marked in the chunk's part of the model, too,
/// but bufferization, which rewrites that part, does not keep the marks.)
inline constexpr llvm::StringLiteral piecesAttrName = "pieces";
/// On pipelines, an array of two numbers for each edge of the EdgeTable but
/// those of parameters: the measured times of a message and of its gradient, in
/// nanoseconds.
inline constexpr llvm::StringLiteral transfersAttrName = "transfers";
/// On pipelines, the bandwidth of each rank's links to the host's memory and
/// back, in bytes a nanosecond, where activations may wait there.
inline constexpr llvm::StringLiteral offloadAttrName = "offload_bandwidth";
/// On pipelines, two numbers: the bytes of a measured all-reduce, and the
/// nanoseconds that it took.
inline constexpr llvm::StringLiteral allReduceAttrName = "all_reduce";
/// On pipelines, the same of measured updates, and their optimiser's name.
inline constexpr llvm::StringLiteral updatesAttrName = "updates";
inline constexpr llvm::StringLiteral updatesOfAttrName = "updates_of";

/// How many pieces of the model a chunk has; 1 without an attribute.
int64_t getNumPieces(ChunkOp chunk);

/// The times and the memory of a chunk that has been differentiated and has a
/// cost.
schedule::Chunk describeChunk(ChunkOp chunk,
                              mlir::SymbolTableCollection &symbols);

/// The scheduling problem of a pipeline that has been differentiated, with m
/// microbatches. Times are nanoseconds, memory is bytes: F adds what the
/// backward functions keep alive, B and W release it. Edges have the numbers of
/// the EdgeTable; parameter edges are not among them. Fails with a diagnostic
/// at the pipeline or a chunk.
mlir::FailureOr<schedule::Problem>
buildProblem(PipelineOp pipeline, int64_t microbatches,
             mlir::SymbolTableCollection &symbols);

/// The time of an all-reduce of `bytes` over `members` ranks, in nanoseconds:
/// the measured time, scaled by the bytes. Without one, it is twice the time of
/// a message and of moving what a rank sends, its contributions and its share
/// of the sums.
double estimateAllReduce(PipelineOp pipeline, int64_t bytes, int64_t members);

/// What a work op of a program stands for, or none for other ops.
std::optional<schedule::Op> getScheduleOp(mlir::Operation *op);

/// The chunk's function that an operation of a schedule runs.
ChunkFunctionKind getFunctionKind(schedule::OpKind kind);

/// The function that a work op of a program runs, or none for other ops.
std::optional<ChunkFunctionKind> getFunctionKind(mlir::Operation *op);

/// True where the chunk's function for `kind` exists. In the schedule library
/// every chunk has F and a backward. A chunk without parameters has no W, one
/// on which no gradient depends no backward at all, and programs leave these
/// operations out.
bool hasFunction(ChunkOp chunk, schedule::OpKind kind);

/// The schedule that the programs of a pipeline follow, one program for each
/// rank in order. Operations that programs leave out are put back.
schedule::Schedule readSchedule(PipelineOp pipeline,
                                llvm::ArrayRef<ProgramOp> programs);

/// The programs of `pipeline` in order of their ranks.
llvm::SmallVector<ProgramOp> getPrograms(PipelineOp pipeline);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEPROBLEM_H
