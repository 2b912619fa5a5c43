//===- ScalarFunction.cpp - evaluating a body of scalars ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarFunction.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace veeline;

/// Evaluates `op` for these values of its operands.
static std::optional<double> evaluateOp(Operation *op,
                                        ArrayRef<double> values) {
  using Result = std::optional<double>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddFOp) { return values[0] + values[1]; })
      .Case([&](arith::SubFOp) { return values[0] - values[1]; })
      .Case([&](arith::MulFOp) { return values[0] * values[1]; })
      .Case([&](arith::DivFOp) { return values[0] / values[1]; })
      .Case([&](arith::NegFOp) { return -values[0]; })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return values[0]; })
      .Case([&](math::TanhOp) { return std::tanh(values[0]); })
      .Case([&](math::ExpOp) { return std::exp(values[0]); })
      .Case([&](math::PowFOp) { return std::pow(values[0], values[1]); })
      .Case([&](math::FmaOp) { return values[0] * values[1] + values[2]; })
      .Default([](Operation *) { return Result(); });
}

static std::optional<double> getConstant(Value value) {
  APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  bool losesInfo = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToDouble();
}

std::optional<double> ScalarFunction::evaluate(ArrayRef<double> inputs) const {
  DenseMap<Value, double> known;
  for (auto [argument, value] : llvm::zip(body.getArguments(), inputs))
    known.try_emplace(argument, value);
  auto find = [&](Value value) -> std::optional<double> {
    auto it = known.find(value);
    return it != known.end() ? std::optional(it->second) : getConstant(value);
  };
  for (Operation &op : body.without_terminator()) {
    if (op.getNumResults() != 1)
      return std::nullopt;
    SmallVector<double> values;
    for (Value operand : op.getOperands()) {
      std::optional<double> value = find(operand);
      if (!value)
        return std::nullopt;
      values.push_back(*value);
    }
    std::optional<double> result = getConstant(op.getResult(0));
    if (!result)
      result = evaluateOp(&op, values);
    if (!result)
      return std::nullopt;
    known.try_emplace(op.getResult(0), *result);
  }
  return find(body.getTerminator()->getOperand(0));
}
