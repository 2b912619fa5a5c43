//===- Model.cpp - shared code of the import's passes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Import/Passes.h"

using namespace mlir;
using namespace veeline;

FailureOr<func::FuncOp> veeline::getChosenModel(ModuleOp module) {
  func::FuncOp chosen;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || !function.isPublic())
      continue;
    if (chosen)
      return module.emitError("expected one public func.func, found @")
             << chosen.getSymName() << " and @" << function.getSymName()
             << "; run --pipe-import-entry first";
    chosen = function;
  }
  if (!chosen)
    return module.emitError("expected a public func.func with a body");
  return chosen;
}

bool veeline::followsContract(func::FuncOp model) {
  for (unsigned i = 0; i < model.getNumArguments(); ++i)
    for (StringRef name :
         {pipe::PipeDialect::paramAttrName, pipe::PipeDialect::batchAttrName,
          pipe::PipeDialect::bufferAttrName})
      if (model.getArgAttr(i, name))
        return true;
  return false;
}

bool veeline::isFloatTensor(Type type, int64_t least) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         isa<FloatType>(tensor.getElementType()) &&
         tensor.getNumElements() >= least;
}

void veeline::updateType(func::FuncOp model) {
  Block &block = model.getBody().front();
  model.setType(FunctionType::get(model.getContext(), block.getArgumentTypes(),
                                  block.getTerminator()->getOperandTypes()));
}

BlockArgument veeline::addArgument(func::FuncOp model, Type type,
                                   StringAttr attributeName,
                                   Attribute attribute, Location location) {
  unsigned index = model.getNumArguments();
  NamedAttribute named(attributeName, attribute);
  (void)model.insertArgument(
      index, type, DictionaryAttr::get(model.getContext(), named), location);
  return model.getArgument(index);
}

void veeline::dropResults(func::FuncOp model,
                          llvm::function_ref<bool(int64_t number)> goes) {
  Operation *end = model.getBody().front().getTerminator();
  OpBuilder builder(end);
  bool isChanged = false;
  for (OpOperand &operand : end->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || !type.hasStaticShape() || !goes(operand.getOperandNumber()))
      continue;
    operand.set(tensor::EmptyOp::create(builder, operand.get().getLoc(),
                                        type.getShape(),
                                        type.getElementType()));
    isChanged = true;
  }
  // After a body is removed, values from outside that only it used are dead,
  // too. So repeat.
  IRRewriter rewriter(model.getContext());
  while (isChanged)
    isChanged = succeeded(runRegionDCE(rewriter, model->getRegions()));
}

bool veeline::isDropped(Value result) {
  return bool(result.getDefiningOp<tensor::EmptyOp>());
}

InFlightDiagnostic veeline::refuseSeveral(func::FuncOp model,
                                          ArrayRef<int64_t> candidates) {
  InFlightDiagnostic diagnostic =
      model.getBody().front().getTerminator()->emitError(
          "several results of the model can be what the loss is made of: ");
  llvm::interleaveComma(candidates, diagnostic, [&](int64_t i) {
    diagnostic << i << ": " << model.getResultTypes()[i];
  });
  diagnostic << "; choose one by --result";
  return diagnostic;
}
