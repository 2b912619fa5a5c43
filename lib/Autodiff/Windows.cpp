//===- Windows.cpp - convolutions and poolings without windows ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "veeline/Analysis/Convolution.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

/// Windows with more elements than this are not unrolled. The rule of
/// structured ops handles them.
static constexpr int64_t mostElements = 1024;

namespace {
/// One index of an operand: `dimension * stride + offset`, or just `offset`.
struct Index {
  std::optional<unsigned> dimension;
  int64_t stride = 1, offset = 0;
};

/// A structured op with windows, and the dimensions that run through them.
class WindowedOp {
public:
  /// Returns none if the op has no windows, or some that cannot be unrolled.
  static std::optional<WindowedOp> match(linalg::LinalgOp op);
  void unroll(IRRewriter &rewriter);

private:
  explicit WindowedOp(linalg::LinalgOp op)
      : op(op), extents(op.getStaticLoopRanges()), isUnrolled(extents.size()) {}

  bool findUnrolled();
  int64_t countElements() const {
    int64_t count = 1;
    for (auto [extent, unrolled] : llvm::zip_equal(extents, isUnrolled))
      count *= unrolled ? std::min(extent, mostElements + 1) : 1;
    return count;
  }
  bool canRead(AffineExpr index) const;
  Value unrollOne(IRRewriter &rewriter, ArrayRef<int64_t> at, Value sum);
  Value slice(OpBuilder &builder, OpOperand &operand, ArrayRef<int64_t> at,
              AffineMap &map);
  void fillBody(OpBuilder &builder, Location location, ValueRange arguments,
                ArrayRef<unsigned> inputs, ArrayRef<int64_t> at);
  /// The number of a dimension after the unrolled ones are removed.
  unsigned numberOf(unsigned dimension) const {
    unsigned number = 0;
    for (unsigned i = 0; i < dimension; ++i)
      number += !isUnrolled[i];
    return number;
  }

  linalg::LinalgOp op;
  SmallVector<int64_t> extents;
  SmallVector<bool> isUnrolled;
};
} // namespace

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Reads an index in which at most one dimension is left. `at` holds the values
/// of the other dimensions, and -1 for this one.
static std::optional<Index> readIndex(AffineExpr expression,
                                      ArrayRef<int64_t> at) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return Index{std::nullopt, 1, constant.getValue()};
  if (auto dimension = dyn_cast<AffineDimExpr>(expression)) {
    int64_t value = at[dimension.getPosition()];
    if (value >= 0)
      return Index{std::nullopt, 1, value};
    return Index{dimension.getPosition(), 1, 0};
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return std::nullopt;
  auto left = readIndex(binary.getLHS(), at);
  auto right = readIndex(binary.getRHS(), at);
  if (!left || !right)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Add) {
    if (left->dimension && right->dimension)
      return std::nullopt;
    Index sum = left->dimension ? *left : *right;
    sum.offset = left->offset + right->offset;
    return sum;
  }
  if (binary.getKind() != AffineExprKind::Mul || right->dimension)
    return std::nullopt;
  left->stride *= right->offset;
  left->offset *= right->offset;
  return left;
}

/// Whether an index, without the dimensions that are unrolled, is a constant or
/// a single dimension with a stride.
bool WindowedOp::canRead(AffineExpr index) const {
  SmallVector<int64_t> at(extents.size(), -1);
  for (unsigned i = 0; i < extents.size(); ++i)
    if (isUnrolled[i])
      at[i] = 0;
  std::optional<Index> read = readIndex(index, at);
  return read && read->stride > 0 && read->offset >= 0;
}

