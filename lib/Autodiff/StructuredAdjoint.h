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

/// A tensor or scalar that an adjoint may read, and through which map.
struct Source {
  mlir::Value value;
  mlir::AffineMap map;
  mlir::Type elementType;
};

/// The scalar body of an adjoint: `value`, computed in `block` from its
/// arguments, which stand for the sources in order.
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

/// An iteration space and what can be read in it.
struct AdjointSpace {
  mlir::Location loc;
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<Source> sources;
  /// Whether an extent of 1 may be one by chance: for other lengths the same op
  /// has others, and its adjoint has to be alike.
  bool unitsVary = false;

  /// Whether a dimension always has one iteration.
  bool isUnit(int64_t extent) const { return extent == 1 && !unitsVary; }
};

/// Adds an empty tensor to the inputs of an op under construction for each
/// dimension whose extent no operand shows. So no value is kept for its shape.
void showAllExtents(mlir::OpBuilder &builder, mlir::Location loc,
                    llvm::ArrayRef<int64_t> extents,
                    llvm::ArrayRef<mlir::AffineMap> outputMaps,
                    llvm::SmallVectorImpl<mlir::Value> &inputs,
                    llvm::SmallVectorImpl<mlir::AffineMap> &maps);

/// How the values of iterations that share an element are combined.
enum class Combiner { Sum, Product };

/// Combines `body` over the iteration space into a tensor of `type` through
/// `map`. If each element is reached exactly once, only writes it.
mlir::Value createAdjoint(mlir::OpBuilder &builder, const AdjointSpace &space,
                          const ScalarBody &body, mlir::AffineMap map,
                          mlir::RankedTensorType type,
                          Combiner combiner = Combiner::Sum);

/// The same for the adjoint of a `tensor.extract` of the original body: an
/// iteration adds to the element that this reads, at `indices`, values of
/// `body`. Iterations run one after the other, in ascending order. If each has
/// a row of the tensor to itself, it is one structured op. `isFixedSize`: the
/// tensor may have one size for all lengths.
mlir::Value createScatter(mlir::OpBuilder &builder, const AdjointSpace &space,
                          const ScalarBody &body,
                          llvm::ArrayRef<mlir::Value> indices,
                          mlir::RankedTensorType type, bool isFixedSize);

/// The adjoint as a matrix product that later passes recognise as one. Null
/// unless `body` is one product that is summed over at least one dimension, and
/// each factor has a dimension of the result to itself.
mlir::Value createContraction(mlir::OpBuilder &builder,
                              const AdjointSpace &space, const ScalarBody &body,
                              mlir::AffineMap map, mlir::RankedTensorType type);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_STRUCTUREDADJOINT_H
