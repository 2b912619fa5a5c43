//===- SplitBackward.cpp - a backward into B and W ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalize.h"
#include "Partition.h"
#include "veeline/Autodiff/Autodiff.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;
using veeline::pipe::ChunkSignature;
using veeline::pipe::ChunkValue;
using veeline::pipe::getChunkSignature;
using veeline::pipe::RoleKind;
using veeline::pipe::setArgRole;
using veeline::pipe::setResultRole;

namespace {

class BackwardSplitter {
public:
  BackwardSplitter(func::FuncOp backward, StringRef chunkName,
                   function_ref<bool(unsigned)> isConstant,
                   const Recompute &recompute, const PartitionChoice *follow)
      : backward(backward), chunkName(chunkName), isConstant(isConstant),
        recompute(recompute), follow(follow) {
    if (recompute.kind == RecomputeKind::Full ||
        recompute.kind == RecomputeKind::Tail)
      this->recompute = Recompute();
  }

  FailureOr<SplitBackward> run();

private:
  int64_t price(Value value) const;
  OwningOpRef<func::FuncOp> extract(StringRef suffix, ArrayRef<Operation *> ops,
                                    ArrayRef<unsigned> results,
                                    ArrayRef<Value> taken,
                                    ArrayRef<Value> saved);

  func::FuncOp backward;
  StringRef chunkName;
  function_ref<bool(unsigned)> isConstant;
  Recompute recompute;
  const PartitionChoice *follow;
  ChunkSignature signature;
};

} // namespace

/// A value that is there anyway costs nothing. Any other argument is kept alive
/// by the second half, which takes it. That costs an eighth less than saving a
/// value of its size, because it need not be written.
int64_t BackwardSplitter::price(Value value) const {
  int64_t bytes = getNumBytes(value.getType());
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return bytes * pricePerByte;
  const ChunkValue &role = signature.arguments[argument.getArgNumber()];
  if (role.kind == RoleKind::Operand && isConstant(role.index))
    return 0;
  return bytes * (pricePerByte - 1);
}

/// A function that gives `results` of the backward. The first half gives
/// `saved`, too, behind them; the second half takes these as `taken`.
OwningOpRef<func::FuncOp> BackwardSplitter::extract(StringRef suffix,
                                                    ArrayRef<Operation *> ops,
                                                    ArrayRef<unsigned> results,
                                                    ArrayRef<Value> taken,
                                                    ArrayRef<Value> saved) {
  Operation *terminator = backward.getBody().front().getTerminator();
  SmallVector<Value> arguments(backward.getArguments());
  llvm::append_range(arguments, taken);
  SmallVector<Value> targets;
  for (unsigned result : results)
    targets.push_back(terminator->getOperand(result));
  llvm::append_range(targets, saved);
  SmallVector<unsigned> used;
  OwningOpRef<func::FuncOp> func =
      extractFunction(backward.getLoc(), (chunkName + suffix).str(), arguments,
                      ops, targets, used);
  for (auto [i, number] : llvm::enumerate(used)) {
    if (number < signature.arguments.size())
      setArgRole(*func, i, signature.arguments[number].kind,
                 signature.arguments[number].index);
    else
      setArgRole(*func, i, RoleKind::Saved,
                 number - signature.arguments.size());
  }
  for (unsigned i = 0; i != targets.size(); ++i) {
    if (i < results.size())
      setResultRole(*func, i, signature.results[results[i]].kind,
                    signature.results[results[i]].index);
    else
      setResultRole(*func, i, RoleKind::Saved, i - results.size());
  }
  return func;
}

FailureOr<SplitBackward> BackwardSplitter::run() {
  if (!backward.getBody().hasOneBlock())
    return backward.emitError()
           << "cannot split a backward function that is not one block";
  FailureOr<ChunkSignature> roles = getChunkSignature(backward);
  if (failed(roles))
    return failure();
  signature = std::move(*roles);
  SmallVector<unsigned> inputs, weights;
  for (auto [i, value] : llvm::enumerate(signature.results)) {
    if (value.kind != RoleKind::OperandGrad &&
        value.kind != RoleKind::ParamGrad)
      return backward.emitError()
             << "a backward function gives operand_grads and param_grads, but "
                "result "
             << i << " is a " << stringifyRoleKind(value.kind);
    (value.kind == RoleKind::OperandGrad ? inputs : weights).push_back(i);
  }
  separatePaddings(backward);
  Block &block = backward.getBody().front();
  if (follow && failed(verifyAlike(block, *follow)))
    return failure();
  Operation *terminator = block.getTerminator();
  auto getTargets = [&](ArrayRef<unsigned> numbers) {
    return llvm::map_to_vector(
        numbers, [&](unsigned i) { return terminator->getOperand(i); });
  };
  SmallVector<Value> inputTargets = getTargets(inputs);
  SmallVector<Value> weightTargets = getTargets(weights);
  SmallVector<Operation *> early = getBackwardSlice(inputTargets);
  DenseSet<Operation *> isEarly(early.begin(), early.end());
  Partition later = choosePartition(
      {weightTargets, [&](Operation *op) { return !isEarly.contains(op); },
       [&](Value value) { return price(value); },
       [&](Operation *op) { return getRecomputePrice(op, recompute); },
       follow});
  SmallVector<Value> saved = llvm::filter_to_vector(
      later.kept, [](Value v) { return !isa<BlockArgument>(v); });
  SplitBackward split;
  split.choice = noteChoice(block, later);
  if (!inputs.empty())
    split.input = extract("_backward_input", early, inputs, {}, saved);
  if (!weights.empty())
    split.weight = extract("_backward_weight", later.ops, weights, saved, {});
  return split;
}

FailureOr<SplitBackward>
veeline::autodiff::splitBackward(func::FuncOp backward, StringRef chunkName,
                                 function_ref<bool(unsigned)> isConstant,
                                 const Recompute &recompute,
                                 const PartitionChoice *follow) {
  return BackwardSplitter(backward, chunkName, isConstant, recompute, follow)
      .run();
}
