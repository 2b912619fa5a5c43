//===- WeightLoss.cpp - --pipe-weight-loss --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LossFactor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "veeline/Base/Suggest.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"
#include "llvm/ADT/SetVector.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEWEIGHTLOSS
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline::pipe;

static constexpr LossFactor factor = {"loss_weight", PipeDialect::batchAttrName,
                                      PipeDialect::lossWeightAttrName, "weight",
                                      "weighted"};

/// The number of the result with this name. Of results that are tensors, which
/// a model for forwards alone may have, none is a weight.
static FailureOr<unsigned> findResult(func::FuncOp model, StringRef name) {
  std::vector<std::string> names;
  std::vector<unsigned> numbers;
  for (unsigned i = 1; i < model.getNumResults(); ++i)
    if (isLossType(model.getResultTypes()[i])) {
      names.push_back(getResultName(model, i));
      numbers.push_back(i);
    }
  Operation *terminator = model.getBody().front().getTerminator();
  if (names.empty())
    return terminator->emitError()
           << "the model returns its loss alone, and no '" << name
           << "' that weights it; return the number of tokens of a microbatch, "
              "a tensor<f32> or tensor<f64>, as a further result";
  auto found = llvm::find(names, name);
  if (found != names.end())
    return numbers[found - names.begin()];
  return terminator->emitError()
         << "the model has no result '" << name
         << "' that weights the loss; beside the loss it returns "
         << veeline::joinNames(names) << veeline::suggestion(name, names);
}

/// Refuses a weight that depends on a parameter: it would have a gradient, too,
/// and would not be known before the step. Linear in the number of ops on which
/// it depends.
static LogicalResult verifyIsOfData(func::FuncOp model, Value value,
                                    StringRef name) {
  llvm::SetVector<Value> values;
  auto add = [&](Value used, Operation *user) -> LogicalResult {
    auto argument = dyn_cast<BlockArgument>(used);
    if (!argument || argument.getOwner() != &model.getBody().front()) {
      values.insert(used);
      return success();
    }
    unsigned number = argument.getArgNumber();
    if (!model.getArgAttr(number, PipeDialect::paramAttrName))
      return success();
    InFlightDiagnostic diagnostic =
        user->emitError()
        << "'" << name
        << "' cannot weight the loss, because it depends on "
           "parameter \""
        << getInputName(model, number)
        << "\" here; a weight follows from data alone, as the "
           "number of labels that count";
    diagnostic.attachNote(argument.getLoc()) << "the parameter is here";
    return diagnostic;
  };
  if (failed(add(value, model.getBody().front().getTerminator())))
    return failure();
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op)
      continue;
    WalkResult result = op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (failed(add(operand, nested)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

/// Converts `weight` to the type of the loss.
static Value convert(OpBuilder &builder, Value weight, RankedTensorType type) {
  if (weight.getType() == type)
    return weight;
  Location loc = weight.getLoc();
  if (type.getElementType().isF64())
    return arith::ExtFOp::create(builder, loc, type, weight);
  return arith::TruncFOp::create(builder, loc, type, weight);
}

/// Makes the weight the only result, in place of the loss, and erases ops that
/// it does not need. Arguments stay, because data and buffers are found by
/// number. The factor of the loss becomes a factor of the weight, and is 1 when
/// this model runs. So the model has an op that depends on data, even if the
/// weight does not.
static LogicalResult keepWeight(func::FuncOp model, unsigned number) {
  Block &body = model.getBody().front();
  Operation *terminator = body.getTerminator();
  OpBuilder builder(terminator);
  auto type = cast<RankedTensorType>(model.getResultTypes()[0]);
  Value weight = convert(builder, terminator->getOperand(number), type);
  terminator->setOperands(weight);
  model.removeResAttrsAttr();
  model.setType(
      FunctionType::get(model.getContext(), model.getArgumentTypes(), {type}));
  if (failed(multiplyLoss(model, factor)))
    return failure();
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
  return success();
}

namespace {
struct PipeWeightLoss
    : veeline::pipe::impl::PipeWeightLossBase<PipeWeightLoss> {
  using PipeWeightLossBase::PipeWeightLossBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = findModel(getOperation(), entry);
    if (failed(model) || failed(run(*model)))
      signalPassFailure();
  }

  LogicalResult run(func::FuncOp model) {
    // The pass that checks the input contract reports these errors.
    if (!model.getBody().hasOneBlock() || model.getNumResults() == 0)
      return success();
    if (!isLossType(model.getResultTypes()[0]))
      return model.getBody().front().getTerminator()->emitError()
             << "the model returns no loss that '" << weight
             << "' could weight: its first result is a "
             << model.getResultTypes()[0]
             << ", and a loss is a tensor<f32> or tensor<f64>; return one, or "
                "leave out the weight";
    FailureOr<unsigned> number = findResult(model, weight);
    if (failed(number))
      return failure();
    Value value = model.getBody().front().getTerminator()->getOperand(*number);
    if (failed(verifyIsOfData(model, value, weight)))
      return failure();
    return only ? keepWeight(model, *number) : multiplyLoss(model, factor);
  }
};
} // namespace
