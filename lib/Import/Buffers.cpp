//===- Buffers.cpp - arguments with one value for all samples -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"

#include "Elementwise.h"
#include "Rotations.h"
#include "Uses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace veeline;

namespace {
/// Finds the tables from which integers select elements, also if other integers
/// are computed from them first.
class LookupFinder {
public:
  /// Adds the reads whose indices depend on `value`.
  void follow(Value value);
  /// The tables, each with its extent in the dimension of the index.
  SmallVector<std::pair<Value, int64_t>> tables;
  /// Whether the integers are used for nothing else.
  bool onlyLookups = true;

private:
  void visit(OpOperand &use);
  llvm::DenseSet<Value> seen;
};
} // namespace

void LookupFinder::follow(Value value) {
  if (seen.insert(value).second)
    for (OpOperand &use : value.getUses())
      visit(use);
}

static bool isOfNumbers(Operation *op) {
  return isa<arith::ArithDialect>(op->getDialect()) &&
         op->getNumResults() == 1 &&
         getElementTypeOrSelf(op->getResult(0).getType()).isIntOrIndex();
}

void LookupFinder::visit(OpOperand &use) {
  Operation *op = use.getOwner();
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    // The integers are elements of this table: follow these. An index into an
    // extent of 1 selects nothing.
    if (use.getOperandNumber() == 0)
      return follow(extract.getResult());
    int64_t extent =
        extract.getTensor().getType().getDimSize(use.getOperandNumber() - 1);
    if (extent != 1)
      tables.emplace_back(extract.getTensor(), extent);
  } else if (structured && structured.getNumReductionLoops() == 0 &&
             structured.isDpsInput(&use)) {
    follow(structured.getMatchingBlockArgument(&use));
  } else if (isa<linalg::YieldOp>(op)) {
    follow(op->getParentOp()->getResult(use.getOperandNumber()));
  } else if (isOfNumbers(op) || (isView(op) && use.getOperandNumber() == 0)) {
    follow(op->getResult(0));
  } else {
    onlyLookups = false;
  }
}

static int64_t countDimensions(RankedTensorType type) {
  return llvm::count_if(type.getShape(),
                        [](int64_t extent) { return extent > 1; });
}

/// Whether the argument only selects positions: rows of tables with `count`
/// rows, or of tables of rotations.
static bool choosesPositions(BlockArgument argument, int64_t count) {
  LookupFinder finder;
  finder.follow(argument);
  return finder.onlyLookups && !finder.tables.empty() &&
         llvm::all_of(finder.tables, [&](std::pair<Value, int64_t> table) {
           auto origin = dyn_cast<BlockArgument>(findOrigin(table.first));
           return table.second == count || (origin && isRotation(origin));
         });
}

bool veeline::isOfPositions(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || !type.hasStaticShape() || type.getRank() < 2 ||
      type.getDimSize(0) != 1 || type.getNumElements() < 2)
    return false;
  Uses uses = findUses(argument);
  if (uses.frequency)
    return true;
  if (isa<FloatType>(type.getElementType()))
    return uses.isScaleOnly() && countDimensions(type) > 1;
  return choosesPositions(argument, type.getNumElements());
}

/// Whether a softmax of `sum` is computed, as one op or as the exponential of
/// the difference to something, such as the maximum.
static bool reachesSoftmax(Value sum, bool isShifted = false, int depth = 6) {
  return depth > 0 && llvm::any_of(findArithmetic(sum), [&](OpOperand *use) {
           Operation *op = use->getOwner();
           if (isa<linalg::SoftmaxOp>(op) ||
               (isShifted && isa<math::ExpOp, math::Exp2Op>(op)))
             return true;
           bool isMinuend =
               isa<arith::SubFOp>(op) && use->getOperandNumber() == 0;
           return (isMinuend || isa<arith::AddFOp, arith::MulFOp>(op)) &&
                  reachesSoftmax(op->getResult(0), isShifted || isMinuend,
                                 depth - 1);
         });
}

/// Whether an argument is a mask that hides positions from each other. Such a
/// mask has two dimensions and is only added. It is broadcast over samples and
/// heads, or added to scores before a softmax. A tensor with a number for each
/// head is a parameter instead.
static bool isAddedMask(BlockArgument argument, RankedTensorType type,
                        const Uses &uses) {
  if (!uses.added || uses.weight || uses.multiplied || uses.start ||
      countDimensions(type) != 2)
    return false;
  ArrayRef<int64_t> shape = type.getShape();
  return (shape.size() > 3 && shape[0] == 1 && shape[1] == 1) ||
         llvm::all_of(findArithmetic(argument), [](OpOperand *use) {
           return isa<arith::AddFOp>(use->getOwner()) &&
                  reachesSoftmax(use->getOwner()->getResult(0));
         });
}

bool veeline::isSameForAll(BlockArgument argument, int64_t batch) {
  auto type = cast<RankedTensorType>(argument.getType());
  if (countDimensions(type) < 2)
    return false;
  if (isRotation(argument))
    return true;
  if (type.getDimSize(0) == batch)
    return false;
  Uses uses = findUses(argument);
  bool isOneRow = type.getDimSize(0) == 1 && type.getRank() > 2;
  return (isOneRow && uses.isScaleOnly()) || isAddedMask(argument, type, uses);
}
