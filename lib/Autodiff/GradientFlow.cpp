//===- GradientFlow.cpp - where gradients end -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Autodiff/GradientFlow.h"

#include "Activity.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace veeline::autodiff;

namespace {

/// Finds all values that influence marked values. Visits ops in reverse order.
class BackwardFlow {
public:
  /// With `isOfGradients`, follows gradients only; else every influence.
  explicit BackwardFlow(bool isOfGradients) : isOfGradients(isOfGradients) {}

  void mark(Value value) {
    if (!isOfGradients || isDifferentiableType(value.getType()))
      marked.insert(value);
  }
  void sweep(Block &block);
  bool contains(Value value) const { return marked.contains(value); }

private:
  void visit(Operation &op);
  void visitStructured(linalg::LinalgOp op);
  void visitLoop(scf::ForOp op);
  void visitBranch(scf::IfOp op);

  bool isOfGradients;
  DenseSet<Value> marked;
};

/// Follows arguments in the order of ops to where their gradients end.
class ForwardFlow {
public:
  ForwardFlow(ArrayRef<BlockArgument> arguments, const BackwardFlow &needed);

  void sweep(Block &block);
  /// For each argument, the first op at which its gradient ends.
  SmallVector<Operation *> ends;

private:
  void visit(Operation &op);
  void visitStructured(linalg::LinalgOp op);
  void visitLoop(scf::ForOp op);
  void visitBranch(scf::IfOp op);
  void visitPlain(Operation &op);
  void reach(Value value, const llvm::SmallBitVector &bits);
  void reach(Value value, Value from) { reach(value, origins.lookup(from)); }

  const BackwardFlow &needed;
  /// For each value, the arguments that influence it.
  DenseMap<Value, llvm::SmallBitVector> origins;
};

} // namespace

bool veeline::autodiff::isStep(Operation *op) {
  return isa<math::CeilOp, math::FloorOp, math::RoundOp, math::RoundEvenOp,
             math::TruncOp>(op);
}

/// The operands to which `op`, without a look into its regions, passes a
/// gradient if it gets one.
static SmallVector<Value> getOperandsWithGradient(Operation &op) {
  if (isStep(&op))
    return {};
  if (auto copySign = dyn_cast<math::CopySignOp>(op))
    return {copySign.getLhs()};
  return getAllOperands(op);
}

static bool isLookedInto(linalg::LinalgOp op) {
  return op && op.hasPureTensorSemantics();
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

void BackwardFlow::sweep(Block &block) {
  for (Operation &op : llvm::reverse(block))
    if (llvm::any_of(op.getResults(), [&](Value v) { return contains(v); }))
      visit(op);
}

void BackwardFlow::visitStructured(linalg::LinalgOp op) {
  for (OpOperand &init : op.getDpsInitsMutable())
    if (contains(op.getTiedOpResult(&init)))
      mark(op.getMatchingYieldValue(&init)->get());
  sweep(*op.getBlock());
  for (OpOperand *operand : op.getOpOperandsMatchingBBargs())
    if (contains(op.getMatchingBlockArgument(operand)))
      mark(operand->get());
}

/// An iteration passes values on to the next one, so this repeats until nothing
/// changes.
void BackwardFlow::visitLoop(scf::ForOp op) {
  for (size_t before = 0; before != marked.size();) {
    before = marked.size();
    for (auto [result, carried, init, yielded] :
         llvm::zip_equal(op.getResults(), op.getRegionIterArgs(),
                         op.getInitArgs(), op.getYieldedValues())) {
      if (!contains(result) && !contains(carried))
        continue;
      mark(init);
      mark(yielded);
    }
    sweep(*op.getBody());
  }
}

void BackwardFlow::visitBranch(scf::IfOp op) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      for (auto [result, yielded] : llvm::zip_equal(
               op.getResults(), block.getTerminator()->getOperands()))
        if (contains(result))
          mark(yielded);
      sweep(block);
    }
}

void BackwardFlow::visit(Operation &op) {
  if (!isOfGradients) {
    for (Value operand : getAllOperands(op))
      mark(operand);
    return;
  }
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (isLookedInto(structured))
    return visitStructured(structured);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitBranch(branch);
  for (Value operand : getOperandsWithGradient(op))
    mark(operand);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

ForwardFlow::ForwardFlow(ArrayRef<BlockArgument> arguments,
                         const BackwardFlow &needed)
    : ends(arguments.size()), needed(needed) {
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    llvm::SmallBitVector bits(arguments.size());
    bits.set(i);
    origins[argument] = bits;
  }
}

