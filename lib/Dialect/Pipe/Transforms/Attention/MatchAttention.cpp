//===- MatchAttention.cpp - recognising attention -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatchAttention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace veeline::pipe;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Whether `op` is a contraction of two tensors of floats.
static bool isProduct(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op.getNumDpsInputs() == 2 &&
         op.getNumDpsInits() == 1 && op.getNumReductionLoops() != 0 &&
         isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())) &&
         linalg::isaContractionOpInterface(op);
}

static bool startsFromZeros(linalg::LinalgOp op) {
  Value init = op.getDpsInits()[0];
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  return matchPattern(init, m_AnyZeroFloat());
}

/// The place at which `op` reads an operand, given the places along its loops.
static std::optional<Access> getAccess(linalg::LinalgOp op, OpOperand &operand,
                                       const Access &loops) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return std::nullopt;
  Access access;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [expr, extent] : llvm::zip(map.getResults(), type.getShape())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return std::nullopt;
    access.push_back(extent == 1 ? Index() : loops[dim.getPosition()]);
  }
  return access;
}

//===----------------------------------------------------------------------===//
// The softmax
//===----------------------------------------------------------------------===//

/// Returns `term` if `sum` is its sum along the keys, else null.
static const Expression *matchSum(const Expression *sum,
                                  const Expression *term) {
  return sum->kind == Expression::Kind::Sum && sum->operands[0] == term &&
                 sum->operands[1]->isNumber(0)
             ? term
             : nullptr;
}

/// Returns exp(x) if `weight` is exp(x) / sum(exp(x)), or exp(x) times the
/// inverse of the sum.
static const Expression *matchQuotient(const Expression *weight) {
  if (weight->isOp<arith::DivFOp>())
    return matchSum(weight->operands[1], weight->operands[0]);
  if (!weight->isOp<arith::MulFOp>())
    return nullptr;
  for (int side : {0, 1}) {
    const Expression *inverse = weight->operands[side];
    if (inverse->isOp<arith::DivFOp>() && inverse->operands[0]->isNumber(1))
      if (const Expression *power =
              matchSum(inverse->operands[1], weight->operands[1 - side]))
        return power;
  }
  return nullptr;
}

/// Returns x if `weight` is exp(x - log(sum(exp(x)))), or x - m if it is exp(x
/// - (m + log(sum(exp(x - m))))), with a shift m.
static const Expression *matchExponential(const Expression *weight) {
  if (!weight->isOp<math::ExpOp>() ||
      !weight->operands[0]->isOp<arith::SubFOp>())
    return nullptr;
  const Expression *x = weight->operands[0]->operands[0];
  const Expression *y = weight->operands[0]->operands[1];
  auto getTerm = [](const Expression *log) -> const Expression * {
    if (!log->isOp<math::LogOp>() ||
        log->operands[0]->kind != Expression::Kind::Sum ||
        !log->operands[0]->operands[1]->isNumber(0))
      return nullptr;
    const Expression *term = log->operands[0]->operands[0];
    return term->isOp<math::ExpOp>() ? term->operands[0] : nullptr;
  };
  if (getTerm(y) == x)
    return x;
  if (!y->isOp<arith::AddFOp>())
    return nullptr;
  for (int side : {0, 1}) {
    const Expression *shifted = getTerm(y->operands[side]);
    if (shifted && shifted->isOp<arith::SubFOp>() &&
        shifted->operands[0] == x &&
        shifted->operands[1] == y->operands[1 - side])
      return shifted;
  }
  return nullptr;
}

/// The expression of which `weight` is the softmax along the keys, or null.
static const Expression *matchSoftmax(const Expression *weight,
                                      const Index &keys) {
  if (weight->kind == Expression::Kind::Softmax)
    return weight->operands[0];
  const Expression *x = matchQuotient(weight);
  if (x)
    x = x->isOp<math::ExpOp>() ? x->operands[0] : nullptr;
  else
    x = matchExponential(weight);
  // Shifting all numbers does not change a softmax. The maximum is one such
  // shift.
  while (x && x->isOp<arith::SubFOp>() &&
         !(x->operands[1]->digits & getDigits(keys)))
    x = x->operands[0];
  return x;
}

