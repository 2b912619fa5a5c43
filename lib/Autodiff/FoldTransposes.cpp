//===- FoldTransposes.cpp - transposes folded into products ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FoldTransposes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Analysis/TensorEmit.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

namespace {
/// A permutation of dimensions: dimension i of the result is dimension
/// `permutation[i]` of `source`.
struct Transposition {
  Value source;
  SmallVector<int64_t> permutation;
};
} // namespace

static std::optional<Transposition> matchTransposition(Operation *op) {
  if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(op))
    return Transposition{transpose.getInput(),
                         llvm::to_vector(transpose.getPermutation())};
  auto copy = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!copy || copy.getNumDpsInputs() != 1 || copy.getNumDpsInits() != 1 ||
      copy.getNumReductionLoops() ||
      copy.getBlock()->getTerminator()->getOperand(0) !=
          copy.getBlock()->getArgument(0))
    return std::nullopt;
  AffineMap from = copy.getIndexingMapsArray()[0];
  AffineMap to = copy.getIndexingMapsArray()[1];
  if (!from.isPermutation() || !to.isPermutation())
    return std::nullopt;
  Transposition found{copy.getInputs()[0], {}};
  for (AffineExpr loop : to.getResults())
    found.permutation.push_back(*from.getResultPosition(loop));
  return found;
}

/// Matches a split of dimensions after a transposition. Creates the split of
/// the source's dimensions, of which the result is a transposition.
static std::optional<Transposition> matchSplit(Operation *op) {
  auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op);
  auto inner = expand ? matchTransposition(expand.getSrc().getDefiningOp())
                      : std::nullopt;
  if (!inner || !expand.getResultType().hasStaticShape())
    return std::nullopt;
  SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
  // For each dimension of the source, the dimension of the result.
  SmallVector<int64_t> resultOf(groups.size());
  for (auto [after, before] : llvm::enumerate(inner->permutation))
    resultOf[before] = after;
  SmallVector<ReassociationIndices> sourceGroups;
  SmallVector<int64_t> shape, permutation(expand.getResultType().getRank());
  for (int64_t after : resultOf) {
    ReassociationIndices &group = sourceGroups.emplace_back();
    for (int64_t part : groups[after]) {
      permutation[part] = shape.size();
      group.push_back(shape.size());
      shape.push_back(expand.getResultType().getDimSize(part));
    }
  }
  OpBuilder builder(expand);
  Value source = tensor::ExpandShapeOp::create(
      builder, expand.getLoc(), expand.getResultType().clone(shape),
      inner->source, sourceGroups);
  return Transposition{source, permutation};
}

/// The map of an operand after it is replaced by the source of `transposition`.
static AffineMap readSource(AffineMap map, const Transposition &transposition) {
  SmallVector<AffineExpr> results(map.getNumResults());
  for (auto [after, before] : llvm::enumerate(transposition.permutation))
    results[before] = map.getResult(after);
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

/// The map of a result after it is replaced by its transposition.
static AffineMap writeResult(AffineMap map,
                             const Transposition &transposition) {
  SmallVector<AffineExpr> results;
  for (int64_t before : transposition.permutation)
    results.push_back(map.getResult(before));
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

static bool isProduct(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op.getNumDpsInputs() == 2 &&
         op.getNumDpsInits() == 1 && linalg::isaContractionOpInterface(op);
}

namespace {
/// A product, with the operands and maps that it will get.
struct Product {
  linalg::LinalgOp op;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  /// The fill that the product adds to, and the transposition of its result, if
  /// that is folded.
  linalg::FillOp start;
  Operation *after = nullptr;
};
} // namespace

static bool readTransposed(Product &product) {
  bool found = false;
  for (auto [input, map] : llvm::zip(product.inputs, product.maps))
    for (;;) {
      Operation *op = input.getDefiningOp();
      auto transposition = matchTransposition(op);
      if (!transposition)
        transposition = matchSplit(op);
      if (!transposition)
        break;
      map = readSource(map, *transposition);
      input = transposition->source;
      found = true;
    }
  return found;
}

/// Folds a transposition of the result. It has to be the only use of the
/// result, and the product has to add to a fill.
static bool writeTransposed(Product &product) {
  Value result = product.op->getResult(0);
  product.start = product.op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!product.start || !result.hasOneUse())
    return false;
  auto transposition = matchTransposition(*result.user_begin());
  if (!transposition || transposition->source != result)
    return false;
  product.after = *result.user_begin();
  product.maps[2] = writeResult(product.maps[2], *transposition);
  return true;
}

static void replace(Product &product) {
  linalg::LinalgOp op = product.op;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value old = product.after ? product.after->getResult(0) : op->getResult(0);
  auto type = cast<RankedTensorType>(old.getType());
  Value init = op.getDpsInits()[0];
  if (product.after)
    init = linalg::FillOp::create(builder, loc, product.start.getInputs()[0],
                                  createEmpty(builder, loc, type))
               .getResult(0);
  auto generic = linalg::GenericOp::create(
      builder, loc, type, product.inputs, init, product.maps,
      op.getIteratorTypesArray(), [](OpBuilder &, Location, ValueRange) {});
  Region &region = generic.getRegion();
  region.getBlocks().clear();
  IRMapping mapping;
  op->getRegion(0).cloneInto(&region, mapping);
  old.replaceAllUsesWith(generic.getResult(0));
  if (product.after)
    product.after->erase();
  op->erase();
}

void veeline::autodiff::foldTransposes(func::FuncOp func) {
  SmallVector<linalg::LinalgOp> products;
  func.walk([&](linalg::LinalgOp op) {
    if (isProduct(op))
      products.push_back(op);
  });
  for (linalg::LinalgOp op : products) {
    Product product{op, op.getDpsInputs(), op.getIndexingMapsArray(), {}, {}};
    bool reads = readTransposed(product);
    if (writeTransposed(product) || reads)
      replace(product);
  }
}
