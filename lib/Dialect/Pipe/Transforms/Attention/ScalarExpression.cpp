//===- ScalarExpression.cpp - an element as an expression -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarExpression.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace veeline::pipe;

/// The maximal number of ops that are followed. Ops further back are not part
/// of attention.
static constexpr size_t mostOps = 512;

/// A word with one bit for each digit says on which digits an expression
/// depends.
static constexpr size_t mostDigits = 60;

//===----------------------------------------------------------------------===//
// Sharing of equal expressions
//===----------------------------------------------------------------------===//

template <typename T> static void appendKey(std::string &key, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  key.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

static void appendKey(std::string &key, const Index &index) {
  appendKey(key, index.size());
  for (unsigned digit : index)
    appendKey(key, digit);
}

static std::string getKey(Value tensor, const Access &access) {
  std::string key;
  appendKey(key, tensor.getAsOpaquePointer());
  for (const Index &index : access)
    appendKey(key, index);
  return key;
}

/// Appends what distinguishes two ops on the same operands. The operands may be
/// of different types, because conversions that keep a number are not part of
/// an expression.
static void appendKey(std::string &key, Operation *op) {
  appendKey(key, op->getName().getAsOpaquePointer());
  appendKey(key, op->getAttrDictionary().getAsOpaquePointer());
  for (Type type : {op->getOperand(0).getType(), op->getResult(0).getType()})
    appendKey(key, getElementTypeOrSelf(type).getAsOpaquePointer());
}

const Expression *ExpressionTracer::intern(Expression expression) {
  std::string key;
  appendKey(key, expression.kind);
  appendKey(key, expression.number);
  appendKey(key, expression.position);
  if (expression.op)
    appendKey(key, expression.op);
  for (const Expression *operand : expression.operands)
    appendKey(key, operand);
  key += getKey(expression.tensor, expression.access);
  std::unique_ptr<Expression> &entry = expressions[key];
  if (!entry)
    entry = std::make_unique<Expression>(std::move(expression));
  return entry.get();
}

const Expression *ExpressionTracer::getElement(Value tensor,
                                               const Access &access) {
  Expression expression{Expression::Kind::Element};
  expression.tensor = tensor;
  expression.access = access;
  expression.digits = getDigits(access);
  if (isa<ShapedType>(tensor.getType()) && covers(access, tensor.getType())) {
    expression.storage = tensor;
    expression.storageAccess = access;
  }
  return intern(std::move(expression));
}

const Expression *ExpressionTracer::getNumber(double value) {
  Expression expression{Expression::Kind::Number};
  // Both zeros are one number, because a sum may start from either.
  expression.number = value == 0 ? 0 : value;
  return intern(std::move(expression));
}

const Expression *ExpressionTracer::getPosition(const Index &index) {
  if (index.empty())
    return getNumber(0);
  Expression expression{Expression::Kind::Position};
  expression.position = index;
  expression.digits = getDigits(index);
  return intern(std::move(expression));
}

const Expression *
ExpressionTracer::getReduction(Expression::Kind kind,
                               ArrayRef<const Expression *> operands) {
  Expression expression{kind};
  expression.operands = llvm::to_vector<3>(operands);
  for (const Expression *operand : operands)
    expression.digits |= operand->digits;
  if (kind != Expression::Kind::Softmax)
    expression.digits &= ~getDigits(keys);
  return intern(std::move(expression));
}

/// Whether `op` returns the number that it takes in another type, apart from
/// rounding.
static bool isConversion(Operation *op, const Expression *operand) {
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return true;
  // Sign extension turns a single bit into -1, and zero extension turns a
  // negative number into a large one.
  bool isBit = getElementTypeOrSelf(op->getOperand(0)).isInteger(1);
  if (isa<arith::ExtUIOp, arith::UIToFPOp, arith::IndexCastUIOp>(op))
    return isBit || operand->kind == Expression::Kind::Position;
  return isa<arith::ExtSIOp, arith::SIToFPOp, arith::IndexCastOp>(op) && !isBit;
}

const Expression *
ExpressionTracer::getOperation(Operation *op,
                               ArrayRef<const Expression *> operands) {
  if (isConversion(op, operands[0]))
    return operands[0];
  if (isa<arith::AddFOp>(op) && operands[0]->isNumber(0))
    return operands[1];
  if (isa<arith::AddFOp, arith::SubFOp>(op) && operands[1]->isNumber(0))
    return operands[0];
  if (isa<arith::MulFOp>(op) && operands[0]->isNumber(1))
    return operands[1];
  if (isa<arith::MulFOp, arith::DivFOp>(op) && operands[1]->isNumber(1))
    return operands[0];
  Expression expression{Expression::Kind::Operation};
  expression.op = op;
  expression.operands = llvm::to_vector<3>(operands);
  for (const Expression *operand : operands)
    expression.digits |= operand->digits;
  return intern(std::move(expression));
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

int64_t ExpressionTracer::getSize(const Index &index) const {
  int64_t size = 1;
  for (unsigned digit : index) {
    if (ShapedType::isDynamic(sizes[digit]))
      return ShapedType::kDynamic;
    size *= sizes[digit];
  }
  return size;
}

/// Whether `index` covers a whole dimension of `extent` elements.
bool ExpressionTracer::covers(const Index &index, int64_t extent) const {
  return getSize(index) == extent;
}

bool ExpressionTracer::covers(const Access &access, Type type) const {
  return llvm::all_of(
      llvm::zip(access, cast<ShapedType>(type).getShape()),
      [&](auto pair) { return covers(std::get<0>(pair), std::get<1>(pair)); });
}

/// Divides `index` between the dimensions of `extents`, if possible. If a digit
/// has to be split for that, sets `split`.
std::optional<Access> ExpressionTracer::splitIndex(const Index &index,
                                                   ArrayRef<int64_t> extents) {
  Access parts(extents.size());
  Index rest = index;
  for (size_t dim = extents.size(); dim-- > 0;) {
    int64_t extent = extents[dim];
    bool isFirst = llvm::all_of(extents.take_front(dim),
                                [](int64_t before) { return before == 1; });
    if (isFirst) {
      parts[dim] = extent == 1 ? Index() : rest;
      return rest.empty() || covers(rest, extent) ? std::optional(parts)
                                                  : std::nullopt;
    }
    for (int64_t size = 1; size != extent;) {
      if (rest.empty() || ShapedType::isDynamic(extent) ||
          ShapedType::isDynamic(sizes[rest.back()]))
        return std::nullopt;
      unsigned digit = rest.pop_back_val();
      size *= sizes[digit];
      if (extent % size == 0) {
        parts[dim].insert(parts[dim].begin(), digit);
        continue;
      }
      int64_t inner = extent / (size / sizes[digit]);
      if (inner == 0 || sizes[digit] % inner != 0)
        return std::nullopt;
      auto it = fixed.find(digit);
      if (it == fixed.end()) {
        if (divisible >> digit & 1)
          split = Split{digit, inner};
        return std::nullopt;
      }
      int64_t place = it->second, outer = sizes[digit] / inner;
      parts[dim].insert(parts[dim].begin(), addFixed(place % inner, inner));
      rest.push_back(addFixed(place / inner, outer));
      size = extent;
    }
  }
  return parts;
}

std::optional<Access> ExpressionTracer::traceReshape(Operation *op,
                                                     const Access &access) {
  Access source;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      Index &index = source.emplace_back();
      for (auto [i, dim] : llvm::enumerate(group)) {
        if (i != 0 && !covers(access[dim], shape[dim]))
          return std::nullopt;
        llvm::append_range(index, access[dim]);
      }
    }
    return source;
  }
  auto collapse = cast<tensor::CollapseShapeOp>(op);
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  for (auto [i, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    std::optional<Access> parts =
        splitIndex(access[i], shape.slice(group.front(), group.size()));
    if (!parts)
      return std::nullopt;
    llvm::append_range(source, *parts);
  }
  // A result of rank 0 comes from dimensions of one element.
  source.resize(shape.size());
  return source;
}

/// The fixed digit with the value `place`, of `size`.
unsigned ExpressionTracer::addFixed(int64_t place, int64_t size) {
  for (auto [digit, at] : fixed)
    if (at == place && sizes[digit] == size)
      return digit;
  unsigned digit = addDigit(size);
  fixed[digit] = place;
  return digit;
}

bool ExpressionTracer::hasFixed(uint64_t digits) const {
  return llvm::any_of(fixed,
                      [&](auto entry) { return digits >> entry.first & 1; });
}

/// Removes the leading digits that are fixed. Returns the distance from the
/// start of the dimension at which the others begin.
int64_t ExpressionTracer::takeFixed(Index &index) const {
  int64_t start = 0;
  while (!index.empty() && fixed.contains(index.front())) {
    start = start * sizes[index.front()] + fixed.at(index.front());
    index.erase(index.begin());
  }
  return start * getSize(index);
}

/// The place in the source of a slice. Along each dimension, the slice has to
/// start where the source does, or have one element.
std::optional<Access> ExpressionTracer::traceSlice(tensor::ExtractSliceOp slice,
                                                   const Access &access) {
  if (!areAllConstantIntValue(slice.getMixedStrides(), 1))
    return std::nullopt;
  Access source;
  const Index *next = access.begin();
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (auto [dim, extent] : llvm::enumerate(slice.getSourceType().getShape())) {
    Index index = dropped[dim] ? Index() : *next++;
    auto offset = getConstantIntValue(slice.getMixedOffsets()[dim]);
    auto size = getConstantIntValue(slice.getMixedSizes()[dim]);
    if (!offset || (*offset != 0 && size != 1))
      return std::nullopt;
    // A larger slice starts where the source does, so its place is that of the
    // source. A single element becomes a fixed digit at its offset.
    if (size == 1 && extent != 1) {
      if (ShapedType::isDynamic(extent) || sizes.size() >= mostDigits)
        return std::nullopt;
      index = {addFixed(*offset, extent)};
    }
    source.push_back(index);
  }
  return source;
}

/// Follows an element of a tensor that is composed of slices to the slice that
/// has it.
const Expression *
ExpressionTracer::traceInsertion(tensor::InsertSliceOp insertion,
                                 const Access &access) {
  if (!areAllConstantIntValue(insertion.getMixedStrides(), 1))
    return nullptr;
  Access source;
  llvm::SmallBitVector dropped = insertion.getDroppedDims();
  for (auto [dim, extent] :
       llvm::enumerate(insertion.getDestType().getShape())) {
    auto offset = getConstantIntValue(insertion.getMixedOffsets()[dim]);
    auto size = getConstantIntValue(insertion.getMixedSizes()[dim]);
    Index index = access[dim];
    if (!offset || !size || ShapedType::isDynamic(extent))
      return nullptr;
    if (*size != extent) {
      int64_t start = takeFixed(index), length = getSize(index);
      if (start + length <= *offset || start >= *offset + *size)
        return trace(insertion.getDest(), access);
      if (start != *offset || length != *size)
        return nullptr;
    }
    if (!dropped[dim])
      source.push_back(index);
  }
  return trace(insertion.getSource(), source);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The body of a structured op, at one place of its iteration space.
struct ExpressionTracer::Body {
  linalg::LinalgOp op;
  /// The place along each loop.
  Access loops;
  /// Whether there is something that is not an expression.
  bool isOther = false;
};

const Expression *ExpressionTracer::traceConstant(Attribute value) {
  if (auto number = dyn_cast_or_null<FloatAttr>(value))
    return getNumber(number.getValueAsDouble());
  auto number = dyn_cast_or_null<IntegerAttr>(value);
  return number ? getNumber(pipe::getNumber(number.getValue())) : nullptr;
}

const Expression *ExpressionTracer::traceScalar(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    if (const Expression *number = traceConstant(constant))
      return number;
  return getElement(value, {});
}

/// The value that the body reads of `operand`.
const Expression *ExpressionTracer::traceOperand(Body &body,
                                                 OpOperand &operand) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return traceScalar(operand.get());
  Access access;
  AffineMap map = body.op.getMatchingIndexingMap(&operand);
  for (auto [expr, extent] : llvm::zip(map.getResults(), type.getShape())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (extent == 1 && (dim || (constant && constant.getValue() == 0))) {
      access.emplace_back();
    } else if (dim) {
      access.push_back(body.loops[dim.getPosition()]);
    } else {
      body.isOther = true;
      return nullptr;
    }
  }
  if (!isShallow)
    return trace(operand.get(), access);
  DenseElementsAttr constant;
  if (matchPattern(operand.get(), m_Constant(&constant)) && constant.isSplat())
    if (const Expression *number =
            traceConstant(constant.getSplatValue<Attribute>()))
      return number;
  return getElement(operand.get(), access);
}

const Expression *ExpressionTracer::traceBody(Body &body, Value value) {
  Block *block = body.op.getBlock();
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == block)
    return traceOperand(
        body, body.op->getOpOperand(
                  body.op.getMatchingOpOperand(argument)->getOperandNumber()));
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block)
    return traceScalar(value);
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return getPosition(body.loops[index.getDim()]);
  if (op->hasTrait<OpTrait::ConstantLike>())
    return traceScalar(value);
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      !isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    body.isOther = true;
    return nullptr;
  }
  SmallVector<const Expression *, 3> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(traceBody(body, operand));
    if (body.isOther)
      return nullptr;
  }
  return getOperation(op, operands);
}

