//===- AttentionRules.cpp - derivatives of attention ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionRules.h"
#include "Emit.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "veeline/Analysis/TensorEmit.h"
#include "veeline/Dialect/Pipe/IR/AttentionParts.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;
using veeline::pipe::AttentionBackwardKVOp;
using veeline::pipe::AttentionBackwardQOp;
using veeline::pipe::AttentionOp;
using veeline::pipe::AttentionParts;

/// Computes delta: for each query, the sum of output_grad * output, minus the
/// gradient of lse if there is one.
static Value createDelta(OpBuilder &builder, Location loc, Value outputGrad,
                         Value output, Value lseGrad, RankedTensorType type) {
  int64_t rank = type.getRank();
  AffineMap all = builder.getMultiDimIdentityMap(rank + 1);
  AffineMap rows = all.dropResult(rank);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  Type element = type.getElementType();
  Value delta =
      linalg::GenericOp::create(
          builder, loc, TypeRange{type}, ValueRange{outputGrad, output},
          ValueRange{createZeros(builder, loc, type)}, {all, all, rows},
          iterators,
          [&](OpBuilder &nested, Location, ValueRange args) {
            Emit emit(nested, loc);
            Value product = emit.mul(emit.convert(args[0], element),
                                     emit.convert(args[1], element));
            linalg::YieldOp::create(nested, loc, emit.add(args[2], product));
          })
          .getResult(0);
  if (!lseGrad)
    return delta;
  return createElementwise(builder, loc, element, {delta, lseGrad},
                           [&](OpBuilder &nested, ValueRange args) {
                             return Emit(nested, loc).sub(args[0], args[1]);
                           });
}

namespace {

/// The operands of the derivatives, as values of the backward computation.
struct AttentionGradient {
  AttentionOp op;
  Value query, key, value, mask, outputGrad, lse, delta;

  Value createQueryGradient(OpBuilder &builder) {
    auto type = cast<RankedTensorType>(query.getType());
    Value init = createEmpty(builder, op.getLoc(), type);
    return AttentionBackwardQOp::create(
               builder, op.getLoc(), TypeRange{type}, query, key, value,
               outputGrad, lse, delta, mask, init, op.getScaleAttr(),
               op.getCausalAttr(), op.getMaskDimsAttr(), op.getFillAttr())
        ->getResult(0);
  }

  ValueRange createKeyAndValueGradient(OpBuilder &builder) {
    auto keyType = cast<RankedTensorType>(key.getType());
    auto valueType = cast<RankedTensorType>(value.getType());
    Value keyInit = createEmpty(builder, op.getLoc(), keyType);
    Value valueInit = createEmpty(builder, op.getLoc(), valueType);
    return AttentionBackwardKVOp::create(
               builder, op.getLoc(), TypeRange{keyType, valueType}, query, key,
               value, outputGrad, lse, delta, mask, keyInit, valueInit,
               op.getScaleAttr(), op.getCausalAttr(), op.getMaskDimsAttr(),
               op.getFillAttr())
        ->getResults();
  }

  /// The gradient of a trained mask has the size of the scores, so all scores
  /// are computed at once.
  Value createMaskGradient(OpBuilder &builder) {
    AttentionParts parts(builder, op, query, key, value, mask);
    Value weights = parts.createWeights(parts.createScores(), lse);
    Value scoreGrad = parts.createScoreGradient(weights, outputGrad, delta);
    return parts.createMaskGradient(
        scoreGrad, cast<ShapedType>(mask.getType()).getElementType());
  }
};

} // namespace

/// Of the scores, only lse is kept for each row; the weights are recomputed
/// from it.
static LogicalResult attention(AttentionOp op, OpBuilder &builder,
                               Adjoint &adjoint) {
  Value mask = op.getMask();
  bool wantsMask =
      mask && adjoint.wants(mask) &&
      isa<FloatType>(cast<ShapedType>(mask.getType()).getElementType());
  bool wantsQuery = adjoint.wants(op.getQuery());
  bool wantsKey = adjoint.wants(op.getKey()) || adjoint.wants(op.getValue());
  if (!wantsQuery && !wantsKey && !wantsMask)
    return success();
  Location loc = op.getLoc();
  Value output = op->getResult(0), lse = op->getResult(1);
  Value outputGrad = adjoint.gradient(output);
  if (!outputGrad)
    outputGrad =
        createZeros(builder, loc, cast<RankedTensorType>(output.getType()));
  Value delta =
      createDelta(builder, loc, outputGrad, adjoint.primal(output),
                  adjoint.gradient(lse), cast<RankedTensorType>(lse.getType()));
  AttentionGradient gradient{op,
                             adjoint.primal(op.getQuery()),
                             adjoint.primal(op.getKey()),
                             adjoint.primal(op.getValue()),
                             mask ? adjoint.primal(mask) : Value(),
                             outputGrad,
                             adjoint.primal(lse),
                             delta};
  if (wantsQuery)
    adjoint.contribute(op.getQuery(), gradient.createQueryGradient(builder));
  if (wantsKey) {
    ValueRange gradients = gradient.createKeyAndValueGradient(builder);
    adjoint.contribute(op.getKey(), gradients[0]);
    adjoint.contribute(op.getValue(), gradients[1]);
  }
  if (wantsMask)
    adjoint.contribute(mask, gradient.createMaskGradient(builder));
  return success();
}

void veeline::autodiff::registerAttentionRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *ctx, veeline::pipe::PipeDialect *) {
    attachRules<attention>(ctx);
  });
}
