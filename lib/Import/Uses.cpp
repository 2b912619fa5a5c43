//===- Uses.cpp - what a model does with a value --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Uses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
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

/// Ops whose result is their first operand in another form.
static bool isView(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp,
             tensor::CastOp, tensor::ExtractSliceOp, tensor::PadOp,
             arith::ExtFOp, arith::TruncFOp>(op);
}

/// A matrix product or convolution, which pooling is not.
static bool isProduct(linalg::LinalgOp op) {
  bool isConvolution = isa<linalg::ConvolutionOpInterface>(op.getOperation());
  return linalg::isaContractionOpInterface(op) ||
         (isConvolution && !op->getName().getStringRef().contains("pooling"));
}

/// Whether it is the result of a product, through views.
static bool comesFromProduct(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      return isProduct(structured);
    if (!isView(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// Whether `value`, added to `other`, is a bias though it is no smaller, since
/// `other` has only one row: all its elements are along the last dimension.
static bool isBiasOfOneRow(Value value, Value other) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.hasStaticShape() && type.getRank() > 0 &&
         type.getNumElements() > 1 &&
         type.getNumElements() == type.getShape().back() &&
         comesFromProduct(other);
}

void UseFinder::visit(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isView(op)) {
    if (use.getOperandNumber() == 0)
      follow(op->getResult(0));
    return;
  }
  if (isa<tensor::ExtractOp, tensor::GatherOp>(op)) {
    uses.lookedUp |= use.getOperandNumber() == 0;
    uses.weight |= use.getOperandNumber() == 0;
    return;
  }
  // On the level of tensors, where what is smaller was broadcast before.
  auto type = dyn_cast<RankedTensorType>(use.get().getType());
  bool wasBroadcast =
      type && type.hasStaticShape() && type.getNumElements() > elements;
  if (isa<arith::MulFOp>(op))
    uses.multiplied |= wasBroadcast;
  if (isa<arith::AddFOp, arith::SubFOp>(op))
    uses.added |= wasBroadcast;
  if (isa<arith::AddFOp>(op))
    uses.added |=
        isBiasOfOneRow(use.get(), op->getOperand(1 - use.getOperandNumber()));
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
  if (isProduct(op)) {
    uses.weight = true;
    uses.products.push_back(&use);
    uses.summed = std::max(uses.summed, countSummed(op));
    return;
  }
  if (op.getNumReductionLoops() == 0)
    visitBody(op, use);
}

/// Whether the body adds `argument` to the row of a product.
static bool isBiasInBody(linalg::LinalgOp op, OpOperand &use, Operation *add) {
  Value argument = op.getMatchingBlockArgument(&use);
  Value other = add->getOperand(add->getOperand(0) == argument ? 1 : 0);
  auto of = dyn_cast<BlockArgument>(other);
  return isa<arith::AddFOp>(add) && of && of.getOwner() == op.getBlock() &&
         isBiasOfOneRow(use.get(), op->getOperand(of.getArgNumber()));
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
      uses.added |= isBroadcast || isBiasInBody(op, use, user);
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

/// Whether a root of it is taken, as of a variance: through elementwise ops, of
/// which a sum with a small number is one.
static bool isUnderRoot(Value value, int depth = 8) {
  return depth > 0 && llvm::any_of(value.getUses(), [&](OpOperand &use) {
           Operation *op = use.getOwner();
           if (isa<math::RsqrtOp, math::SqrtOp, linalg::RsqrtOp,
                   linalg::SqrtOp>(op))
             return true;
           if (auto structured = dyn_cast<linalg::LinalgOp>(op))
             return structured.getNumReductionLoops() == 0 &&
                    structured.isDpsInput(&use) &&
                    isUnderRoot(structured.getMatchingBlockArgument(&use),
                                depth - 1);
           if (isa<linalg::YieldOp>(op))
             return isUnderRoot(
                 op->getParentOp()->getResult(use.getOperandNumber()),
                 depth - 1);
           return (isa<arith::AddFOp, arith::MaximumFOp>(op) || isView(op)) &&
                  isUnderRoot(op->getResult(0), depth - 1);
         });
}

Uses veeline::findUses(Value value) {
  UseFinder finder(cast<RankedTensorType>(value.getType()).getNumElements());
  finder.follow(value);
  finder.uses.underRoot = !finder.uses.weight && isUnderRoot(value);
  return finder.uses;
}

llvm::DenseSet<Value>
veeline::findDependent(func::FuncOp model,
                       llvm::function_ref<bool(unsigned)> isWanted) {
  llvm::DenseSet<Value> dependent;
  for (BlockArgument argument : model.getArguments())
    if (isWanted(argument.getArgNumber()))
      dependent.insert(argument);
  for (Operation &op : model.getBody().front()) {
    bool depends = false;
    op.walk([&](Operation *inner) {
      depends |= llvm::any_of(inner->getOperands(), [&](Value operand) {
        return dependent.contains(operand);
      });
    });
    if (depends)
      dependent.insert_range(op.getResults());
  }
  return dependent;
}
