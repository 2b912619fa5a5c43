//===- AttentionParts.cpp - attention as products and a softmax -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/IR/AttentionParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

using namespace mlir;
using namespace veeline::pipe;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

AttentionParts::AttentionParts(OpBuilder &builder, AttentionOpInterface op,
                               Value query, Value key, Value value, Value mask)
    : builder(builder), loc(op.getLoc()), op(op),
      element(op.getAccumulatorType()), numBatch(op.getNumBatchDims()),
      lastBatch(op.getNumBatchDims() - 1) {
  ArrayRef<int64_t> queryShape = op.getQueryType().getShape();
  ArrayRef<int64_t> keyShape = op.getKeyType().getShape();
  queries = queryShape[numBatch];
  depth = queryShape.back();
  keys = keyShape[numBatch];
  valueDepth = op.getValueType().getShape().back();
  if (numBatch != 0)
    shared = queryShape[lastBatch] / keyShape[lastBatch];
  this->query = split(convert(query, element), lastBatch);
  this->key = convert(key, element);
  this->value = convert(value, element);
  if (mask) {
    this->mask = mask;
    for (auto [i, dim] : llvm::enumerate(*op.getMaskDims())) {
      if (dim == lastBatch && shared != 1) {
        this->mask = split(this->mask, i);
        maskLoops.push_back(dim);
      }
      maskLoops.push_back(dim + (dim >= lastBatch && shared != 1));
    }
  }
  numBatch += shared != 1;
}

/// Splits `dim`, the last dimension of the batch, in two: that of keys, and
/// that of the queries that share a key.
Value AttentionParts::split(Value tensor, int64_t dim) {
  if (shared == 1)
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= shared;
  shape.insert(shape.begin() + dim + 1, shared);
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i != type.getRank(); ++i) {
    groups.push_back({i + (i > dim)});
    if (i == dim)
      groups.back().push_back(i + 1);
  }
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), tensor,
                                       groups);
}

/// The inverse of `split`: joins dimension `dim` and the next one.
Value AttentionParts::join(Value tensor, int64_t dim) {
  if (shared == 1)
    return tensor;
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i != rank; ++i) {
    if (i == dim + 1)
      groups.back().push_back(i);
    else
      groups.push_back({i});
  }
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
}

/// Creates a linalg.generic. The last of `maps` is that of `init`; loops that
/// it does not depend on are reductions.
Value AttentionParts::createGeneric(Location at, ValueRange inputs, Value init,
                                    ArrayRef<AffineMap> maps, Body body) {
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop = 0; loop != maps.back().getNumDims(); ++loop)
    iterators.push_back(maps.back().isFunctionOfDim(loop)
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             builder, at, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &nested, Location, ValueRange args) {
               linalg::YieldOp::create(nested, at, body(nested, args));
             })
      .getResult(0);
}

Value AttentionParts::convert(Value tensor, Type type) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from.getElementType() == type)
    return tensor;
  bool isWider = from.getElementTypeBitWidth() < type.getIntOrFloatBitWidth();
  SmallVector<AffineMap> maps(2,
                              builder.getMultiDimIdentityMap(from.getRank()));
  Value empty = tensor::EmptyOp::create(builder, loc, from.getShape(), type);
  return createGeneric(
      loc, tensor, empty, maps, [&](OpBuilder &body, ValueRange args) -> Value {
        if (isWider)
          return arith::ExtFOp::create(body, loc, type, args[0]);
        return arith::TruncFOp::create(body, loc, type, args[0]);
      });
}

Value AttentionParts::createFilled(ArrayRef<int64_t> shape, double value) {
  Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
  Value number = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(element, value));
  return linalg::FillOp::create(builder, loc, number, empty).getResult(0);
}

