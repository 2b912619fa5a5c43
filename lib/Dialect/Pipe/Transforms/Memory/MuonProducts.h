//===- MuonProducts.h - Muon's updates on a GPU -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_MEMORY_MUONPRODUCTS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_MEMORY_MUONPRODUCTS_H

#include "mlir/IR/BuiltinOps.h"

namespace veeline::pipe {

/// Where the update of a matrix works, as offsets in the arena, in bytes, that
/// are multiples of a GPU's alignment: x, which begins as the direction and
/// ends nearly orthogonal; x x', its square, and a product with x; the sum of
/// squares of the direction, in parts and in all.
struct MuonPlaces {
  /// x is behind the momentum in the optimiser's `state`, where that ends at a
  /// multiple of the alignment. All else is in the `workspace`.
  MuonPlaces(mlir::ShapedType matrix, int64_t workspace, int64_t state);

  int64_t x, gram, square, applied, parts, sum;
  int64_t bytes; ///< Of the workspace.
};

/// The products of one step.
struct MuonProducts {
  /// `matrix` is stored by rows; the lesser of its sides is that of x x'.
  explicit MuonProducts(mlir::ShapedType matrix);

  /// As entries of a module's table of products.
  mlir::DictionaryAttr gram, square, apply;
  /// Whether x is the second operand of `apply`, and not the first.
  bool isWide;
};

/// Adds the products of `matrix` to the table of `module`, unless it has them.
void addProducts(mlir::ModuleOp module, mlir::ShapedType matrix);
/// The number of `product` in the table; none where it is not there.
std::optional<int64_t> getProductNumber(mlir::ModuleOp module,
                                        mlir::DictionaryAttr product);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_MEMORY_MUONPRODUCTS_H
