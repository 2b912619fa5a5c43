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

/// The largest elements that `block` computes only to subtract them again, as a
/// numerically stable softmax or log-sum-exp does: in exact arithmetic nothing
/// that the block returns depends on them, so no gradient flows through them.
///
/// Every value that depends on such a maximum m is followed and has to be
/// a + c m or a exp(c m), a independent of m, until c is 0. What cannot be
/// followed is not reported. O(ops of the block) for each maximum.
llvm::DenseSet<mlir::Value> findCancellingMaxima(mlir::Block &block);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_SHIFTINVARIANCE_H
