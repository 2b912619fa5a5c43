//===- Arrangements.h - values that are only rearranged ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention on a GPU, by our kernels or by a library, accepts heads with any
// strides. So heads that a model splits or joins need not be copied, if the
// model's own arrangement is kept.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_ARRANGEMENTS_H
#define VEELINE_LIB_AUTODIFF_ARRANGEMENTS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace veeline::autodiff {

/// Whether `op` copies all elements of one tensor into another order, and only
/// attention reads them, perhaps in another shape or a part of them.
bool isArrangedForAttention(mlir::Operation *op);

/// Makes what follows the ops `forward` of a block read an output of attention
/// where these have arranged it for another op, if they use it for nothing
/// else: the output itself is then not kept.
void readArrangedOutputs(mlir::Block &block,
                         const llvm::DenseSet<mlir::Operation *> &forward);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_ARRANGEMENTS_H
