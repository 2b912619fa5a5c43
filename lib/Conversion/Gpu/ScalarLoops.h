//===- ScalarLoops.h - loops of scalars of a kernel -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_SCALARLOOPS_H
#define VEELINE_LIB_CONVERSION_GPU_SCALARLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace veeline {

/// Buffers that something in `root` stores to.
llvm::SmallVector<mlir::Value> getWrittenBuffers(mlir::Operation *root);

/// `root`, the loop in it that holds all its stores, and so on.
llvm::SmallVector<mlir::scf::ForOp> getStoringLoops(mlir::scf::ForOp root);

/// The iterations of a loop, 0 where they are not known.
int64_t countLoop(mlir::scf::ForOp loop);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_SCALARLOOPS_H
