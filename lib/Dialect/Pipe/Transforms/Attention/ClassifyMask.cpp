//===- ClassifyMask.cpp - classifying masks as causal ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatchAttention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace veeline::pipe;

//===----------------------------------------------------------------------===//
// Comparisons of places
//===----------------------------------------------------------------------===//

namespace {

/// The linear form query * i + key * j + constant, with the position i of the
/// query and the position j of the key.
struct LinearForm {
  double query = 0, key = 0, constant = 0;
};

} // namespace

static std::optional<LinearForm> getLinearForm(const Expression *expression,
                                               const AttentionMatch &match) {
  if (expression->kind == Expression::Kind::Number)
    return LinearForm{0, 0, expression->number};
  if (expression->kind == Expression::Kind::Position) {
    if (expression->position == match.queries)
      return LinearForm{1, 0, 0};
    if (expression->position == match.keys)
      return LinearForm{0, 1, 0};
    return std::nullopt;
  }
  bool isSum =
      expression->isOp<arith::AddIOp>() || expression->isOp<arith::AddFOp>();
  bool isDifference =
      expression->isOp<arith::SubIOp>() || expression->isOp<arith::SubFOp>();
  if (!isSum && !isDifference)
    return std::nullopt;
  auto a = getLinearForm(expression->operands[0], match);
  auto b = getLinearForm(expression->operands[1], match);
  if (!a || !b)
    return std::nullopt;
  double sign = isSum ? 1 : -1;
  return LinearForm{a->query + sign * b->query, a->key + sign * b->key,
                    a->constant + sign * b->constant};
}

namespace {
/// A comparison by order. For equal numbers, it is true unless it is strict.
struct Relation {
  bool isLess, isStrict;
};
} // namespace

static std::optional<Relation> getRelation(const Expression *expression) {
  if (expression->isOp<arith::CmpIOp>())
    switch (cast<arith::CmpIOp>(expression->op).getPredicate()) {
    case arith::CmpIPredicate::slt:
    case arith::CmpIPredicate::ult:
      return Relation{true, true};
    case arith::CmpIPredicate::sle:
    case arith::CmpIPredicate::ule:
      return Relation{true, false};
    case arith::CmpIPredicate::sgt:
    case arith::CmpIPredicate::ugt:
      return Relation{false, true};
    case arith::CmpIPredicate::sge:
    case arith::CmpIPredicate::uge:
      return Relation{false, false};
    default:
      return std::nullopt;
    }
  if (expression->isOp<arith::CmpFOp>())
    switch (cast<arith::CmpFOp>(expression->op).getPredicate()) {
    case arith::CmpFPredicate::OLT:
    case arith::CmpFPredicate::ULT:
      return Relation{true, true};
    case arith::CmpFPredicate::OLE:
    case arith::CmpFPredicate::ULE:
      return Relation{true, false};
    case arith::CmpFPredicate::OGT:
    case arith::CmpFPredicate::UGT:
      return Relation{false, true};
    case arith::CmpFPredicate::OGE:
    case arith::CmpFPredicate::UGE:
      return Relation{false, false};
    default:
      return std::nullopt;
    }
  return std::nullopt;
}

/// Whether `form` may be negative. An unsigned comparison would treat it as a
/// large number.
static bool mayBeNegative(const LinearForm &form) {
  return form.query < 0 || form.key < 0 || form.constant < 0;
}

static bool isUnsigned(const Expression *expression) {
  if (!expression->isOp<arith::CmpIOp>())
    return false;
  auto predicate = cast<arith::CmpIOp>(expression->op).getPredicate();
  return predicate >= arith::CmpIPredicate::ult;
}

