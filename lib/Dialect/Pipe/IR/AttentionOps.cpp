//===- AttentionOps.cpp - attention and its derivatives -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/IR/Attention.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace veeline::pipe;

#include "veeline/Dialect/Pipe/IR/AttentionInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "veeline/Dialect/Pipe/IR/AttentionOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Common checks
//===----------------------------------------------------------------------===//

static bool isAlike(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

static bool isAlike(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return isAlike(std::get<0>(pair), std::get<1>(pair));
         });
}

static std::string formatShape(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(shape, stream, [&](int64_t extent) {
    ShapedType::isDynamic(extent) ? stream << '?' : stream << extent;
  });
  stream << ']';
  return text;
}

/// Checks that `type` is a tensor, or a buffer whose last dimension is
/// contiguous.
static LogicalResult verifyContainer(Operation *op, StringRef name, Type type,
                                     bool anyStrides = false) {
  if (isa<RankedTensorType>(type))
    return success();
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return op->emitOpError() << "expects " << name
                             << " to be a tensor with a rank or a memref, "
                                "found "
                             << type;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)))
    return op->emitOpError()
           << "expects " << name << " to have strides, found " << type;
  if (anyStrides || strides.empty() || strides.back() == 1 ||
      memref.getShape().back() == 1)
    return success();
  return op->emitOpError() << "expects " << name
                           << " to have a stride of 1 in its last dimension, "
                              "found "
                           << type;
}

static LogicalResult verifyShape(Operation *op, StringRef name, Value value,
                                 ArrayRef<int64_t> shape, Type element) {
  auto type = cast<ShapedType>(value.getType());
  if (failed(verifyContainer(op, name, type)))
    return failure();
  if (!isAlike(type.getShape(), shape))
    return op->emitOpError()
           << "expects " << name << " to have the shape " << formatShape(shape)
           << ", found " << formatShape(type.getShape());
  if (type.getElementType() != element)
    return op->emitOpError() << "expects " << name << " to have elements of "
                             << element << ", found " << type.getElementType();
  return success();
}

/// Whether keys can be shared evenly along the last batch dimension of the
/// queries.
static bool isGrouped(int64_t queries, int64_t keys) {
  return isAlike(queries, keys) ||
         (keys > 0 && queries > 0 && queries % keys == 0);
}

static LogicalResult verifyKey(AttentionOpInterface op) {
  ShapedType query = op.getQueryType(), key = op.getKeyType();
  int64_t batch = op.getNumBatchDims();
  if (key.getRank() != query.getRank())
    return op->emitOpError() << "expects the key to have the query's rank, "
                             << query.getRank() << ", found " << key.getRank();
  if (!isAlike(key.getShape().back(), query.getShape().back()))
    return op->emitOpError()
           << "expects the key's last dimension to be the query's depth, "
           << query.getShape().back() << ", found " << key.getShape().back();
  for (int64_t dim = 0; dim != batch; ++dim) {
    int64_t of = query.getDimSize(dim), found = key.getDimSize(dim);
    if (isAlike(of, found) || (dim == batch - 1 && isGrouped(of, found)))
      continue;
    return op->emitOpError()
           << "expects batch dimension " << dim
           << " of the key to have the query's extent "
           << (dim == batch - 1 ? "or a divisor of it" : "of it") << ", " << of
           << ", found " << found;
  }
  return success();
}

static LogicalResult verifyMask(AttentionOpInterface op) {
  Value mask = op.getMask();
  std::optional<ArrayRef<int64_t>> dims = op.getMaskDims();
  if (!mask) {
    if (dims || op.getFill())
      return op->emitOpError("has 'mask_dims' or 'fill', but no mask");
    return success();
  }
  if (!dims)
    return op->emitOpError(
        "expects 'dims' to say which dimensions of the scores its mask has");
  auto type = cast<ShapedType>(mask.getType());
  if (failed(verifyContainer(op, "the mask", type, /*anyStrides=*/true)))
    return failure();
  if (!type.getElementType().isInteger(1) &&
      !isa<FloatType>(type.getElementType()))
    return op->emitOpError()
           << "expects a mask of i1 or of floats, found " << type;
  if (op.getFill() && !type.getElementType().isInteger(1))
    return op->emitOpError()
           << "has a 'fill', which only a mask of i1 has, found " << type;
  SmallVector<int64_t> scores = op.getScoreShape(), shape;
  int64_t previous = -1;
  for (int64_t dim : *dims) {
    if (dim <= previous || dim >= static_cast<int64_t>(scores.size()))
      return op->emitOpError()
             << "expects 'dims' to be ascending dimensions of the scores, of "
                "which there are "
             << scores.size() << ", found [" << *dims << ']';
    shape.push_back(scores[dim]);
    previous = dim;
  }
  if (!isAlike(type.getShape(), shape))
    return op->emitOpError()
           << "expects the mask to have the shape " << formatShape(shape)
           << " of dimensions [" << *dims << "] of the scores, found "
           << formatShape(type.getShape());
  return success();
}

