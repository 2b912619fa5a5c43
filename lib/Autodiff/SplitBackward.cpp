//===- SplitBackward.cpp - a backward into B and W ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardParts.h"
#include "Normalize.h"
#include "Partition.h"
#include "veeline/Autodiff/Autodiff.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;
using veeline::pipe::RoleKind;

/// The policy of W. Where a chunk recomputes all its pieces, or the last ones,
/// B does so once for both, and W recomputes only as Balanced does.
static Recompute getPolicyOfWeight(const Recompute &recompute) {
  bool isOnce = recompute.kind == RecomputeKind::Full ||
                recompute.kind == RecomputeKind::Tail;
  return isOnce ? Recompute() : recompute;
}

FailureOr<SplitBackward>
veeline::autodiff::splitBackward(func::FuncOp backward, StringRef chunkName,
                                 function_ref<bool(unsigned)> isConstant,
                                 const Recompute &recompute,
                                 const PartitionChoice *follow) {
  FailureOr<BackwardParts> parts = BackwardParts::get(backward, isConstant);
  if (failed(parts))
    return failure();
  SmallVector<unsigned> inputs, weights;
  for (auto [i, value] : llvm::enumerate(parts->signature.results))
    (value.kind == RoleKind::OperandGrad ? inputs : weights).push_back(i);
  separatePaddings(backward);
  if (follow && failed(verifyAlike(parts->block(), *follow)))
    return failure();
  SmallVector<Value> inputTargets = parts->getTargets(inputs);
  SmallVector<Value> weightTargets = parts->getTargets(weights);
  SmallVector<Operation *> early = getBackwardSlice(inputTargets);
  DenseSet<Operation *> isEarly(early.begin(), early.end());
  Recompute policy = getPolicyOfWeight(recompute);
  Partition later = choosePartition(
      {weightTargets, [&](Operation *op) { return !isEarly.contains(op); },
       [&](Value value) { return parts->price(value); },
       [&](Operation *op) { return getRecomputePrice(op, policy); }, follow});
  SmallVector<Value> saved = llvm::filter_to_vector(
      later.kept, [](Value v) { return !isa<BlockArgument>(v); });
  SplitBackward split;
  split.choice = noteChoice(parts->block(), later);
  if (!inputs.empty())
    split.input = parts->extract(chunkName + "_backward_input", early, inputs,
                                 {}, saved, RoleKind::Saved);
  if (!weights.empty())
    split.weight = parts->extract(chunkName + "_backward_weight", later.ops,
                                  weights, saved, {}, RoleKind::Saved);
  return split;
}
