//===- EpilogueFunctions.cpp - recognising epilogues of products ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueFunctions.h"

#include "Kernels/ScalarFunction.h"

using namespace mlir;
using namespace veeline;

/// sqrt(2 / pi), and the coefficient of the cube in the argument of tanh.
static constexpr double factor = 0.79788456080286536, cube = 0.044715;

static double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(factor * (x + cube * x * x * x)));
}

static double geluDerivative(double x) {
  double t = std::tanh(factor * (x + cube * x * x * x));
  return 0.5 * (1 + t) +
         0.5 * x * (1 - t * t) * factor * (1 + 3 * cube * x * x);
}

/// The tolerance is larger for small floats, whose constants are rounded.
static double getTolerance(linalg::GenericOp op) {
  Type type = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  return type.getIntOrFloatBitWidth() < 32 ? 0x1p-7 : 1e-6;
}

/// Calls `visit` with values of all inputs; `main` gets many values. Returns
/// true if `visit` always returns true.
static bool
forAllPoints(linalg::GenericOp op, unsigned main,
             llvm::function_ref<bool(MutableArrayRef<double>)> visit) {
  SmallVector<double> inputs(op.getNumDpsInputs());
  for (int step = 0; step <= 32; ++step)
    for (double y : {-0.75, 0.0, 0.5}) {
      double x = -6 + 0.37 * step;
      for (auto [i, input] : llvm::enumerate(inputs))
        input = i == main ? x : y * (1 + 0.5 * static_cast<double>(i));
      if (!visit(inputs))
        return false;
    }
  return true;
}

/// Whether the op computes `expected` from its inputs.
static bool isFunction(linalg::GenericOp op, unsigned main, double tolerance,
                       llvm::function_ref<double(ArrayRef<double>)> expected) {
  ScalarFunction function(*op.getBlock());
  return forAllPoints(op, main, [&](ArrayRef<double> inputs) {
    std::optional<double> value = function.evaluate(inputs);
    return value && std::abs(*value - expected(inputs)) < tolerance;
  });
}

bool veeline::hasTanh(linalg::GenericOp op) {
  return ScalarFunction(*op.getBlock()).hasTanh();
}

static double getSum(ArrayRef<double> values, unsigned input,
                     std::optional<unsigned> bias) {
  return values[input] + (bias ? values[*bias] : 0);
}

bool veeline::isBiasSum(linalg::GenericOp op, EpilogueInputs inputs) {
  return inputs.bias && op.getNumDpsInputs() == 2 &&
         isFunction(op, inputs.product, 1e-12, [&](ArrayRef<double> values) {
           return getSum(values, inputs.product, inputs.bias);
         });
}

bool veeline::isGelu(linalg::GenericOp op, EpilogueInputs inputs) {
  return hasTanh(op) && op.getNumDpsInputs() == 1 + inputs.bias.has_value() &&
         isFunction(op, inputs.product, getTolerance(op),
                    [&](ArrayRef<double> values) {
                      return gelu(getSum(values, inputs.product, inputs.bias));
                    });
}

bool veeline::isGeluDerivative(linalg::GenericOp op, EpilogueInputs inputs) {
  return hasTanh(op) && op.getNumDpsInputs() == 2 + inputs.bias.has_value() &&
         isFunction(op, *inputs.aux, getTolerance(op),
                    [&](ArrayRef<double> values) {
                      double x = getSum(values, *inputs.aux, inputs.bias);
                      return values[inputs.product] * geluDerivative(x);
                    });
}

/// Adds the sums that read `value`, converted or not. Returns false if
/// something else reads it.
static bool addSums(Value value, SmallVectorImpl<arith::AddFOp> &sums) {
  for (Operation *user : value.getUsers())
    if (isa<arith::ExtFOp, arith::TruncFOp>(user)) {
      if (!addSums(user->getResult(0), sums))
        return false;
    } else if (auto sum = dyn_cast<arith::AddFOp>(user)) {
      sums.push_back(sum);
    } else {
      return false;
    }
  return true;
}

SmallVector<arith::AddFOp> veeline::findBiasSums(linalg::GenericOp op,
                                                 EpilogueInputs inputs) {
  Block &body = *op.getBlock();
  SmallVector<arith::AddFOp> sums, ofBias;
  if (!addSums(body.getArgument(inputs.product), sums) ||
      !addSums(body.getArgument(*inputs.bias), ofBias))
    return {};
  auto isOf = [](ArrayRef<arith::AddFOp> ops) {
    return [=](arith::AddFOp sum) { return llvm::is_contained(ops, sum); };
  };
  if (!llvm::all_of(sums, isOf(ofBias)) || !llvm::all_of(ofBias, isOf(sums)))
    return {};
  return sums;
}
