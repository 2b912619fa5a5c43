//===- Lengths.h - models with microbatches of several lengths --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model with a dynamic length is compiled once for each length up to its
// bound. --pipe-bind-lengths makes a version of the model with static shapes
// for each length. The model itself becomes the version for the bound, for
// which cuts, schedule, messages and memory are planned. The other versions are
// cut and differentiated in the same way. Their chunk functions replace those
// of the bound for shorter microbatches.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_LENGTHS_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_LENGTHS_H

#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

namespace veeline::pipe {

/// On the model function, later on its pipeline: all lengths, ascending. The
/// last one is the bound, which is the length of the function or pipeline
/// itself.
inline constexpr llvm::StringLiteral lengthsAttrName = "pipe.lengths";
/// On the same op: the symbols of the versions for the other lengths, in order.
inline constexpr llvm::StringLiteral versionsAttrName = "pipe.versions";
/// On each of these versions: its length.
inline constexpr llvm::StringLiteral lengthAttrName = "pipe.length";

/// The lengths of a model function or a pipeline; empty if all is static.
llvm::ArrayRef<int64_t> getLengths(mlir::Operation *op);

/// True for a version of another pipeline, which has no programs of its own.
bool isVersion(PipelineOp pipeline);

/// The dimension of a batch argument that is the length, or none.
std::optional<int64_t> getLengthDim(BatchOp batch);

/// Records on `pipeline` its lengths, and the versions for all but the last
/// one.
void setVersions(PipelineOp pipeline, llvm::ArrayRef<int64_t> lengths,
                 llvm::ArrayRef<PipelineOp> versions);

/// The versions of `pipeline` by length; the last one is the pipeline itself.
/// Empty if all is static. Fails with a diagnostic if one is missing.
mlir::FailureOr<llvm::SmallVector<PipelineOp>>
getVersions(PipelineOp pipeline, mlir::SymbolTableCollection &symbols);

/// Checks that the functions of all versions have the same arguments and
/// results as those of `pipeline`, in no more bytes. Fails with a diagnostic.
mlir::LogicalResult verifyVersions(PipelineOp pipeline,
                                   mlir::SymbolTableCollection &symbols);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_LENGTHS_H