/// If `weight` is computed from a softmax, the op between that and the product,
/// else null.
static Operation *findOpAroundSoftmax(const Expression *weight,
                                      const Index &keys, unsigned depth = 4) {
  if (weight->kind != Expression::Kind::Operation || depth == 0)
    return nullptr;
  for (const Expression *operand : weight->operands) {
    if (matchSoftmax(operand, keys))
      return weight->op;
    if (Operation *op = findOpAroundSoftmax(operand, keys, depth - 1))
      return op;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

namespace {

/// Decomposes scores into a product, a scale and masks.
class ScoreMatcher {
public:
  ScoreMatcher(AttentionMatch &match, std::string &reason)
      : match(match), reason(reason) {}

  bool run(const Expression *scores);

private:
  bool fail(const Twine &why) {
    reason = why.str();
    return false;
  }
  bool isScore(const Expression *expression);
  bool scaleBy(const Expression *factor, bool inverse);
  bool addMask(const Expression *mask);
  bool takeCondition(const Expression *condition, double fill, bool hides);
  bool takeMask(const Expression *mask, bool isBoolean);
  bool takeBoth(const Expression *mask,
                llvm::function_ref<bool(const Expression *)> takePart);
  bool isCausal(const Expression *mask);
  bool step(const Expression *&scores);

  AttentionMatch &match;
  std::string &reason;
  llvm::DenseMap<const Expression *, bool> known;
};

} // namespace

/// The product whose result an expression is.
static linalg::LinalgOp getProduct(const Expression *expression) {
  if (expression->kind != Expression::Kind::Element)
    return {};
  auto op = expression->tensor.getDefiningOp<linalg::LinalgOp>();
  return op && isProduct(op) ? op : linalg::LinalgOp();
}

/// Whether `expression` contains a product over the keys.
bool ScoreMatcher::isScore(const Expression *expression) {
  auto [it, isNew] = known.try_emplace(expression, false);
  if (!isNew)
    return it->second;
  bool is =
      getProduct(expression) &&
      (match.keys.empty() || (expression->digits & getDigits(match.keys)));
  if (expression->kind != Expression::Kind::Sum &&
      expression->kind != Expression::Kind::Maximum)
    for (const Expression *operand : expression->operands)
      is |= isScore(operand);
  return known[expression] = is;
}

bool ScoreMatcher::scaleBy(const Expression *factor, bool inverse) {
  if (factor->kind != Expression::Kind::Number || factor->number == 0)
    return fail("the scores are multiplied by something that is no constant");
  match.scale *= inverse ? 1 / factor->number : factor->number;
  return true;
}

/// Adds `mask` to the masks that have to be read.
bool ScoreMatcher::takeMask(const Expression *mask, bool isBoolean) {
  AttentionMatch::Masks &masks = match.masks;
  // Masks can be summed only if one of them has all dimensions of the sum.
  bool fits = !isBoolean && !masks.isBoolean;
  for (const Expression *other : masks.masks)
    fits &=
        (other->digits | mask->digits) == std::max(other->digits, mask->digits);
  if (!masks.masks.empty() && !fits)
    return fail("there are several masks, whose sum is larger than each; add "
                "them up first");
  if (!isBoolean && match.scale != 1)
    return fail("the mask is added before the scores are scaled; scale first");
  masks.masks.push_back(mask);
  masks.isBoolean = isBoolean;
  return true;
}

/// Takes both parts of a mask by `takePart`. If that fails for one, takes none.
/// Returns whether it succeeds.
bool ScoreMatcher::takeBoth(
    const Expression *mask,
    llvm::function_ref<bool(const Expression *)> takePart) {
  AttentionMatch::Masks before = match.masks;
  if (takePart(mask->operands[0]) && takePart(mask->operands[1]))
    return true;
  match.masks = before;
  reason.clear();
  return false;
}

/// Takes a mask that replaces scores by `fill` if `condition` is false or, with
/// `hides`, true.
bool ScoreMatcher::takeCondition(const Expression *condition, double fill,
                                 bool hides) {
  if (condition->isOp<arith::XOrIOp>() && condition->operands[1]->isNumber(1))
    return takeCondition(condition->operands[0], fill, !hides);
  bool isHidden = fill * match.scale <= hiddenScore;
  // A key is visible if both parts say so, and hidden if either does.
  bool hasParts = hides ? condition->isOp<arith::OrIOp>()
                        : condition->isOp<arith::AndIOp>();
  if (hasParts && isHidden && takeBoth(condition, [&](const Expression *part) {
        return takeCondition(part, fill, hides);
      }))
    return true;
  MaskKind kind = classifyMask(condition, /*isBoolean=*/true, match);
  if (kind == MaskKind::Nothing && !hides)
    return true;
  if (kind == (hides ? MaskKind::HidesCausally : MaskKind::Causal) &&
      isHidden) {
    match.masks.causal = true;
    return true;
  }
  if (!takeMask(condition, /*isBoolean=*/true))
    return false;
  match.masks.isHiding = hides;
  match.masks.fill = fill * match.scale;
  return true;
}

/// Whether `mask` adds 0 to scores whose key is not after the query, and to all
/// others so small a number that they get no weight.
bool ScoreMatcher::isCausal(const Expression *mask) {
  if (match.scale <= 0)
    return false;
  if (mask->isOp<arith::SelectOp>()) {
    const Expression *visible = mask->operands[1], *hidden = mask->operands[2];
    bool hides = hidden->isNumber(0);
    if (hides)
      std::swap(visible, hidden);
    if (visible->isNumber(0) && hidden->kind == Expression::Kind::Number &&
        hidden->number * match.scale <= hiddenScore &&
        classifyMask(mask->operands[0], /*isBoolean=*/true, match) ==
            (hides ? MaskKind::HidesCausally : MaskKind::Causal))
      return true;
  }
  return match.scale == 1 &&
         classifyMask(mask, /*isBoolean=*/false, match) == MaskKind::Causal;
}

/// Takes a mask that is added to the scores. If it is a sum of masks, takes
/// each of them.
bool ScoreMatcher::addMask(const Expression *mask) {
  // A number that is equal for all keys does not change the softmax.
  if (!(mask->digits & getDigits(match.keys)))
    return true;
  if (isCausal(mask)) {
    match.masks.causal = true;
    return true;
  }
  if (mask->isOp<arith::AddFOp>() &&
      takeBoth(mask, [&](const Expression *m) { return addMask(m); }))
    return true;
  if (classifyMask(mask, /*isBoolean=*/false, match) == MaskKind::Nothing)
    return true;
  return takeMask(mask, /*isBoolean=*/false);
}

/// Removes the outermost op of `scores`.
bool ScoreMatcher::step(const Expression *&scores) {
  ArrayRef<const Expression *> operands = scores->operands;
  auto next = [&](int side) {
    scores = operands[side];
    return true;
  };
  if (scores->isOp<arith::MulFOp>() &&
      isScore(operands[0]) != isScore(operands[1])) {
    int side = isScore(operands[1]);
    return scaleBy(operands[1 - side], false) && next(side);
  }
  if (scores->isOp<arith::DivFOp>() && !isScore(operands[1]))
    return scaleBy(operands[1], true) && next(0);
  if (scores->isOp<arith::AddFOp>() &&
      isScore(operands[0]) != isScore(operands[1])) {
    int side = isScore(operands[1]);
    return addMask(operands[1 - side]) && next(side);
  }
  if (scores->isOp<arith::SelectOp>() && !isScore(operands[0]) &&
      isScore(operands[1]) != isScore(operands[2])) {
    int side = isScore(operands[1]) ? 1 : 2;
    const Expression *fill = operands[3 - side];
    if (fill->kind != Expression::Kind::Number)
      return fail("masked scores become something that is no constant");
    return takeCondition(operands[0], fill->number, side == 2) && next(side);
  }
  // A maximum that replaces minus infinity by a finite number.
  if ((scores->isOp<arith::MaximumFOp>() || scores->isOp<arith::MaxNumFOp>()) &&
      operands[1]->kind == Expression::Kind::Number &&
      operands[1]->number * match.scale <= hiddenScore)
    return next(0);
  std::string name =
      scores->kind == Expression::Kind::Operation
          ? "'" + scores->op->getName().getStringRef().str() + "'"
          : "something";
  return fail("the scores go through " + name +
              ", which is neither a scale nor a mask");
}

bool ScoreMatcher::run(const Expression *scores) {
  if (!isScore(scores))
    return fail("what it is the softmax of is no product");
  while (!getProduct(scores))
    if (!step(scores))
      return false;
  match.scores = getProduct(scores);
  if (!startsFromZeros(match.scores))
    return fail("the product of queries and keys is added to something; add "
                "it apart from the product");
  match.scoreAccess = scores->access;
  return true;
}

//===----------------------------------------------------------------------===//
// Both products
//===----------------------------------------------------------------------===//

namespace {

class AttentionMatcher {
public:
  AttentionMatcher(linalg::LinalgOp context, bool isRight)
      : context(context), weights(*context.getDpsInputOperand(isRight)),
        value(*context.getDpsInputOperand(!isRight)) {}

  AttentionCandidate run();

private:
  /// A loop of the product with V, or a part of one.
  struct Digit {
    unsigned loop;
    int64_t size;
  };
  enum class Role { Batch, Query, Key, Depth };

  bool findDigits();
  bool splitDigit(const ExpressionTracer::Split &split);
  bool matchOnce(AttentionCandidate &candidate);
  bool matchScores(AttentionCandidate &candidate, AttentionMatch &match);
  Index getDigitsOf(Role role) const;
  Index getBatch(const Access &result) const;
  Access getLoops() const;

  linalg::LinalgOp context;
  OpOperand &weights, &value;
  SmallVector<Role> roles;
  SmallVector<Digit> digits;
};

} // namespace

/// Finds the meaning of each loop of the product with V. In attention, one loop
/// is over keys, at most one over queries, and at most one over the depth.
bool AttentionMatcher::findDigits() {
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(context);
  if (failed(dims))
    return false;
  bool isRight = weights.getOperandNumber() == 1;
  roles.assign(context.getNumLoops(), Role::Batch);
  auto set = [&](ArrayRef<unsigned> loops, Role role) {
    for (unsigned loop : loops)
      roles[loop] = role;
  };
  set(dims->m, isRight ? Role::Depth : Role::Query);
  set(dims->n, isRight ? Role::Query : Role::Depth);
  set(dims->k, Role::Key);
  int counts[4] = {};
  SmallVector<int64_t> ranges = context.getStaticLoopRanges();
  for (auto [loop, size] : llvm::enumerate(ranges))
    if (size != 1) {
      digits.push_back({static_cast<unsigned>(loop), size});
      ++counts[static_cast<int>(roles[loop])];
    }
  return counts[static_cast<int>(Role::Key)] == 1 &&
         counts[static_cast<int>(Role::Query)] <= 1 &&
         counts[static_cast<int>(Role::Depth)] <= 1;
}

Index AttentionMatcher::getDigitsOf(Role role) const {
  Index index;
  for (auto [i, digit] : llvm::enumerate(digits))
    if (roles[digit.loop] == role)
      index.push_back(i);
  return index;
}

Access AttentionMatcher::getLoops() const {
  Access loops(roles.size());
  for (auto [i, digit] : llvm::enumerate(digits))
    loops[digit.loop].push_back(i);
  return loops;
}

bool AttentionMatcher::splitDigit(const ExpressionTracer::Split &split) {
  // Each digit has a bit in a word.
  if (digits.size() > 40)
    return false;
  Digit &outer = digits[split.digit];
  outer.size /= split.size;
  unsigned loop = outer.loop;
  digits.insert(digits.begin() + split.digit + 1, {loop, split.size});
  return true;
}

/// Finds out which operand of the first product is Q, and at which places both
/// are read.
static bool findQueryAndKey(AttentionMatch &match, std::string &reason) {
  linalg::LinalgOp op = match.scores;
  Access loops(op.getNumLoops());
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (auto [expr, index] : llvm::zip(map.getResults(), match.scoreAccess)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return false;
    loops[dim.getPosition()] = index;
  }
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop = 0; loop != op.getNumLoops(); ++loop)
    if (!map.isFunctionOfDim(loop) && ranges[loop] != 1) {
      loops[loop] = {match.tracer->addDigit(ranges[loop])};
      llvm::append_range(match.depth, loops[loop]);
    }
  if (match.depth.size() > 1) {
    reason = "the product of queries and keys sums over several dimensions; "
             "collapse them";
    return false;
  }
  auto first = getAccess(op, *op.getDpsInputOperand(0), loops);
  auto second = getAccess(op, *op.getDpsInputOperand(1), loops);
  if (!first || !second)
    return false;
  uint64_t keys = getDigits(match.keys), queries = getDigits(match.queries);
  bool isSwapped = getDigits(*first) & keys;
  const Access &query = isSwapped ? *second : *first;
  const Access &key = isSwapped ? *first : *second;
  if ((getDigits(query) & keys) || !(getDigits(key) & keys) ||
      (getDigits(key) & queries)) {
    reason = "what it is the softmax of is no product of queries and keys";
    return false;
  }
  match.query =
      match.tracer->traceMoves(op.getDpsInputOperand(isSwapped)->get(), query);
  match.key =
      match.tracer->traceMoves(op.getDpsInputOperand(!isSwapped)->get(), key);
  return true;
}

bool AttentionMatcher::matchScores(AttentionCandidate &candidate,
                                   AttentionMatch &match) {
  Access loops = getLoops();
  std::optional<Access> weightAccess = getAccess(context, weights, loops);
  std::optional<Access> valueAccess = getAccess(context, value, loops);
  auto result = getAccess(context, *context.getDpsInitOperand(0), loops);
  if (!weightAccess || !valueAccess || !result)
    return false;
  const Expression *weight = match.tracer->trace(weights.get(), *weightAccess);
  if (match.tracer->getSplit())
    return false;
  const Expression *scores = matchSoftmax(weight, match.keys);
  if (!scores) {
    if (Operation *op = findOpAroundSoftmax(weight, match.keys))
      candidate.reason = "between the softmax and its product with the values "
                         "is '" +
                         op->getName().getStringRef().str() + "'";
    return false;
  }
  if (!startsFromZeros(context)) {
    candidate.reason = "the product with the values is added to something; "
                       "add it apart from the product";
    return false;
  }
  match.contextAccess = *result;
  match.batch = getBatch(*result);
  match.value = match.tracer->traceMoves(value.get(), *valueAccess);
  return ScoreMatcher(match, candidate.reason).run(scores);
}

/// The digits of the batch, in the order of the result.
Index AttentionMatcher::getBatch(const Access &result) const {
  Index batch;
  for (const Index &index : result)
    for (unsigned digit : index)
      if (roles[digits[digit].loop] == Role::Batch)
        batch.push_back(digit);
  return batch;
}

/// Returns false if digits have to be split first.
bool AttentionMatcher::matchOnce(AttentionCandidate &candidate) {
  AttentionMatch match;
  match.context = context;
  match.queries = getDigitsOf(Role::Query);
  match.keys = getDigitsOf(Role::Key);
  match.valueDepth = getDigitsOf(Role::Depth);
  SmallVector<int64_t> sizes;
  for (const Digit &digit : digits)
    sizes.push_back(digit.size);
  match.tracer = std::make_unique<ExpressionTracer>(
      sizes, getDigits(getDigitsOf(Role::Batch)), match.keys);
  candidate = {};
  bool isMatch =
      matchScores(candidate, match) && findQueryAndKey(match, candidate.reason);
  if (match.tracer->getSplit())
    return !splitDigit(*match.tracer->getSplit());
  if (isMatch)
    candidate.match = std::move(match);
  return true;
}

AttentionCandidate AttentionMatcher::run() {
  AttentionCandidate candidate;
  if (!findDigits())
    return candidate;
  while (!matchOnce(candidate)) {
  }
  return candidate;
}

AttentionCandidate veeline::pipe::matchAttention(linalg::LinalgOp context) {
  if (!isProduct(context))
    return {};
  AttentionCandidate left = AttentionMatcher(context, false).run();
  if (left.match || !left.reason.empty())
    return left;
  return AttentionMatcher(context, true).run();
}
