//===- NanExtrema.cpp - maxima that hand NaN on ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NanExtrema.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using arith::CmpFPredicate;

namespace {
/// The larger (or smaller) of two numbers. Of a number and a NaN it is
/// `ofUnordered`, whichever of the two that is.
struct Extremum {
  Value first, second, ofUnordered;
  bool isMaximum;

  bool isOf(Value value) const { return value == first || value == second; }
};
} // namespace

static bool isGreater(CmpFPredicate predicate) {
  return llvm::is_contained({CmpFPredicate::OGT, CmpFPredicate::OGE,
                             CmpFPredicate::UGT, CmpFPredicate::UGE},
                            predicate);
}

static bool isLess(CmpFPredicate predicate) {
  return llvm::is_contained({CmpFPredicate::OLT, CmpFPredicate::OLE,
                             CmpFPredicate::ULT, CmpFPredicate::ULE},
                            predicate);
}

/// What `compare ? yes : no` is.
static std::optional<Extremum> matchExtremum(arith::CmpFOp compare, Value yes,
                                             Value no) {
  CmpFPredicate predicate = compare.getPredicate();
  bool isSwapped = yes == compare.getRhs() && no == compare.getLhs();
  if ((!isGreater(predicate) && !isLess(predicate)) ||
      (!isSwapped && (yes != compare.getLhs() || no != compare.getRhs())))
    return std::nullopt;
  bool isUnordered =
      llvm::is_contained({CmpFPredicate::UGT, CmpFPredicate::UGE,
                          CmpFPredicate::ULT, CmpFPredicate::ULE},
                         predicate);
  return Extremum{yes, no, isUnordered ? yes : no,
                  isGreater(predicate) != isSwapped};
}

static std::optional<Extremum> matchExtremum(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>()
                        : arith::CmpFOp();
  if (!compare)
    return std::nullopt;
  return matchExtremum(compare, select.getTrueValue(), select.getFalseValue());
}

/// True where `compare` asks whether one of its operands is NaN; `isNot` is set
/// where it asks whether none is.
static bool asksForNan(arith::CmpFOp compare, bool &isNot) {
  bool isOne = compare.getLhs() == compare.getRhs();
  CmpFPredicate predicate = compare.getPredicate();
  isNot = predicate == CmpFPredicate::ORD ||
          (isOne && predicate == CmpFPredicate::OEQ);
  return isNot || predicate == CmpFPredicate::UNO ||
         (isOne && predicate == CmpFPredicate::UNE);
}

static bool isNan(Value value) {
  APFloat number(0.0);
  return matchPattern(value, m_ConstantFloat(&number)) && number.isNaN();
}

/// `asks for NaN ? NaN : extremum`.
static std::optional<Extremum> matchAround(arith::SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  bool isNot = false;
  if (!compare || !asksForNan(compare, isNot))
    return std::nullopt;
  Value ofNan = isNot ? select.getFalseValue() : select.getTrueValue();
  auto extremum =
      matchExtremum(isNot ? select.getTrueValue() : select.getFalseValue());
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  if (!extremum || !extremum->isOf(lhs) || !extremum->isOf(rhs))
    return std::nullopt;
  if (lhs != rhs)
    return isNan(ofNan) ? extremum : std::nullopt;
  // It asks for one of them: the other one has to be handed on by itself.
  bool handsOn = extremum->ofUnordered != lhs;
  return handsOn && (ofNan == lhs || isNan(ofNan)) ? extremum : std::nullopt;
}

/// `a > b or a is NaN ? a : b`.
static std::optional<Extremum> matchWithin(arith::SelectOp select) {
  auto either = select.getCondition().getDefiningOp<arith::OrIOp>();
  if (!either)
    return std::nullopt;
  for (auto [one, other] : {std::pair(either.getLhs(), either.getRhs()),
                            std::pair(either.getRhs(), either.getLhs())}) {
    auto compare = one.getDefiningOp<arith::CmpFOp>();
    auto ask = other.getDefiningOp<arith::CmpFOp>();
    bool isNot = false;
    if (!compare || !ask || !asksForNan(ask, isNot) || isNot ||
        ask.getLhs() != ask.getRhs() || ask.getLhs() != select.getTrueValue())
      continue;
    auto extremum =
        matchExtremum(compare, select.getTrueValue(), select.getFalseValue());
    if (extremum && extremum->ofUnordered == select.getFalseValue())
      return extremum;
  }
  return std::nullopt;
}

void veeline::autodiff::recognizeNanExtrema(func::FuncOp func) {
  SmallVector<arith::SelectOp> selects;
  func.walk([&](linalg::GenericOp op) {
    if (!op.getNumReductionLoops())
      return;
    for (Value result : op.getBlock()->getTerminator()->getOperands())
      if (auto select = result.getDefiningOp<arith::SelectOp>())
        if (select->getBlock() == op.getBlock() &&
            isa<FloatType>(select.getType()))
          selects.push_back(select);
  });
  for (arith::SelectOp select : selects) {
    auto extremum = matchAround(select);
    if (!extremum)
      extremum = matchWithin(select);
    if (!extremum)
      continue;
    OpBuilder builder(select);
    Location loc = select.getLoc();
    Value first = extremum->first, second = extremum->second;
    Value found =
        extremum->isMaximum
            ? arith::MaximumFOp::create(builder, loc, first, second).getResult()
            : arith::MinimumFOp::create(builder, loc, first, second)
                  .getResult();
    select.replaceAllUsesWith(found);
    select.erase();
  }
}