static MaskKind classifyComparison(const Expression *mask,
                                   const AttentionMatch &match) {
  std::optional<Relation> relation = getRelation(mask);
  if (!relation)
    return MaskKind::General;
  auto a = getLinearForm(mask->operands[0], match);
  auto b = getLinearForm(mask->operands[1], match);
  if (!a || !b ||
      (isUnsigned(mask) && (mayBeNegative(*a) || mayBeNegative(*b))))
    return MaskKind::General;
  // Bring the comparison into the form key - query + c, compared to 0.
  double key = a->key - b->key, query = a->query - b->query;
  double c = a->constant - b->constant;
  if (key == -1 && query == 1) {
    c = -c;
    relation->isLess = !relation->isLess;
  } else if (key != 1 || query != -1) {
    return MaskKind::General;
  }
  // Positions are integers, so "less than 1" is "at most 0", and "at least 1"
  // is "greater than 0".
  if (c != (relation->isLess == relation->isStrict ? -1 : 0))
    return MaskKind::General;
  return relation->isLess ? MaskKind::Causal : MaskKind::HidesCausally;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {

/// Evaluates an expression of the positions of query and key, and of constant
/// tables.
class Evaluator {
public:
  explicit Evaluator(const AttentionMatch &match) : match(match) {}

  std::optional<double> evaluate(const Expression *expression);

  int64_t query = 0, key = 0;

private:
  std::optional<int64_t> getPosition(const Index &index) const {
    if (index.empty())
      return 0;
    if (index == match.queries)
      return query;
    return index == match.keys ? std::optional(key) : std::nullopt;
  }
  std::optional<double> readTable(const Expression *element);
  std::optional<double> apply(const Expression *operation);

  const AttentionMatch &match;
  /// The tables that have been read, as numbers.
  llvm::DenseMap<Attribute, std::vector<double>> tables;
};

} // namespace

static std::optional<std::vector<double>> getNumbers(DenseElementsAttr table) {
  std::vector<double> numbers;
  Type element = table.getElementType();
  numbers.reserve(table.getNumElements());
  if (isa<FloatType>(element)) {
    for (const APFloat &value : table.getValues<APFloat>()) {
      APFloat number = value;
      bool losesInfo;
      number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                     &losesInfo);
      numbers.push_back(number.convertToDouble());
    }
    return numbers;
  }
  if (!element.isIntOrIndex())
    return std::nullopt;
  for (const APInt &value : table.getValues<APInt>())
    numbers.push_back(getNumber(value));
  return numbers;
}

std::optional<double> Evaluator::readTable(const Expression *element) {
  DenseElementsAttr table;
  if (!matchPattern(element->tensor, m_Constant(&table)))
    return std::nullopt;
  auto [it, isNew] = tables.try_emplace(table);
  if (isNew)
    if (auto numbers = getNumbers(table))
      it->second = std::move(*numbers);
  int64_t offset = 0;
  for (auto [index, extent] :
       llvm::zip(element->access, table.getType().getShape())) {
    std::optional<int64_t> position = getPosition(index);
    if (!position || *position >= extent)
      return std::nullopt;
    offset = offset * extent + *position;
  }
  if (offset >= static_cast<int64_t>(it->second.size()))
    return std::nullopt;
  return it->second[offset];
}

/// The bits of an integer of `type`. None if it is so large that a double may
/// have rounded it.
static std::optional<APInt> getBits(double number, Type type) {
  constexpr double exactBelow = int64_t(1) << 53;
  if (!type.isIntOrIndex() || !(std::abs(number) < exactBelow))
    return std::nullopt;
  unsigned width = type.isIndex() ? IndexType::kInternalStorageBitWidth
                                  : type.getIntOrFloatBitWidth();
  return APInt(width, static_cast<int64_t>(number), /*isSigned=*/true,
               /*implicitTrunc=*/true);
}

/// Evaluates conversions that `getOperation` keeps as ops.
static std::optional<double> convertInteger(Operation *op, const APInt &bits) {
  if (isa<arith::ExtUIOp, arith::UIToFPOp, arith::IndexCastUIOp>(op) &&
      bits.getActiveBits() <= 53)
    return static_cast<double>(bits.getZExtValue());
  if (isa<arith::ExtSIOp, arith::SIToFPOp, arith::IndexCastOp>(op))
    return static_cast<double>(bits.getSExtValue());
  return std::nullopt;
}

