//===- Elementwise.cpp - operands and results of elementwise ops ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline;

bool veeline::isView(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp,
             tensor::CastOp, tensor::ExtractSliceOp, tensor::PadOp,
             arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(
      op);
}

static void addArithmetic(Value value, SmallVectorImpl<OpOperand *> &found) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (isView(op) && use.getOperandNumber() == 0)
      addArithmetic(op->getResult(0), found);
    else if (structured && structured.getNumReductionLoops() == 0 &&
             structured.isDpsInput(&use))
      addArithmetic(structured.getMatchingBlockArgument(&use), found);
    else if (isa<linalg::YieldOp>(op))
      addArithmetic(op->getParentOp()->getResult(use.getOperandNumber()),
                    found);
    else
      found.push_back(&use);
  }
}

SmallVector<OpOperand *> veeline::findArithmetic(Value value) {
  SmallVector<OpOperand *> found;
  addArithmetic(value, found);
  return found;
}

SmallVector<Value> veeline::getSources(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
    return op ? SmallVector<Value>{op.getMatchingOpOperand(argument)->get()}
              : SmallVector<Value>{};
  }
  Operation *op = value.getDefiningOp();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return structured.getNumReductionLoops() == 0
               ? SmallVector<Value>{structured.getBlock()
                                        ->getTerminator()
                                        ->getOperand(number)}
               : SmallVector<Value>{};
  }
  if (isView(op) || isRoot(op))
    return {op->getOperand(0)};
  if (isa<arith::AddFOp, arith::MulFOp, arith::DivFOp, arith::MaximumFOp>(op))
    return op->getOperands();
  return {};
}

/// The value of a constant, or of an argument of the model that was a constant;
/// null for any other value.
static Attribute getConstant(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  auto argument = dyn_cast<BlockArgument>(value);
  if (auto model =
          argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                   : func::FuncOp())
    return model.getArgAttr(argument.getArgNumber(),
                            pipe::PipeDialect::constantAttrName);
  return {};
}

std::optional<double> veeline::findNumber(Value value) {
  while (!getConstant(value)) {
    Operation *op = value.getDefiningOp();
    auto fill = dyn_cast_or_null<linalg::FillOp>(op);
    bool isHandedOn = !op || isView(op) || isa<linalg::LinalgOp>(op);
    SmallVector<Value> sources =
        fill ? SmallVector<Value>{fill.getInputs()[0]} : getSources(value);
    if (!isHandedOn || sources.size() != 1)
      return std::nullopt;
    value = sources.front();
  }
  Attribute constant = getConstant(value);
  auto dense = dyn_cast<DenseFPElementsAttr>(constant);
  if (dense && dense.isSplat())
    constant = dense.getSplatValue<FloatAttr>();
  auto number = dyn_cast<FloatAttr>(constant);
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

bool veeline::isRoot(Operation *op) {
  if (isa<math::PowFOp>(op))
    if (std::optional<double> exponent = findNumber(op->getOperand(1)))
      return std::abs(*exponent) == 0.5;
  return isa<math::RsqrtOp, math::SqrtOp>(op);
}