/// Marks reduction dimensions that share an index with others, to be unrolled.
/// Returns whether there are any.
bool WindowedOp::findUnrolled() {
  bool found = false;
  for (OpOperand *input : op.getDpsInputOperands())
    for (AffineExpr index : op.getMatchingIndexingMap(input).getResults()) {
      SmallVector<unsigned> dimensions;
      index.walk([&](AffineExpr part) {
        if (auto dimension = dyn_cast<AffineDimExpr>(part))
          dimensions.push_back(dimension.getPosition());
      });
      if (dimensions.size() < 2)
        continue;
      found = true;
      for (unsigned dimension : dimensions)
        if (op.getIteratorTypesArray()[dimension] ==
            utils::IteratorType::reduction)
          isUnrolled[dimension] = true;
    }
  return found;
}

std::optional<WindowedOp> WindowedOp::match(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.hasDynamicShape())
    return std::nullopt;
  WindowedOp windowed(op);
  if (!windowed.findUnrolled() || windowed.countElements() > mostElements)
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands())
    for (AffineExpr index : op.getMatchingIndexingMap(input).getResults())
      if (!windowed.canRead(index))
        return std::nullopt;
  return windowed;
}

//===----------------------------------------------------------------------===//
// One element of the window
//===----------------------------------------------------------------------===//

/// Creates the slice of an operand that the op reads at one element of the
/// window, and the map through which it reads it.
Value WindowedOp::slice(OpBuilder &builder, OpOperand &operand,
                        ArrayRef<int64_t> at, AffineMap &map) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> results;
  unsigned rank = llvm::count(isUnrolled, false);
  for (auto [i, expression] :
       llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
    Index index = *readIndex(expression, at);
    int64_t size = index.dimension ? extents[*index.dimension] : 1;
    offsets.push_back(builder.getIndexAttr(index.offset));
    sizes.push_back(builder.getIndexAttr(size));
    strides.push_back(builder.getIndexAttr(index.stride));
    if (!index.dimension)
      continue;
    shape.push_back(size);
    results.push_back(builder.getAffineDimExpr(numberOf(*index.dimension)));
  }
  map = AffineMap::get(rank, 0, results, builder.getContext());
  if (ArrayRef(shape) == type.getShape())
    return operand.get();
  return tensor::ExtractSliceOp::create(
      builder, op.getLoc(), RankedTensorType::get(shape, type.getElementType()),
      operand.get(), offsets, sizes, strides);
}

void WindowedOp::fillBody(OpBuilder &builder, Location location,
                          ValueRange arguments, ArrayRef<unsigned> inputs,
                          ArrayRef<int64_t> at) {
  IRMapping mapping;
  for (auto [argument, input] : llvm::zip(arguments, inputs))
    mapping.map(op.getBlock()->getArgument(input), argument);
  mapping.map(op.getBlock()->getArguments().back(), arguments.back());
  for (Operation &inner : op.getBlock()->without_terminator()) {
    auto index = dyn_cast<linalg::IndexOp>(inner);
    if (!index) {
      builder.clone(inner, mapping);
      continue;
    }
    unsigned dimension = index.getDim();
    Value value =
        isUnrolled[dimension]
            ? arith::ConstantIndexOp::create(builder, location, at[dimension])
                  .getResult()
            : linalg::IndexOp::create(builder, location, numberOf(dimension))
                  .getResult();
    mapping.map(index.getResult(), value);
  }
  Value result = op.getBlock()->getTerminator()->getOperand(0);
  linalg::YieldOp::create(builder, location, mapping.lookupOrDefault(result));
}

/// Groups neighbouring dimensions of one kind that follow each other in all
/// maps in which they occur.
static SmallVector<ReassociationIndices> findGroups(linalg::GenericOp op) {
  SmallVector<ReassociationIndices> groups;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (int64_t dimension = 0; dimension < int64_t(iterators.size());
       ++dimension) {
    ReassociationIndices pair{dimension - 1, dimension};
    if (dimension > 0 && iterators[dimension - 1] == iterators[dimension] &&
        llvm::all_of(maps, [&](AffineMap map) {
          return linalg::isDimSequencePreserved(map, pair);
        }))
      groups.back().push_back(dimension);
    else
      groups.push_back({dimension});
  }
  return groups;
}

