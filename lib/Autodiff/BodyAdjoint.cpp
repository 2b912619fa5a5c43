//===- BodyAdjoint.cpp - derivative of a structured op's body -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyAdjoint.h"

#include "Emit.h"

using namespace mlir;
using namespace veeline::autodiff;

void BodyAdjoint::seed(Value value, Value gradient) {
  auto [it, isNew] = gradients.try_emplace(value, gradient);
  if (!isNew)
    it->second = Emit(builder, gradient.getLoc()).add(it->second, gradient);
}

FailureOr<Value> BodyAdjoint::differentiate(Value target) {
  active = findActiveValues(body, target,
                            llvm::to_vector(llvm::make_first_range(gradients)));
  for (Operation &op : body)
    for (Value result : op.getResults())
      if (active.contains(result) && !isa<FloatType>(result.getType()))
        return emitNoRule(&op);
  for (Operation &op : llvm::reverse(body)) {
    if (op.hasTrait<OpTrait::IsTerminator>() ||
        llvm::none_of(op.getResults(),
                      [&](Value r) { return active.contains(r); }))
      continue;
    if (llvm::is_contained(op.getResults(), target) ||
        llvm::none_of(op.getResults(),
                      [&](Value r) { return gradients.contains(r); }))
      continue;
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable)
      return emitNoRule(&op);
    if (failed(differentiable.differentiate(builder, *this)))
      return failure();
  }
  return active.contains(target) ? gradients.lookup(target) : Value();
}

Value BodyAdjoint::gradient(Value result) { return gradients.lookup(result); }

bool BodyAdjoint::wants(Value value) { return active.contains(value); }

Value BodyAdjoint::primal(Value value) {
  if (Value mapped = known.lookupOrNull(value))
    return mapped;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &body)
    return value;
  for (Value operand : getAllOperands(*op))
    if (operand.getParentBlock() == &body)
      primal(operand);
  builder.clone(*op, known);
  return known.lookup(value);
}

void BodyAdjoint::contribute(Value value, Value gradient) {
  if (active.contains(value))
    seed(value, gradient);
}

// Never called with a slice: in a body, only scalars are active.
void BodyAdjoint::contributeSlice(Value, Value, ArrayRef<OpFoldResult>,
                                  ArrayRef<OpFoldResult>,
                                  ArrayRef<OpFoldResult>) {}
