//===- Emit.cpp - short names for what derivative rules emit --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

using namespace mlir;
using namespace veeline::autodiff;

Value Emit::constant(Type type, double value) {
  TypedAttr attr = builder.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, static_cast<Attribute>(attr));
  return arith::ConstantOp::create(builder, loc, type, attr);
}

Value Emit::convert(Value value, Type type) {
  unsigned from = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  if (from > to)
    return arith::TruncFOp::create(builder, loc, type, value);
  // Two formats of one width (f16 and bf16) meet in the next wider one.
  Value wide = convert(value, builder.getF32Type());
  return convert(wide, type);
}