/// Traces sums and maxima along the keys.
const Expression *ExpressionTracer::traceReduction(linalg::LinalgOp op,
                                                   Body &body,
                                                   unsigned result) {
  Operation *yield = op.getBlock()->getTerminator();
  Operation *combine = yield->getOperand(result).getDefiningOp();
  if (!combine ||
      !isa<arith::AddFOp, arith::MaximumFOp, arith::MaxNumFOp>(combine))
    return nullptr;
  Value accumulator = op.getRegionOutputArgs()[result];
  Value term = combine->getOperand(combine->getOperand(0) == accumulator);
  if (!llvm::is_contained(combine->getOperands(), accumulator) ||
      term == accumulator)
    return nullptr;
  const Expression *each = traceBody(body, term);
  const Expression *start =
      body.isOther ? nullptr
                   : traceOperand(body, *op.getDpsInitOperand(result));
  if (!each || !start || body.isOther)
    return nullptr;
  return getReduction(isa<arith::AddFOp>(combine) ? Expression::Kind::Sum
                                                  : Expression::Kind::Maximum,
                      {each, start});
}

const Expression *ExpressionTracer::traceStructured(linalg::LinalgOp op,
                                                    unsigned result,
                                                    const Access &access) {
  if (auto fill = dyn_cast<linalg::FillOp>(op.getOperation()))
    return traceScalar(fill.getInputs()[0]);
  if (!op.hasPureTensorSemantics())
    return nullptr;
  Body body{op, Access(op.getNumLoops())};
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  if (!map.isProjectedPermutation())
    return nullptr;
  for (auto [expr, index] : llvm::zip(map.getResults(), access))
    body.loops[cast<AffineDimExpr>(expr).getPosition()] = index;
  unsigned numReductions = 0;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop = 0; loop != op.getNumLoops(); ++loop) {
    if (map.isFunctionOfDim(loop) || ranges[loop] == 1)
      continue;
    if (op.getIteratorTypesArray()[loop] != utils::IteratorType::reduction ||
        isShallow || ++numReductions > 1 || !covers(keys, ranges[loop]) ||
        (getDigits(access) & getDigits(keys)))
      return nullptr;
    body.loops[loop] = keys;
  }
  const Expression *expression =
      op.getNumReductionLoops() != 0
          ? traceReduction(op, body, result)
          : traceBody(body, op.getBlock()->getTerminator()->getOperand(result));
  return body.isOther ? nullptr : expression;
}

