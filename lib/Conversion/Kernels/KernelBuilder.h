//===- KernelBuilder.h - kernel functions from structured ops ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_KERNELBUILDER_H
#define VEELINE_LIB_CONVERSION_KERNELS_KERNELBUILDER_H

#include "MergedNest.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace veeline {

/// A kernel function under construction. Its arguments are the buffers and
/// scalars that its ops use, in the order of their first use.
class KernelBuilder {
public:
  KernelBuilder(mlir::MLIRContext *context, mlir::Location loc)
      : builder(context), loc(loc) {}

  /// Builds the function for `group`.
  mlir::func::FuncOp build(const KernelGroup &group);
  /// Builds the function for one op without changes.
  mlir::func::FuncOp build(mlir::Operation *op);

  /// The caller's values for the arguments of the function.
  llvm::ArrayRef<mlir::Value> operands() const {
    return arguments.getArrayRef();
  }

private:
  void start();
  mlir::func::FuncOp finish();
  mlir::Value getArgument(mlir::Value outside);
  mlir::Value getScalar(mlir::Value outside);
  mlir::Value getCaptured(mlir::Value outside);
  mlir::Value getOffset(mlir::Value outside);
  mlir::Value getView(const LoopNest &nest, const NestAccess &access,
                      mlir::ValueRange rows);
  void emitMerged(const MergedNest &merged, mlir::ValueRange rows);
  void emitMembers(const MergedNest &merged, mlir::ValueRange rows,
                   mlir::ValueRange blockArguments,
                   llvm::ArrayRef<mlir::IRMapping> captured);
  void emitBody(const LoopNest &nest, mlir::IRMapping &mapping,
                mlir::ValueRange rows);
  mlir::Value getIndex(const LoopNest &nest, unsigned dim,
                       mlir::ValueRange rows);
  mlir::Value addScaled(mlir::Value sum, mlir::Value value, int64_t scale);
  llvm::SmallVector<mlir::Value> startRows(const KernelGroup &group);
  void mapCaptured(mlir::Region &region, mlir::IRMapping &mapping);

  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::func::FuncOp function;
  llvm::SetVector<mlir::Value> arguments;
  llvm::DenseMap<mlir::Value, KernelGroup::RowBuffer> rowBuffers;
  llvm::DenseMap<mlir::Value, mlir::Value> stack;
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_KERNELBUILDER_H
