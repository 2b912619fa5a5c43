//===- Update.cpp - the update of a parameter in a graph ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Joint/Update.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

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

/// A structured op that computes each element of its result from the same
/// elements of its operands, or null.
static linalg::LinalgOp getElementwise(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  bool isElementwise =
      op && op->getNumResults() == 1 && op.getNumReductionLoops() == 0 &&
      op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
  return isElementwise ? op : linalg::LinalgOp();
}

/// An element of a tensor: the scalar that a body computes, the operand that it
/// reads in its place, or the tensor itself.
static Value resolve(Value element) {
  if (auto argument = dyn_cast<BlockArgument>(element)) {
    auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
    if (!op || argument.getOwner() != op.getBlock())
      return element;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    AffineMap map = op.getMatchingIndexingMap(operand);
    // What is the same everywhere may be read anywhere.
    SplatElementsAttr splat;
    bool isSplat = matchPattern(operand->get(), m_Constant(&splat)) ||
                   operand->get().getDefiningOp<linalg::FillOp>() ||
                   map.getNumResults() == 0;
    return map.isIdentity() || isSplat ? operand->get() : element;
  }
  return element;
}

/// What computes the element, once structured ops are looked into.
static Operation *getComputation(Value element) {
  element = resolve(element);
  if (linalg::LinalgOp op = getElementwise(element)) {
    Value scalar = op.getBlock()->getTerminator()->getOperand(0);
    return scalar.getDefiningOp();
  }
  return element.getDefiningOp();
}

static std::optional<APFloat> getConstant(Value element) {
  element = resolve(element);
  if (auto fill = element.getDefiningOp<linalg::FillOp>())
    element = fill.getInputs().front();
  if (linalg::LinalgOp op = getElementwise(element)) {
    Value scalar = op.getBlock()->getTerminator()->getOperand(0);
    // A constant that is broadcast.
    if (scalar != element &&
        (isa<BlockArgument>(scalar) || matchPattern(scalar, m_Constant())))
      return getConstant(scalar);
  }
  FloatAttr number;
  SplatElementsAttr splat;
  if (matchPattern(element, m_Constant(&number)))
    return number.getValue();
  if (matchPattern(element, m_Constant(&splat)) &&
      isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<APFloat>();
  return {};
}

/// The update if `product` is a constant times a tensor, to be subtracted or
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
