//===- ScalarLoops.h - loops of scalars of a kernel -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_SCALARLOOPS_H
#define VEELINE_LIB_CONVERSION_GPU_SCALARLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace veeline {

/// The buffers to which something in `root` stores.
llvm::SmallVector<mlir::Value> getWrittenBuffers(mlir::Operation *root);

/// `root`, the loop in it that contains all its stores, the loop in that, and
/// so on.
llvm::SmallVector<mlir::scf::ForOp> getStoringLoops(mlir::scf::ForOp root);

/// The number of iterations of a loop, or 0 if it is unknown.
int64_t countLoop(mlir::scf::ForOp loop);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_SCALARLOOPS_H
