//===- Normalize.cpp - normalising before differentiation -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalize.h"

#include "BodyBranches.h"
#include "Extrema.h"
#include "FoldTransposes.h"
#include "Gathers.h"
#include "Windows.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "veeline/Analysis/Convolution.h"
#include "veeline/Analysis/TensorEmit.h"
#include "veeline/Autodiff/Loops.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

/// Removes the marks of cuts, which are no longer needed.
static void removeBoundaries(func::FuncOp func) {
  for (auto mark :
       llvm::make_early_inc_range(func.getOps<veeline::pipe::BoundaryOp>())) {
    mark.replaceAllUsesWith(mark.getValue());
    mark.erase();
  }
}

/// Expands a clamp into a maximum and a minimum, so that at a bound, the value
/// and the bound get half of the gradient each.
static LogicalResult expandClamp(math::ClampFOp op, PatternRewriter &rewriter) {
  Value atLeast = arith::MaximumFOp::create(rewriter, op.getLoc(),
                                            op.getValue(), op.getMin());
  rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, atLeast, op.getMax());
  return success();
}

/// Expands the only op of math with two results, because it does not become a
/// structured op.
static LogicalResult expandSincos(math::SincosOp op,
                                  PatternRewriter &rewriter) {
  Value x = op.getOperand();
  Value sine = math::SinOp::create(rewriter, op.getLoc(), x);
  Value cosine = math::CosOp::create(rewriter, op.getLoc(), x);
  rewriter.replaceOp(op, {sine, cosine});
  return success();
}

static LogicalResult makeStructured(func::FuncOp func) {
  RewritePatternSet patterns(func.getContext());
  patterns.add(expandClamp).add(expandSincos);
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  return applyPatternsGreedily(
      func, std::move(patterns),
      GreedyRewriteConfig().enableFolding(false).enableConstantCSE(false));
}

/// Replaces a slice of a transposed tensor by a transposed slice of the tensor.
static void takeSliceFirst(tensor::ExtractSliceOp slice,
                           linalg::TransposeOp transpose) {
  OpBuilder builder(slice);
  Location loc = slice.getLoc();
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  unsigned rank = permutation.size();
  SmallVector<OpFoldResult> offsets(rank), sizes(rank), strides(rank);
  llvm::SmallBitVector dropped = slice.getDroppedDims(), droppedBefore(rank);
  for (auto [after, before] : llvm::enumerate(permutation)) {
    offsets[before] = slice.getMixedOffsets()[after];
    sizes[before] = slice.getMixedSizes()[after];
    strides[before] = slice.getMixedStrides()[after];
    droppedBefore[before] = dropped[after];
  }
  // The dimensions that the slice keeps, numbered as before the transposition.
  SmallVector<int64_t> number(rank), shape, kept;
  for (unsigned before = 0; before != rank; ++before) {
    number[before] = shape.size();
    if (!droppedBefore[before])
      shape.push_back(*getConstantIntValue(sizes[before]));
  }
  for (auto [after, before] : llvm::enumerate(permutation))
    if (!dropped[after])
      kept.push_back(number[before]);
  Type element = slice.getType().getElementType();
  Value result = tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(shape, element), transpose.getInput(),
      offsets, sizes, strides);
  if (!llvm::is_sorted(kept))
    result = linalg::TransposeOp::create(
                 builder, loc, result,
                 createEmpty(builder, loc, slice.getType()), kept)
                 ->getResult(0);
  slice.replaceAllUsesWith(result);
  slice.erase();
}

static void takeSlicesFirst(func::FuncOp func) {
  for (auto transpose :
       llvm::make_early_inc_range(func.getOps<linalg::TransposeOp>())) {
    SmallVector<tensor::ExtractSliceOp> slices;
    for (Operation *user : transpose->getUsers())
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
        if (llvm::all_of(slice.getMixedSizes(), [](OpFoldResult size) {
              return getConstantIntValue(size).has_value();
            }))
          slices.push_back(slice);
    // If there are other users, the whole tensor is transposed anyway.
    if (slices.empty() || slices.size() != static_cast<size_t>(llvm::range_size(
                                               transpose->getUsers())))
      continue;
    for (tensor::ExtractSliceOp slice : slices)
      takeSliceFirst(slice, transpose);
    transpose->erase();
  }
}

