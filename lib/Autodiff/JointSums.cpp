//===- JointSums.cpp - sums of several chunks' contributions --------------===//
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

/// The addends of a structured op that reads two tensors and overwrites a
/// third.
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

/// The addends of `value` if it is to be split. The root of a sum may have any
/// number of uses.
static Addends getPartsOf(Value value, bool isRoot,
                          function_ref<bool(Value)> isWhole) {
  if (isWhole(value) || !(isRoot || value.hasOneUse()))
    return {};
  return getAddends(value.getDefiningOp());
}

/// Walks the sum `root`, its first addends first. Calls `onTerm` with each
/// term. Calls `onSum` with each sum that is split, after its terms, and with
/// the number of terms that were visited before it. Sums can be as deep as a
/// model has ops, so this does not recurse.
static void walkSum(Value root, function_ref<bool(Value)> isWhole,
                    function_ref<size_t()> countTerms,
                    function_ref<void(Value)> onTerm,
                    function_ref<void(Value, size_t)> onSum) {
  struct Visit {
    Value value;
    std::optional<size_t> firstTerm;
  };
  SmallVector<Visit> stack{{root, {}}};
  while (!stack.empty()) {
    Visit visit = stack.pop_back_val();
    if (visit.firstTerm) {
      onSum(visit.value, *visit.firstTerm);
      continue;
    }
    Addends parts = getPartsOf(visit.value, visit.value == root, isWhole);
    if (!parts) {
      onTerm(visit.value);
      continue;
    }
    stack.push_back({visit.value, countTerms()});
    stack.push_back({parts->second, {}});
    stack.push_back({parts->first, {}});
  }
}

SmallVector<Value>
veeline::autodiff::getTerms(Value value, function_ref<bool(Value)> isWhole) {
  SmallVector<Value> terms;
  walkSum(
      value, isWhole, [] { return size_t(0); },
      [&](Value term) { terms.push_back(term); }, [](Value, size_t) {});
  return terms;
}

SmallVector<Term>
veeline::autodiff::getTermsByChunk(Value value,
                                   function_ref<bool(Value)> isWhole,
                                   function_ref<unsigned(Value)> getChunk) {
  SmallVector<Term> terms;
  walkSum(
      value, isWhole, [&] { return terms.size(); },
      [&](Value term) {
        terms.push_back({term, getChunk(term)});
      },
      [&](Value sum, size_t first) {
        // An addend with terms of several chunks has several entries.
        if (terms.size() - first != 2 ||
            terms[first].chunk != terms[first + 1].chunk)
          return;
        terms[first].value = sum;
        terms.pop_back();
      });
  return terms;
}

DenseSet<Value>
veeline::autodiff::findSumsOfChunks(Block &block,
                                    function_ref<bool(Value)> isWhole,
                                    function_ref<unsigned(Value)> getChunk) {
  DenseSet<Value> sums;
  llvm::DenseMap<Value, std::pair<unsigned, unsigned>> ranges;
  auto getRange = [&](Value addend) -> std::pair<unsigned, unsigned> {
    auto range = ranges.find(addend);
    if (range != ranges.end() && addend.hasOneUse())
      return range->second;
    unsigned chunk = getChunk(addend);
    return {chunk, chunk};
  };
  for (Operation &op : block.without_terminator()) {
    Addends addends = getAddends(&op);
    if (!addends || isWhole(op.getResult(0)))
      continue;
    auto [first, last] = getRange(addends->first);
    auto [otherFirst, otherLast] = getRange(addends->second);
    first = std::min(first, otherFirst);
    last = std::max(last, otherLast);
    ranges[op.getResult(0)] = {first, last};
    if (first != last)
      sums.insert(op.getResult(0));
  }
  return sums;
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
