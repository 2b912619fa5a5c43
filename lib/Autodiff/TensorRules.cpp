//===- TensorRules.cpp - derivatives of tensor ops ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyAdjoint.h"
#include "Emit.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Analysis/TensorEmit.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

static SmallVector<OpFoldResult> ones(OpBuilder &builder, unsigned count) {
  return SmallVector<OpFoldResult>(count, builder.getIndexAttr(1));
}

/// The adjoint of reading a slice is writing it, and that of writing is
/// reading.
static LogicalResult extractSlice(tensor::ExtractSliceOp op, OpBuilder &,
                                  Adjoint &adjoint) {
  adjoint.contributeSlice(op.getSource(), adjoint.gradient(op.getResult()),
                          op.getMixedOffsets(), op.getMixedSizes(),
                          op.getMixedStrides());
  return success();
}

static LogicalResult insertSlice(tensor::InsertSliceOp op, OpBuilder &builder,
                                 Adjoint &adjoint) {
  Location loc = op.getLoc();
  Value g = adjoint.gradient(op.getResult());
  if (adjoint.wants(op.getSource()))
    adjoint.contribute(
        op.getSource(),
        tensor::ExtractSliceOp::create(builder, loc, op.getSourceType(), g,
                                       op.getMixedOffsets(), op.getMixedSizes(),
                                       op.getMixedStrides()));
  if (adjoint.wants(op.getDest())) {
    Value zeros = createZeros(builder, loc, op.getSourceType());
    adjoint.contribute(op.getDest(),
                       tensor::InsertSliceOp::create(
                           builder, loc, zeros, g, op.getMixedOffsets(),
                           op.getMixedSizes(), op.getMixedStrides()));
  }
  return success();
}

static LogicalResult expandShape(tensor::ExpandShapeOp op, OpBuilder &builder,
                                 Adjoint &adjoint) {
  adjoint.contribute(op.getSrc(), tensor::CollapseShapeOp::create(
                                      builder, op.getLoc(), op.getSrcType(),
                                      adjoint.gradient(op.getResult()),
                                      op.getReassociationIndices()));
  return success();
}

static LogicalResult collapseShape(tensor::CollapseShapeOp op,
                                   OpBuilder &builder, Adjoint &adjoint) {
  adjoint.contribute(op.getSrc(), tensor::ExpandShapeOp::create(
                                      builder, op.getLoc(), op.getSrcType(),
                                      adjoint.gradient(op.getResult()),
                                      op.getReassociationIndices()));
  return success();
}

static LogicalResult reshape(tensor::ReshapeOp op, OpBuilder &builder,
                             Adjoint &adjoint) {
  auto type = cast<RankedTensorType>(op.getSource().getType());
  SmallVector<Value> extents;
  for (int64_t extent : type.getShape())
    extents.push_back(
        arith::ConstantIndexOp::create(builder, op.getLoc(), extent));
  auto shapeType =
      RankedTensorType::get({type.getRank()}, builder.getIndexType());
  Value shape =
      tensor::FromElementsOp::create(builder, op.getLoc(), shapeType, extents);
  adjoint.contribute(op.getSource(),
                     tensor::ReshapeOp::create(builder, op.getLoc(), type,
                                               adjoint.gradient(op.getResult()),
                                               shape));
  return success();
}

static LogicalResult castType(tensor::CastOp op, OpBuilder &builder,
                              Adjoint &adjoint) {
  adjoint.contribute(op.getSource(),
                     tensor::CastOp::create(builder, op.getLoc(),
                                            op.getSource().getType(),
                                            adjoint.gradient(op.getResult())));
  return success();
}

static LogicalResult concat(tensor::ConcatOp op, OpBuilder &builder,
                            Adjoint &adjoint) {
  Value g = adjoint.gradient(op.getResult());
  int64_t offset = 0;
  for (Value input : op.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
    offsets[op.getDim()] = builder.getIndexAttr(offset);
    offset += type.getDimSize(op.getDim());
    if (!adjoint.wants(input))
      continue;
    adjoint.contribute(input, tensor::ExtractSliceOp::create(
                                  builder, op.getLoc(), type, g, offsets,
                                  getAsIndexOpFoldResult(builder.getContext(),
                                                         type.getShape()),
                                  ones(builder, type.getRank())));
  }
  return success();
}

