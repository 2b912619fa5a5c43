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

/// Whether a kernel can be a part of a launch, and with which others. If
/// threads of a block synchronise, all parts of a launch need the same block
/// size.
struct PartForm {
  enum class Kind {
    /// It cannot be merged: it has several ops, loops, or arguments that are
    /// not buffers, or it is a transposition.
    None,
    /// Elementwise, sums over the rows of a matrix, or one number that is the
    /// sum of all elements.
    Elements,
    ShortRows, ///< Sums of rows, with blocks of 256 threads.
    LongRows   ///< Sums of rows, with a block of 512 threads for each row.
  };
  Kind kind = Kind::None;
  /// For each argument, whether the kernel writes it.
  llvm::SmallVector<bool> writes;
};

/// False if `value`, a buffer in a kernel, and its views are only read.
bool isWritten(mlir::Value value);

/// The maximal number of arguments of a launch: every chip supports 4096 bytes
/// of them.
inline constexpr size_t maxArguments = 500;

/// Inserts `kernel` into `symbols`. If `kernels`, which maps texts to kernels,
/// has an equal one, erases `kernel` instead. Returns the kernel that is in
/// `symbols`.
mlir::func::FuncOp insertOnce(mlir::func::FuncOp kernel,
                              llvm::StringMap<mlir::func::FuncOp> &kernels,
                              mlir::SymbolTable &symbols);

/// Makes one kernel function (`pipe.side_by_side`) of several that have one op
/// each, or a sum and the number that it starts from. Equal functions are
/// created once.
class KernelMerger {
public:
  explicit KernelMerger(mlir::ModuleOp module) : symbols(module) {}

  /// The form of the kernel that is called, of kind None if it cannot be
  /// merged.
  const PartForm &getForm(mlir::func::CallOp call);
  /// Inserts one call that does what `calls` do, in any order. Does not erase
  /// `calls`.
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