SmallVector<int64_t> AttentionParts::getShape(bool isShared,
                                              ArrayRef<int64_t> last) {
  // Only the query has all batch dimensions.
  auto type = cast<RankedTensorType>(query.getType());
  SmallVector<int64_t> shape(type.getShape().take_front(numBatch));
  if (isShared && shared != 1)
    shape.pop_back();
  llvm::append_range(shape, last);
  return shape;
}

/// The map for the batch and `loops`, which count from the first dimension
/// after the batch. With `isShared`, the dimension of queries that share keys
/// is left out.
AffineMap AttentionParts::getMap(bool isShared, ArrayRef<unsigned> loops,
                                 unsigned numLoops) {
  SmallVector<AffineExpr> results;
  unsigned numDims = numBatch - (isShared && shared != 1);
  for (unsigned dim = 0; dim != numDims; ++dim)
    results.push_back(builder.getAffineDimExpr(dim));
  for (unsigned loop : loops)
    results.push_back(builder.getAffineDimExpr(numBatch + loop));
  return AffineMap::get(numBatch + numLoops, 0, results, builder.getContext());
}

/// The map from a score to its element of the mask.
AffineMap AttentionParts::getMaskMap() {
  return AffineMap::getMultiDimMapWithTargets(numBatch + 2, maskLoops,
                                              builder.getContext());
}

Value AttentionParts::createElementwise(ValueRange inputs,
                                        ArrayRef<AffineMap> maps,
                                        ArrayRef<int64_t> shape, Body body) {
  SmallVector<AffineMap> all(maps);
  all.push_back(builder.getMultiDimIdentityMap(shape.size()));
  Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
  return createGeneric(loc, inputs, empty, all, body);
}

Value AttentionParts::createReduction(Value input, AffineMap result,
                                      ArrayRef<int64_t> shape, double start,
                                      Body body) {
  AffineMap identity = builder.getMultiDimIdentityMap(result.getNumDims());
  return createGeneric(loc, input, createFilled(shape, start),
                       {identity, result}, body);
}

