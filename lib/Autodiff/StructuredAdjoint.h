//===- StructuredAdjoint.h - adjoints as structured ops ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_STRUCTUREDADJOINT_H
#define VEELINE_LIB_AUTODIFF_STRUCTUREDADJOINT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <memory>
#include <optional>

namespace veeline::autodiff {

/// A tensor or scalar that an adjoint may read, and the map through which it
/// does.
struct Source {
  mlir::Value value;
  mlir::AffineMap map;
  mlir::Type elementType;
};

/// The scalar body of an adjoint. `block` computes `value` from its arguments,
/// which stand for the sources in order.
struct ScalarBody {
  std::unique_ptr<mlir::Block> block;
  mlir::Value value;

  /// The number of the source that `v` reads, or none.
  std::optional<unsigned> getSource(mlir::Value v) const {
    auto arg = llvm::dyn_cast<mlir::BlockArgument>(v);
    if (!arg || arg.getOwner() != block.get())
      return std::nullopt;
    return arg.getArgNumber();
  }
  /// Whether the body reads source `i`.
  bool reads(unsigned i) const {
    mlir::BlockArgument arg = block->getArgument(i);
    return !arg.use_empty() || value == arg;
  }
};

/// An iteration space, and the sources that can be read in it.
struct AdjointSpace {
  mlir::Location loc;
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<Source> sources;
  /// Whether extents of 1 may vary. The op may have other extents for other
  /// lengths, and its adjoint has to be the same for all of them.
  bool unitsVary = false;

  /// Whether a dimension of this extent has one iteration for all lengths.
  bool isUnit(int64_t extent) const { return extent == 1 && !unitsVary; }
};

/// Adds an empty tensor to the inputs of an op under construction for each
/// dimension whose extent no other operand determines. So no value is kept only
/// for its shape.
void showAllExtents(mlir::OpBuilder &builder, mlir::Location loc,
                    llvm::ArrayRef<int64_t> extents,
                    llvm::ArrayRef<mlir::AffineMap> outputMaps,
                    llvm::SmallVectorImpl<mlir::Value> &inputs,
                    llvm::SmallVectorImpl<mlir::AffineMap> &maps);

/// How to combine the values of iterations that share an element.
enum class Combiner { Sum, Product };

/// Evaluates `body` over the iteration space, and combines its values into a
/// tensor of `type` through `map`. If one iteration reaches each element, its
/// value is only written.
mlir::Value createAdjoint(mlir::OpBuilder &builder, const AdjointSpace &space,
                          const ScalarBody &body, mlir::AffineMap map,
                          mlir::RankedTensorType type,
                          Combiner combiner = Combiner::Sum);

/// Creates the adjoint of a `tensor.extract` in the original body, which reads
/// `indices`: each iteration adds the value of `body` to the element at
/// `indices`. Iterations run in ascending order, one after the other. If each
/// iteration has a row of the tensor to itself, the result is one structured op
/// instead. `isFixedSize` says that the tensor may have one size for all
/// lengths.
mlir::Value createScatter(mlir::OpBuilder &builder, const AdjointSpace &space,
                          const ScalarBody &body,
                          llvm::ArrayRef<mlir::Value> indices,
                          mlir::RankedTensorType type, bool isFixedSize);

/// Creates the adjoint as a matrix product that later passes recognise. Returns
/// null unless `body` is one product that is summed over at least one
/// dimension, and each factor has a dimension of the result that the other does
/// not have.
mlir::Value createContraction(mlir::OpBuilder &builder,
                              const AdjointSpace &space, const ScalarBody &body,
                              mlir::AffineMap map, mlir::RankedTensorType type);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_STRUCTUREDADJOINT_H
