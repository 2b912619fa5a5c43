//===- Rotations.cpp - tables of rotary embeddings ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rotations.h"

#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace veeline;

static Value getOther(OpOperand *use) {
  return use->getOwner()->getOperand(1 - use->getOperandNumber());
}

/// Whether an op concatenates a tensor with itself.
static bool isRepetition(Operation *op) {
  return isa<tensor::ConcatOp>(op) && llvm::all_equal(op->getOperands());
}

/// The value of which `value` is another form, one op back, or null.
static Value getForwarded(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && (isa<tensor::ExtractOp, arith::NegFOp>(op) || isRepetition(op)))
    return op->getOperand(0);
  if (auto product = dyn_cast_or_null<arith::MulFOp>(op)) {
    if (findNumber(product.getRhs()))
      return product.getLhs();
    return findNumber(product.getLhs()) ? product.getRhs() : Value();
  }
  if (op && !isView(op) && !isa<linalg::LinalgOp>(op))
    return {};
  SmallVector<Value> sources = getSources(value);
  return sources.size() == 1 ? sources.front() : Value();
}

Value veeline::findOrigin(Value value) {
  while (Value next = getForwarded(value))
    value = next;
  return value;
}

/// Finds the uses of a table, or of its rows, by ops that compute with it.
static void findFactors(Value table, SmallVectorImpl<OpOperand *> &found) {
  for (OpOperand *use : findArithmetic(table)) {
    Operation *op = use->getOwner();
    bool isRead = isa<tensor::ExtractOp>(op) && use->getOperandNumber() == 0;
    if (isRead || (isRepetition(op) && use->getOperandNumber() == 0) ||
        (isa<arith::MulFOp>(op) && findNumber(getOther(use))))
      findFactors(op->getResult(0), found);
    else if (!isRepetition(op))
      found.push_back(use);
  }
}

/// The values from which the elements of `value` come, moved and perhaps
/// negated.
static llvm::DenseSet<Value> findRoots(Value value) {
  llvm::DenseSet<Value> roots, seen;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (isa_and_present<tensor::ConcatOp>(op))
      llvm::append_range(open, op->getOperands());
    else if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op))
      open.append({insert.getSource(), insert.getDest()});
    else if (Value source = getForwarded(next))
      open.push_back(source);
    else if (!isa_and_present<tensor::EmptyOp>(op))
      roots.insert(next);
  }
  return roots;
}

/// Whether `value`, which is added to a product, is the other part of a
/// rotation: the same elements, moved, times another argument of the same type
/// as `table`.
static bool isOtherPart(Value value, Value rotated, BlockArgument table) {
  auto product = findOrigin(value).getDefiningOp<arith::MulFOp>();
  if (!product)
    return false;
  llvm::DenseSet<Value> roots = findRoots(rotated);
  return llvm::any_of(product->getOpOperands(), [&](OpOperand &factor) {
    auto other = dyn_cast<BlockArgument>(findOrigin(factor.get()));
    return other && other != table && other.getType() == table.getType() &&
           llvm::any_of(findRoots(getOther(&factor)),
                        [&](Value root) { return roots.contains(root); });
  });
}

/// Whether the table is a factor in a rotation, that is, has cosines or sines.
static bool isPart(OpOperand *factor, BlockArgument table) {
  Operation *product = factor->getOwner();
  return isa<arith::MulFOp>(product) &&
         llvm::any_of(
             findArithmetic(product->getResult(0)), [&](OpOperand *use) {
               return isa<arith::AddFOp, arith::SubFOp>(use->getOwner()) &&
                      isOtherPart(getOther(use), getOther(factor), table);
             });
}

bool veeline::isRotation(BlockArgument argument) {
  SmallVector<OpOperand *> factors;
  findFactors(argument, factors);
  return !factors.empty() && llvm::all_of(factors, [&](OpOperand *factor) {
    return isPart(factor, argument);
  });
}
