//===- Samples.cpp - values with several samples --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Samples.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace veeline;

LogicalResult Samples::refuse(Operation *op, const Twine &why) {
  InFlightDiagnostic diagnostic =
      op->emitError("'") << op->getName().getStringRef()
                         << "' does not allow several samples in a microbatch: "
                         << why;
  diagnostic.attachNote() << "one sample per microbatch works: leave "
                             "--microbatch-size out";
  return diagnostic;
}

std::optional<unsigned> Samples::dimensionOf(Value value) const {
  auto it = dimensions.find(value);
  return it == dimensions.end() ? std::nullopt : std::optional(it->second);
}

RankedTensorType Samples::scale(RankedTensorType type,
                                unsigned dimension) const {
  SmallVector<int64_t> shape(type.getShape());
  if (shape.empty())
    shape.push_back(1);
  shape[dimension] *= size;
  return type.clone(shape);
}

void Samples::scale(Value value, unsigned dimension) {
  auto type = cast<RankedTensorType>(value.getType());
  value.setType(scale(type, dimension));
  if (type.getRank() == 0)
    setScalar(value);
  else
    set(value, dimension);
}

void Samples::replace(Operation *op, Value value, unsigned dimension) {
  if (cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 0)
    setScalar(value);
  else
    set(value, dimension);
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

void Samples::ensure(OpOperand &operand, unsigned dimension) {
  if (!dimensionOf(operand.get()))
    operand.set(repeat(operand.get(), dimension, /*isWide=*/false));
}

bool Samples::isReshape(Value value, unsigned to) const {
  unsigned from = *dimensionOf(value);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  for (unsigned i = std::min(from, to); i < std::max(from, to); ++i)
    if (shape[i] != (i == from ? size : 1))
      return false;
  return true;
}

/// Moves samples to another dimension by merging the dimensions between, and
/// splitting them again.
Value Samples::reshape(OpBuilder &builder, Value value, unsigned to) const {
  unsigned from = *dimensionOf(value);
  auto type = cast<RankedTensorType>(value.getType());
  unsigned first = std::min(from, to), last = std::max(from, to);
  SmallVector<int64_t> merged, shape(type.getShape());
  SmallVector<ReassociationIndices> groups;
  for (unsigned i = 0; i < shape.size(); ++i) {
    if (i > first && i <= last) {
      groups.back().push_back(i);
      merged.back() *= shape[i];
    } else {
      groups.push_back({i});
      merged.push_back(shape[i]);
    }
  }
  shape[from] /= size;
  shape[to] *= size;
  Value flat = tensor::CollapseShapeOp::create(
      builder, value.getLoc(), type.clone(merged), value, groups);
  return tensor::ExpandShapeOp::create(builder, value.getLoc(),
                                       type.clone(shape), flat, groups);
}

/// Reassociation groups of one dimension each, except for group `at`, which has
/// two.
static SmallVector<ReassociationIndices> groupsWithPair(int64_t rank,
                                                        unsigned at) {
  SmallVector<ReassociationIndices> groups(rank);
  for (int64_t i = 0; i <= rank; ++i)
    groups[i <= at ? i : i - 1].push_back(i);
  return groups;
}

/// Splits the dimension of samples into the samples and the extent of one
/// sample.
Value Samples::split(OpBuilder &builder, Value value) const {
  unsigned dimension = *dimensionOf(value);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] /= size;
  shape.insert(shape.begin() + dimension, size);
  return tensor::ExpandShapeOp::create(
      builder, value.getLoc(), type.clone(shape), value,
      groupsWithPair(type.getRank(), dimension));
}

Value Samples::merge(OpBuilder &builder, Value value, unsigned dimension) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank() - 1;
  return tensor::CollapseShapeOp::create(builder, value.getLoc(), value,
                                         groupsWithPair(rank, dimension));
}

static Value moveDimension(OpBuilder &builder, Value value, unsigned from,
                           unsigned to) {
  if (from == to)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> moved;
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  for (int64_t dimension : order)
    moved.push_back(type.getDimSize(dimension));
  Value empty = tensor::EmptyOp::create(builder, value.getLoc(),
                                        type.clone(moved), ValueRange());
  return linalg::TransposeOp::create(builder, value.getLoc(), value, empty,
                                     order)
      ->getResult(0);
}

