//===- Elements.cpp - elements of tensors as expressions ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Joint/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;
using llvm::APFloat;

linalg::LinalgOp pipe::getElementwise(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  bool isElementwise =
      op && op->getNumResults() == 1 && op.getNumReductionLoops() == 0 &&
      op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
  return isElementwise ? op : linalg::LinalgOp();
}

Value pipe::resolve(Value element) {
  if (auto argument = dyn_cast<BlockArgument>(element)) {
    auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
    if (!op || argument.getOwner() != op.getBlock())
      return element;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    AffineMap map = op.getMatchingIndexingMap(operand);
    // If all elements are equal, any of them can be read.
    SplatElementsAttr splat;
    bool isSplat = matchPattern(operand->get(), m_Constant(&splat)) ||
                   operand->get().getDefiningOp<linalg::FillOp>() ||
                   map.getNumResults() == 0;
    return map.isIdentity() || isSplat ? operand->get() : element;
  }
  return element;
}

Operation *pipe::getComputation(Value element) {
  element = resolve(element);
  if (linalg::LinalgOp op = getElementwise(element)) {
    Value scalar = op.getBlock()->getTerminator()->getOperand(0);
    return scalar.getDefiningOp();
  }
  return element.getDefiningOp();
}

std::optional<APFloat> pipe::getConstant(Value element) {
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

//===----------------------------------------------------------------------===//
// ElementEvaluator
//===----------------------------------------------------------------------===//

/// What an op of up to three numbers gives; none of others. Booleans are 0 and
/// 1.
static std::optional<double> compute(Operation *op, ArrayRef<double> of) {
  using Number = std::optional<double>;
  return TypeSwitch<Operation *, Number>(op)
      .Case([&](arith::AddFOp) { return of[0] + of[1]; })
      .Case([&](arith::SubFOp) { return of[0] - of[1]; })
      .Case([&](arith::MulFOp) { return of[0] * of[1]; })
      .Case([&](arith::DivFOp) { return of[0] / of[1]; })
      .Case([&](arith::AddIOp) { return of[0] + of[1]; })
      .Case([&](arith::NegFOp) { return -of[0]; })
      .Case([&](arith::CmpFOp op) {
        return double(arith::applyCmpPredicate(op.getPredicate(),
                                               APFloat(of[0]), APFloat(of[1])));
      })
      .Case([&](arith::SelectOp) { return of[0] != 0 ? of[1] : of[2]; })
      .Case([&](math::CopySignOp) { return std::copysign(of[0], of[1]); })
      .Case([&](math::SqrtOp) { return std::sqrt(of[0]); })
      .Case([&](math::RsqrtOp) { return 1 / std::sqrt(of[0]); })
      .Case([&](math::ExpOp) { return std::exp(of[0]); })
      .Case([&](math::LogOp) { return std::log(of[0]); })
      .Case<math::PowFOp, math::FPowIOp>(
          [&](auto) { return std::pow(of[0], of[1]); })
      // Ignore rounding, which does not distinguish updates.
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp,
            arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, tensor::SplatOp>(
          [&](auto) { return of[0]; })
      // From a tensor with several elements, the op selects one.
      .Case([&](tensor::ExtractOp extract) {
        return extract.getTensor().getType().getRank() == 0 ? Number(of[0])
                                                            : Number();
      })
      .Default([](Operation *) { return Number(); });
}

static std::optional<double> getNumber(Value element) {
  if (std::optional<APFloat> number = getConstant(element)) {
    bool losesInfo;
    number->convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    return number->convertToDouble();
  }
  APInt integer;
  if (matchPattern(element, m_ConstantInt(&integer)))
    return double(integer.getSExtValue());
  return {};
}

std::optional<double> ElementEvaluator::evaluate(Value element) const {
  element = resolve(element);
  if (auto found = numbers.find(element); found != numbers.end())
    return found->second;
  if (std::optional<double> number = getNumber(element))
    return number;
  if (auto fill = element.getDefiningOp<linalg::FillOp>())
    return evaluate(fill.getInputs().front());
  if (linalg::LinalgOp op = getElementwise(element))
    return evaluate(op.getBlock()->getTerminator()->getOperand(0));
  Operation *op = element.getDefiningOp();
  if (!op || op->getNumOperands() == 0)
    return {};
  SmallVector<double> of;
  for (Value operand : op->getOperands()) {
    std::optional<double> number = evaluate(operand);
    if (!number)
      return {};
    of.push_back(*number);
  }
  return compute(op, of);
}
