//===- RegionJoint.cpp - forward and backward of a region -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegionJoint.h"

#include "Activity.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace veeline::autodiff;

static Operation *createHolder(Operation *op) {
  OpBuilder builder(op);
  auto holder =
      scf::ExecuteRegionOp::create(builder, op->getLoc(), TypeRange());
  holder.getRegion().emplaceBlock();
  return holder;
}

RegionJoint::RegionJoint(Block &source, const IRMapping &mapped)
    : holder(createHolder(source.getParentOp())),
      block(holder->getRegion(0).front()), builder(holder->getContext()),
      copy(mapped) {
  for (BlockArgument argument : source.getArguments())
    if (!copy.contains(argument))
      copy.map(argument,
               block.addArgument(argument.getType(), argument.getLoc()));
  builder.setInsertionPointToEnd(&block);
  for (Operation &op : source)
    builder.clone(op, copy);
  builder.setInsertionPoint(block.getTerminator());
}

LogicalResult
RegionJoint::differentiate(const DenseSet<Value> &active,
                           ArrayRef<std::pair<Value, Value>> seeds) {
  DenseSet<Value> mapped;
  for (Value value : active)
    mapped.insert(get(value));
  adjoint = std::make_unique<BlockAdjoint>(builder, std::move(mapped));
  for (auto [value, gradient] : seeds) {
    adjoint->contribute(get(value), gradient);
    late.insert(gradient);
  }
  SmallVector<Operation *> ops = llvm::map_to_vector(
      block.without_terminator(), [](Operation &op) { return &op; });
  return adjoint->differentiate(ops);
}

void RegionJoint::partition(ArrayRef<Value> targets) {
  DenseSet<Operation *> lateOps;
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(getAllOperands(op),
                     [&](Value v) { return late.contains(v); })) {
      lateOps.insert(&op);
      late.insert(op.result_begin(), op.result_end());
    }
  SmallVector<Value> inside = llvm::filter_to_vector(
      targets, [&](Value value) { return value.getParentBlock() == &block; });
  // One iteration keeps what Balanced keeps, whatever the policy is. The policy
  // decides whether the loop as a whole is recomputed.
  Partition chosen = choosePartition(
      {inside, [&](Operation *op) { return lateOps.contains(op); },
       [](Value value) { return getNumBytes(value.getType()) * pricePerByte; },
       [](Operation *op) { return getRecomputePrice(op, Recompute()); }});
  backward = std::move(chosen.ops);
  for (Value value : chosen.kept)
    if (!late.contains(value))
      kept.push_back(value);
}

void RegionJoint::cloneForward(OpBuilder &at, ArrayRef<Value> results,
                               IRMapping &mapping) {
  SmallVector<Value> inside = llvm::filter_to_vector(
      results, [&](Value value) { return value.getParentBlock() == &block; });
  for (Operation *op : getBackwardSlice(inside))
    at.clone(*op, mapping);
}

RegionJoint::Part
RegionJoint::selectBackward(ArrayRef<Value> targets,
                            function_ref<bool(Value)> isGiven) const {
  Part part;
  DenseSet<Value> needed(targets.begin(), targets.end());
  for (Operation *op : llvm::reverse(backward)) {
    if (llvm::none_of(op->getResults(),
                      [&](Value result) { return needed.contains(result); }))
      continue;
    part.ops.push_back(op);
    for (Value operand : getAllOperands(*op)) {
      if (isGiven(operand))
        part.taken.insert(operand);
      else
        needed.insert(operand);
    }
  }
  std::reverse(part.ops.begin(), part.ops.end());
  return part;
}
