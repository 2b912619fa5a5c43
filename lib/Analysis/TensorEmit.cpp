//===- TensorEmit.cpp - helpers that emit structured ops ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/TensorEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace veeline;

Value veeline::createEmpty(OpBuilder &builder, Location loc,
                           RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

Value veeline::createFilled(OpBuilder &builder, Location loc,
                            RankedTensorType type, double value) {
  Value scalar = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(type.getElementType(), value));
  Value empty = createEmpty(builder, loc, type);
  return linalg::FillOp::create(builder, loc, ValueRange{scalar},
                                ValueRange{empty})
      .getResult(0);
}

Value veeline::createZeros(OpBuilder &builder, Location loc,
                           RankedTensorType type) {
  return createFilled(builder, loc, type, 0.0);
}

Value veeline::createElementwise(
    OpBuilder &builder, Location loc, Type elementType, ValueRange inputs,
    function_ref<Value(OpBuilder &, ValueRange)> body) {
  auto type = cast<RankedTensorType>(inputs.front().getType());
  auto resultType = RankedTensorType::get(type.getShape(), elementType);
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<AffineMap> maps(inputs.size() + 1, identity);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{resultType}, inputs,
      ValueRange{createEmpty(builder, loc, resultType)}, maps, iterators,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
        Value result = body(nested, args);
        linalg::YieldOp::create(nested, nestedLoc, result);
      });
  return generic.getResult(0);
}

Value veeline::createSum(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!isa<RankedTensorType>(a.getType()))
    return arith::AddFOp::create(builder, loc, a, b);
  return createElementwise(builder, loc, getElementTypeOrSelf(a), {a, b},
                           [&](OpBuilder &nested, ValueRange args) {
                             return createSum(nested, loc, args[0], args[1]);
                           });
}

Value veeline::createMultiplyAdd(OpBuilder &builder, Location loc, Value a,
                                 Value b, Value sum) {
  a = convertFloat(builder, loc, a, sum.getType());
  b = convertFloat(builder, loc, b, sum.getType());
  Value product = arith::MulFOp::create(builder, loc, a, b);
  return arith::AddFOp::create(builder, loc, sum, product);
}

Value veeline::convertFloat(OpBuilder &builder, Location loc, Value value,
                            Type type) {
  if (value.getType() == type)
    return value;
  unsigned from = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  if (from > to)
    return arith::TruncFOp::create(builder, loc, type, value);
  // f16 and bf16 have the same width, and are converted to each other through
  // f32.
  Value wide = convertFloat(builder, loc, value, builder.getF32Type());
  return convertFloat(builder, loc, wide, type);
}

Value veeline::createConversion(OpBuilder &builder, Location loc, Value tensor,
                                Type elementType) {
  if (getElementTypeOrSelf(tensor) == elementType)
    return tensor;
  return createElementwise(builder, loc, elementType, {tensor},
                           [&](OpBuilder &nested, ValueRange args) {
                             return convertFloat(nested, loc, args[0],
                                                 elementType);
                           });
}

Type veeline::getAccumulatorType(Type type) {
  return type.getIntOrFloatBitWidth() < 32 ? Float32Type::get(type.getContext())
                                           : type;
}
