//===- EmitMask.cpp - the mask operand of attention -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitMask.h"

#include "Reshape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace veeline::pipe;

/// The type of the scalar `expression`, or null if any type is possible.
static Type getScalarType(const Expression *expression) {
  if (expression->storage)
    return getElementTypeOrSelf(expression->storage.getType());
  if (expression->kind == Expression::Kind::Element)
    return expression->tensor.getType();
  if (expression->kind == Expression::Kind::Operation)
    return getElementTypeOrSelf(expression->op->getResult(0).getType());
  return {};
}

/// Converts a number to another type.
static Value convertNumber(OpBuilder &builder, Location loc, Value number,
                           Type type) {
  Type from = number.getType();
  if (from == type)
    return number;
  if (from.isIndex() || type.isIndex()) {
    Type wide = builder.getI64Type();
    Value integer =
        from.isIndex()
            ? arith::IndexCastOp::create(builder, loc, wide, number).getResult()
            : number;
    if (type.isIndex())
      return arith::IndexCastOp::create(builder, loc, type, integer);
    return convertNumber(builder, loc, integer, type);
  }
  unsigned before = from.getIntOrFloatBitWidth();
  unsigned after = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(from) && isa<FloatType>(type)) {
    if (before < after)
      return arith::ExtFOp::create(builder, loc, type, number);
    return arith::TruncFOp::create(builder, loc, type, number);
  }
  if (isa<FloatType>(type)) {
    if (before == 1)
      return arith::UIToFPOp::create(builder, loc, type, number);
    return arith::SIToFPOp::create(builder, loc, type, number);
  }
  if (before > after)
    return arith::TruncIOp::create(builder, loc, type, number);
  if (before == 1)
    return arith::ExtUIOp::create(builder, loc, type, number);
  return arith::ExtSIOp::create(builder, loc, type, number);
}

namespace {

/// Emits an expression as the body of a structured op with one loop for each
/// digit.
class MaskEmitter {
public:
  MaskEmitter(const AttentionMatch &match, const Index &digits)
      : match(match), digits(digits) {}

  /// Finds the tensors that the body reads. Returns false if the body cannot
  /// compute `expression`.
  bool collect(const Expression *expression);
  /// Emits the sum of the masks. If the only mask says which scores are hidden,
  /// emits its negation.
  Value emitOp(OpBuilder &builder, Location loc, Type element);

private:
  Value emit(OpBuilder &builder, Location loc, const Expression *expression,
             Type type);
  Value emitPosition(OpBuilder &builder, Location loc, const Index &index);

  const AttentionMatch &match;
  Index digits;
  llvm::SetVector<const Expression *> inputs;
  ValueRange arguments;
};

} // namespace

bool MaskEmitter::collect(const Expression *expression) {
  if (expression->storage) {
    inputs.insert(expression);
    return true;
  }
  switch (expression->kind) {
  case Expression::Kind::Number:
    return true;
  case Expression::Kind::Element:
    return !isa<ShapedType>(expression->tensor.getType());
  case Expression::Kind::Position:
    return !ShapedType::isDynamic(
               match.tracer->getSize(expression->position)) ||
           expression->position.size() == 1;
  case Expression::Kind::Operation:
    return llvm::all_of(expression->operands, [&](const Expression *operand) {
      return collect(operand);
    });
  default:
    return false;
  }
}

Value MaskEmitter::emitPosition(OpBuilder &builder, Location loc,
                                const Index &index) {
  auto emitDigit = [&](unsigned digit) -> Value {
    int64_t loop = llvm::find(digits, digit) - digits.begin();
    return linalg::IndexOp::create(builder, loc, loop);
  };
  Value position = emitDigit(index.front());
  for (unsigned digit : llvm::drop_begin(index)) {
    Value part = emitDigit(digit);
    Value size = arith::ConstantIndexOp::create(builder, loc,
                                                match.tracer->getSize({digit}));
    position = arith::MulIOp::create(builder, loc, position, size);
    position = arith::AddIOp::create(builder, loc, position, part);
  }
  return position;
}

