//===- Extrema.cpp - maxima and minima in reductions ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extrema.h"

#include "Activity.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace veeline::autodiff;

namespace {

/// How the accumulator compares to the other value.
enum class Relation { Less, Equal, Greater, FirstNan, SecondNan, BothNan };

/// The value of an expression under a relation: one of the two values, NaN, or
/// a condition. `First` and `Second` stand for NaN if the relation says so. A
/// condition that the relation does not determine, such as which of two indices
/// is less, is `Unknown`.
enum class Outcome { Unknown, First, Second, Nan, True, False };

/// Evaluates a body for each relation between the accumulator and the other
/// value. Comparisons and selects depend on nothing else of the two.
class ExtremumMatcher {
public:
  explicit ExtremumMatcher(BlockArgument accumulator) : first(accumulator) {}

  std::optional<Extremum> match(Value value);

private:
  bool explore(Value value);
  Outcome evaluate(Value value);
  Outcome evaluateOp(Operation *op);
  Outcome compare(arith::CmpFOp op);
  Outcome select(arith::SelectOp op);
  Outcome chooseExtremum(Operation *op, bool isMaximum, bool ignoresNan);
  Outcome combine(Operation *op);
  Outcome evaluateUnder(Relation assumed, Value value);
  bool isNan(Outcome outcome) const;

  BlockArgument first;
  /// The other value; null until it is found.
  Value second;
  DenseSet<Value> explored;
  Relation relation = Relation::Equal;
  /// The outcomes of values under `relation`.
  DenseMap<Value, Outcome> outcomes;
};

} // namespace

static bool isNanConstant(Value value) {
  APFloat number(0.0);
  return matchPattern(value, m_ConstantFloat(&number)) && number.isNaN();
}

static Outcome fromBool(bool value) {
  return value ? Outcome::True : Outcome::False;
}

/// Whether `value` depends only on the accumulator and one other float, which
/// does not depend on the accumulator. That float becomes `second`.
bool ExtremumMatcher::explore(Value value) {
  if (value == first || isNanConstant(value) || !explored.insert(value).second)
    return true;
  if (isa<FloatType>(value.getType()) && !dependsOn(value, first)) {
    if (second && second != value)
      return false;
    second = value;
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (op && matchPattern(value, m_Constant()))
    return value.getType().isInteger(1);
  if (isa_and_present<arith::CmpIOp>(op))
    return true;
  if (!op || op->getBlock() != first.getOwner() ||
      !isa<arith::CmpFOp, arith::SelectOp, arith::MaximumFOp, arith::MinimumFOp,
           arith::MaxNumFOp, arith::MinNumFOp, arith::AddFOp, arith::AndIOp,
           arith::OrIOp, arith::XOrIOp>(op))
    return false;
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return explore(operand); });
}

bool ExtremumMatcher::isNan(Outcome outcome) const {
  switch (outcome) {
  case Outcome::Nan:
    return true;
  case Outcome::First:
    return relation == Relation::FirstNan || relation == Relation::BothNan;
  case Outcome::Second:
    return relation == Relation::SecondNan || relation == Relation::BothNan;
  default:
    return false;
  }
}

/// How `a` compares to `b`, if neither is NaN.
static Relation relate(Outcome a, Outcome b, Relation relation) {
  if (a == b)
    return Relation::Equal;
  if (a == Outcome::First || relation == Relation::Equal)
    return relation;
  return relation == Relation::Less ? Relation::Greater : Relation::Less;
}

Outcome ExtremumMatcher::compare(arith::CmpFOp op) {
  Outcome lhs = evaluate(op.getLhs()), rhs = evaluate(op.getRhs());
  if (lhs == Outcome::Unknown || rhs == Outcome::Unknown)
    return Outcome::Unknown;
  APFloat one(1.0), two(2.0), nan = APFloat::getNaN(APFloat::IEEEdouble());
  APFloat a = one, b = one;
  if (isNan(lhs) || isNan(rhs)) {
    a = nan;
  } else {
    Relation found = relate(lhs, rhs, relation);
    a = found == Relation::Greater ? two : one;
    b = found == Relation::Less ? two : one;
  }
  return fromBool(arith::applyCmpPredicate(op.getPredicate(), a, b));
}

static bool isEither(Outcome outcome) {
  return outcome == Outcome::First || outcome == Outcome::Second;
}

Outcome ExtremumMatcher::select(arith::SelectOp op) {
  Outcome condition = evaluate(op.getCondition());
  if (condition == Outcome::Unknown) {
    Outcome a = evaluate(op.getTrueValue()), b = evaluate(op.getFalseValue());
    bool areEqual =
        a == b || (relation == Relation::Equal && isEither(a) && isEither(b));
    return areEqual ? a : Outcome::Unknown;
  }
  return evaluate(condition == Outcome::True ? op.getTrueValue()
                                             : op.getFalseValue());
}

Outcome ExtremumMatcher::chooseExtremum(Operation *op, bool isMaximum,
                                        bool ignoresNan) {
  Outcome lhs = evaluate(op->getOperand(0)), rhs = evaluate(op->getOperand(1));
  if (lhs == Outcome::Unknown || rhs == Outcome::Unknown)
    return Outcome::Unknown;
  if (isNan(lhs) || isNan(rhs)) {
    if (!ignoresNan || (isNan(lhs) && isNan(rhs)))
      return Outcome::Nan;
    return isNan(lhs) ? rhs : lhs;
  }
  bool isLess = relate(lhs, rhs, relation) == Relation::Less;
  return isLess == isMaximum ? rhs : lhs;
}

