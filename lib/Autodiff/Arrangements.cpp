//===- Arrangements.cpp - values that are only rearranged -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arrangements.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Analysis/TensorEmit.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

/// `op`, if it copies a tensor into another order of its dimensions, else null.
static linalg::LinalgOp getPermutation(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || structured.getNumReductionLoops() ||
      structured.getNumDpsInputs() != 1 || op->getNumResults() != 1 ||
      !llvm::hasSingleElement(*structured.getBlock()))
    return {};
  Value moved = structured.getBlock()->getTerminator()->getOperand(0);
  bool isWhole =
      moved == structured.getBlock()->getArgument(0) &&
      llvm::all_of(structured.getIndexingMapsArray(),
                   [](AffineMap map) { return map.isPermutation(); });
  return isWhole ? structured : linalg::LinalgOp();
}

static bool isReshape(Operation *op) {
  return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
}

/// Whether only attention reads `value`, perhaps reshaped or in part.
static bool isForAttention(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUses(), [](OpOperand &use) {
           Operation *user = use.getOwner();
           if (auto attention = dyn_cast<pipe::AttentionOpInterface>(user))
             return use.get() != attention.getMask();
           return (isReshape(user) || isa<tensor::ExtractSliceOp>(user)) &&
                  isForAttention(user->getResult(0));
         });
}

bool veeline::autodiff::isArrangedForAttention(Operation *op) {
  return op && getPermutation(op) && isForAttention(op->getResult(0));
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// The ops of `forward` that rearrange `output`, one after the other. Each but
/// the last is read by nothing but the next.
static SmallVector<Operation *>
findArrangement(Value output, const DenseSet<Operation *> &forward) {
  SmallVector<Operation *> path;
  bool isPermuted = false;
  for (Value value = output;;) {
    SmallVector<Operation *> users =
        llvm::filter_to_vector(value.getUsers(), [&](Operation *user) {
          return forward.contains(user);
        });
    // A result of the chunk is in memory anyway.
    bool isResult = llvm::any_of(value.getUsers(), [](Operation *user) {
      return user->hasTrait<OpTrait::IsTerminator>();
    });
    if (isResult || users.size() != 1)
      break;
    linalg::LinalgOp permutation = getPermutation(users.front());
    if (!permutation && !isReshape(users.front()))
      break;
    isPermuted |= static_cast<bool>(permutation);
    path.push_back(users.front());
    value = users.front()->getResult(0);
  }
  return isPermuted ? path : SmallVector<Operation *>();
}

/// Undoes `op`, which permutes or reshapes a tensor: returns the operand that
/// gives the result `value`.
static Value createInverse(OpBuilder &builder, Operation *op, Value value) {
  auto source = cast<RankedTensorType>(op->getOperand(0).getType());
  Location loc = op->getLoc();
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return tensor::ExpandShapeOp::create(builder, loc, source, value,
                                         collapse.getReassociationIndices());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return tensor::CollapseShapeOp::create(builder, loc, source, value,
                                           expand.getReassociationIndices());
  linalg::LinalgOp permutation = getPermutation(op);
  SmallVector<AffineMap> maps = permutation.getIndexingMapsArray();
  return linalg::GenericOp::create(
             builder, loc, source, value, createEmpty(builder, loc, source),
             {maps[1], maps[0]}, permutation.getIteratorTypesArray(),
             [](OpBuilder &body, Location at, ValueRange arguments) {
               linalg::YieldOp::create(body, at, arguments.front());
             })
      .getResult(0);
}

void veeline::autodiff::readArrangedOutputs(
    Block &block, const DenseSet<Operation *> &forward) {
  SmallVector<pipe::AttentionOp> ops(block.getOps<pipe::AttentionOp>());
  for (pipe::AttentionOp op : ops) {
    if (!forward.contains(op))
      continue;
    Value output = op->getResult(0);
    SmallVector<Operation *> path = findArrangement(output, forward);
    auto isLater = [&](OpOperand &use) {
      return !forward.contains(use.getOwner()) &&
             use.getOwner()->getBlock() == &block;
    };
    if (path.empty() || llvm::none_of(output.getUses(), isLater))
      continue;
    OpBuilder builder(path.back()->getContext());
    builder.setInsertionPointAfter(path.back());
    Value value = path.back()->getResult(0);
    for (Operation *arranging : llvm::reverse(path))
      value = createInverse(builder, arranging, value);
    output.replaceUsesWithIf(value, isLater);
  }
}
