//===- JointExtraction.cpp - chunks out of a joint function ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Partition/JointExtraction.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
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

/// The ops of `func`'s block on which its results, except gradients, depend.
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

/// The value that `value` becomes once marks are removed.
static Value skipMarks(Value value) {
  while (auto mark = value.getDefiningOp<BoundaryOp>())
    value = mark.getValue();
  return value;
}

/// The results of the joint function that are results of the model.
static SmallVector<Value> getModelResults(func::FuncOp joint) {
  SmallVector<Value> results;
  Operation *terminator = joint.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(terminator->getOperands()))
    if (!joint.getResultAttr(i, PipeDialect::gradientOfAttrName))
      results.push_back(result);
  return results;
}

bool JointExtraction::isSame(Value value, Value other) const {
  return inJoint.lookup(skipMarks(value)) == other;
}

LogicalResult JointExtraction::emitChanged(Operation *op, Operation *other) {
  InFlightDiagnostic diagnostic = model.emitError();
  diagnostic << "the model has changed since --pipe-separate-joint, and its "
                "joint function has not; change the joint function before that "
                "pass";
  if (op)
    diagnostic.attachNote(op->getLoc()) << "the model has this";
  if (other)
    diagnostic.attachNote(other->getLoc()) << "the joint function has this";
  return diagnostic;
}

/// Finds the ops of the model in the joint function. They have to be the same
/// ops in the same order.
LogicalResult JointExtraction::mapForward() {
  if (!copy->getBody().hasOneBlock() ||
      model.getArgumentTypes() != copy->getArgumentTypes())
    return emitChanged(model, *copy);
  for (auto [argument, other] :
       llvm::zip_equal(model.getArguments(), copy->getArguments()))
    inJoint[argument] = other;
  SmallVector<Operation *> ops = getForward(model);
  SmallVector<Operation *> others = getForward(*copy);
  for (size_t i = 0; i != std::max(ops.size(), others.size()); ++i) {
    Operation *op = i < ops.size() ? ops[i] : nullptr;
    Operation *other = i < others.size() ? others[i] : nullptr;
    if (!op || !other ||
        !OperationEquivalence::isEquivalentTo(
            op, other, [&](Value a, Value b) { return success(isSame(a, b)); },
            [&](Value a, Value b) { inJoint[a] = b; },
            // Both flags are set: the check only knows values with a single
            // flag.
            // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange)
            OperationEquivalence::IgnoreLocations |
                OperationEquivalence::IgnoreDiscardableAttrs))
      return emitChanged(op, other);
    opInJoint[op] = other;
  }
  Operation *terminator = model.getBody().front().getTerminator();
  SmallVector<Value> results = getModelResults(*copy);
  if (results.size() != terminator->getNumOperands() ||
      !llvm::all_of_zip(
          terminator->getOperands(), results,
          [&](Value value, Value other) { return isSame(value, other); }))
    return emitChanged(terminator, copy->getBody().front().getTerminator());
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

FailureOr<SmallVector<autodiff::JointGradient>>
JointExtraction::findGradients() {
  func::FuncOp joint = *copy;
  FailureOr<SmallVector<SubjectResult>> results = findSubjectResults(joint);
  if (failed(results))
    return failure();
  SmallVector<autodiff::JointGradient> gradients;
  Operation *terminator = joint.getBody().front().getTerminator();
  for (auto [param, result] : *results)
    gradients.push_back({param, terminator->getOperand(result)});
  return gradients;
}

FailureOr<JointExtraction> JointExtraction::make(func::FuncOp model,
                                                 func::FuncOp joint,
                                                 ExtractionPlan &plan) {
  JointExtraction extraction(model, joint);
  removeMarks(*extraction.copy);
  if (failed(extraction.mapForward()))
    return failure();
  auto gradients = extraction.findGradients();
  if (failed(gradients))
    return failure();
  auto cut = autodiff::JointCut::make(
      *extraction.copy, extraction.describeChunks(plan), *gradients);
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
