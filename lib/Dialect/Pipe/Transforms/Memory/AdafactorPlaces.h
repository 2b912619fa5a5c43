//===- AdafactorPlaces.h - places of Adafactor's sums on a GPU --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_MEMORY_ADAFACTORPLACES_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_MEMORY_ADAFACTORPLACES_H

#include "mlir/IR/BuiltinTypes.h"

namespace veeline::pipe {

/// The places of the sums that the update of a parameter computes: offsets in
/// the arena, in bytes, that are multiples of a GPU's alignment.
struct AdafactorPlaces {
  AdafactorPlaces(mlir::ShapedType type, int64_t workspace);

  /// The numbers of rows and columns of the parameter as a matrix. If it is not
  /// a matrix, rows are the parts of its norm.
  int64_t rows, columns;
  bool isMatrix;
  /// A double for each row, each column, and each part of the norm of the
  /// value.
  int64_t ofRows, ofColumns, parts;
  /// Doubles: the sum of the means of rows, and the sums of squares of the
  /// value and of the direction.
  int64_t total, ofValue, ofDirection;
  int64_t rate;  ///< The rate, in the parameter's type.
  int64_t bytes; ///< The number of bytes in total.
};

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_MEMORY_ADAFACTORPLACES_H
