//===- ClassifyMask.cpp - which masks are causal --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatchAttention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace veeline::pipe;

//===----------------------------------------------------------------------===//
// Comparisons of places
//===----------------------------------------------------------------------===//

namespace {

/// query * i + key * j + constant, for the query's place i and the key's j.
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
enum class Relation { Less, LessEqual, Greater, GreaterEqual };
} // namespace

static std::optional<Relation> getRelation(const Expression *expression) {
  if (expression->isOp<arith::CmpIOp>())
    switch (cast<arith::CmpIOp>(expression->op).getPredicate()) {
    case arith::CmpIPredicate::slt:
    case arith::CmpIPredicate::ult:
      return Relation::Less;
    case arith::CmpIPredicate::sle:
    case arith::CmpIPredicate::ule:
      return Relation::LessEqual;
    case arith::CmpIPredicate::sgt:
    case arith::CmpIPredicate::ugt:
      return Relation::Greater;
    case arith::CmpIPredicate::sge:
    case arith::CmpIPredicate::uge:
      return Relation::GreaterEqual;
    default:
      return std::nullopt;
    }
  if (expression->isOp<arith::CmpFOp>())
    switch (cast<arith::CmpFOp>(expression->op).getPredicate()) {
    case arith::CmpFPredicate::OLT:
    case arith::CmpFPredicate::ULT:
      return Relation::Less;
    case arith::CmpFPredicate::OLE:
    case arith::CmpFPredicate::ULE:
      return Relation::LessEqual;
    case arith::CmpFPredicate::OGT:
    case arith::CmpFPredicate::UGT:
      return Relation::Greater;
    case arith::CmpFPredicate::OGE:
    case arith::CmpFPredicate::UGE:
      return Relation::GreaterEqual;
    default:
      return std::nullopt;
    }
  return std::nullopt;
}

/// Whether `form` may be negative, which an unsigned comparison would take for
/// a large number.
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
  // Brings the comparison into the form: key - query + c, in relation to 0.
  double key = a->key - b->key, query = a->query - b->query;
  double c = a->constant - b->constant;
  if (key == -1 && query == 1) {
    c = -c;
    switch (*relation) {
    case Relation::Less:
      relation = Relation::Greater;
      break;
    case Relation::LessEqual:
      relation = Relation::GreaterEqual;
      break;
    case Relation::Greater:
      relation = Relation::Less;
      break;
    case Relation::GreaterEqual:
      relation = Relation::LessEqual;
      break;
    }
  } else if (key != 1 || query != -1) {
    return MaskKind::General;
  }
  if ((*relation == Relation::LessEqual && c == 0) ||
      (*relation == Relation::Less && c == -1))
    return MaskKind::Causal;
  if ((*relation == Relation::Greater && c == 0) ||
      (*relation == Relation::GreaterEqual && c == -1))
    return MaskKind::HidesCausally;
  return MaskKind::General;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {

/// Evaluates an expression of the query's and the key's place and of constant
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
  bool isBool = element.isInteger(1);
  for (const APInt &value : table.getValues<APInt>())
    numbers.push_back(isBool ? value.getBoolValue() : value.getSExtValue());
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
  if (operation->isOp<arith::AddFOp>() || operation->isOp<arith::AddIOp>())
    return values[0] + values[1];
  if (operation->isOp<arith::SubFOp>() || operation->isOp<arith::SubIOp>())
    return values[0] - values[1];
  if (operation->isOp<arith::MulFOp>() || operation->isOp<arith::MulIOp>())
    return values[0] * values[1];
  if (operation->isOp<arith::NegFOp>())
    return -values[0];
  if (operation->isOp<arith::AndIOp>())
    return values[0] != 0 && values[1] != 0;
  if (operation->isOp<arith::OrIOp>())
    return values[0] != 0 || values[1] != 0;
  if (operation->isOp<arith::XOrIOp>())
    return (values[0] != 0) != (values[1] != 0);
  if (std::optional<Relation> relation = getRelation(operation)) {
    switch (*relation) {
    case Relation::Less:
      return values[0] < values[1];
    case Relation::LessEqual:
      return values[0] <= values[1];
    case Relation::Greater:
      return values[0] > values[1];
    case Relation::GreaterEqual:
      return values[0] >= values[1];
    }
  }
  if (operation->isOp<arith::CmpIOp>())
    switch (cast<arith::CmpIOp>(operation->op).getPredicate()) {
    case arith::CmpIPredicate::eq:
      return values[0] == values[1];
    case arith::CmpIPredicate::ne:
      return values[0] != values[1];
    default:
      return std::nullopt;
    }
  if (operation->isOp<arith::CmpFOp>())
    switch (cast<arith::CmpFOp>(operation->op).getPredicate()) {
    case arith::CmpFPredicate::OEQ:
    case arith::CmpFPredicate::UEQ:
      return values[0] == values[1];
    case arith::CmpFPredicate::ONE:
    case arith::CmpFPredicate::UNE:
      return values[0] != values[1];
    default:
      return std::nullopt;
    }
  return std::nullopt;
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

/// Larger tables would take too long to look at.
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
