//===- Gathers.cpp - reads that a body makes by index ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gathers.h"

#include "StructuredAdjoint.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Analysis/TensorEmit.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// Whether `expr`, multiplied by `sign`, is linear and does not decrease in any
/// dimension.
static bool ascends(AffineExpr expr, int sign = 1) {
  if (isa<AffineConstantExpr>(expr))
    return true;
  if (isa<AffineDimExpr>(expr))
    return sign > 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return ascends(binary.getLHS(), sign) && ascends(binary.getRHS(), sign);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && factor &&
         ascends(binary.getLHS(), factor.getValue() < 0 ? -sign : sign);
}

/// Whether windows, slices and strides can express the map of an operand.
static bool ascends(AffineMap map) {
  return llvm::all_of(map.getResults(),
                      [](AffineExpr expr) { return ascends(expr); });
}

/// The dimension d if `expr` is last - d, and d runs from 0 to last.
static std::optional<unsigned> getReversed(AffineExpr expr,
                                           ArrayRef<int64_t> extents) {
  for (unsigned dim = 0; dim != extents.size(); ++dim) {
    AffineExpr self = getAffineDimExpr(dim, expr.getContext());
    if (expr == (extents[dim] - 1) - self)
      return dim;
  }
  return std::nullopt;
}

/// Reverses the loop over `dim`.
static void reverse(linalg::GenericOp op, unsigned dim, int64_t extent) {
  Builder builder(op.getContext());
  AffineExpr self = builder.getAffineDimExpr(dim);
  SmallVector<AffineMap> maps;
  for (AffineMap map : op.getIndexingMapsArray())
    maps.push_back(simplifyAffineMap(map.replace(
        self, (extent - 1) - self, map.getNumDims(), map.getNumSymbols())));
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  op.walk([&](linalg::IndexOp index) {
    if (index.getDim() != dim)
      return;
    OpBuilder after(index->getContext());
    after.setInsertionPointAfter(index);
    Location loc = index.getLoc();
    Value last = arith::ConstantIndexOp::create(after, loc, extent - 1);
    auto other = arith::SubIOp::create(after, loc, last, index);
    index.getResult().replaceAllUsesExcept(other, other);
  });
}

static void reverseOutputs(linalg::GenericOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (OpOperand &init : op.getDpsInitsMutable())
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      if (std::optional<unsigned> dim = getReversed(expr, extents)) {
        reverse(op, *dim, extents[*dim]);
        // Start again, because the maps have changed.
        return reverseOutputs(op);
      }
}

/// Emits the read of the element of `input` that `map` selects in an iteration.
static Value readElement(OpBuilder &builder, Location loc, Value input,
                         AffineMap map) {
  SmallVector<Value> place;
  for (unsigned dim = 0; dim != map.getNumDims(); ++dim)
    place.push_back(linalg::IndexOp::create(builder, loc, dim));
  SmallVector<Value> indices;
  for (AffineExpr expr : map.getResults())
    indices.push_back(
        affine::expandAffineExpr(builder, loc, expr, place, ValueRange()));
  return tensor::ExtractOp::create(builder, loc, input, indices);
}

static bool isStatic(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() &&
         llvm::none_of(op.getStaticLoopRanges(), ShapedType::isDynamic);
}

/// Makes the body read those inputs by index whose maps do not ascend.
static void captureInputs(linalg::GenericOp op) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<OpOperand *> captured;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!ascends(map)) {
      captured.push_back(input);
      continue;
    }
    inputs.push_back(input->get());
    maps.push_back(map);
  }
  if (captured.empty())
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<AffineMap> outputMaps;
  for (OpOperand &init : op.getDpsInitsMutable())
    outputMaps.push_back(op.getMatchingIndexingMap(&init));
  size_t kept = inputs.size();
  showAllExtents(builder, loc, op.getStaticLoopRanges(), outputMaps, inputs,
                 maps);
  llvm::append_range(maps, outputMaps);
  auto generic = linalg::GenericOp::create(builder, loc, op.getResultTypes(),
                                           inputs, op.getOutputs(), maps,
                                           op.getIteratorTypesArray());
  generic->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Block &body = *op.getBlock();
  builder.setInsertionPointToStart(&body);
  for (OpOperand *input : captured)
    op.getMatchingBlockArgument(input).replaceAllUsesWith(readElement(
        builder, loc, input->get(), op.getMatchingIndexingMap(input)));
  for (OpOperand *input : llvm::reverse(captured))
    body.eraseArgument(input->getOperandNumber());
  for (size_t i = kept; i != inputs.size(); ++i)
    body.insertArgument(i, getElementTypeOrSelf(inputs[i]), loc);
  generic.getRegion().takeBody(op.getRegion());
  op.replaceAllUsesWith(generic);
  op.erase();
}

//===----------------------------------------------------------------------===//
// Paddings
//===----------------------------------------------------------------------===//

/// Evaluates the padding everywhere, and inserts the source into the result.
static void generatePadding(tensor::PadOp op) {
  auto type = op.getResultType();
  if (op.getConstantPaddingValue() || !type.hasStaticShape() ||
      !op.getSourceType().hasStaticShape())
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  int64_t rank = type.getRank();
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto padding = linalg::GenericOp::create(
      builder, loc, TypeRange{type}, ValueRange(),
      ValueRange{createEmpty(builder, loc, type)},
      {builder.getMultiDimIdentityMap(rank)}, iterators,
      [&](OpBuilder &nested, Location, ValueRange) {
        IRMapping mapping;
        Block &body = op.getRegion().front();
        for (BlockArgument index : body.getArguments())
          mapping.map(index, linalg::IndexOp::create(nested, loc,
                                                     index.getArgNumber()));
        for (Operation &inner : body.without_terminator())
          nested.clone(inner, mapping);
        Value value = cast<tensor::YieldOp>(body.getTerminator()).getValue();
        linalg::YieldOp::create(nested, loc, mapping.lookupOrDefault(value));
      });
  SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
  Value padded = tensor::InsertSliceOp::create(
      builder, loc, op.getSource(), padding.getResult(0), op.getMixedLowPad(),
      getAsIndexOpFoldResult(builder.getContext(),
                             op.getSourceType().getShape()),
      strides);
  op.replaceAllUsesWith(padded);
  op.erase();
}

void veeline::autodiff::readByIndex(func::FuncOp func) {
  SmallVector<linalg::GenericOp> generics;
  SmallVector<tensor::PadOp> pads;
  func.walk([&](Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (isStatic(generic) &&
          !llvm::all_of(generic.getIndexingMapsArray(),
                        [](AffineMap map) { return ascends(map); }))
        generics.push_back(generic);
    } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      pads.push_back(pad);
    }
  });
  for (linalg::GenericOp op : generics) {
    reverseOutputs(op);
    captureInputs(op);
  }
  for (tensor::PadOp pad : pads)
    generatePadding(pad);
}
