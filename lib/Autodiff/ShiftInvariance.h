//===- ShiftInvariance.h - shifts that cancel -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_SHIFTINVARIANCE_H
#define VEELINE_LIB_AUTODIFF_SHIFTINVARIANCE_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseSet.h"

namespace veeline::autodiff {

/// Finds the maxima that `block` computes only to subtract them again, as a
/// numerically stable softmax or log-sum-exp does. In exact arithmetic, no
/// result of the block depends on them, so no gradient flows through them.
///
/// For each maximum m, all values that depend on it are followed. Each must
/// have the form a + c m or a exp(c m), with a independent of m, until c is 0.
/// If a value has neither form, m is not reported. O(ops of the block) for each
/// maximum.
llvm::DenseSet<mlir::Value> findCancellingMaxima(mlir::Block &block);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_SHIFTINVARIANCE_H
