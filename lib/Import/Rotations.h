//===- Rotations.h - tables of rotary embeddings ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_ROTATIONS_H
#define VEELINE_LIB_IMPORT_ROTATIONS_H

#include "mlir/IR/Value.h"

namespace veeline {

/// The value of which `value` is another form. Looks through reshapes,
/// broadcasts, slices, lookups of rows, and products with a number.
mlir::Value findOrigin(mlir::Value value);

/// Whether an argument is a table of cosines or of sines of a rotary embedding.
/// The table, or rows that are looked up in it, is used only as a factor. Each
/// product is added to, or subtracted from, a product of the same elements,
/// moved, with another argument of the same type, as in x * cos + rotated(x) *
/// sin.
bool isRotation(mlir::BlockArgument argument);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_ROTATIONS_H
