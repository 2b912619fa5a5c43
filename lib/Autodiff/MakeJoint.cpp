//===- MakeJoint.cpp - a model and its derivative in one function ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "JointFunction.h"
#include "mlir/IR/Dominance.h"
#include "veeline/Autodiff/Joint.h"
#include "veeline/Autodiff/Loops.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;
using veeline::pipe::BoundaryOp;

/// The values that each cut marks.
static SmallVector<SmallVector<Value>> findCuts(Block &block) {
  SmallVector<SmallVector<Value>> cuts;
  Operation *last = nullptr;
  for (auto mark : block.getOps<BoundaryOp>()) {
    if (!last || mark->getPrevNode() != last)
      cuts.emplace_back();
    Value value = mark.getValue();
    while (auto inner = value.getDefiningOp<BoundaryOp>())
      value = inner.getValue();
    cuts.back().push_back(value);
    last = mark;
  }
  return cuts;
}

/// Marks `values` as one cut, after the last of them is computed.
static void markCut(Block &block, ArrayRef<Value> values) {
  Operation *after = nullptr;
  for (Value value : values) {
    Operation *op = value.getDefiningOp();
    if (op && (!after || after->isBeforeInBlock(op)))
      after = op;
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  if (after)
    builder.setInsertionPointAfter(after);
  for (Value value : values) {
    auto mark =
        BoundaryOp::create(builder, value.getLoc(), value.getType(), value);
    value.replaceUsesWithIf(mark, [&](OpOperand &use) {
      Operation *user = block.findAncestorOpInBlock(*use.getOwner());
      return mark->isBeforeInBlock(user);
    });
  }
}

LogicalResult veeline::autodiff::appendGradients(func::FuncOp model,
                                                 ArrayRef<bool> wanted,
                                                 KernelTarget target) {
  if (failed(prepareModel(model)))
    return failure();
  // The marked values are results meanwhile, so that they are kept.
  OwningOpRef<func::FuncOp> primal = model.clone();
  Operation *terminator = primal->getBody().front().getTerminator();
  unsigned numResults = terminator->getNumOperands();
  auto cuts = findCuts(primal->getBody().front());
  for (ArrayRef<Value> cut : cuts)
    terminator->insertOperands(terminator->getNumOperands(), cut);
  primal->setType(FunctionType::get(model.getContext(),
                                    primal->getArgumentTypes(),
                                    terminator->getOperandTypes()));
  SmallVector<bool> seeded(terminator->getNumOperands(), false);
  seeded.front() = true;
  FailureOr<JointFunction> joint =
      buildJointFunction(*primal, wanted, seeded, target);
  if (failed(joint))
    return failure();
  Block &block = joint->func->getBody().front();
  terminator = block.getTerminator();
  auto seed = cast<BlockArgument>(joint->seeds.front());
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  seed.replaceAllUsesWith(
      Emit(builder, model.getLoc()).constant(seed.getType(), 1.0));
  block.eraseArgument(seed.getArgNumber());
  SmallVector<Value> marked(
      llvm::drop_begin(terminator->getOperands(), numResults));
  terminator->eraseOperands(numResults, marked.size());
  ArrayRef<Value> left = marked;
  for (ArrayRef<Value> cut : cuts) {
    markCut(block, left.take_front(cut.size()));
    left = left.drop_front(cut.size());
  }
  SmallVector<Value> gradients = llvm::filter_to_vector(
      joint->gradients, [](Value gradient) { return !!gradient; });
  terminator->insertOperands(numResults, gradients);
  model.getBody().takeBody(joint->func->getBody());
  SmallVector<DictionaryAttr> attributes;
  model.getAllResultAttrs(attributes);
  attributes.resize(numResults + gradients.size(),
                    DictionaryAttr::get(model.getContext()));
  model.setType(FunctionType::get(
      model.getContext(), model.getArgumentTypes(),
      model.getBody().front().getTerminator()->getOperandTypes()));
  model.setAllResultAttrs(attributes);
  return success();
}
