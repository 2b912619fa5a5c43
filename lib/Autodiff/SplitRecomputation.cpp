//===- SplitRecomputation.cpp - recomputation out of a backward -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activity.h"
#include "BackwardParts.h"
#include "Normalize.h"
#include "Partition.h"
#include "veeline/Autodiff/Autodiff.h"

#include <numeric>

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;
using veeline::pipe::RoleKind;

/// The ops that depend on an incoming gradient.
static DenseSet<Operation *> findAdjoint(BackwardParts &parts) {
  DenseSet<Value> gradients;
  for (auto [argument, value] :
       llvm::zip_equal(parts.block().getArguments(), parts.signature.arguments))
    if (value.kind == RoleKind::ResultGrad)
      gradients.insert(argument);
  DenseSet<Operation *> adjoint;
  for (Operation &op : parts.block().without_terminator())
    if (llvm::any_of(getAllOperands(op), [&](Value operand) {
          return gradients.contains(operand);
        })) {
      adjoint.insert(&op);
      gradients.insert_range(op.getResults());
    }
  return adjoint;
}

FailureOr<SplitRecomputation> veeline::autodiff::splitRecomputation(
    func::FuncOp backward, StringRef chunkName,
    function_ref<bool(unsigned)> isConstant, const PartitionChoice *follow) {
  FailureOr<BackwardParts> parts = BackwardParts::get(backward, isConstant);
  if (failed(parts))
    return failure();
  separatePaddings(backward);
  if (follow && failed(verifyAlike(parts->block(), *follow)))
    return failure();
  SplitRecomputation split;
  DenseSet<Operation *> adjoint = findAdjoint(*parts);
  // Without an incoming gradient, there is nothing to wait for.
  if (adjoint.empty())
    return split;
  SmallVector<unsigned> all(parts->signature.results.size());
  std::iota(all.begin(), all.end(), 0);
  SmallVector<Value> targets = parts->getTargets(all);
  auto getPrice = [](Operation *op) {
    return getRecomputePrice(op, Recompute());
  };
  Partition later = choosePartition(
      {targets, [&](Operation *op) { return adjoint.contains(op); },
       [&](Value value) { return parts->price(value); }, getPrice, follow});
  SmallVector<Value> given = llvm::filter_to_vector(
      later.kept, [](Value v) { return !isa<BlockArgument>(v); });
  SmallVector<Operation *> early = getBackwardSlice(given);
  // A recomputation that Balanced would choose for each of its ops is too cheap
  // for a function of its own.
  if (llvm::all_of(early, getPrice))
    return split;
  split.choice = noteChoice(parts->block(), later);
  split.recomputation = parts->extract(chunkName + "_recomputation", early, {},
                                       {}, given, RoleKind::Recomputed);
  split.backward = parts->extract(backward.getName(), later.ops, all, given, {},
                                  RoleKind::Recomputed);
  return split;
}
