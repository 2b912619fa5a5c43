//===- FloatConversion.cpp - ops that only convert floats -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/FloatConversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

template <typename ConversionOp> static Value getConverted(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  Block &body = *op.getBlock();
  auto conversion = dyn_cast<ConversionOp>(body.front());
  bool isAll = conversion && conversion.getIn() == body.getArgument(0) &&
               body.getTerminator()->getOperand(0) == conversion.getOut();
  return isAll ? op.getInputs()[0] : Value();
}

Value veeline::getRounded(Value value) {
  return getConverted<arith::TruncFOp>(value);
}

Value veeline::getExtended(Value value) {
  return getConverted<arith::ExtFOp>(value);
}
