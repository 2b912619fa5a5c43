//===- Buffers.h - arguments with one value for all samples -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_BUFFERS_H
#define VEELINE_LIB_IMPORT_BUFFERS_H

#include "mlir/IR/Value.h"

namespace veeline {

/// Whether an argument with one row, in a model for one sample, is of
/// positions, which are the same for all samples, and not of the sample. It may
/// be integers that look up rows of tables of rotations, or of tables of as
/// many rows; numbers of which only sines and cosines are taken; or a table of
/// several dimensions that is only multiplied with something larger.
bool isOfPositions(mlir::BlockArgument argument);

/// Whether an argument of floats is the same for all samples, though its shape
/// is that of a parameter: a table of rotations, one row of several dimensions
/// that is only multiplied with, or a mask that is added to scores. `batch` is
/// 0 if the result has none.
bool isSameForAll(mlir::BlockArgument argument, int64_t batch);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_BUFFERS_H
