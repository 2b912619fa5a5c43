//===- AttentionProblem.cpp - an attention op in a kernel -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionProblem.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace veeline;

/// Finds the place of `operand` in an argument: its first element, and a stride
/// for each of its dimensions.
static FailureOr<AttentionBuffer> findPlace(Operation *op, Value operand,
                                            SmallVector<int64_t> &strides) {
  auto type = cast<MemRefType>(operand.getType());
  AttentionBuffer buffer;
  buffer.elementType = type.getElementType();
  if (failed(type.getStridesAndOffset(strides, buffer.offset)) ||
      ShapedType::isDynamic(buffer.offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return op->emitError("a kernel of attention needs operands whose place is "
                         "static, found ")
           << type;
  // The offset in the type counts from the start of the buffer.
  while (Operation *view = operand.getDefiningOp()) {
    if (!isa<memref::ReinterpretCastOp, memref::CastOp>(view))
      return op->emitError("a kernel of attention needs operands that are "
                           "parts of its arguments, found ")
             << operand;
    operand = view->getOperand(0);
  }
  buffer.base = operand;
  return buffer;
}

namespace {

/// Reads operands until one fails.
class Reader {
public:
  explicit Reader(pipe::AttentionOpInterface op) : op(op) {}

  /// Reads an operand of shape [batch..., rows, elements].
  AttentionBuffer readMatrix(Value operand) {
    SmallVector<int64_t> strides;
    AttentionBuffer buffer = read(operand, strides);
    if (!isWrong) {
      buffer.rowStride = strides[strides.size() - 2];
      buffer.columnStride = strides.back();
      buffer.batchStrides.assign(strides.begin(), strides.end() - 2);
    }
    return buffer;
  }

  /// Reads an operand of shape [batch..., rows].
  AttentionBuffer readRows(Value operand) {
    SmallVector<int64_t> strides;
    AttentionBuffer buffer = read(operand, strides);
    if (!isWrong) {
      buffer.rowStride = strides.back();
      buffer.batchStrides.assign(strides.begin(), strides.end() - 1);
    }
    return buffer;
  }

  /// Reads the mask. Dimensions that it lacks have a stride of zero.
  AttentionBuffer readMask() {
    SmallVector<int64_t> own;
    AttentionBuffer buffer = read(op.getMask(), own);
    SmallVector<int64_t> strides(op.getNumBatchDims() + 2, 0);
    if (isWrong)
      return buffer;
    for (auto [dim, stride] : llvm::zip(*op.getMaskDims(), own))
      strides[dim] = stride;
    buffer.columnStride = strides.pop_back_val();
    buffer.rowStride = strides.pop_back_val();
    buffer.batchStrides = strides;
    return buffer;
  }

  bool isWrong = false;

private:
  AttentionBuffer read(Value operand, SmallVector<int64_t> &strides) {
    if (isWrong)
      return {};
    FailureOr<AttentionBuffer> buffer =
        findPlace(op.getOperation(), operand, strides);
    isWrong = failed(buffer);
    return isWrong ? AttentionBuffer() : *buffer;
  }

  pipe::AttentionOpInterface op;
};

} // namespace

static void readSizes(pipe::AttentionOpInterface op,
                      AttentionProblem &problem) {
  ArrayRef<int64_t> query = op.getQueryType().getShape();
  ArrayRef<int64_t> key = op.getKeyType().getShape();
  problem.batch.assign(query.begin(), query.end() - 2);
  problem.queries = query[query.size() - 2];
  problem.depth = query.back();
  problem.keys = key[key.size() - 2];
  problem.valueDepth = op.getValueType().getShape().back();
  if (!problem.batch.empty() && key[key.size() - 3] > 0)
    problem.group = problem.batch.back() / key[key.size() - 3];
  problem.scale = op.getScale().convertToDouble();
  problem.fill = op.getFillOrDefault();
  problem.isCausal = op.getCausal();
}

FailureOr<AttentionProblem>
AttentionProblem::read(pipe::AttentionOpInterface op) {
  AttentionProblem problem;
  problem.op = op.getOperation();
  readSizes(op, problem);
  Reader reader(op);
  problem.query = reader.readMatrix(op.getQuery());
  problem.key = reader.readMatrix(op.getKey());
  problem.value = reader.readMatrix(op.getValue());
  if (op.getMask())
    problem.mask = reader.readMask();
  auto readGradients = [&](auto derivative) {
    problem.outputGrad = reader.readMatrix(derivative.getOutputGrad());
    problem.lse = reader.readRows(derivative.getLse());
    problem.delta = reader.readRows(derivative.getDelta());
  };
  if (auto forward = dyn_cast<pipe::AttentionOp>(problem.op)) {
    problem.results.push_back(reader.readMatrix(forward.getOutput()));
    problem.lse = reader.readRows(forward.getLse());
  } else if (auto toQuery = dyn_cast<pipe::AttentionBackwardQOp>(problem.op)) {
    readGradients(toQuery);
    problem.results.push_back(reader.readMatrix(toQuery.getQueryGrad()));
  } else {
    auto toKey = cast<pipe::AttentionBackwardKVOp>(problem.op);
    readGradients(toKey);
    problem.results.push_back(reader.readMatrix(toKey.getKeyGrad()));
    problem.results.push_back(reader.readMatrix(toKey.getValueGrad()));
  }
  if (reader.isWrong)
    return failure();
  return problem;
}

SmallVector<int64_t> AttentionProblem::getKeyBatch() const {
  SmallVector<int64_t> sizes = batch;
  if (!sizes.empty())
    sizes.back() /= group;
  return sizes;
}
