//===- Update.cpp - the update of a parameter in a graph ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Joint/Update.h"

#include "Joint/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace veeline::pipe;
using llvm::APFloat;

std::optional<APFloat> veeline::pipe::unifyRates(const APFloat &a,
                                                 const APFloat &b) {
  auto precision = [](const APFloat &rate) {
    return APFloat::semanticsPrecision(rate.getSemantics());
  };
  const APFloat &exact = precision(a) < precision(b) ? b : a;
  const APFloat &other = &exact == &a ? b : a;
  APFloat rounded = exact;
  bool losesInfo;
  rounded.convert(other.getSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  if (rounded.bitwiseIsEqual(other))
    return exact;
  return {};
}

/// Matches `product` as a constant times a tensor, which is subtracted or
/// added.
static std::optional<Update> matchProduct(Value product, bool isSubtracted) {
  auto mul = dyn_cast_or_null<arith::MulFOp>(getComputation(product));
  if (!mul)
    return {};
  for (auto [a, b] : {std::pair(mul.getLhs(), mul.getRhs()),
                      std::pair(mul.getRhs(), mul.getLhs())}) {
    Value gradient = resolve(b);
    std::optional<APFloat> rate = getConstant(a);
    if (rate && isa<RankedTensorType>(gradient.getType()))
      return Update{gradient, isSubtracted ? *rate : -*rate};
  }
  return {};
}

std::optional<Update> veeline::pipe::matchUpdate(Value updated, Value param) {
  Operation *op = getComputation(updated);
  if (auto sub = dyn_cast_or_null<arith::SubFOp>(op))
    return resolve(sub.getLhs()) == param ? matchProduct(sub.getRhs(), true)
                                          : std::nullopt;
  auto add = dyn_cast_or_null<arith::AddFOp>(op);
  if (!add)
    return {};
  if (resolve(add.getLhs()) == param)
    return matchProduct(add.getRhs(), false);
  return resolve(add.getRhs()) == param ? matchProduct(add.getLhs(), false)
                                        : std::nullopt;
}