static void startFromNothing(func::FuncOp func) {
  func.walk([](linalg::LinalgOp op) {
    for (OpOperand &init : op.getDpsInitsMutable())
      if (!op.payloadUsesValueFromOperand(&init) &&
          !init.get().getDefiningOp<tensor::EmptyOp>()) {
        OpBuilder builder(op);
        init.set(createEmpty(builder, op.getLoc(),
                             cast<RankedTensorType>(init.get().getType())));
      }
  });
}

/// Replaces an insertion into zeros by a `tensor.pad` if a library's
/// convolution reads it, because the library takes a padding with zeros as
/// parameters.
static void padByOneOp(tensor::InsertSliceOp insert) {
  auto fill = insert.getDest().getDefiningOp<linalg::FillOp>();
  RankedTensorType inside = insert.getSourceType(), all = insert.getDestType();
  if (!fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ||
      inside.getRank() != all.getRank() || !insert.hasUnitStride() ||
      ShapedType::isDynamicShape(insert.getStaticOffsets()) ||
      !inside.hasStaticShape() || !all.hasStaticShape() ||
      llvm::none_of(insert->getUses(), veeline::isReadByLibraryConvolution))
    return;
  OpBuilder builder(insert);
  SmallVector<OpFoldResult> low, high;
  for (auto [offset, size, extent] : llvm::zip_equal(
           insert.getStaticOffsets(), inside.getShape(), all.getShape())) {
    low.push_back(builder.getIndexAttr(offset));
    high.push_back(builder.getIndexAttr(extent - offset - size));
  }
  auto pad =
      tensor::PadOp::create(builder, insert.getLoc(), all, insert.getSource(),
                            low, high, fill.getInputs()[0]);
  insert.replaceAllUsesWith(pad.getResult());
  insert.erase();
}

void veeline::autodiff::separatePaddings(func::FuncOp func) {
  SmallVector<tensor::PadOp> pads;
  func.walk([&](tensor::PadOp pad) {
    Value padding = pad.getConstantPaddingValue();
    if (padding && matchPattern(padding, m_AnyZeroFloat()))
      pads.push_back(pad);
  });
  for (tensor::PadOp pad : pads)
    veeline::separateLibraryUses(pad.getResult(), [&](OpBuilder &builder) {
      return builder.clone(*pad)->getResult(0);
    });
}

/// The parser accepts ops of unknown dialects if a driver allows them.
static LogicalResult checkRegistered(func::FuncOp func) {
  WalkResult result = func.walk([](Operation *op) {
    if (op->getDialect())
      return WalkResult::advance();
    op->emitError("'") << op->getName()
                       << "' is an op of a dialect that is not loaded: lower "
                          "it first, or register its dialect";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult veeline::autodiff::prepareModel(func::FuncOp func) {
  if (failed(checkRegistered(func)) || failed(lowerLoops(func)) ||
      failed(unrollLoops(func)))
    return failure();
  readByIndex(func);
  simplifyBodyBranches(func);
  return success();
}

LogicalResult
veeline::autodiff::normalizeForDifferentiation(func::FuncOp func,
                                               KernelTarget target) {
  removeBoundaries(func);
  recognizeExtrema(func);
  normalizeLoops(func);
  if (failed(makeStructured(func)))
    return failure();
  unrollWindows(func, target);
  SmallVector<tensor::InsertSliceOp> insertions;
  func.walk([&](tensor::InsertSliceOp op) { insertions.push_back(op); });
  llvm::for_each(insertions, padByOneOp);
  takeSlicesFirst(func);
  foldTransposes(func);
  startFromNothing(func);
  return success();
}
