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
  /// Reads a kernel. Fails with a diagnostic if an operand has no such place.
  static mlir::FailureOr<KernelBody> read(mlir::Block &block);
  /// Reads a kernel that may have sums after the loop over rows.
  static mlir::FailureOr<KernelBody> readWithSums(mlir::Block &block);

  /// The loop over rows; null if there is none.
  mutable mlir::scf::ForallOp rows;
  /// The number of loops over rows. They are the first loops of every nest, and
  /// run over no dimension of the op (`noDim`). Bases of accesses are arguments
  /// of the kernel or row buffers.
  unsigned numRowLoops = 0;
  std::vector<LoopNest> nests;
  /// Sums over rows after the loop over rows. Their loops run over parts, the
  /// rows of a part, and columns.
  std::vector<LoopNest> sums;

  static constexpr unsigned noDim = ~0u;

  /// True if the body of an op uses values of the loop over rows directly,
  /// besides its operands.
  bool capturesRows() const;
};

/// The path of an access along the loops from `firstLoop` on: the number of
/// iterations and the stride in elements of each loop, the outermost first.
/// Loops are collapsed if possible. Accesses with equal forms access the same
/// elements in the same iterations, counted over all these loops.
using AccessForm = llvm::SmallVector<std::pair<int64_t, int64_t>>;
AccessForm getForm(const LoopNest &nest, const NestAccess &access,
                   unsigned firstLoop);

/// The number of iterations of the loops from `firstLoop` on.
int64_t countIterations(const LoopNest &nest, unsigned firstLoop);

/// True if the access stays at one place in the loops from `firstLoop` on.
bool isUniform(const LoopNest &nest, const NestAccess &access,
               unsigned firstLoop);

/// True if no thread needs what another one writes, if each thread runs the
/// same iterations (from `firstLoop` on) of all `nests`. Two accesses to a
/// buffer, of which one writes, then access the same elements in the same
/// iterations, or one place whose value every thread knows.
bool sharePlaces(llvm::ArrayRef<LoopNest> nests, unsigned firstLoop);

/// Whether a buffer is a row buffer: temporary memory for one row.
bool isRowBuffer(mlir::Value base);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_KERNELBODY_H