Value AttentionParts::createProduct(Value a, AffineMap aMap, Value b,
                                    AffineMap bMap, AffineMap map,
                                    ArrayRef<int64_t> shape) {
  Location at = markPart(loc, numProducts++);
  return createGeneric(
      at, {a, b}, createFilled(shape, 0), {aMap, bMap, map},
      [&](OpBuilder &body, ValueRange args) -> Value {
        Value product = arith::MulFOp::create(body, at, args[0], args[1]);
        return arith::AddFOp::create(body, at, args[2], product);
      });
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

static Value createNumber(OpBuilder &builder, Location loc, Type type,
                          double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

Value AttentionParts::createScores() {
  SmallVector<int64_t> shape = getShape(false, {queries, keys});
  Value products =
      createProduct(query, getMap(false, {0, 2}, 3), key,
                    getMap(true, {1, 2}, 3), getMap(false, {0, 1}, 3), shape);
  SmallVector<Value> inputs = {products};
  SmallVector<AffineMap> maps = {builder.getMultiDimIdentityMap(shape.size())};
  if (mask) {
    inputs.push_back(mask);
    maps.push_back(getMaskMap());
  }
  return createElementwise(
      inputs, maps, shape, [&](OpBuilder &body, ValueRange args) {
        double factor = op.getScale().convertToDouble();
        Value score = arith::MulFOp::create(
            body, loc, args[0], createNumber(body, loc, element, factor));
        if (mask && args[1].getType().isInteger(1))
          score = arith::SelectOp::create(
              body, loc, args[1], score,
              createNumber(body, loc, element, op.getFillOrDefault()));
        else if (mask) {
          Value added = args[1];
          unsigned width = added.getType().getIntOrFloatBitWidth();
          if (width < element.getIntOrFloatBitWidth())
            added = arith::ExtFOp::create(body, loc, element, added);
          else if (width > element.getIntOrFloatBitWidth())
            added = arith::TruncFOp::create(body, loc, element, added);
          score = arith::AddFOp::create(body, loc, score, added);
        }
        if (!op.getCausal())
          return score;
        Value row = linalg::IndexOp::create(body, loc, shape.size() - 2);
        Value column = linalg::IndexOp::create(body, loc, shape.size() - 1);
        Value isVisible = arith::CmpIOp::create(
            body, loc, arith::CmpIPredicate::sle, column, row);
        return arith::SelectOp::create(
                   body, loc, isVisible, score,
                   createNumber(body, loc, element, -infinity))
            .getResult();
      });
}

std::pair<Value, Value> AttentionParts::createForward(Type outputElement) {
  Value scores = createScores();
  SmallVector<int64_t> shape = getShape(false, {queries, keys});
  SmallVector<int64_t> rowShape = getShape(false, {queries});
  AffineMap row = getMap(false, {0}, 2), identity = getMap(false, {0, 1}, 2);
  Value maximum = createReduction(
      scores, row, rowShape, -infinity, [&](OpBuilder &body, ValueRange args) {
        return arith::MaximumFOp::create(body, loc, args[0], args[1])
            .getResult();
      });
  Value power = createElementwise(
      {scores, maximum}, {identity, row}, shape,
      [&](OpBuilder &body, ValueRange args) {
        Value shifted = arith::SubFOp::create(body, loc, args[0], args[1]);
        return math::ExpOp::create(body, loc, shifted).getResult();
      });
  Value sum = createReduction(
      power, row, rowShape, 0, [&](OpBuilder &body, ValueRange args) {
        return arith::AddFOp::create(body, loc, args[1], args[0]).getResult();
      });
  AffineMap rows = builder.getMultiDimIdentityMap(rowShape.size());
  Value lse = createElementwise(
      {maximum, sum}, {rows, rows}, rowShape,
      [&](OpBuilder &body, ValueRange args) {
        Value log = math::LogOp::create(body, loc, args[1]);
        return arith::AddFOp::create(body, loc, args[0], log).getResult();
      });
  Value weights = createElementwise(
      {power, sum}, {identity, row}, shape,
      [&](OpBuilder &body, ValueRange args) {
        return arith::DivFOp::create(body, loc, args[0], args[1]).getResult();
      });
  Value output = createProduct(
      weights, getMap(false, {0, 2}, 3), value, getMap(true, {2, 1}, 3),
      getMap(false, {0, 1}, 3), getShape(false, {queries, valueDepth}));
  return {join(convert(output, outputElement), lastBatch),
          join(lse, lastBatch)};
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

Value AttentionParts::createWeights(Value scores, Value lse) {
  return createElementwise(
      {scores, split(lse, lastBatch)},
      {getMap(false, {0, 1}, 2), getMap(false, {0}, 2)},
      getShape(false, {queries, keys}), [&](OpBuilder &body, ValueRange args) {
        Value shifted = arith::SubFOp::create(body, loc, args[0], args[1]);
        return math::ExpOp::create(body, loc, shifted).getResult();
      });
}

Value AttentionParts::createScoreGradient(Value weights, Value outputGrad,
                                          Value delta) {
  SmallVector<int64_t> shape = getShape(false, {queries, keys});
  Value gradient = split(convert(outputGrad, element), lastBatch);
  Value weightGrad =
      createProduct(gradient, getMap(false, {0, 2}, 3), value,
                    getMap(true, {1, 2}, 3), getMap(false, {0, 1}, 3), shape);
  AffineMap identity = getMap(false, {0, 1}, 2);
  SmallVector<Value> inputs = {weights, weightGrad, split(delta, lastBatch)};
  SmallVector<AffineMap> maps = {identity, identity, getMap(false, {0}, 2)};
  bool isBoolean =
      mask && cast<ShapedType>(mask.getType()).getElementType().isInteger(1);
  if (isBoolean) {
    inputs.push_back(mask);
    maps.push_back(getMaskMap());
  }
  return createElementwise(
      inputs, maps, shape, [&](OpBuilder &body, ValueRange args) {
        Value centered = arith::SubFOp::create(body, loc, args[1], args[2]);
        Value result = arith::MulFOp::create(body, loc, args[0], centered);
        if (!isBoolean)
          return result;
        return arith::SelectOp::create(body, loc, args[3], result,
                                       createNumber(body, loc, element, 0))
            .getResult();
      });
}

Value AttentionParts::scale(Value scoreGrad) {
  double factor = op.getScale().convertToDouble();
  return createElementwise(
      scoreGrad, getMap(false, {0, 1}, 2), getShape(false, {queries, keys}),
      [&](OpBuilder &body, ValueRange args) {
        return arith::MulFOp::create(body, loc, args[0],
                                     createNumber(body, loc, element, factor))
            .getResult();
      });
}

Value AttentionParts::createQueryGradient(Value scoreGrad, Type type) {
  Value result = createProduct(
      scale(scoreGrad), getMap(false, {0, 2}, 3), key, getMap(true, {2, 1}, 3),
      getMap(false, {0, 1}, 3), getShape(false, {queries, depth}));
  return join(convert(result, type), lastBatch);
}

Value AttentionParts::createKeyGradient(Value scoreGrad, Type type) {
  Value result =
      createProduct(scale(scoreGrad), getMap(false, {2, 0}, 3), query,
                    getMap(false, {2, 1}, 3), getMap(true, {0, 1}, 3),
                    getShape(true, {keys, depth}));
  return convert(result, type);
}

Value AttentionParts::createValueGradient(Value weights, Value outputGrad,
                                          Type type) {
  Value result = createProduct(
      weights, getMap(false, {2, 0}, 3),
      split(convert(outputGrad, element), lastBatch), getMap(false, {2, 1}, 3),
      getMap(true, {0, 1}, 3), getShape(true, {keys, valueDepth}));
  return convert(result, type);
}

Value AttentionParts::createMaskGradient(Value scoreGrad, Type type) {
  SmallVector<int64_t> all = getShape(false, {queries, keys}), shape;
  for (unsigned loop : maskLoops)
    shape.push_back(all[loop]);
  Value sum = scoreGrad;
  if (shape.size() != all.size())
    sum = createReduction(
        scoreGrad, getMaskMap(), shape, 0,
        [&](OpBuilder &body, ValueRange args) {
          return arith::AddFOp::create(body, loc, args[1], args[0]).getResult();
        });
  sum = convert(sum, type);
  auto batch = llvm::find(maskLoops, lastBatch);
  return batch == maskLoops.end() ? sum : join(sum, batch - maskLoops.begin());
}

//===----------------------------------------------------------------------===//
// Whole ops
//===----------------------------------------------------------------------===//

template <typename OpT>
static SmallVector<Value> decomposeDerivative(AttentionParts &parts, OpT op) {
  Type element = op.getQueryType().getElementType();
  Value weights = parts.createWeights(parts.createScores(), op.getLse());
  Value scoreGrad =
      parts.createScoreGradient(weights, op.getOutputGrad(), op.getDelta());
  if constexpr (std::is_same_v<OpT, AttentionBackwardQOp>)
    return {parts.createQueryGradient(scoreGrad, element)};
  else
    return {parts.createKeyGradient(scoreGrad, element),
            parts.createValueGradient(weights, op.getOutputGrad(), element)};
}

SmallVector<Value> veeline::pipe::decomposeAttention(OpBuilder &builder,
                                                     AttentionOpInterface op) {
  AttentionParts parts(builder, op, op.getQuery(), op.getKey(), op.getValue(),
                       op.getMask());
  if (auto query = dyn_cast<AttentionBackwardQOp>(op.getOperation()))
    return decomposeDerivative(parts, query);
  if (auto key = dyn_cast<AttentionBackwardKVOp>(op.getOperation()))
    return decomposeDerivative(parts, key);
  auto [output, lse] = parts.createForward(op.getQueryType().getElementType());
  return {output, lse};
}
