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
  /// Whether an extent of 1 is one by chance: the same op has others for other
  /// lengths, and its adjoint has to be alike.
  bool unitsVary = false;

  /// Whether a dimension always has one iteration.
  bool isUnit(int64_t extent) const { return extent == 1 && !unitsVary; }
};

/// A dimension whose extent no operand of an op under construction shows needs
/// one that does: an empty tensor is added to its inputs, so that no value is
/// kept for its shape.
void showAllExtents(mlir::OpBuilder &builder, mlir::Location loc,
                    llvm::ArrayRef<int64_t> extents,
                    llvm::ArrayRef<mlir::AffineMap> outputMaps,
                    llvm::SmallVectorImpl<mlir::Value> &inputs,
                    llvm::SmallVectorImpl<mlir::AffineMap> &maps);

/// How the values of iterations that share an element come together.
enum class Combiner { Sum, Product };

/// Sums `body` over the iteration space into a tensor of `type` through `map`
/// (or only writes it, where each element is reached exactly once); or
/// multiplies.
mlir::Value createAdjoint(mlir::OpBuilder &builder, const AdjointSpace &space,
                          const ScalarBody &body, mlir::AffineMap map,
                          mlir::RankedTensorType type,
                          Combiner combiner = Combiner::Sum);

/// The same, where the element that an iteration adds to is the one that
/// `extract`, an op of the original body, reads: `indices` are its indices as
/// values of `body`. Iterations run one after the other, in ascending order;
/// where each has a row of the tensor to itself, it is one structured op.
/// `isFixedSize` where the tensor may have one size for all lengths.
mlir::Value createScatter(mlir::OpBuilder &builder, const AdjointSpace &space,
                          const ScalarBody &body,
                          llvm::ArrayRef<mlir::Value> indices,
                          mlir::RankedTensorType type, bool isFixedSize);

/// The adjoint as a matrix product that later passes recognise as one, or null
/// where `body` is not one product summed over at least one dimension, each of
/// whose factors has a dimension of the result to itself.
mlir::Value createContraction(mlir::OpBuilder &builder,
                              const AdjointSpace &space, const ScalarBody &body,
                              mlir::AffineMap map, mlir::RankedTensorType type);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_STRUCTUREDADJOINT_H
