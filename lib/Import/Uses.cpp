//===- Uses.cpp - what a model does with a value --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Uses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace veeline;

namespace {
class UseFinder {
public:
  explicit UseFinder(int64_t elements) : elements(elements) {}
  void follow(Value value);
  Uses uses;

private:
  void visit(OpOperand &use);
  void visitStructured(linalg::LinalgOp op, OpOperand &use);
  void visitBody(linalg::LinalgOp op, OpOperand &use);

  int64_t elements;
};
} // namespace

void UseFinder::follow(Value value) {
  for (OpOperand &use : value.getUses())
    visit(use);
}

void UseFinder::visit(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp,
          tensor::CastOp, tensor::ExtractSliceOp, tensor::PadOp, arith::ExtFOp,
          arith::TruncFOp>(op)) {
    if (use.getOperandNumber() == 0)
      follow(op->getResult(0));
    return;
  }
  if (isa<tensor::ExtractOp, tensor::GatherOp>(op)) {
    uses.weight |= use.getOperandNumber() == 0;
    return;
  }
  // Added on the level of tensors, which broadcasts nothing.
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    visitStructured(structured, use);
}

/// The product of the extents of the loops that are reduced.
static int64_t countSummed(linalg::LinalgOp op) {
  int64_t count = 1;
  for (auto [extent, iterator] :
       llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      count *= std::max<int64_t>(extent, 1);
  return count;
}

void UseFinder::visitStructured(linalg::LinalgOp op, OpOperand &use) {
  if (op.isDpsInit(&use)) {
    bool isStart = op.getNumReductionLoops() > 0 &&
                   !op.getMatchingBlockArgument(&use).use_empty();
    uses.start |= isStart;
    // A bias: what was broadcast to where the sum begins.
    auto type = cast<RankedTensorType>(use.get().getType());
    uses.added |= isStart && elements > 1 && type.hasStaticShape() &&
                  type.getNumElements() > elements;
    return;
  }
  bool isProduct = linalg::isaContractionOpInterface(op) ||
                   isa<linalg::ConvolutionOpInterface>(op.getOperation());
  bool isWindow = isa<linalg::ConvolutionOpInterface>(op.getOperation()) &&
                  op->getName().getStringRef().contains("pooling");
  if (isProduct && !isWindow) {
    uses.weight = true;
    uses.summed = std::max(uses.summed, countSummed(op));
    return;
  }
  if (op.getNumReductionLoops() == 0)
    visitBody(op, use);
}

/// Elementwise: what the body does first with the operand.
void UseFinder::visitBody(linalg::LinalgOp op, OpOperand &use) {
  BlockArgument argument = op.getMatchingBlockArgument(&use);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  bool isBroadcast =
      type.hasStaticShape() &&
      (type.getNumElements() > elements ||
       cast<RankedTensorType>(use.get().getType()).getRank() < type.getRank());
  for (Operation *user : argument.getUsers()) {
    if (isa<linalg::YieldOp>(user))
      follow(op->getResult(0));
    else if (isa<arith::AddFOp, arith::SubFOp>(user))
      uses.added |= isBroadcast;
    else if (isa<arith::MulFOp>(user))
      uses.multiplied |= isBroadcast;
    else if (isa<arith::ExtFOp, arith::TruncFOp>(user))
      for (Operation *next : user->getUsers()) {
        uses.added |= isBroadcast && isa<arith::AddFOp>(next);
        uses.multiplied |= isBroadcast && isa<arith::MulFOp>(next);
        if (isa<linalg::YieldOp>(next))
          follow(op->getResult(0));
      }
  }
}

Uses veeline::findUses(Value value) {
  UseFinder finder(cast<RankedTensorType>(value.getType()).getNumElements());
  finder.follow(value);
  return finder.uses;
}
