//===- LossFactor.cpp - factors of a loss ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LossFactor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"

using namespace mlir;
using namespace veeline::pipe;

bool veeline::pipe::isLossType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 &&
         (tensor.getElementType().isF32() || tensor.getElementType().isF64());
}

/// Refuses a model that has the factor already, or an argument with its name.
static LogicalResult verifyNames(func::FuncOp model, const LossFactor &factor) {
  for (BlockArgument argument : model.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (model.getArgAttr(number, factor.markAttrName))
      return emitError(argument.getLoc())
             << "the loss of the model has a " << factor.what << ", argument "
             << number << "; a loss is " << factor.done << " once";
    if (getInputName(model, number) == factor.name)
      return emitError(argument.getLoc())
             << "argument " << number << " of the model has the name \""
             << factor.name << "\", which the " << factor.what
             << " of the loss takes; rename the argument";
  }
  return success();
}

static Value multiply(OpBuilder &builder, Location loc, Value loss,
                      Value factor) {
  auto type = cast<RankedTensorType>(loss.getType());
  Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                       type.getElementType());
  AffineMap map = builder.getMultiDimIdentityMap(0);
  auto product = linalg::GenericOp::create(
      builder, loc, TypeRange{type}, ValueRange{loss, factor}, ValueRange{init},
      ArrayRef<AffineMap>{map, map, map}, ArrayRef<utils::IteratorType>{},
      [](OpBuilder &inner, Location at, ValueRange operands) {
        Value scaled =
            arith::MulFOp::create(inner, at, operands[0], operands[1]);
        linalg::YieldOp::create(inner, at, scaled);
      });
  return product.getResult(0);
}

LogicalResult veeline::pipe::multiplyLoss(func::FuncOp model,
                                          const LossFactor &factor) {
  if (!model.getBody().hasOneBlock() || model.getNumResults() == 0 ||
      !isLossType(model.getResultTypes()[0]))
    return success();
  if (failed(verifyNames(model, factor)) ||
      failed(refuseJoint(model, ("a " + factor.what + " of its loss").str())))
    return failure();
  OpBuilder builder(model.getContext());
  NamedAttribute attributes[] = {
      builder.getNamedAttr(factor.kindAttrName,
                           builder.getStringAttr(factor.name)),
      builder.getNamedAttr(factor.markAttrName, builder.getUnitAttr())};
  unsigned number = model.getNumArguments();
  if (failed(model.insertArgument(number, model.getResultTypes()[0],
                                  builder.getDictionaryAttr(attributes),
                                  model.getLoc())))
    return failure();
  Operation *terminator = model.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  Value loss = terminator->getOperand(0);
  terminator->setOperand(
      0, multiply(builder, loss.getLoc(), loss, model.getArgument(number)));
  return success();
}