/// Evaluates `and` or `or` of two conditions, of which one may be enough.
Outcome ExtremumMatcher::combine(Operation *op) {
  Outcome lhs = evaluate(op->getOperand(0)), rhs = evaluate(op->getOperand(1));
  Outcome deciding = isa<arith::AndIOp>(op) ? Outcome::False : Outcome::True;
  if (!isa<arith::XOrIOp>(op) && (lhs == deciding || rhs == deciding))
    return deciding;
  if (lhs == Outcome::Unknown || rhs == Outcome::Unknown)
    return Outcome::Unknown;
  bool a = lhs == Outcome::True, b = rhs == Outcome::True;
  if (isa<arith::XOrIOp>(op))
    return fromBool(a != b);
  return fromBool(isa<arith::AndIOp>(op) ? a && b : a || b);
}

Outcome ExtremumMatcher::evaluateOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](arith::CmpFOp compared) { return compare(compared); })
      .Case([&](arith::SelectOp selected) { return select(selected); })
      .Case([&](arith::MaximumFOp) { return chooseExtremum(op, true, false); })
      .Case([&](arith::MinimumFOp) { return chooseExtremum(op, false, false); })
      .Case([&](arith::MaxNumFOp) { return chooseExtremum(op, true, true); })
      .Case([&](arith::MinNumFOp) { return chooseExtremum(op, false, true); })
      .Case([&](arith::AddFOp) {
        // A sum with a NaN is NaN. A sum of numbers is neither of the two.
        bool hasNan = isNan(evaluate(op->getOperand(0))) ||
                      isNan(evaluate(op->getOperand(1)));
        return hasNan ? Outcome::Nan : Outcome::Unknown;
      })
      .Case([&](arith::CmpIOp) { return Outcome::Unknown; })
      .Default([&](Operation *) { return combine(op); });
}

Outcome ExtremumMatcher::evaluate(Value value) {
  if (value == first)
    return Outcome::First;
  if (value == second)
    return Outcome::Second;
  if (isNanConstant(value))
    return Outcome::Nan;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return fromBool(constant.isOne());
  auto known = outcomes.find(value);
  if (known != outcomes.end())
    return known->second;
  Outcome outcome = evaluateOp(value.getDefiningOp());
  outcomes[value] = outcome;
  return outcome;
}

Outcome ExtremumMatcher::evaluateUnder(Relation assumed, Value value) {
  relation = assumed;
  outcomes.clear();
  return evaluate(value);
}

std::optional<Extremum> ExtremumMatcher::match(Value value) {
  if (!isa<FloatType>(value.getType()) || !explore(value) || !second)
    return std::nullopt;
  Outcome ofLess = evaluateUnder(Relation::Less, value);
  Outcome ofGreater = evaluateUnder(Relation::Greater, value);
  Outcome ofEqual = evaluateUnder(Relation::Equal, value);
  bool isMaximum = ofLess == Outcome::Second && ofGreater == Outcome::First;
  bool isMinimum = ofLess == Outcome::First && ofGreater == Outcome::Second;
  if ((!isMaximum && !isMinimum) || !isEither(ofEqual))
    return std::nullopt;
  Outcome ofFirst = evaluateUnder(Relation::FirstNan, value);
  bool firstHandedOn = isNan(ofFirst);
  Outcome ofSecond = evaluateUnder(Relation::SecondNan, value);
  bool secondHandedOn = isNan(ofSecond);
  bool bothHandedOn = isNan(evaluateUnder(Relation::BothNan, value));
  return Extremum{
      second, isMaximum, firstHandedOn && secondHandedOn && bothHandedOn,
      ofFirst == Outcome::Second && ofSecond == Outcome::First && bothHandedOn};
}

std::optional<Extremum>
veeline::autodiff::matchExtremum(Value value, BlockArgument accumulator) {
  return ExtremumMatcher(accumulator).match(value);
}

template <typename OfMaximum, typename OfMinimum>
static Operation *createExtremum(OpBuilder &builder, Location loc,
                                 const Extremum &extremum, Value accumulator) {
  if (extremum.isMaximum)
    return OfMaximum::create(builder, loc, extremum.other, accumulator);
  return OfMinimum::create(builder, loc, extremum.other, accumulator);
}

/// Replaces the ops that compute `yielded` by one op if that is an extremum.
static void recognizeExtremum(Value yielded, BlockArgument accumulator) {
  auto def = yielded.getDefiningOp<arith::SelectOp>();
  if (!def || def->getBlock() != accumulator.getOwner())
    return;
  std::optional<Extremum> extremum = matchExtremum(yielded, accumulator);
  if (!extremum || (!extremum->handsNanOn && !extremum->ignoresNan))
    return;
  OpBuilder builder(def);
  auto create = extremum->handsNanOn
                    ? createExtremum<arith::MaximumFOp, arith::MinimumFOp>
                    : createExtremum<arith::MaxNumFOp, arith::MinNumFOp>;
  Operation *found = create(builder, def.getLoc(), *extremum, accumulator);
  def.replaceAllUsesWith(found->getResult(0));
  def.erase();
}

void veeline::autodiff::recognizeExtrema(func::FuncOp func) {
  func.walk([&](linalg::LinalgOp op) {
    if (!op.getNumReductionLoops())
      return;
    for (OpOperand &init : op.getDpsInitsMutable())
      recognizeExtremum(op.getMatchingYieldValue(&init)->get(),
                        op.getMatchingBlockArgument(&init));
  });
}