/// The sum of all elements, as a scalar of their type.
static Value sumElements(OpBuilder &builder, Location loc, Value tensor) {
  auto tensorType = cast<RankedTensorType>(tensor.getType());
  int64_t rank = tensorType.getRank();
  Type type = tensorType.getElementType(), sumType = getAccumulatorType(type);
  Value init = createZeros(builder, loc, RankedTensorType::get({}, sumType));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::reduction);
  auto sum = linalg::GenericOp::create(
      builder, loc, TypeRange{init.getType()}, ValueRange{tensor},
      ValueRange{init},
      {builder.getMultiDimIdentityMap(rank),
       AffineMap::get(rank, 0, builder.getContext())},
      iterators, [&](OpBuilder &nested, Location, ValueRange args) {
        Emit emit(nested, loc);
        linalg::YieldOp::create(
            nested, loc, emit.add(args[1], emit.convert(args[0], sumType)));
      });
  Value total =
      tensor::ExtractOp::create(builder, loc, sum.getResult(0), ValueRange{});
  return Emit(builder, loc).convert(total, type);
}

/// The gradient of the padding value is the sum of the gradients around the
/// source.
static LogicalResult pad(tensor::PadOp op, OpBuilder &builder,
                         Adjoint &adjoint) {
  // A padding whose value depends on the place has become a structured op
  // before.
  Value padding = op.getConstantPaddingValue();
  if (!padding)
    return emitNoRule(op);
  Location loc = op.getLoc();
  Value g = adjoint.gradient(op.getResult());
  auto type = cast<RankedTensorType>(op.getSource().getType());
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  SmallVector<OpFoldResult> strides = ones(builder, type.getRank());
  if (adjoint.wants(op.getSource()))
    adjoint.contribute(op.getSource(),
                       tensor::ExtractSliceOp::create(builder, loc, type, g,
                                                      op.getMixedLowPad(),
                                                      sizes, strides));
  if (adjoint.wants(padding)) {
    Value around = tensor::InsertSliceOp::create(
        builder, loc, createZeros(builder, loc, type), g, op.getMixedLowPad(),
        sizes, strides);
    adjoint.contribute(padding, sumElements(builder, loc, around));
  }
  return success();
}

/// The adjoint of a broadcast is a sum.
static LogicalResult splat(tensor::SplatOp op, OpBuilder &builder,
                           Adjoint &adjoint) {
  adjoint.contribute(
      op.getInput(),
      sumElements(builder, op.getLoc(), adjoint.gradient(op.getResult())));
  return success();
}

static LogicalResult extract(tensor::ExtractOp op, OpBuilder &builder,
                             Adjoint &adjoint) {
  Location loc = op.getLoc();
  SmallVector<Value> indices;
  for (Value index : op.getIndices())
    indices.push_back(adjoint.primal(index));
  Value zeros = createZeros(builder, loc, op.getTensor().getType());
  adjoint.contribute(op.getTensor(),
                     tensor::InsertOp::create(builder, loc,
                                              adjoint.gradient(op.getResult()),
                                              zeros, indices));
  return success();
}

static LogicalResult insert(tensor::InsertOp op, OpBuilder &builder,
                            Adjoint &adjoint) {
  Location loc = op.getLoc();
  Value g = adjoint.gradient(op.getResult());
  SmallVector<Value> indices;
  for (Value index : op.getIndices())
    indices.push_back(adjoint.primal(index));
  if (adjoint.wants(op.getScalar()))
    adjoint.contribute(op.getScalar(),
                       tensor::ExtractOp::create(builder, loc, g, indices));
  if (adjoint.wants(op.getDest())) {
    Value zero = Emit(builder, loc).constant(op.getScalar().getType(), 0.0);
    adjoint.contribute(
        op.getDest(), tensor::InsertOp::create(builder, loc, zero, g, indices));
  }
  return success();
}

static LogicalResult fromElements(tensor::FromElementsOp op, OpBuilder &builder,
                                  Adjoint &adjoint) {
  Location loc = op.getLoc();
  Value g = adjoint.gradient(op.getResult());
  ArrayRef<int64_t> shape = op.getType().getShape();
  for (auto [number, element] : llvm::enumerate(op.getElements())) {
    if (!adjoint.wants(element))
      continue;
    SmallVector<Value> indices(shape.size());
    int64_t rest = number;
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      indices[dim] =
          arith::ConstantIndexOp::create(builder, loc, rest % shape[dim]);
      rest /= shape[dim];
    }
    adjoint.contribute(element,
                       tensor::ExtractOp::create(builder, loc, g, indices));
  }
  return success();
}

void veeline::autodiff::registerTensorRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *ctx, tensor::TensorDialect *) {
    attachRules<castType, collapseShape, concat, expandShape, extract,
                extractSlice, fromElements, insert, insertSlice, pad, reshape,
                splat>(ctx);
  });
}
