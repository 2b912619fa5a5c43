#include "Act.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

#include "ActDialect.cpp.inc"

#define GET_OP_CLASSES
#include "ActOps.cpp.inc"

void act::ActDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ActOps.cpp.inc"
      >();
}

/// 1 + |x|
static Value emitDenominator(OpBuilder &builder, Location loc, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  auto ones = DenseElementsAttr::get(
      type, cast<Attribute>(builder.getFloatAttr(type.getElementType(), 1.0)));
  Value one = arith::ConstantOp::create(builder, loc, ones);
  Value size = math::AbsFOp::create(builder, loc, x);
  return arith::AddFOp::create(builder, loc, one, size);
}

// [docs: interfaces]
/// dx = dy / (1 + |x|)^2
LogicalResult
act::SoftsignOp::differentiate(OpBuilder &builder,
                               veeline::autodiff::Adjoint &adjoint) {
  if (!adjoint.wants(getInput()))
    return success();
  Value denominator =
      emitDenominator(builder, getLoc(), adjoint.primal(getInput()));
  Value square =
      arith::MulFOp::create(builder, getLoc(), denominator, denominator);
  Value dx = arith::DivFOp::create(builder, getLoc(),
                                   adjoint.gradient(getResult()), square);
  adjoint.contribute(getInput(), dx);
  return success();
}

/// An absolute value, a sum and a quotient of each element.
veeline::OpCost act::SoftsignOp::estimateCost() {
  veeline::OpCost cost;
  cost.otherFlops =
      3 * cast<ShapedType>(getResult().getType()).getNumElements();
  cost.bytes = 2 * veeline::getByteSize(getResult().getType());
  return cost;
}

/// What the op is made of, for code generation.
FailureOr<SmallVector<Value>>
act::SoftsignOp::decomposeOperation(OpBuilder &builder) {
  Value denominator = emitDenominator(builder, getLoc(), getInput());
  Value y = arith::DivFOp::create(builder, getLoc(), getInput(), denominator);
  return SmallVector<Value>{y};
}
// [docs: end]
