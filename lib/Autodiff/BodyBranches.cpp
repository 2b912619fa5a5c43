//===- BodyBranches.cpp - branches in bodies of structured ops ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyBranches.h"

#include "BodyAdjoint.h"
#include "Emit.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace veeline::autodiff;

//===----------------------------------------------------------------------===//
// Ops that do not need the branch
//===----------------------------------------------------------------------===//

static bool isConstant(Value value) {
  return matchPattern(value, m_Constant());
}

/// Whether the derivative of `op` is finite and does not depend on the
/// operands, so that a gradient of 0 gives one of 0. Ops on integers have no
/// derivative.
static bool isLinear(Operation &op) {
  if (auto product = dyn_cast<arith::MulFOp>(op))
    return isConstant(product.getLhs()) || isConstant(product.getRhs());
  if (isa<arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::ExtFOp,
          arith::TruncFOp, arith::SelectOp>(op))
    return true;
  return llvm::none_of(op.getResultTypes(),
                       [](Type type) { return isa<FloatType>(type); }) ||
         isa<arith::ConstantOp, arith::SIToFPOp, arith::UIToFPOp>(op);
}

/// Whether `op`, which is in a branch, may run before the branch.
static bool canPrecede(Operation &op) {
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         llvm::all_of(op.getOperands(), [&](Value operand) {
           return operand.getParentRegion()->isProperAncestor(
               op.getParentRegion());
         });
}

/// Makes a read of an element safe if the branch is not taken and its indices
/// may be anything: it then reads the element at 0.
static void guardIndices(tensor::ExtractOp extract, scf::IfOp branch) {
  OpBuilder builder(branch);
  Location loc = extract.getLoc();
  bool isThen = extract->getParentRegion() == &branch.getThenRegion();
  Value zero;
  for (OpOperand &index : extract.getIndicesMutable()) {
    if (isConstant(index.get()))
      continue;
    if (!zero)
      zero = arith::ConstantIndexOp::create(builder, loc, 0);
    index.set(arith::SelectOp::create(builder, loc, branch.getCondition(),
                                      isThen ? index.get() : zero,
                                      isThen ? zero : index.get()));
  }
}

static bool hasElements(tensor::ExtractOp extract) {
  RankedTensorType type = extract.getTensor().getType();
  return type.hasStaticShape() && type.getNumElements() != 0;
}

/// Moves ops of one side of the branch in front of it.
static void hoist(Region &region, scf::IfOp branch) {
  if (region.empty())
    return;
  for (Operation &op :
       llvm::make_early_inc_range(region.front().without_terminator())) {
    if (!canPrecede(op))
      continue;
    auto extract = dyn_cast<tensor::ExtractOp>(op);
    if (extract ? !hasElements(extract) : !isSpeculatable(&op))
      continue;
    bool isFloat = llvm::any_of(op.getResultTypes(),
                                [](Type type) { return isa<FloatType>(type); });
    if (isFloat && !extract && !isLinear(op))
      continue;
    if (extract)
      guardIndices(extract, branch);
    op.moveBefore(branch);
  }
}

/// Replaces a branch that only chooses between values by selects.
static void replaceBySelect(scf::IfOp branch) {
  if (branch.getNumResults() == 0 ||
      !llvm::hasSingleElement(branch.thenBlock()->getOperations()) ||
      !llvm::hasSingleElement(branch.elseBlock()->getOperations()))
    return;
  OpBuilder builder(branch);
  for (auto [result, yes, no] :
       llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands(),
                       branch.elseYield().getOperands()))
    result.replaceAllUsesWith(arith::SelectOp::create(builder, branch.getLoc(),
                                                      branch.getCondition(),
                                                      yes, no)
                                  .getResult());
  branch.erase();
}

void veeline::autodiff::simplifyBodyBranches(func::FuncOp func) {
  SmallVector<scf::IfOp> branches;
  func.walk([&](scf::IfOp branch) {
    if (branch->getParentOfType<linalg::LinalgOp>())
      branches.push_back(branch);
  });
  // Inner branches come first, because what is left of them is part of outer
  // ones.
  for (scf::IfOp branch : branches) {
    for (Region &region : branch->getRegions())
      hoist(region, branch);
    replaceBySelect(branch);
  }
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

namespace {
/// Emits one side of the branch of gradients.
class SideAdjoint {
public:
  SideAdjoint(scf::IfOp op, Adjoint &adjoint, ArrayRef<Value> captured)
      : op(op), adjoint(adjoint), captured(captured) {}

  LogicalResult emit(OpBuilder &builder, Region &region,
                     const IRMapping &known);

private:
  scf::IfOp op;
  Adjoint &adjoint;
  ArrayRef<Value> captured;
};
} // namespace

LogicalResult SideAdjoint::emit(OpBuilder &builder, Region &region,
                                const IRMapping &known) {
  Block &block = region.front();
  Emit zeros(builder, op.getLoc());
  SmallVector<Value> gradients;
  for (Value target : captured) {
    BodyAdjoint derivative(block, builder, known);
    for (auto [result, yielded] :
         llvm::zip_equal(op.getResults(), block.getTerminator()->getOperands()))
      if (Value gradient = adjoint.gradient(result))
        derivative.seed(yielded, gradient);
    FailureOr<Value> gradient = derivative.differentiate(target);
    if (failed(gradient))
      return failure();
    gradients.push_back(*gradient ? *gradient
                                  : zeros.constant(target.getType(), 0.0));
  }
  scf::YieldOp::create(builder, op.getLoc(), gradients);
  return success();
}

LogicalResult veeline::autodiff::differentiateBodyBranch(scf::IfOp op,
                                                         OpBuilder &builder,
                                                         Adjoint &adjoint) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  SmallVector<Value> captured = llvm::filter_to_vector(
      used, [&](Value value) { return adjoint.wants(value); });
  if (captured.empty())
    return success();
  IRMapping known;
  for (Value value : used)
    known.map(value, adjoint.primal(value));
  SmallVector<Type> types = llvm::map_to_vector(
      captured, [](Value value) { return value.getType(); });
  auto branch = scf::IfOp::create(builder, op.getLoc(), types,
                                  adjoint.primal(op.getCondition()),
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  SideAdjoint side(op, adjoint, captured);
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), branch->getRegions())) {
    OpBuilder inside = OpBuilder::atBlockEnd(&to.front());
    if (failed(side.emit(inside, from, known)))
      return failure();
  }
  for (auto [value, gradient] : llvm::zip_equal(captured, branch.getResults()))
    adjoint.contribute(value, gradient);
  return success();
}