/// Traces an op of arith or math on tensors.
const Expression *ExpressionTracer::traceElementwise(Operation *op,
                                                     const Access &access) {
  SmallVector<const Expression *, 3> operands;
  for (Value operand : op->getOperands()) {
    if (isa<RankedTensorType>(operand.getType()))
      operands.push_back(isShallow ? getElement(operand, access)
                                   : trace(operand, access));
    else
      operands.push_back(traceScalar(operand));
  }
  return getOperation(op, operands);
}

/// Traces an op. Returns null if an element of the result is not an expression
/// of others.
const Expression *ExpressionTracer::traceOp(OpResult result,
                                            const Access &access) {
  Operation *op = result.getOwner();
  auto follow = [&](Value source, const Access &place) {
    return isShallow ? getElement(source, place) : trace(source, place);
  };
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant)))
    return constant.isSplat()
               ? traceConstant(constant.getSplatValue<Attribute>())
               : nullptr;
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    std::optional<Access> source = traceReshape(op, access);
    return source ? follow(op->getOperand(0), *source) : nullptr;
  }
  if (isa<tensor::CastOp>(op) &&
      isa<RankedTensorType>(op->getOperand(0).getType()))
    return follow(op->getOperand(0), access);
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return traceScalar(splat.getInput());
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    std::optional<Access> source = traceSlice(slice, access);
    return source && !isShallow ? trace(slice.getSource(), *source) : nullptr;
  }
  if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
    return isShallow ? nullptr : traceInsertion(insertion, access);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return traceStructured(structured, result.getResultNumber(), access);
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return access[softmax.getDimension()] == keys && !isShallow
               ? getReduction(Expression::Kind::Softmax,
                              {trace(softmax.getInput(), access)})
               : nullptr;
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
      isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return traceElementwise(op, access);
  return nullptr;
}