static std::optional<double> applyToIntegers(Operation *op, const APInt &a,
                                             const APInt &b) {
  return llvm::TypeSwitch<Operation *, std::optional<double>>(op)
      .Case([&](arith::AddIOp) { return getNumber(a + b); })
      .Case([&](arith::SubIOp) { return getNumber(a - b); })
      .Case([&](arith::MulIOp) { return getNumber(a * b); })
      .Case([&](arith::AndIOp) { return getNumber(a & b); })
      .Case([&](arith::OrIOp) { return getNumber(a | b); })
      .Case([&](arith::XOrIOp) { return getNumber(a ^ b); })
      .Case([&](arith::CmpIOp compare) {
        return arith::applyCmpPredicate(compare.getPredicate(), a, b);
      })
      .Default(std::nullopt);
}

static std::optional<double> applyToFloats(Operation *op, double a, double b) {
  return llvm::TypeSwitch<Operation *, std::optional<double>>(op)
      .Case([&](arith::AddFOp) { return a + b; })
      .Case([&](arith::SubFOp) { return a - b; })
      .Case([&](arith::MulFOp) { return a * b; })
      .Case([&](arith::CmpFOp compare) {
        return arith::applyCmpPredicate(compare.getPredicate(), APFloat(a),
                                        APFloat(b));
      })
      .Default(std::nullopt);
}

std::optional<double> Evaluator::apply(const Expression *operation) {
  SmallVector<double, 3> values;
  for (const Expression *operand : operation->operands) {
    std::optional<double> value = evaluate(operand);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  if (operation->isOp<arith::SelectOp>())
    return values[0] != 0 ? values[1] : values[2];
  if (operation->isOp<arith::NegFOp>())
    return -values[0];
  Type type = getElementTypeOrSelf(operation->op->getOperand(0));
  std::optional<APInt> a = getBits(values[0], type);
  if (values.size() == 1 && a)
    return convertInteger(operation->op, *a);
  if (values.size() != 2)
    return std::nullopt;
  if (isa<FloatType>(type))
    return applyToFloats(operation->op, values[0], values[1]);
  std::optional<APInt> b = getBits(values[1], type);
  return a && b ? applyToIntegers(operation->op, *a, *b) : std::nullopt;
}

std::optional<double> Evaluator::evaluate(const Expression *expression) {
  switch (expression->kind) {
  case Expression::Kind::Number:
    return expression->number;
  case Expression::Kind::Position:
    return getPosition(expression->position);
  case Expression::Kind::Element:
    return readTable(expression);
  case Expression::Kind::Operation:
    return apply(expression);
  default:
    return std::nullopt;
  }
}

/// Looking at larger tables would take too long.
static constexpr int64_t mostEntries = int64_t(1) << 24;

static MaskKind classifyTable(const Expression *mask, bool isBoolean,
                              const AttentionMatch &match) {
  int64_t queries = match.tracer->getSize(match.queries);
  int64_t keys = match.tracer->getSize(match.keys);
  if (ShapedType::isDynamic(queries) || ShapedType::isDynamic(keys) ||
      queries * keys > mostEntries)
    return MaskKind::General;
  Evaluator evaluator(match);
  bool isNothing = true, isCausal = true, hidesCausally = isBoolean;
  for (evaluator.query = 0; evaluator.query != queries; ++evaluator.query)
    for (evaluator.key = 0; evaluator.key != keys; ++evaluator.key) {
      std::optional<double> value = evaluator.evaluate(mask);
      if (!value)
        return MaskKind::General;
      bool isVisible = isBoolean ? *value != 0 : *value == 0;
      bool isHidden = isBoolean ? *value == 0 : *value <= hiddenScore;
      bool isSeen = evaluator.key <= evaluator.query;
      isNothing &= isVisible;
      isCausal &= isSeen ? isVisible : isHidden;
      hidesCausally &= isSeen ? isHidden : isVisible;
      if (!isNothing && !isCausal && !hidesCausally)
        return MaskKind::General;
    }
  if (isNothing)
    return MaskKind::Nothing;
  return isCausal ? MaskKind::Causal : MaskKind::HidesCausally;
}

MaskKind veeline::pipe::classifyMask(const Expression *mask, bool isBoolean,
                                     const AttentionMatch &match) {
  if (mask->digits & ~(getDigits(match.queries) | getDigits(match.keys)))
    return MaskKind::General;
  if (isBoolean) {
    MaskKind kind = classifyComparison(mask, match);
    if (kind != MaskKind::General)
      return kind;
  }
  return classifyTable(mask, isBoolean, match);
}
