//===- KernelBody.h - what a kernel function computes -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel function (pipe-outline-kernels) is a list of structured ops, within
// one loop over rows or without. This reads back for every operand its place in
// a buffer as a linear function of the loops over rows and of those of the op.
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

  /// Null where there is no loop over rows.
  mutable mlir::scf::ForallOp rows;
  /// The first `numRowLoops` loops of every nest are those over rows; they are
  /// no dimension of the op (`noDim`). Bases are arguments, or row buffers.
  unsigned numRowLoops = 0;
  std::vector<LoopNest> nests;

  static constexpr unsigned noDim = ~0u;

  /// True if the body of an op uses a loop over rows other than for its
  /// operands.
  bool capturesRows() const;
};

/// How far an access moves along the loops from `firstLoop` on, as if they were
/// one: (iterations, elements for a step), from outside inwards, with loops run
/// over as one wherever possible. Equal forms touch the same elements in the
/// same iterations of the one loop.
using AccessForm = llvm::SmallVector<std::pair<int64_t, int64_t>>;
AccessForm getForm(const LoopNest &nest, const NestAccess &access,
                   unsigned firstLoop);

/// The number of iterations from `firstLoop` on.
int64_t countIterations(const LoopNest &nest, unsigned firstLoop);

/// True where the whole access stays at one place in these loops.
bool isUniform(const LoopNest &nest, const NestAccess &access,
               unsigned firstLoop);

/// True if whatever two of `nests` have in common of what one of them writes, a
/// thread that runs an iteration of one runs that of the other, too: they touch
/// the same elements in the same iterations from `firstLoop` on, or one place
/// that every thread knows.
bool sharePlaces(llvm::ArrayRef<LoopNest> nests, unsigned firstLoop);

/// A row buffer: temporary memory of one row.
bool isRowBuffer(mlir::Value base);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_KERNELBODY_H
