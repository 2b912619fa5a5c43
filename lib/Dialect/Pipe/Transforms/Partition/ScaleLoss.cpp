//===- ScaleLoss.cpp - --pipe-scale-loss ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPESCALELOSS
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline::pipe;

static constexpr StringLiteral bufferName = "loss_scale";

/// The type of the loss, or null where the model breaks the contract, which
/// `verifyModel` tells of.
static RankedTensorType getLossType(func::FuncOp model) {
  if (!model.getBody().hasOneBlock() || model.getNumResults() == 0)
    return {};
  auto type = dyn_cast<RankedTensorType>(model.getResultTypes()[0]);
  bool isScalar =
      type && type.getRank() == 0 &&
      (type.getElementType().isF32() || type.getElementType().isF64());
  return isScalar ? type : RankedTensorType();
}

/// Refuses a model of which an argument has the name that the buffer gets, or
/// whose loss is scaled.
static LogicalResult verifyNames(func::FuncOp model) {
  for (BlockArgument argument : model.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (model.getArgAttr(number, PipeDialect::lossScaleAttrName))
      return emitError(argument.getLoc())
             << "the loss of the model has a scale, argument " << number
             << "; a loss is scaled once";
    if (getInputName(model, number) == bufferName)
      return emitError(argument.getLoc())
             << "argument " << number << " of the model has the name \""
             << bufferName
             << "\", which the scale of the loss takes; rename the argument";
  }
  return success();
}

static Value multiply(OpBuilder &builder, Location loc, Value loss,
                      Value scale) {
  auto type = cast<RankedTensorType>(loss.getType());
  Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                       type.getElementType());
  AffineMap map = builder.getMultiDimIdentityMap(0);
  auto product = linalg::GenericOp::create(
      builder, loc, TypeRange{type}, ValueRange{loss, scale}, ValueRange{init},
      ArrayRef<AffineMap>{map, map, map}, ArrayRef<utils::IteratorType>{},
      [](OpBuilder &inner, Location at, ValueRange operands) {
        Value scaled =
            arith::MulFOp::create(inner, at, operands[0], operands[1]);
        linalg::YieldOp::create(inner, at, scaled);
      });
  return product.getResult(0);
}

static LogicalResult scaleLoss(func::FuncOp model) {
  RankedTensorType type = getLossType(model);
  if (!type)
    return success();
  if (failed(verifyNames(model)))
    return failure();
  OpBuilder builder(model.getContext());
  NamedAttribute attributes[] = {
      builder.getNamedAttr(PipeDialect::bufferAttrName,
                           builder.getStringAttr(bufferName)),
      builder.getNamedAttr(PipeDialect::lossScaleAttrName,
                           builder.getUnitAttr())};
  unsigned number = model.getNumArguments();
  if (failed(model.insertArgument(
          number, type, builder.getDictionaryAttr(attributes), model.getLoc())))
    return failure();
  Operation *terminator = model.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  Value loss = terminator->getOperand(0);
  terminator->setOperand(
      0, multiply(builder, loss.getLoc(), loss, model.getArgument(number)));
  return success();
}

namespace {
struct PipeScaleLoss : veeline::pipe::impl::PipeScaleLossBase<PipeScaleLoss> {
  using PipeScaleLossBase::PipeScaleLossBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = findModel(getOperation(), entry);
    if (failed(model) || failed(scaleLoss(*model)))
      signalPassFailure();
  }
};
} // namespace