void ForwardFlow::reach(Value value, const llvm::SmallBitVector &bits) {
  if (bits.any() && isDifferentiableType(value.getType()))
    origins[value] |= bits;
}

void ForwardFlow::sweep(Block &block) {
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(getAllOperands(op),
                     [&](Value v) { return origins.contains(v); }))
      visit(op);
}

void ForwardFlow::visitStructured(linalg::LinalgOp op) {
  for (OpOperand *operand : op.getOpOperandsMatchingBBargs())
    reach(op.getMatchingBlockArgument(operand), operand->get());
  sweep(*op.getBlock());
  for (OpOperand &init : op.getDpsInitsMutable())
    reach(op.getTiedOpResult(&init), op.getMatchingYieldValue(&init)->get());
}

/// An iteration passes values on to the next one, so this repeats until nothing
/// changes.
void ForwardFlow::visitLoop(scf::ForOp op) {
  for (auto [carried, init] :
       llvm::zip_equal(op.getRegionIterArgs(), op.getInitArgs()))
    reach(carried, init);
  for (bool isChanged = true; isChanged;) {
    sweep(*op.getBody());
    isChanged = false;
    for (auto [carried, yielded] :
         llvm::zip_equal(op.getRegionIterArgs(), op.getYieldedValues())) {
      llvm::SmallBitVector before = origins.lookup(carried);
      reach(carried, yielded);
      isChanged |= origins.lookup(carried) != before;
    }
  }
  for (auto [result, yielded] :
       llvm::zip_equal(op.getResults(), op.getYieldedValues()))
    reach(result, yielded);
}

void ForwardFlow::visitBranch(scf::IfOp op) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      sweep(block);
      for (auto [result, yielded] : llvm::zip_equal(
               op.getResults(), block.getTerminator()->getOperands()))
        reach(result, yielded);
    }
}

/// Whether `op` influences what is differentiated. If it is nested, the op of
/// the model that contains it counts.
static bool isNeeded(Operation *op, const BackwardFlow &needed) {
  while (!isa<func::FuncOp>(op->getParentOp()))
    op = op->getParentOp();
  return llvm::any_of(op->getResults(),
                      [&](Value v) { return needed.contains(v); });
}

void ForwardFlow::visitPlain(Operation &op) {
  llvm::SmallBitVector bits(ends.size()), handedOn(ends.size());
  for (Value operand : getAllOperands(op))
    bits |= origins.lookup(operand);
  for (Value operand : getOperandsWithGradient(op))
    handedOn |= origins.lookup(operand);
  for (Value result : op.getResults())
    reach(result, handedOn);
  bool isHandedOn = llvm::any_of(op.getResultTypes(), isDifferentiableType);
  if (isHandedOn)
    bits.reset(handedOn);
  if (bits.none() || !isNeeded(&op, needed))
    return;
  for (unsigned lost : bits.set_bits())
    if (!ends[lost])
      ends[lost] = &op;
}

void ForwardFlow::visit(Operation &op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (isLookedInto(structured))
    return visitStructured(structured);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitBranch(branch);
  visitPlain(op);
}

SmallVector<LostGradient>
veeline::autodiff::findLostGradients(func::FuncOp model,
                                     ArrayRef<BlockArgument> arguments,
                                     ArrayRef<Value> results) {
  Block &block = model.getBody().front();
  BackwardFlow gradients(/*isOfGradients=*/true);
  llvm::for_each(results, [&](Value result) { gradients.mark(result); });
  gradients.sweep(block);
  SmallVector<BlockArgument> lost =
      llvm::filter_to_vector(arguments, [&](BlockArgument argument) {
        return !gradients.contains(argument);
      });
  if (lost.empty())
    return {};
  BackwardFlow needed(/*isOfGradients=*/false);
  llvm::for_each(results, [&](Value result) { needed.mark(result); });
  needed.sweep(block);
  ForwardFlow forward(lost, needed);
  forward.sweep(block);
  return llvm::map_to_vector(
      llvm::zip_equal(lost, forward.ends), [](auto pair) {
        return LostGradient{std::get<0>(pair), std::get<1>(pair)};
      });
}
