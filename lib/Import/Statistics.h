//===- Statistics.h - running statistics of batch norms ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_STATISTICS_H
#define VEELINE_LIB_IMPORT_STATISTICS_H

#include "mlir/IR/Value.h"

namespace veeline {

/// Whether a root of `value` is computed, as of a variance. Other elementwise
/// ops, such as the sum with an epsilon, may come before.
bool isUnderRoot(mlir::Value value);

/// Whether `value` is the mean that belongs to a running variance. Either it is
/// subtracted, and the difference is divided by the root of a variance: (x -
/// mean) / root(variance + epsilon). Or it is divided by the root itself: bias
/// - mean * (scale / root(variance + epsilon)). A variance that is computed
/// from data, as in a layer norm, does not count.
bool isRunningMean(mlir::Value value);

/// Whether `value` is multiplied with, or divided by, the root of a running
/// variance before data is involved. It is then the scale of a batch norm that
/// was folded into one product and one sum.
bool isScaleOfStatistics(mlir::Value value);

/// Whether `value` is used only as the dividend of such a root, and the
/// quotient is multiplied with a scale. If `value` is 1, it is the numerator of
/// 1 / root.
bool isNumerator(mlir::Value value);

/// Whether `value` is added to, or subtracted from, something computed from
/// such a root before data is involved. It is then the shift of a folded batch
/// norm.
bool isShiftOfStatistics(mlir::Value value);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_STATISTICS_H
