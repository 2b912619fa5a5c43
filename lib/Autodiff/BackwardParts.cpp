//===- BackwardParts.cpp - a backward as several functions ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardParts.h"

#include "Partition.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;
using veeline::pipe::ChunkSignature;
using veeline::pipe::ChunkValue;
using veeline::pipe::RoleKind;
using veeline::pipe::setArgRole;
using veeline::pipe::setResultRole;

FailureOr<BackwardParts>
BackwardParts::get(func::FuncOp backward,
                   function_ref<bool(unsigned)> isConstant) {
  if (!backward.getBody().hasOneBlock())
    return backward.emitError()
           << "cannot split a backward function that is not one block";
  FailureOr<ChunkSignature> roles = pipe::getChunkSignature(backward);
  if (failed(roles))
    return failure();
  for (auto [i, value] : llvm::enumerate(roles->results))
    if (value.kind != RoleKind::OperandGrad &&
        value.kind != RoleKind::ParamGrad)
      return backward.emitError()
             << "a backward function gives operand_grads and param_grads, but "
                "result "
             << i << " is a " << stringifyRoleKind(value.kind);
  return BackwardParts{backward, isConstant, std::move(*roles)};
}

SmallVector<Value> BackwardParts::getTargets(ArrayRef<unsigned> numbers) {
  Operation *terminator = block().getTerminator();
  return llvm::map_to_vector(
      numbers, [&](unsigned i) { return terminator->getOperand(i); });
}

int64_t BackwardParts::price(Value value) const {
  int64_t bytes = getNumBytes(value.getType());
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return bytes * pricePerByte;
  const ChunkValue &role = signature.arguments[argument.getArgNumber()];
  if (role.kind == RoleKind::Operand && isConstant(role.index))
    return 0;
  return bytes * (pricePerByte - 1);
}

OwningOpRef<func::FuncOp>
BackwardParts::extract(const Twine &name, ArrayRef<Operation *> ops,
                       ArrayRef<unsigned> results, ArrayRef<Value> taken,
                       ArrayRef<Value> given, RoleKind passed) {
  SmallVector<Value> arguments(block().getArguments());
  llvm::append_range(arguments, taken);
  SmallVector<Value> targets = getTargets(results);
  llvm::append_range(targets, given);
  SmallVector<unsigned> used;
  OwningOpRef<func::FuncOp> func = extractFunction(
      backward.getLoc(), name.str(), arguments, ops, targets, used);
  for (auto [i, number] : llvm::enumerate(used)) {
    if (number < signature.arguments.size())
      setArgRole(*func, i, signature.arguments[number].kind,
                 signature.arguments[number].index);
    else
      setArgRole(*func, i, passed, number - signature.arguments.size());
  }
  for (unsigned i = 0; i != targets.size(); ++i) {
    if (i < results.size())
      setResultRole(*func, i, signature.results[results[i]].kind,
                    signature.results[results[i]].index);
    else
      setResultRole(*func, i, passed, i - results.size());
  }
  return func;
}
