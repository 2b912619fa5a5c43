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
/// not 1. Where these end in the chunk's part of the model is marked there, but
/// bufferization, which rewrites that part too, does not keep the marks.
inline constexpr llvm::StringLiteral piecesAttrName = "pieces";
/// On pipelines, an array of two for each edge of the EdgeTable that is no
/// parameter's: the measured times of a message and of its gradient, in
/// nanoseconds.
inline constexpr llvm::StringLiteral transfersAttrName = "transfers";
/// On pipelines, two numbers: how many bytes an all-reduce had that was
/// measured, and how many nanoseconds it took.
inline constexpr llvm::StringLiteral allReduceAttrName = "all_reduce";

/// How many pieces of the model a chunk has; 1 without an attribute.
int64_t getNumPieces(ChunkOp chunk);

/// What a chunk that has been differentiated and has a cost takes and holds.
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

/// What an all-reduce of so many bytes over so many ranks takes, in
/// nanoseconds: what was measured or, without that, twice the time of a
/// message, and that of moving what a rank sends, its contributions and its
/// share of the sums.
double estimateAllReduce(PipelineOp pipeline, int64_t bytes, int64_t members);

/// What a work op of a program stands for, or none for other ops.
std::optional<schedule::Op> getScheduleOp(mlir::Operation *op);

/// The chunk's function that an operation of a schedule runs.
ChunkFunctionKind getFunctionKind(schedule::OpKind kind);

/// The function that a work op of a program runs, or none for other ops.
std::optional<ChunkFunctionKind> getFunctionKind(mlir::Operation *op);

/// True where the chunk's function for `kind` exists. The schedule library has
/// every chunk do F and a backward; a chunk without parameters has no W, one on
/// which no gradient depends no backward at all, and programs leave these out.
bool hasFunction(ChunkOp chunk, schedule::OpKind kind);

/// The schedule that the programs of a pipeline, one for each rank in order,
/// follow; operations that programs leave out are put back.
schedule::Schedule readSchedule(PipelineOp pipeline,
                                llvm::ArrayRef<ProgramOp> programs);

/// The programs of `pipeline` in order of their ranks.
llvm::SmallVector<ProgramOp> getPrograms(PipelineOp pipeline);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEPROBLEM_H
