//===- Emit.cpp - helpers to emit ops in derivative rules -----------------===//
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
