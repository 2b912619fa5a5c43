//===- Buffers.h - arguments with one value for all samples -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_BUFFERS_H
#define VEELINE_LIB_IMPORT_BUFFERS_H

#include "mlir/IR/Value.h"

namespace veeline {

/// Whether an argument with one row, in a model for one sample, describes
/// positions, which are the same for all samples. It is one of these:
/// - integers that select rows of tables of rotations, or of tables with as
///   many rows as there are integers
/// - numbers of which only sines and cosines are computed
/// - a table of several dimensions that is only multiplied with something
///   larger
bool isOfPositions(mlir::BlockArgument argument);

/// Whether an argument of floats with the shape of a parameter is the same for
/// all samples: a table of rotations, one row of several dimensions that is
/// only a factor, or a mask that is added to scores. `batch` is the number of
/// samples in the result, or 0 if it has none.
bool isSameForAll(mlir::BlockArgument argument, int64_t batch);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_BUFFERS_H
