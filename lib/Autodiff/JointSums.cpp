//===- JointSums.cpp - sums that several chunks add to --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "veeline/Analysis/TensorEmit.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

using Addends = std::optional<std::pair<Value, Value>>;

/// Of a structured op that reads two tensors and overwrites a third.
static Addends getStructuredAddends(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  Block &body = *op.getBlock();
  auto add = dyn_cast_or_null<arith::AddFOp>(
      body.getTerminator()->getOperand(0).getDefiningOp());
  if (!add || add.getLhs() == add.getRhs() || !add->getBlock())
    return {};
  Value first = body.getArgument(0), second = body.getArgument(1);
  Value a = op.getDpsInputs()[0], b = op.getDpsInputs()[1];
  if (add.getLhs() == first && add.getRhs() == second)
    return {{a, b}};
  if (add.getLhs() == second && add.getRhs() == first)
    return {{b, a}};
  return {};
}

Addends veeline::autodiff::getAddends(Operation *op) {
  Addends addends;
  if (auto add = dyn_cast_or_null<arith::AddFOp>(op))
    addends = {{add.getLhs(), add.getRhs()}};
  else if (auto structured = dyn_cast_or_null<linalg::LinalgOp>(op))
    addends = getStructuredAddends(structured);
  if (!addends || !isa<RankedTensorType>(op->getResult(0).getType()) ||
      addends->first.getType() != addends->second.getType() ||
      addends->first.getType() != op->getResult(0).getType())
    return {};
  return addends;
}

/// The addends of `value` where it is to be taken apart; its root may have any
/// number of uses.
static Addends getPartsOf(Value value, bool isRoot,
                          function_ref<bool(Value)> isWhole) {
  if (isWhole(value) || !(isRoot || value.hasOneUse()))
    return {};
  return getAddends(value.getDefiningOp());
}

static void collectTerms(Value value, bool isRoot,
                         function_ref<bool(Value)> isWhole,
                         SmallVectorImpl<Value> &terms) {
  Addends parts = getPartsOf(value, isRoot, isWhole);
  if (!parts) {
    terms.push_back(value);
    return;
  }
  collectTerms(parts->first, /*isRoot=*/false, isWhole, terms);
  collectTerms(parts->second, /*isRoot=*/false, isWhole, terms);
}

SmallVector<Value>
veeline::autodiff::getTerms(Value value, function_ref<bool(Value)> isWhole) {
  SmallVector<Value> terms;
  collectTerms(value, /*isRoot=*/true, isWhole, terms);
  return terms;
}

static SmallVector<Term>
collectByChunk(Value value, bool isRoot, function_ref<bool(Value)> isWhole,
               function_ref<unsigned(Value)> getChunk) {
  Addends parts = getPartsOf(value, isRoot, isWhole);
  if (!parts)
    return {{value, getChunk(value)}};
  SmallVector<Term> terms =
      collectByChunk(parts->first, /*isRoot=*/false, isWhole, getChunk);
  llvm::append_range(terms, collectByChunk(parts->second, /*isRoot=*/false,
                                           isWhole, getChunk));
  if (llvm::all_of(terms, [&](const Term &term) {
        return term.chunk == terms.front().chunk;
      }))
    return {{value, terms.front().chunk}};
  return terms;
}

SmallVector<Term>
veeline::autodiff::getTermsByChunk(Value value,
                                   function_ref<bool(Value)> isWhole,
                                   function_ref<unsigned(Value)> getChunk) {
  return collectByChunk(value, /*isRoot=*/true, isWhole, getChunk);
}

llvm::MapVector<unsigned, Value>
veeline::autodiff::addUpByChunk(ArrayRef<Term> terms) {
  llvm::MapVector<unsigned, Value> sums;
  Value first = terms.front().value;
  OpBuilder builder(first.getParentBlock()->getTerminator());
  for (const Term &term : terms) {
    Value &sum = sums[term.chunk];
    sum = sum ? createSum(builder, term.value.getLoc(), sum, term.value)
              : term.value;
  }
  return sums;
}
