//===- MergeLaunches.cpp - merging launches of independent kernels --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JoinRowSums.h"
#include "KernelGroups.h"
#include "KernelMerger.h"
#include "RowRules.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEMERGELAUNCHES
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

/// The maximal numbers of kernels of a launch, and of kernels that move more
/// than `smallBytes`: each of these fills the device anyway.
static constexpr size_t maxKernels = 64, maxLargeKernels = 4;
/// A kernel that moves at most this many bytes takes less time than its launch.
/// It may move to another place, even if its buffers then live longer.
static constexpr int64_t smallBytes = 1 << 20;

namespace {

/// Kernels that one launch can run, or an op that does not move.
struct Step {
  Operation *op = nullptr; ///< Null for kernels.
  SmallVector<func::CallOp> calls;
  SmallVector<BufferTouch> touches;
  bool isSmall = false;
  size_t numArguments = 0;
};

class LaunchMerger {
public:
  explicit LaunchMerger(ModuleOp module)
      : kernels(module), builder(module.getContext()) {}

  void run(Block &block);

private:
  Step makeStep(Operation *op);
  void emit(ArrayRef<Step> steps, Operation *end);

  KernelMerger kernels;
  OpBuilder builder;
};

} // namespace

//===----------------------------------------------------------------------===//
// Ops that may share a launch
//===----------------------------------------------------------------------===//

/// A buffer of the caller or a temporary. These are defined before all ops.
static bool isInFront(Value operand) {
  return isa<BlockArgument>(operand) ||
         operand.getDefiningOp<memref::AllocOp>();
}

Step LaunchMerger::makeStep(Operation *op) {
  Step step;
  auto call = dyn_cast<func::CallOp>(op);
  const PartForm *form = call ? &kernels.getForm(call) : nullptr;
  if (!form || form->kind != PartForm::Kind::Elements ||
      !llvm::all_of(call.getOperands(), isInFront)) {
    step.op = op;
    step.touches = getTouches(op);
    return step;
  }
  step.calls = {call};
  step.numArguments = call.getNumOperands();
  int64_t bytes = 0;
  for (auto [operand, isWritten] :
       llvm::zip(call.getOperands(), form->writes)) {
    step.touches.push_back({operand, isWritten});
    auto type = cast<MemRefType>(operand.getType());
    bytes += type.getNumElements() * getByteWidth(type.getElementType());
  }
  step.isSmall = bytes <= smallBytes;
  return step;
}

/// True if both can run in one launch, whatever is between them.
static bool canShare(const Step &a, const Step &b) {
  size_t limit = a.isSmall && b.isSmall ? maxKernels : maxLargeKernels;
  return !a.op && !b.op && a.calls.size() + b.calls.size() <= limit &&
         a.numArguments + b.numArguments <= maxArguments &&
         !conflict(a.touches, b.touches);
}

/// Adds the kernels of `step` to those of `to`.
static void add(Step &to, const Step &step) {
  llvm::append_range(to.calls, step.calls);
  llvm::append_range(to.touches, step.touches);
  to.isSmall &= step.isSmall;
  to.numArguments += step.numArguments;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Adds `step` to the farthest launch that can run it, across steps that it
/// does not conflict with. A near launch may not be able to move because of
/// another kernel. `steps` are visited from the last to the first.
template <typename Steps> static bool join(Steps &&steps, const Step &step) {
  Step *farthest = nullptr;
  for (Step &other : steps) {
    if (other.isSmall && canShare(other, step))
      farthest = &other;
    if (conflict(other.touches, step.touches))
      break;
  }
  if (farthest)
    add(*farthest, step);
  return farthest != nullptr;
}

/// Moves small kernels up, perhaps to the beginning: for example, fills of
/// temporaries, and kernels that depend only on parameters.
static std::vector<Step> moveUp(std::vector<Step> steps) {
  std::vector<Step> moved;
  for (Step &step : steps)
    if (!step.isSmall || !join(llvm::reverse(moved), step))
      moved.push_back(std::move(step));
  return moved;
}

/// Moves small kernels down, perhaps to the end: for example, additions to
/// gradients.
static std::vector<Step> moveDown(std::vector<Step> steps) {
  std::vector<Step> moved;
  for (Step &step : llvm::reverse(steps))
    if (!step.isSmall || !join(llvm::reverse(moved), step))
      moved.push_back(std::move(step));
  std::reverse(moved.begin(), moved.end());
  return moved;
}

/// Joins kernels of any size that are adjacent now.
static std::vector<Step> joinNeighbours(std::vector<Step> steps) {
  std::vector<Step> joined;
  for (Step &step : steps)
    if (!joined.empty() && canShare(joined.back(), step))
      add(joined.back(), step);
    else
      joined.push_back(std::move(step));
  return joined;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Replaces calls by those of merged kernels, in the order of `steps`.
void LaunchMerger::emit(ArrayRef<Step> steps, Operation *end) {
  Operation *next = end;
  for (const Step &step : llvm::reverse(steps)) {
    if (step.calls.size() < 2) {
      next = step.op ? step.op : step.calls.front();
      continue;
    }
    builder.setInsertionPoint(next);
    next = kernels.merge(builder, step.calls);
  }
  for (const Step &step : steps)
    if (step.calls.size() > 1)
      for (func::CallOp call : step.calls)
        call.erase();
}

void LaunchMerger::run(Block &block) {
  if (llvm::any_of(block, mayAlias))
    return;
  std::vector<Step> steps;
  for (Operation &op : block.without_terminator())
    if (!isa<memref::AllocOp, ViewLikeOpInterface>(op))
      steps.push_back(makeStep(&op));
  emit(joinNeighbours(moveDown(moveUp(std::move(steps)))),
       block.getTerminator());
}

namespace {

struct MergeLaunches : veeline::impl::PipeMergeLaunchesBase<MergeLaunches> {
  void runOnOperation() override {
    joinRowSums(getOperation());
    LaunchMerger merger(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (!function.isExternal() && function->hasAttr(pipe::numResultsAttrName))
        merger.run(function.getBody().front());
  }
};

} // namespace
