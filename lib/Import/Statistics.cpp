//===- Statistics.cpp - running statistics of batch norms -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Statistics.h"

#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace veeline;

static bool isUnderRoot(Value value, int depth) {
  return depth > 0 && llvm::any_of(findArithmetic(value), [&](OpOperand *use) {
           Operation *op = use->getOwner();
           return (isRoot(op) && use->getOperandNumber() == 0) ||
                  (isa<arith::AddFOp, arith::MaximumFOp>(op) &&
                   isUnderRoot(op->getResult(0), depth - 1));
         });
}

bool veeline::isUnderRoot(Value value) { return ::isUnderRoot(value, 8); }

/// Whether `value` is computed elementwise from arguments of the model and
/// constants only, and from at least one argument.
static bool isOfArguments(Value value) {
  SmallVector<Value> open = {value};
  llvm::DenseSet<Value> seen;
  bool found = false;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    SmallVector<Value> sources = getSources(next);
    auto argument = dyn_cast<BlockArgument>(next);
    bool isArgument =
        argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
    if (sources.empty() && !isArgument && !matchPattern(next, m_Constant()) &&
        !next.getDefiningOp<linalg::FillOp>())
      return false;
    found |= isArgument;
    llvm::append_range(open, sources);
  }
  return found;
}

/// Whether `value` is computed elementwise from the root of a running variance,
/// that is, of arguments.
static bool isOfRunningVariance(Value value) {
  SmallVector<Value> open = {value};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (op && isRoot(op))
      return isOfArguments(op->getOperand(0));
    llvm::append_range(open, getSources(next));
  }
  return false;
}

/// Whether `use` is multiplied with, or divided by, the root of a running
/// variance.
static bool isScaled(OpOperand *use) {
  Operation *op = use->getOwner();
  bool isDividend = isa<arith::DivFOp>(op) && use->getOperandNumber() == 0;
  return (isa<arith::MulFOp>(op) || isDividend) &&
         isOfRunningVariance(op->getOperand(1 - use->getOperandNumber()));
}

/// Whether `difference` is scaled by the root of a running variance, perhaps
/// after other products.
static bool isNormalized(Value difference, int depth = 3) {
  return depth > 0 &&
         llvm::any_of(findArithmetic(difference), [&](OpOperand *use) {
           return isScaled(use) ||
                  (isa<arith::MulFOp>(use->getOwner()) &&
                   isNormalized(use->getOwner()->getResult(0), depth - 1));
         });
}

static bool isSubtracted(OpOperand *use) {
  Operation *op = use->getOwner();
  return isa<arith::NegFOp>(op) ||
         (isa<arith::SubFOp>(op) && use->getOperandNumber() == 1);
}

bool veeline::isRunningMean(Value value) {
  SmallVector<OpOperand *> uses = findArithmetic(value);
  return !uses.empty() && llvm::all_of(uses, [](OpOperand *use) {
    if (isa<arith::SubFOp>(use->getOwner()) && isSubtracted(use))
      return isNormalized(use->getOwner()->getResult(0));
    if (!isScaled(use))
      return false;
    SmallVector<OpOperand *> next =
        findArithmetic(use->getOwner()->getResult(0));
    return !next.empty() && llvm::all_of(next, isSubtracted);
  });
}

bool veeline::isScaleOfStatistics(Value value) {
  return llvm::any_of(findArithmetic(value), isScaled);
}

/// Whether `value` is multiplied with arguments, perhaps after other products.
static bool isScaledByArgument(Value value, int depth = 3) {
  return depth > 0 && llvm::any_of(findArithmetic(value), [&](OpOperand *use) {
           Operation *op = use->getOwner();
           return isa<arith::MulFOp>(op) &&
                  (isOfArguments(op->getOperand(1 - use->getOperandNumber())) ||
                   isScaledByArgument(op->getResult(0), depth - 1));
         });
}

bool veeline::isNumerator(Value value) {
  SmallVector<OpOperand *> uses = findArithmetic(value);
  return !uses.empty() && llvm::all_of(uses, [](OpOperand *use) {
    return isa<arith::DivFOp>(use->getOwner()) && isScaled(use) &&
           isScaledByArgument(use->getOwner()->getResult(0));
  });
}

bool veeline::isShiftOfStatistics(Value value) {
  return llvm::any_of(findArithmetic(value), [](OpOperand *use) {
    Operation *op = use->getOwner();
    return isa<arith::AddFOp, arith::SubFOp>(op) &&
           isOfArguments(op->getOperand(1 - use->getOperandNumber())) &&
           isOfRunningVariance(op->getOperand(1 - use->getOperandNumber()));
  });
}
