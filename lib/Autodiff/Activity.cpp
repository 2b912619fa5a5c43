//===- Activity.cpp - values that carry a gradient ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activity.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace veeline::autodiff;

bool veeline::autodiff::isDifferentiableType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return isa<FloatType>(tensor.getElementType());
  return isa<FloatType>(type);
}

SmallVector<Value> veeline::autodiff::getAllOperands(Operation &op) {
  SmallVector<Value> operands;
  op.walk([&](Operation *nested) {
    llvm::append_range(operands, nested->getOperands());
  });
  return operands;
}

bool veeline::autodiff::dependsOn(Value value, Value argument) {
  llvm::SetVector<Value> work;
  work.insert(value);
  for (size_t i = 0; i != work.size(); ++i)
    if (Operation *def = work[i].getDefiningOp())
      if (def->getBlock() == argument.getParentBlock())
        work.insert_range(getAllOperands(*def));
  return work.contains(argument);
}

DenseSet<Value> veeline::autodiff::findActiveValues(Block &block,
                                                    ArrayRef<Value> from,
                                                    ArrayRef<Value> to) {
  DenseSet<Value> varied(from.begin(), from.end());
  for (Operation &op : block)
    if (llvm::any_of(getAllOperands(op),
                     [&](Value v) { return varied.contains(v); }))
      for (Value result : op.getResults())
        if (isDifferentiableType(result.getType()))
          varied.insert(result);
  DenseSet<Value> useful(to.begin(), to.end());
  for (Operation &op : llvm::reverse(block))
    if (llvm::any_of(op.getResults(), [&](Value v) {
          return useful.contains(v) && varied.contains(v);
        }))
      useful.insert_range(getAllOperands(op));
  DenseSet<Value> active;
  for (Value value : varied)
    if (useful.contains(value))
      active.insert(value);
  return active;
}

LogicalResult veeline::autodiff::emitNoRule(Operation *op) {
  InFlightDiagnostic diag = op->emitError()
                            << "'" << op->getName()
                            << "' has no derivative rule, and a gradient flows "
                               "through it";
  diag.attachNote() << "a rule is added by implementing "
                       "veeline::autodiff::DifferentiableOpInterface for the "
                       "op, or by attaching an external model of it";
  diag.attachNote() << "a model that is only evaluated needs none: veeline "
                       "compile --forward-only";
  return failure();
}
