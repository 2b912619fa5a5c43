//===- TensorEmit.cpp - tensors that derivative rules make ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorEmit.h"

#include "Emit.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace veeline::autodiff;

Value veeline::autodiff::createEmpty(OpBuilder &builder, Location loc,
                                     RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

Value veeline::autodiff::createFilled(OpBuilder &builder, Location loc,
                                      RankedTensorType type, double value) {
  Value scalar = Emit(builder, loc).constant(type.getElementType(), value);
  Value empty = createEmpty(builder, loc, type);
  return linalg::FillOp::create(builder, loc, ValueRange{scalar},
                                ValueRange{empty})
      .getResult(0);
}

Value veeline::autodiff::createZeros(OpBuilder &builder, Location loc,
                                     RankedTensorType type) {
  return createFilled(builder, loc, type, 0.0);
}

Value veeline::autodiff::createElementwise(
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

Value veeline::autodiff::createSum(OpBuilder &builder, Location loc, Value a,
                                   Value b) {
  if (!isa<RankedTensorType>(a.getType()))
    return Emit(builder, loc).add(a, b);
  return createElementwise(builder, loc, getElementTypeOrSelf(a), {a, b},
                           [&](OpBuilder &nested, ValueRange args) {
                             return Emit(nested, loc).add(args[0], args[1]);
                           });
}

Value veeline::autodiff::createConversion(OpBuilder &builder, Location loc,
                                          Value tensor, Type elementType) {
  if (getElementTypeOrSelf(tensor) == elementType)
    return tensor;
  return createElementwise(
      builder, loc, elementType, {tensor},
      [&](OpBuilder &nested, ValueRange args) {
        return Emit(nested, loc).convert(args[0], elementType);
      });
}

Type veeline::autodiff::getAccumulatorType(Type type) {
  return type.getIntOrFloatBitWidth() < 32 ? Float32Type::get(type.getContext())
                                           : type;
}