/// Merges dimensions, so that a product of several dimensions becomes a matrix
/// product. Ops without a sum are not changed, because reshapes would keep the
/// steps of a window from being fused.
static Value mergeDimensions(IRRewriter &rewriter, linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 ||
      !op.getBlock()->getOps<linalg::IndexOp>().empty())
    return op.getResult(0);
  SmallVector<ReassociationIndices> groups = findGroups(op);
  auto isMerged = [](const ReassociationIndices &group) {
    return group.size() > 1;
  };
  llvm::erase_if(groups, [&](const auto &group) { return !isMerged(group); });
  if (groups.empty())
    return op.getResult(0);
  auto merged = linalg::collapseOpIterationDims(op, groups, rewriter);
  if (failed(merged))
    return op.getResult(0);
  rewriter.eraseOp(op);
  return merged->results.front();
}

Value WindowedOp::unrollOne(IRRewriter &rewriter, ArrayRef<int64_t> at,
                            Value sum) {
  SmallVector<Value> inputs;
  SmallVector<unsigned> numbers;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    // Such an input only determines the extent of the window.
    if (op.getMatchingBlockArgument(input).use_empty())
      continue;
    inputs.push_back(slice(rewriter, *input, at, maps.emplace_back()));
    numbers.push_back(input->getOperandNumber());
  }
  SmallVector<AffineExpr> results;
  for (AffineExpr index :
       op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults())
    results.push_back(rewriter.getAffineDimExpr(
        numberOf(cast<AffineDimExpr>(index).getPosition())));
  SmallVector<utils::IteratorType> iterators;
  for (auto [i, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (!isUnrolled[i])
      iterators.push_back(iterator);
  maps.push_back(
      AffineMap::get(iterators.size(), 0, results, rewriter.getContext()));
  auto generic = linalg::GenericOp::create(
      rewriter, op.getLoc(), sum.getType(), inputs, sum, maps, iterators,
      [&](OpBuilder &builder, Location location, ValueRange arguments) {
        fillBody(builder, location, arguments, numbers, at);
      });
  return mergeDimensions(rewriter, generic);
}

void WindowedOp::unroll(IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  SmallVector<int64_t> at(extents.size(), -1);
  for (unsigned i = 0; i < extents.size(); ++i)
    if (isUnrolled[i])
      at[i] = 0;
  Value sum = op.getDpsInitOperand(0)->get();
  while (true) {
    sum = unrollOne(rewriter, at, sum);
    rewriter.setInsertionPoint(op);
    // Go to the next element. The last dimension changes first.
    int64_t i = extents.size() - 1;
    for (; i >= 0; --i) {
      if (!isUnrolled[i])
        continue;
      if (++at[i] < extents[i])
        break;
      at[i] = 0;
    }
    if (i < 0)
      break;
  }
  rewriter.replaceOp(op, sum);
}

//===----------------------------------------------------------------------===//
// All of a function
//===----------------------------------------------------------------------===//

/// Removes pairs of reshapes between the steps of a window that undo each
/// other.
static void cancelReshapes(func::FuncOp func) {
  RewritePatternSet patterns(func.getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns,
                                                     func.getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns,
                                                       func.getContext());
  (void)applyPatternsGreedily(func, std::move(patterns),
                              GreedyRewriteConfig().enableConstantCSE(false));
}

void veeline::autodiff::unrollWindows(func::FuncOp func, KernelTarget target) {
  IRRewriter rewriter(func.getContext());
  SmallVector<WindowedOp> ops;
  func.walk([&](linalg::LinalgOp op) {
    if (isLibraryConvolution(op, target))
      return;
    if (std::optional<WindowedOp> windowed = WindowedOp::match(op))
      ops.push_back(std::move(*windowed));
  });
  if (ops.empty())
    return;
  for (WindowedOp &op : ops)
    op.unroll(rewriter);
  cancelReshapes(func);
}