/// Checks the value, and everything that determines the scores.
static LogicalResult verifyScores(AttentionOpInterface op) {
  for (auto [name, value] : {std::pair("the query", op.getQuery()),
                             {"the key", op.getKey()},
                             {"the value", op.getValue()}})
    if (failed(verifyContainer(op, name, value.getType())))
      return failure();
  ShapedType query = op.getQueryType();
  Type element = query.getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32() &&
      !element.isF64())
    return op->emitOpError()
           << "expects elements of f16, bf16, f32 or f64, found " << element;
  if (query.getRank() < 2)
    return op->emitOpError()
           << "expects a query of at least two dimensions, queries and depth, "
              "found "
           << query;
  if (!op.getScale().isFinite())
    return op->emitOpError("expects a finite scale");
  if (failed(verifyKey(op)))
    return failure();
  SmallVector<int64_t> shape(op.getKeyType().getShape());
  ShapedType value = op.getValueType();
  if (value.getRank() == query.getRank())
    shape.back() = value.getShape().back();
  if (failed(verifyShape(op, "the key", op.getKey(), op.getKeyType().getShape(),
                         element)) ||
      failed(verifyShape(op, "the value", op.getValue(), shape, element)))
    return failure();
  return verifyMask(op);
}

/// The shape of the output: the query's, with the value's depth.
static SmallVector<int64_t> getOutputShape(AttentionOpInterface op) {
  SmallVector<int64_t> shape(op.getQueryType().getShape());
  shape.back() = op.getValueType().getShape().back();
  return shape;
}

static LogicalResult verifyRows(AttentionOpInterface op, StringRef name,
                                Value value) {
  return verifyShape(op, name, value, op.getQueryType().getShape().drop_back(),
                     op.getAccumulatorType());
}

/// Checks the operands that all derivatives have.
template <typename OpT> static LogicalResult verifyGiven(OpT op) {
  if (failed(verifyScores(op)) ||
      failed(verifyShape(op, "the gradient of the output", op.getOutputGrad(),
                         getOutputShape(op),
                         op.getQueryType().getElementType())))
    return failure();
  return verifyRows(op, "lse", op.getLse());
}

template <typename OpT> static LogicalResult verifyDerivative(OpT op) {
  if (failed(verifyGiven(op)))
    return failure();
  return verifyRows(op, "delta", op.getDelta());
}

static LogicalResult verifyGradient(AttentionOpInterface op, StringRef name,
                                    Value gradient, ShapedType of) {
  return verifyShape(op, name, gradient, of.getShape(), of.getElementType());
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::verify() {
  if (failed(verifyScores(*this)) ||
      failed(verifyShape(*this, "the output", getOutput(),
                         getOutputShape(*this),
                         getQueryType().getElementType())))
    return failure();
  return verifyRows(*this, "lse", getLse());
}

LogicalResult AttentionBackwardQOp::verify() {
  if (failed(verifyDerivative(*this)))
    return failure();
  return verifyGradient(*this, "the gradient of the query", getQueryGrad(),
                        getQueryType());
}

LogicalResult AttentionBackwardKVOp::verify() {
  if (failed(verifyDerivative(*this)) ||
      failed(verifyGradient(*this, "the gradient of the key", getKeyGrad(),
                            getKeyType())))
    return failure();
  return verifyGradient(*this, "the gradient of the value", getValueGrad(),
                        getValueType());
}

LogicalResult AttentionBackwardOp::verify() {
  if (failed(verifyGiven(*this)) ||
      failed(verifyShape(*this, "the output", getOutput(),
                         getOutputShape(*this),
                         getQueryType().getElementType())) ||
      failed(verifyGradient(*this, "the gradient of the query", getQueryGrad(),
                            getQueryType())) ||
      failed(verifyGradient(*this, "the gradient of the key", getKeyGrad(),
                            getKeyType())))
    return failure();
  return verifyGradient(*this, "the gradient of the value", getValueGrad(),
                        getValueType());
}
