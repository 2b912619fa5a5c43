//===- MuonProducts.h - Muon's updates on a GPU -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_MEMORY_MUONPRODUCTS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_MEMORY_MUONPRODUCTS_H

#include "mlir/IR/BuiltinOps.h"

namespace veeline::pipe {

/// The places that the update of a matrix uses: offsets in the arena, in bytes,
/// that are multiples of a GPU's alignment. They are: x, which starts as the
/// direction and ends nearly orthogonal; x x', its square, and a product with
/// x; the sum of squares of the direction, first in parts and then as a whole.
struct MuonPlaces {
  /// Places x after the momentum in the optimiser's `state`, at the next
  /// multiple of the alignment, and everything else in the `workspace`.
  MuonPlaces(mlir::ShapedType matrix, int64_t workspace, int64_t state);

  int64_t x, gram, square, applied, parts, sum;
  int64_t bytes; ///< The size of the workspace.
};

/// The products of one step of the iteration.
struct MuonProducts {
  /// `matrix` is stored by rows. Its shorter side is the side of x x'.
  explicit MuonProducts(mlir::ShapedType matrix);

  /// The entries of the products in a module's table.
  mlir::DictionaryAttr gram, square, apply;
  /// Whether x is the second operand of `apply` instead of the first.
  bool isWide;
};

/// Adds the products of `matrix` to the table of `module`, unless it has them.
void addProducts(mlir::ModuleOp module, mlir::ShapedType matrix);
/// The number of `product` in the table, or none if it is not there.
std::optional<int64_t> getProductNumber(mlir::ModuleOp module,
                                        mlir::DictionaryAttr product);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_MEMORY_MUONPRODUCTS_H
