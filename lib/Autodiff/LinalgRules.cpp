//===- LinalgRules.cpp - derivatives of linalg ops ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "veeline/Analysis/TensorEmit.h"
#include "veeline/Autodiff/StructuredRule.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

template <typename OpTy>
static LogicalResult structured(OpTy op, OpBuilder &builder, Adjoint &adjoint) {
  return differentiateStructured(cast<linalg::LinalgOp>(op.getOperation()),
                                 builder, adjoint);
}

template <typename... OpTys> static void attachStructured(MLIRContext *ctx) {
  attachRules<structured<OpTys>...>(ctx);
}

/// From y = softmax(x) along one dimension: dx = y * (g - sum(g * y)), summed
/// along it.
static LogicalResult softmax(linalg::SoftmaxOp op, OpBuilder &builder,
                             Adjoint &adjoint) {
  if (!adjoint.wants(op.getInput()))
    return success();
  Location loc = op.getLoc();
  Value y = adjoint.primal(op->getResult(0));
  Value g = adjoint.gradient(op->getResult(0));
  auto type = cast<RankedTensorType>(y.getType());
  Type elementType = type.getElementType();
  Type sumElement = getAccumulatorType(elementType);
  int64_t rank = type.getRank(), dim = op.getDimension();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  AffineMap reduced = identity.dropResult(dim);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators[dim] = utils::IteratorType::reduction;
  auto sumType = RankedTensorType::get(shape, sumElement);
  auto sum = linalg::GenericOp::create(
      builder, loc, TypeRange{sumType}, ValueRange{g, y},
      ValueRange{createZeros(builder, loc, sumType)},
      {identity, identity, reduced}, iterators,
      [&](OpBuilder &nested, Location, ValueRange args) {
        Emit emit(nested, loc);
        Value product = emit.mul(emit.convert(args[0], sumElement),
                                 emit.convert(args[1], sumElement));
        linalg::YieldOp::create(nested, loc, emit.add(args[2], product));
      });
  iterators[dim] = utils::IteratorType::parallel;
  auto gradient = linalg::GenericOp::create(
      builder, loc, TypeRange{type}, ValueRange{g, y, sum.getResult(0)},
      ValueRange{createEmpty(builder, loc, type)},
      {identity, identity, reduced, identity}, iterators,
      [&](OpBuilder &nested, Location, ValueRange args) {
        Emit emit(nested, loc);
        Value centered = emit.sub(emit.convert(args[0], sumElement), args[2]);
        Value product = emit.mul(centered, emit.convert(args[1], sumElement));
        linalg::YieldOp::create(nested, loc,
                                emit.convert(product, elementType));
      });
  adjoint.contribute(op.getInput(), gradient.getResult(0));
  return success();
}

void veeline::autodiff::registerLinalgRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *ctx, linalg::LinalgDialect *) {
    attachStructured<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp,
                     linalg::FillOp, linalg::CopyOp, linalg::TransposeOp,
                     linalg::BroadcastOp, linalg::ElementwiseOp,
                     linalg::ContractOp>(ctx);
    attachStructured<linalg::MatmulOp, linalg::BatchMatmulOp,
                     linalg::BatchReduceMatmulOp, linalg::MatvecOp,
                     linalg::VecmatOp, linalg::BatchMatvecOp,
                     linalg::BatchVecmatOp, linalg::DotOp>(ctx);
    attachStructured<linalg::AddOp, linalg::SubOp, linalg::MulOp, linalg::DivOp,
                     linalg::MaxOp, linalg::MinOp, linalg::SelectOp,
                     linalg::PowFOp>(ctx);
    attachStructured<linalg::AbsOp, linalg::NegFOp, linalg::ExpOp,
                     linalg::LogOp, linalg::SqrtOp, linalg::RsqrtOp,
                     linalg::SquareOp, linalg::ReciprocalOp, linalg::TanhOp,
                     linalg::ErfOp, linalg::CeilOp, linalg::FloorOp,
                     linalg::RoundOp>(ctx);
    attachStructured<linalg::Conv1DOp, linalg::Conv1DNwcWcfOp,
                     linalg::Conv1DNcwFcwOp, linalg::Conv2DOp,
                     linalg::Conv2DNhwcHwcfOp, linalg::Conv2DNhwcFhwcOp,
                     linalg::Conv2DNchwFchwOp, linalg::Conv2DNgchwFgchwOp,
                     linalg::Conv2DNgchwGfchwOp, linalg::Conv2DNhwgcGfhwcOp,
                     linalg::Conv3DOp, linalg::Conv3DNdhwcDhwcfOp,
                     linalg::Conv3DNcdhwFcdhwOp>(ctx);
    attachStructured<
        linalg::DepthwiseConv1DNwcWcOp, linalg::DepthwiseConv1DNcwCwOp,
        linalg::DepthwiseConv1DNwcWcmOp, linalg::DepthwiseConv2DNhwcHwcOp,
        linalg::DepthwiseConv2DNchwChwOp, linalg::DepthwiseConv2DNhwcHwcmOp,
        linalg::DepthwiseConv3DNdhwcDhwcOp, linalg::DepthwiseConv3DNcdhwCdhwOp,
        linalg::DepthwiseConv3DNdhwcDhwcmOp>(ctx);
    attachStructured<linalg::PoolingNhwcSumOp, linalg::PoolingNchwSumOp,
                     linalg::PoolingNwcSumOp, linalg::PoolingNcwSumOp,
                     linalg::PoolingNdhwcSumOp, linalg::PoolingNhwcMaxOp,
                     linalg::PoolingNchwMaxOp, linalg::PoolingNwcMaxOp,
                     linalg::PoolingNcwMaxOp, linalg::PoolingNdhwcMaxOp,
                     linalg::PoolingNhwcMinOp, linalg::PoolingNwcMinOp,
                     linalg::PoolingNdhwcMinOp>(ctx);
    attachRules<softmax>(ctx);
  });
}
