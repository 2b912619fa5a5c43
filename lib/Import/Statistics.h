//===- Statistics.h - running statistics of batch norms ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_STATISTICS_H
#define VEELINE_LIB_IMPORT_STATISTICS_H

#include "mlir/IR/Value.h"

namespace veeline {

/// Whether a root of it is taken, as of a variance: through elementwise ops, of
/// which a sum with a small number is one.
bool isUnderRoot(mlir::Value value);

/// Whether it is the mean beside a running variance: what it is subtracted from
/// is divided by the root of one, as in (x - mean) / root(variance + epsilon);
/// or it is itself, as in bias - mean * (scale / root(variance + epsilon)). A
/// variance that is computed of data, as a layer norm does, is none.
bool isRunningMean(mlir::Value value);

/// Whether it is multiplied with the root of a running variance, or divided by
/// one, before data comes in: the scale of a batch norm that is one product and
/// one sum.
bool isScaleOfStatistics(mlir::Value value);

/// Whether it is only divided by such a root, and what comes of that has a
/// scale of its own: if it is 1, it is the number in 1 / root.
bool isNumerator(mlir::Value value);

/// Whether it is added to, or subtracted from, what is made of such a root,
/// before data comes in: the shift of that batch norm.
bool isShiftOfStatistics(mlir::Value value);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_STATISTICS_H
