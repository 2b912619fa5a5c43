//===- Statistics.h - running statistics of batch norms ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_STATISTICS_H
#define VEELINE_LIB_IMPORT_STATISTICS_H

#include "mlir/IR/Value.h"

namespace veeline {

/// Whether a root of it is taken, as of a variance, through other elementwise
/// ops such as the sum with an epsilon.
bool isUnderRoot(mlir::Value value);

/// Whether it is the mean that belongs to a running variance. Either it is
/// subtracted and the difference is divided by the root of one, as in
/// (x - mean) / root(variance + epsilon). Or it is divided by the root itself,
/// as in bias - mean * (scale / root(variance + epsilon)). A variance that is
/// computed of data, as in a layer norm, does not count.
bool isRunningMean(mlir::Value value);

/// Whether it is multiplied with, or divided by, the root of a running variance
/// before data is involved: the scale of a batch norm that is one product and
/// one sum.
bool isScaleOfStatistics(mlir::Value value);

/// Whether it is only divided by such a root, and the quotient is multiplied
/// with a scale: if it is 1, it is the number in 1 / root.
bool isNumerator(mlir::Value value);

/// Whether it is added to, or subtracted from, what is made of such a root,
/// before data is involved: the shift of that batch norm.
bool isShiftOfStatistics(mlir::Value value);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_STATISTICS_H
