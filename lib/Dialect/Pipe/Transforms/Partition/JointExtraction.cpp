//===- JointExtraction.cpp - chunks out of a joint function ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Partition/JointExtraction.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

static void removeMarks(func::FuncOp func) {
  for (auto mark :
       llvm::make_early_inc_range(func.getBody().getOps<BoundaryOp>())) {
    mark->replaceAllUsesWith(ValueRange(mark.getValue()));
    mark->erase();
  }
}

/// The ops of `func`'s block that its results depend on, but for gradients.
static SmallVector<Operation *> getForward(func::FuncOp func) {
  Block &block = func.getBody().front();
  llvm::SetVector<Operation *> ops;
  auto add = [&](Value value) {
    if (Operation *op = value.getDefiningOp(); op && op->getBlock() == &block)
      ops.insert(op);
  };
  for (auto [i, result] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (!func.getResultAttr(i, PipeDialect::gradientOfAttrName))
      add(result);
  for (size_t i = 0; i != ops.size(); ++i)
    ops[i]->walk(
        [&](Operation *op) { llvm::for_each(op->getOperands(), add); });
  SmallVector<Operation *> forward = ops.takeVector();
  llvm::erase_if(forward, llvm::IsaPred<BoundaryOp>);
  llvm::sort(forward,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return forward;
}

/// Finds the ops of the model in the joint function: the same ones, in the same
/// order.
LogicalResult JointExtraction::mapForward() {
  SmallVector<Operation *> ops = getForward(model);
  SmallVector<Operation *> others = getForward(*copy);
  bool isSame = ops.size() == others.size() &&
                model.getArgumentTypes() == copy->getArgumentTypes();
  for (size_t i = 0; isSame && i != ops.size(); ++i) {
    isSame = ops[i]->getName() == others[i]->getName() &&
             ops[i]->getResultTypes() == others[i]->getResultTypes();
    opInJoint[ops[i]] = others[i];
    if (isSame)
      for (auto [result, other] :
           llvm::zip_equal(ops[i]->getResults(), others[i]->getResults()))
        inJoint[result] = other;
  }
  if (!isSame)
    return model.emitError()
           << "the model has changed since --pipe-separate-joint, and its "
              "joint function has not; change the joint function before that "
              "pass";
  for (auto [argument, other] :
       llvm::zip_equal(model.getArguments(), copy->getArguments()))
    inJoint[argument] = other;
  return success();
}

SmallVector<autodiff::JointChunk>
JointExtraction::describeChunks(const ExtractionPlan &plan) {
  SmallVector<autodiff::JointChunk> chunks;
  for (const ChunkPlan &from : plan.getChunks()) {
    autodiff::JointChunk &chunk = chunks.emplace_back();
    chunk.name =
        (model.getSymName() + "_chunk" + Twine(chunks.size() - 1)).str();
    for (Operation *op : from.ops)
      if (plan.isMain(op))
        chunk.ops.push_back(opInJoint.lookup(op));
    chunk.operands = mapAll(from.operands);
    chunk.results = mapAll(from.results);
  }
  return chunks;
}

SmallVector<autodiff::JointGradient> JointExtraction::getGradients() {
  func::FuncOp joint = *copy;
  llvm::StringMap<BlockArgument> params;
  for (BlockArgument argument : joint.getArguments())
    if (auto param = joint.getArgAttrOfType<ParamAttr>(
            argument.getArgNumber(), PipeDialect::paramAttrName))
      params[param.getName().getValue()] = argument;
  SmallVector<autodiff::JointGradient> gradients;
  Operation *terminator = joint.getBody().front().getTerminator();
  for (unsigned i = 0; i != joint.getNumResults(); ++i)
    if (auto name = joint.getResultAttrOfType<StringAttr>(
            i, PipeDialect::gradientOfAttrName))
      gradients.push_back(
          {params.lookup(name.getValue()), terminator->getOperand(i)});
  return gradients;
}

FailureOr<JointExtraction> JointExtraction::make(func::FuncOp model,
                                                 func::FuncOp joint,
                                                 ExtractionPlan &plan) {
  JointExtraction extraction(model, joint);
  removeMarks(*extraction.copy);
  if (failed(extraction.mapForward()))
    return failure();
  auto cut = autodiff::JointCut::make(*extraction.copy,
                                      extraction.describeChunks(plan),
                                      extraction.getGradients());
  if (failed(cut))
    return failure();
  extraction.cut = std::move(*cut);
  for (unsigned i = 0; i != plan.getChunks().size(); ++i) {
    SmallVector<Value> missing;
    for (Value value : extraction.cut->getMissingOperands(i))
      missing.push_back(
          model.getArgument(cast<BlockArgument>(value).getArgNumber()));
    plan.addOperands(i, missing);
    extraction.operands.push_back(
        extraction.mapAll(plan.getChunks()[i].operands));
  }
  return extraction;
}

void JointExtraction::build(PipelineOp pipeline, SymbolTable &symbols) {
  auto isParameter = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && copy->getArgAttr(argument.getArgNumber(),
                                        PipeDialect::paramAttrName);
  };
  for (auto [i, chunk] : llvm::enumerate(pipeline.getChunks())) {
    auto primal = symbols.lookup<func::FuncOp>(chunk.getPrimal());
    OwningOpRef<func::FuncOp> joint = cut->build(i, operands[i], isParameter);
    StringAttr name =
        symbols.insert(joint.release(), std::next(Block::iterator(primal)));
    primal->setAttr(PipeDialect::jointAttrName, FlatSymbolRefAttr::get(name));
  }
}
