//===- KernelBody.h - the content of a kernel function ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel function (pipe-outline-kernels) is a list of structured ops, with or
// without one loop over rows around them. KernelBody computes the place of
// every operand in its buffer, as a linear function of the loops over rows and
// of the op's own loops.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_KERNELBODY_H
#define VEELINE_LIB_CONVERSION_KERNELS_KERNELBODY_H

#include "LoopNest.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace veeline {

struct KernelBody {
  /// Fails with a diagnostic where an operand has no such place.
  static mlir::FailureOr<KernelBody> read(mlir::Block &block);
  /// The same for one that has sums.
  static mlir::FailureOr<KernelBody> readWithSums(mlir::Block &block);

  /// Null where there is no loop over rows.
  mutable mlir::scf::ForallOp rows;
  /// The first `numRowLoops` loops of every nest are those over rows. They run
  /// over no dimension of the op (`noDim`). Bases of accesses are arguments of
  /// the kernel or row buffers.
  unsigned numRowLoops = 0;
  std::vector<LoopNest> nests;
  /// Sums of rows behind the loop over rows, with loops over parts, the rows of
  /// a part, and columns.
  std::vector<LoopNest> sums;

  static constexpr unsigned noDim = ~0u;

  /// True if the body of an op uses values of the loop over rows, other than by
  /// its operands.
  bool capturesRows() const;
};

/// How an access moves along the loops from `firstLoop` on: (iterations, stride
/// in elements) of each, outermost first, with loops collapsed wherever
/// possible. Accesses of equal forms touch the same elements in the same
/// iterations, counted over all these loops.
using AccessForm = llvm::SmallVector<std::pair<int64_t, int64_t>>;
AccessForm getForm(const LoopNest &nest, const NestAccess &access,
                   unsigned firstLoop);

/// The number of iterations from `firstLoop` on.
int64_t countIterations(const LoopNest &nest, unsigned firstLoop);

/// True where the whole access stays at one place in these loops.
bool isUniform(const LoopNest &nest, const NestAccess &access,
               unsigned firstLoop);

/// True if a thread that runs the same iterations (from `firstLoop` on) of all
/// `nests` needs nothing that another thread writes. Two accesses to a buffer
/// of which one writes then touch the same elements in the same iterations, or
/// one place whose value every thread knows.
bool sharePlaces(llvm::ArrayRef<LoopNest> nests, unsigned firstLoop);

/// A row buffer: temporary memory of one row.
bool isRowBuffer(mlir::Value base);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_KERNELBODY_H