Value MaskEmitter::emit(OpBuilder &builder, Location loc,
                        const Expression *expression, Type type) {
  if (inputs.contains(expression))
    return convertNumber(
        builder, loc,
        arguments[llvm::find(inputs, expression) - inputs.begin()], type);
  if (expression->kind == Expression::Kind::Element)
    return convertNumber(builder, loc, expression->tensor, type);
  if (expression->kind == Expression::Kind::Position)
    return convertNumber(
        builder, loc, emitPosition(builder, loc, expression->position), type);
  if (expression->kind == Expression::Kind::Number) {
    TypedAttr value =
        isa<FloatType>(type)
            ? TypedAttr(builder.getFloatAttr(type, expression->number))
            : TypedAttr(builder.getIntegerAttr(
                  type, static_cast<int64_t>(expression->number)));
    return arith::ConstantOp::create(builder, loc, value);
  }
  SmallVector<Value> operands;
  for (auto [operand, original] :
       llvm::zip(expression->operands, expression->op->getOperands()))
    operands.push_back(
        emit(builder, loc, operand, getElementTypeOrSelf(original.getType())));
  OperationState state(loc, expression->op->getName());
  state.addOperands(operands);
  state.addTypes(getScalarType(expression));
  state.addAttributes(expression->op->getAttrs());
  return convertNumber(builder, loc, builder.create(state)->getResult(0), type);
}

Value MaskEmitter::emitOp(OpBuilder &builder, Location loc, Type element) {
  // Dynamic extents are those of the scores.
  Value empty =
      createEmpty(builder, loc, *match.tracer, separate(digits), element,
                  match.scores->getResult(0), match.scoreAccess);
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  for (const Expression *input : inputs) {
    Index order = flatten(input->storageAccess);
    values.push_back(reshape(builder, loc, *match.tracer, input->storage,
                             input->storageAccess, separate(order)));
    SmallVector<AffineExpr> results;
    for (unsigned digit : order)
      results.push_back(
          builder.getAffineDimExpr(llvm::find(digits, digit) - digits.begin()));
    maps.push_back(
        AffineMap::get(digits.size(), 0, results, builder.getContext()));
  }
  maps.push_back(builder.getMultiDimIdentityMap(digits.size()));
  SmallVector<utils::IteratorType> iterators(digits.size(),
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      builder, loc, TypeRange{empty.getType()}, values, ValueRange{empty}, maps,
      iterators, [&](OpBuilder &body, Location at, ValueRange args) {
        arguments = args;
        Value value;
        for (const Expression *mask : match.masks.masks) {
          Value each = emit(body, at, mask, element);
          value = value ? arith::AddFOp::create(body, at, value, each) : each;
        }
        if (match.masks.isHiding)
          value = arith::XOrIOp::create(
              body, at, value, arith::ConstantIntOp::create(body, at, 1, 1));
        linalg::YieldOp::create(body, at, value);
      });
  return op.getResult(0);
}

/// The element type of the mask. For a sum of several masks, a type that can
/// represent the elements of all of them.
static Type getMaskElement(OpBuilder &builder,
                           const AttentionMatch::Masks &masks) {
  if (masks.isBoolean)
    return builder.getI1Type();
  Type type = getScalarType(masks.masks.front());
  if (masks.masks.size() == 1 && isa_and_nonnull<FloatType>(type))
    return type;
  bool isWide = llvm::any_of(masks.masks, [](const Expression *mask) {
    Type each = getScalarType(mask);
    return each && each.isF64();
  });
  return isWide ? builder.getF64Type() : Type(builder.getF32Type());
}

Value veeline::pipe::emitMask(OpBuilder &builder, Location loc,
                              const AttentionMatch &match, const Access &scores,
                              SmallVectorImpl<int64_t> &dims) {
  const AttentionMatch::Masks &masks = match.masks;
  uint64_t digits = 0;
  for (const Expression *mask : masks.masks)
    digits |= mask->digits;
  Access access;
  for (auto [dim, index] : llvm::enumerate(scores))
    if (getDigits(index) & digits) {
      dims.push_back(dim);
      access.push_back(index);
    }
  // A fixed digit, in a part of a tensor, is not a dimension of the scores.
  if (digits & ~getDigits(scores))
    return {};
  const Expression *first = masks.masks.front();
  Type element = getMaskElement(builder, masks);
  if (masks.masks.size() == 1 && first->storage && !masks.isHiding &&
      getElementTypeOrSelf(first->storage.getType()) == element &&
      getDigits(first->storageAccess) == getDigits(access))
    return reshape(builder, loc, *match.tracer, first->storage,
                   first->storageAccess, access);
  Index loops = flatten(access);
  MaskEmitter emitter(match, loops);
  for (const Expression *mask : masks.masks)
    if (!emitter.collect(mask))
      return {};
  Value value = emitter.emitOp(builder, loc, element);
  return reshape(builder, loc, *match.tracer, value, separate(loops), access);
}