const Expression *ExpressionTracer::trace(Value tensor, const Access &access) {
  std::string key = getKey(tensor, access);
  auto it = traced.find(key);
  if (it != traced.end())
    return it->second;
  const Expression *expression = nullptr;
  auto result = dyn_cast<OpResult>(tensor);
  if (result && ops.size() < mostOps) {
    expression = traceOp(result, access);
    if (expression)
      ops.insert(result.getOwner());
  }
  if (!expression)
    expression = getElement(tensor, access);
  // The first tensor that contains an expression is the smallest one. A tensor
  // that contains more than the expression is replaced by one that does not.
  bool isPart = expression->storage &&
                hasFixed(getDigits(expression->storageAccess)) &&
                !hasFixed(getDigits(access));
  if ((!expression->storage || isPart) && covers(access, tensor.getType())) {
    auto *stored = const_cast<Expression *>(expression);
    stored->storage = tensor;
    stored->storageAccess = access;
  }
  traced[key] = expression;
  return expression;
}

SmallVector<std::pair<Value, Access>>
ExpressionTracer::traceMoves(Value tensor, Access access) {
  SmallVector<std::pair<Value, Access>> places = {{tensor, access}};
  isShallow = true;
  while (auto result = dyn_cast<OpResult>(places.back().first)) {
    const Expression *source = traceOp(result, places.back().second);
    if (!source || source->kind != Expression::Kind::Element ||
        !source->storage)
      break;
    places.push_back({source->tensor, source->access});
  }
  isShallow = false;
  return places;
}
