//===- Statistics.cpp - running statistics of batch norms -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Statistics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline;

bool veeline::isView(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp,
             tensor::CastOp, tensor::ExtractSliceOp, tensor::PadOp,
             arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(
      op);
}

/// The uses of a value by ops that compute with it, in bodies of elementwise
/// ops too, through what only hands it on.
static void findArithmetic(Value value, SmallVectorImpl<OpOperand *> &found) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (isView(op) && use.getOperandNumber() == 0)
      findArithmetic(op->getResult(0), found);
    else if (structured && structured.getNumReductionLoops() == 0 &&
             structured.isDpsInput(&use))
      findArithmetic(structured.getMatchingBlockArgument(&use), found);
    else if (isa<linalg::YieldOp>(op))
      findArithmetic(op->getParentOp()->getResult(use.getOperandNumber()),
                     found);
    else
      found.push_back(&use);
  }
}

static SmallVector<OpOperand *> findArithmetic(Value value) {
  SmallVector<OpOperand *> found;
  findArithmetic(value, found);
  return found;
}

static bool isRoot(Operation *op);

/// What an elementwise computation makes `value` of, one step back; none for
/// an argument of the model, a constant, and what sums up or moves elements.
static SmallVector<Value> getSources(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
    return op ? SmallVector<Value>{op.getMatchingOpOperand(argument)->get()}
              : SmallVector<Value>{};
  }
  Operation *op = value.getDefiningOp();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return structured.getNumReductionLoops() == 0
               ? SmallVector<Value>{structured.getBlock()
                                        ->getTerminator()
                                        ->getOperand(number)}
               : SmallVector<Value>{};
  }
  if (isView(op) || isRoot(op))
    return {op->getOperand(0)};
  if (isa<arith::AddFOp, arith::MulFOp, arith::DivFOp, arith::MaximumFOp>(op))
    return op->getOperands();
  return {};
}

/// What a constant is, or an argument of the model that was one; null: it is
/// neither.
static Attribute getConstant(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  auto argument = dyn_cast<BlockArgument>(value);
  if (auto model =
          argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                   : func::FuncOp())
    return model.getArgAttr(argument.getArgNumber(),
                            pipe::PipeDialect::constantAttrName);
  return {};
}

/// The number that `value` is everywhere, as what it was broadcast from; none
/// where it is something else.
static std::optional<double> findNumber(Value value) {
  while (!getConstant(value)) {
    Operation *op = value.getDefiningOp();
    auto fill = dyn_cast_or_null<linalg::FillOp>(op);
    bool isHandedOn = !op || isView(op) || isa<linalg::LinalgOp>(op);
    SmallVector<Value> sources =
        fill ? SmallVector<Value>{fill.getInputs()[0]} : getSources(value);
    if (!isHandedOn || sources.size() != 1)
      return std::nullopt;
    value = sources.front();
  }
  Attribute constant = getConstant(value);
  auto dense = dyn_cast<DenseFPElementsAttr>(constant);
  if (dense && dense.isSplat())
    constant = dense.getSplatValue<FloatAttr>();
  auto number = dyn_cast<FloatAttr>(constant);
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

static bool isRoot(Operation *op) {
  if (isa<math::PowFOp>(op))
    if (std::optional<double> exponent = findNumber(op->getOperand(1)))
      return std::abs(*exponent) == 0.5;
  return isa<math::RsqrtOp, math::SqrtOp>(op);
}

static bool isUnderRoot(Value value, int depth) {
  return depth > 0 && llvm::any_of(findArithmetic(value), [&](OpOperand *use) {
           Operation *op = use->getOwner();
           return (isRoot(op) && use->getOperandNumber() == 0) ||
                  (isa<arith::AddFOp, arith::MaximumFOp>(op) &&
                   isUnderRoot(op->getResult(0), depth - 1));
         });
}

bool veeline::isUnderRoot(Value value) { return ::isUnderRoot(value, 8); }

/// Whether every way back from `value` ends at a number or at an argument of
/// the model, and some at one.
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

/// Whether it is made, elementwise, of a root of arguments.
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

/// Whether `use` multiplies with, or divides by, such a root.
static bool isScaled(OpOperand *use) {
  Operation *op = use->getOwner();
  bool isDividend = isa<arith::DivFOp>(op) && use->getOperandNumber() == 0;
  return (isa<arith::MulFOp>(op) || isDividend) &&
         isOfRunningVariance(op->getOperand(1 - use->getOperandNumber()));
}

/// Whether the difference is scaled, perhaps after it is by something else.
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

/// Whether it is multiplied, perhaps after it is with something else, with an
/// argument.
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
