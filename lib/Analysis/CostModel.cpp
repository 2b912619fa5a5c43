//===- CostModel.cpp - what an operation costs ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/CostModel.h"

#include "veeline/Analysis/Convolution.h"
#include "veeline/Analysis/CostOpInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"

#include <algorithm>

#include "veeline/Analysis/CostOpInterface.cpp.inc"

using namespace mlir;
using namespace veeline;

/// The number of FLOPs of a transcendental function in polynomial form, about.
static constexpr uint64_t transcendentalFlops = 16;

uint64_t veeline::getByteSize(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() || !shaped.hasStaticShape() ||
      !shaped.getElementType().isIntOrIndexOrFloat())
    return 0;
  unsigned bits =
      shaped.getElementType().isIndex() ? 64 : shaped.getElementTypeBitWidth();
  return shaped.getNumElements() *
         llvm::PowerOf2Ceil(llvm::divideCeil(bits, 8));
}

bool veeline::isContraction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return false;
  // Poolings have windows like convolutions, but multiply nothing.
  if (isa<linalg::ConvolutionOpInterface>(op))
    return !linalgOp.getBlock()->getOps<arith::MulFOp>().empty();
  return linalg::isaContractionOpInterface(linalgOp) ||
         matchConvolution(linalgOp).has_value();
}

/// FLOPs of one run of a scalar body.
static uint64_t countBodyFlops(Region &region) {
  uint64_t flops = 0;
  for (Operation &op : region.getOps()) {
    if (isa<math::MathDialect>(op.getDialect()))
      flops += transcendentalFlops;
    else if (isa<arith::ArithDialect>(op.getDialect()) &&
             !isa<arith::ConstantOp>(op))
      flops += 1;
  }
  return flops;
}

static uint64_t countBytes(Operation *op) {
  uint64_t bytes = 0;
  for (Type type : op->getOperandTypes())
    bytes += getByteSize(type);
  for (Type type : op->getResultTypes())
    bytes += getByteSize(type);
  return bytes;
}

static OpCost estimateStructured(linalg::LinalgOp op) {
  OpCost cost;
  cost.bytes = countBytes(op);
  uint64_t iterations = 1;
  for (int64_t range : op.getStaticLoopRanges())
    iterations *= ShapedType::isDynamic(range) ? 1 : range;
  uint64_t flops = iterations * countBodyFlops(op->getRegion(0));
  if (isContraction(op))
    cost.contractionFlops = flops;
  else
    cost.otherFlops = flops;
  return cost;
}

static OpCost estimateLoop(scf::ForOp loop) {
  OpCost body = estimateCost(loop.getRegion());
  std::optional<APInt> trips = loop.getStaticTripCount();
  uint64_t count = trips ? trips->getZExtValue() : 1;
  return {body.contractionFlops * count, body.otherFlops * count,
          body.bytes * count};
}

/// A branch costs as much as its more expensive side: which one runs is not
/// known.
static OpCost estimateBranch(scf::IfOp op) {
  OpCost first = estimateCost(op.getThenRegion());
  OpCost second = estimateCost(op.getElseRegion());
  return estimateNanoseconds(first) < estimateNanoseconds(second) ? second
                                                                  : first;
}

/// Counts the matrix products that are as large as the scores: two in the
/// forward, three for the gradient of the queries, four for those of keys and
/// values, five for all three, because scores are recomputed. A causal mask
/// skips half of them. Scores are never in memory.
static OpCost estimateAttention(pipe::AttentionOpInterface op) {
  OpCost cost;
  cost.bytes = countBytes(op);
  uint64_t scores = 1;
  for (int64_t extent : op.getScoreShape())
    scores *= ShapedType::isDynamic(extent) ? 1 : extent;
  if (op.getCausal())
    scores /= 2;
  uint64_t depth = op.getQueryType().getShape().back();
  uint64_t valueDepth = op.getValueType().getShape().back();
  // The numbers of products that sum over the depth of queries and keys, and
  // over that of values.
  bool isBoth = isa<pipe::AttentionBackwardOp>(op);
  unsigned first = isa<pipe::AttentionOp>(op) ? 1 : isBoth ? 3 : 2;
  unsigned second = isBoth || isa<pipe::AttentionBackwardKVOp>(op) ? 2 : 1;
  cost.contractionFlops = 2 * scores * (first * depth + second * valueDepth);
  cost.otherFlops = scores * (transcendentalFlops + 4);
  return cost;
}

OpCost veeline::estimateCost(Operation *op) {
  if (auto costly = dyn_cast<CostOpInterface>(op))
    return costly.estimateCost();
  if (auto attention = dyn_cast<pipe::AttentionOpInterface>(op))
    return estimateAttention(attention);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return estimateStructured(structured);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return estimateLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return estimateBranch(branch);
  if (op->hasTrait<OpTrait::ConstantLike>() ||
      isa<tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::CastOp, tensor::ExtractSliceOp, pipe::BoundaryOp>(op))
    return {};
  OpCost cost;
  // One element is read or written; the tensor is not copied.
  if (isa<tensor::ExtractOp, tensor::InsertOp>(op)) {
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    cost.bytes = element.isIntOrFloat()
                     ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
                     : sizeof(int64_t);
    return cost;
  }
  if (op->hasTrait<OpTrait::IsTerminator>())
    return cost;
  // Only the slice moves; the tensor that it is inserted into is not copied.
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    cost.bytes = 2 * getByteSize(insert.getSourceType());
    return cost;
  }
  cost.bytes = countBytes(op);
  if (op->getNumRegions() == 0 && op->getNumResults() == 1)
    if (auto shaped = dyn_cast<ShapedType>(op->getResult(0).getType());
        shaped && shaped.hasStaticShape())
      cost.otherFlops =
          shaped.getNumElements() *
          (isa<math::MathDialect>(op->getDialect()) ? transcendentalFlops : 1);
  return cost;
}

OpCost veeline::estimateCost(Region &region) {
  OpCost cost;
  for (Operation &op : region.getOps())
    cost += estimateCost(&op);
  return cost;
}

double veeline::estimateNanoseconds(const OpCost &cost,
                                    const Machine &machine) {
  double compute = cost.contractionFlops / machine.contractionFlopsPerNs +
                   cost.otherFlops / machine.otherFlopsPerNs;
  return std::max(compute, cost.bytes / machine.bytesPerNs);
}
