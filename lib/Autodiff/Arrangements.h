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

/// Whether `op` copies all elements of a tensor into another order, and only
/// attention reads the result, perhaps reshaped or in part.
bool isArrangedForAttention(mlir::Operation *op);

/// Saves keeping outputs of attention. If the `forward` ops of `block`
/// rearrange an output and do nothing else with it, the other ops of the block
/// read the rearranged tensor instead.
void readArrangedOutputs(mlir::Block &block,
                         const llvm::DenseSet<mlir::Operation *> &forward);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_ARRANGEMENTS_H
