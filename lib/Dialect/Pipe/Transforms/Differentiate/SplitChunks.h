//===- SplitChunks.h - shared code of passes that split backwards ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_DIFFERENTIATE_SPLITCHUNKS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_DIFFERENTIATE_SPLITCHUNKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "veeline/Autodiff/PartitionChoice.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// Splits a chunk, like `splitBackward` of Steps.h.
using ChunkSplitter = llvm::function_ref<mlir::LogicalResult(
    ChunkOp, mlir::SymbolTable &, autodiff::PartitionChoice *, bool follows)>;

/// Splits the chunks of every pipeline of `module`. The versions of a chunk for
/// other lengths repeat its choice.
mlir::LogicalResult splitChunks(mlir::ModuleOp module, ChunkSplitter split);

/// The fused backward function of a chunk, or null if it has none. Fails with a
/// diagnostic if the chunk has not been differentiated.
mlir::FailureOr<mlir::func::FuncOp> findBackward(ChunkOp chunk,
                                                 mlir::SymbolTable &symbols);

/// Inserts a function after `place`. If its name is taken, renames it. Returns
/// a reference to it, or null if there is no function.
mlir::FlatSymbolRefAttr
insertFunction(mlir::SymbolTable &symbols, mlir::Operation *place,
               mlir::OwningOpRef<mlir::func::FuncOp> &func);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_DIFFERENTIATE_SPLITCHUNKS_H