Value Samples::widen(OpBuilder &builder, Value value, unsigned position) {
  if (!dimensionOf(value))
    return repeat(value, position, /*isWide=*/true);
  if (isScalar(value))
    return value;
  if (*dimensionOf(value) != position &&
      position < cast<RankedTensorType>(value.getType()).getRank() &&
      isReshape(value, position)) {
    value = reshape(builder, value, position);
    set(value, position);
  }
  return moveDimension(builder, split(builder, value), *dimensionOf(value),
                       position);
}

Value Samples::narrow(OpBuilder &builder, Value value, unsigned position) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  if (rank == 1) {
    setScalar(value);
    return value;
  }
  // In a merged dimension, samples have to be the slower part of the index.
  if (position + 1 == rank) {
    value = moveDimension(builder, value, position, 0);
    position = 0;
  }
  Value result = merge(builder, value, position);
  set(result, position);
  return result;
}

void Samples::replaceByWide(Operation *op, Value value, unsigned position) {
  OpBuilder builder(op);
  op->getResult(0).replaceAllUsesWith(narrow(builder, value, position));
  op->erase();
}

void Samples::move(OpOperand &operand, unsigned to) {
  if (dimensionOf(operand.get()) == to)
    return;
  OpBuilder builder(operand.getOwner());
  Value value = operand.get();
  operand.set(isReshape(value, to)
                  ? reshape(builder, value, to)
                  : merge(builder, widen(builder, value, to), to));
  set(operand.get(), to);
}

/// A linalg.generic that reads its input at all points of the result.
static Value broadcast(OpBuilder &builder, Location location, Value input,
                       RankedTensorType type, AffineMap map) {
  Value empty = tensor::EmptyOp::create(builder, location, type, ValueRange());
  SmallVector<AffineMap> maps{map,
                              builder.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, location, type, input, empty, maps, iterators,
             [](OpBuilder &inner, Location at, ValueRange arguments) {
               linalg::YieldOp::create(inner, at, arguments[0]);
             })
      .getResult(0);
}

Value Samples::repeatAlong(OpBuilder &builder, Value value, unsigned at,
                           int64_t count) const {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + at, count);
  SmallVector<AffineExpr> read;
  for (int64_t i = 0; i < rank; ++i)
    read.push_back(builder.getAffineDimExpr(i < at ? i : i + 1));
  return broadcast(builder, value.getLoc(), value, type.clone(shape),
                   AffineMap::get(rank + 1, 0, read, builder.getContext()));
}

/// Gives a value whose elements are all equal another shape. Returns null for
/// any other value.
static Value resize(OpBuilder &builder, Value value, RankedTensorType type) {
  Location location = value.getLoc();
  Operation *op = value.getDefiningOp();
  SplatElementsAttr splat;
  if (isa_and_nonnull<tensor::EmptyOp>(op))
    return tensor::EmptyOp::create(builder, location, type, ValueRange());
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(op)) {
    Value empty =
        tensor::EmptyOp::create(builder, location, type, ValueRange());
    return linalg::FillOp::create(builder, location, fill.getInputs()[0], empty)
        .getResult(0);
  }
  if (op && matchPattern(op, m_Constant(&splat)))
    return arith::ConstantOp::create(builder, location, type,
                                     splat.resizeSplat(type));
  return Value();
}

Value Samples::repeat(Value value, unsigned dimension, bool isWide) {
  Value &known = (isWide ? repeatedWide : repeated)[{value, dimension}];
  if (known)
    return known;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> wide(type.getShape());
  wide.insert(wide.begin() + dimension, size);
  Value result = resize(builder, value,
                        isWide ? type.clone(wide) : scale(type, dimension));
  if (!result) {
    result = repeatAlong(builder, value, dimension, size);
    if (!isWide && type.getRank() != 0)
      result = merge(builder, result, dimension);
  }
  if (!isWide && type.getRank() == 0)
    setScalar(result);
  else if (!isWide)
    set(result, dimension);
  return known = result;
}
