//===- WidenProducts.cpp - matrix products of small floats ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WidenProducts.h"

#include "StructuredOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace veeline;

static bool isSmallFloat(Value value) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
  return element && element.getWidth() < 32;
}

/// Elementwise, to a wider or a narrower type.
static Value convert(OpBuilder &builder, Location location, Value tensor,
                     Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType() == element)
    return tensor;
  bool widens = element.getIntOrFloatBitWidth() >
                type.getElementType().getIntOrFloatBitWidth();
  Value empty =
      tensor::EmptyOp::create(builder, location, type.getShape(), element);
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, location, empty.getType(), tensor, empty,
             ArrayRef{identity, identity}, iterators,
             [&](OpBuilder &inner, Location at, ValueRange arguments) {
               Value result = widens ? Value(arith::ExtFOp::create(
                                           inner, at, element, arguments[0]))
                                     : Value(arith::TruncFOp::create(
                                           inner, at, element, arguments[0]));
               linalg::YieldOp::create(inner, at, result);
             })
      .getResult(0);
}

/// A start of zeros is one of zeros of f32, not a conversion.
static Value convertStart(OpBuilder &builder, Location location, Value start,
                          Type element) {
  auto fill = start.getDefiningOp<linalg::FillOp>();
  if (!fill || !isSmallFloat(start))
    return convert(builder, location, start, element);
  auto type = cast<RankedTensorType>(start.getType());
  Value value = arith::ExtFOp::create(builder, location, element, fill.value());
  Value empty =
      tensor::EmptyOp::create(builder, location, type.getShape(), element);
  return linalg::FillOp::create(builder, location, value, empty).getResult(0);
}

static void widen(RewriterBase &rewriter, linalg::GenericOp op) {
  rewriter.setInsertionPoint(op);
  Location location = op.getLoc();
  Type wide = rewriter.getF32Type();
  Value a = convert(rewriter, location, op.getInputs()[0], wide);
  Value b = convert(rewriter, location, op.getInputs()[1], wide);
  Value start = convertStart(rewriter, location, op.getOutputs()[0], wide);
  auto product = linalg::GenericOp::create(
      rewriter, location, start.getType(), ValueRange{a, b}, start,
      op.getIndexingMapsArray(), op.getIteratorTypesArray(),
      [](OpBuilder &inner, Location at, ValueRange arguments) {
        Value factor =
            arith::MulFOp::create(inner, at, arguments[0], arguments[1]);
        Value sum = arith::AddFOp::create(inner, at, arguments[2], factor);
        linalg::YieldOp::create(inner, at, sum);
      });
  Type narrow = getElementTypeOrSelf(op.getResult(0).getType());
  rewriter.replaceOp(op,
                     convert(rewriter, location, product.getResult(0), narrow));
}

void veeline::widenProducts(RewriterBase &rewriter, Operation *root) {
  SmallVector<linalg::GenericOp> ops;
  root->walk([&](linalg::GenericOp op) {
    bool isFloat = llvm::all_of(op->getOperands(), [](Value operand) {
      Type element = getElementTypeOrSelf(operand.getType());
      return isa<RankedTensorType>(operand.getType()) &&
             (element.isF32() || element.isF16() || element.isBF16());
    });
    if (isFloat && isContraction(op) &&
        llvm::any_of(op->getOperands(), isSmallFloat))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops)
    widen(rewriter, op);
}
