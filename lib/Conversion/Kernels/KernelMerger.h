//===- KernelMerger.h - kernel functions of independent ops -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_KERNELMERGER_H
#define VEELINE_LIB_CONVERSION_KERNELS_KERNELMERGER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace veeline {

/// Whether a kernel can be a part of a launch, and beside which others: the
/// parts of a launch have blocks of one size wherever threads meet.
struct PartForm {
  enum class Kind {
    None,      ///< It has several ops, loops, or arguments that are no
               ///< buffers, or is a transpose.
    Elements,  ///< Elementwise, or sums over the rows of a matrix.
    ShortRows, ///< Sums of rows, with blocks of 256 threads.
    LongRows   ///< The same with a block of 1024 threads for each.
  };
  Kind kind = Kind::None;
  llvm::SmallVector<bool> writes; ///< By argument.
};

/// False if `value`, a buffer in a kernel, and its views are only read.
bool isWritten(mlir::Value value);

/// The most bytes of a launch's arguments on every chip are 4096.
inline constexpr size_t maxArguments = 500;

/// Inserts `kernel` into `symbols`, or erases it if `kernels`, which has
/// kernels by their text, has one like it. Returns the one that is there.
mlir::func::FuncOp insertOnce(mlir::func::FuncOp kernel,
                              llvm::StringMap<mlir::func::FuncOp> &kernels,
                              mlir::SymbolTable &symbols);

/// Makes kernel functions (`pipe.side_by_side`) of those of one op. Equal ones
/// are one.
class KernelMerger {
public:
  explicit KernelMerger(mlir::ModuleOp module) : symbols(module) {}

  /// Of the kernel that is called; kind None where that is no kernel.
  const PartForm &getForm(mlir::func::CallOp call);
  /// Inserts one call that does what `calls` do, in any order. These stay.
  mlir::func::CallOp merge(mlir::OpBuilder &builder,
                           llvm::ArrayRef<mlir::func::CallOp> calls);

private:
  mlir::func::FuncOp makeKernel(llvm::ArrayRef<mlir::func::CallOp> calls,
                                llvm::ArrayRef<mlir::Value> operands);

  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::func::FuncOp, PartForm> forms;
  llvm::StringMap<mlir::func::FuncOp> kernels;
  const PartForm noForm;
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_KERNELMERGER_H
