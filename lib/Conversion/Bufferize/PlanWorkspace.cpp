//===- PlanWorkspace.cpp - one workspace for a function's temporaries -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/CostModel.h"
#include "veeline/Analysis/OffsetAllocator.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEPLANWORKSPACE
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

namespace {

/// Plans the workspace of one function.
class WorkspacePlanner {
public:
  WorkspacePlanner(func::FuncOp function, uint64_t alignment)
      : function(function), body(function.getBody().front()),
        alignment(alignment), aliases(function) {
    int64_t position = 0;
    for (Operation &op : body)
      positions[&op] = position++;
  }

  LogicalResult run();

private:
  LogicalResult collectAllocs();
  LiveInterval getInterval(memref::AllocOp alloc);
  void extend(LiveInterval &interval, Operation *user);
  void extendByPointers(LiveInterval &interval, Value pointer);
  LogicalResult replaceAllocs(const OffsetPlan &plan);

  func::FuncOp function;
  Block &body;
  uint64_t alignment;
  BufferViewFlowAnalysis aliases;
  DenseMap<Operation *, int64_t> positions;
  SmallVector<memref::AllocOp> allocs;
};

} // namespace

LogicalResult WorkspacePlanner::collectAllocs() {
  WalkResult result = function.walk([&](memref::AllocOp alloc) {
    if (alloc->getBlock() == &body && alloc.getType().hasStaticShape()) {
      allocs.push_back(alloc);
      return WalkResult::advance();
    }
    alloc.emitError("a temporary must have a static shape and stand in the "
                    "function's own block to get a place in its workspace, "
                    "found ")
        << alloc.getType();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void WorkspacePlanner::extend(LiveInterval &interval, Operation *user) {
  int64_t position = positions.at(body.findAncestorOpInBlock(*user));
  interval.begin = std::min(interval.begin, position);
  interval.end = std::max(interval.end, position + 1);
}

/// Extends `interval` to all users of an address that was taken of a buffer.
void WorkspacePlanner::extendByPointers(LiveInterval &interval, Value pointer) {
  for (Operation *user : pointer.getUsers()) {
    extend(interval, user);
    if (isa<arith::ArithDialect, LLVM::LLVMDialect>(user->getDialect()))
      for (Value result : user->getResults())
        extendByPointers(interval, result);
  }
}

LiveInterval WorkspacePlanner::getInterval(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  LiveInterval interval;
  interval.begin = std::numeric_limits<int64_t>::max();
  interval.size = getByteSize(type);
  for (Value alias : aliases.resolve(alloc)) {
    for (Operation *user : alias.getUsers()) {
      extend(interval, user);
      if (auto pointer = dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(user))
        extendByPointers(interval, pointer);
    }
  }
  return interval;
}

LogicalResult WorkspacePlanner::replaceAllocs(const OffsetPlan &plan) {
  OpBuilder builder(function.getContext());
  Location loc = function.getLoc();
  auto type = MemRefType::get({static_cast<int64_t>(plan.totalBytes)},
                              builder.getI8Type());
  if (failed(
          function.insertArgument(function.getNumArguments(), type, {}, loc)))
    return function.emitError("cannot take a workspace as its last argument");
  Value workspace = body.getArguments().back();
  for (auto [alloc, offset] : llvm::zip(allocs, plan.offsets)) {
    builder.setInsertionPoint(alloc);
    Value shift = arith::ConstantIndexOp::create(builder, alloc.getLoc(),
                                                 static_cast<int64_t>(offset));
    Value view =
        memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(),
                               workspace, shift, ValueRange());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
  }
  return success();
}

LogicalResult WorkspacePlanner::run() {
  if (failed(collectAllocs()))
    return failure();
  SmallVector<LiveInterval> intervals;
  llvm::erase_if(allocs, [&](memref::AllocOp alloc) {
    if (!alloc.use_empty())
      return false;
    alloc.erase();
    return true;
  });
  for (memref::AllocOp alloc : allocs)
    intervals.push_back(getInterval(alloc));
  OffsetPlan plan = planOffsets(intervals, alignment);
  if (failed(replaceAllocs(plan)))
    return failure();
  auto setBytes = [&](StringRef name, uint64_t bytes) {
    Builder builder(function.getContext());
    function->setAttr(name,
                      builder.getI64IntegerAttr(static_cast<int64_t>(bytes)));
  };
  setBytes(pipe::workspaceBytesAttrName, plan.totalBytes);
  setBytes(pipe::workspacePeakAttrName, plan.peakLiveBytes);
  return success();
}

namespace {

struct PlanWorkspace : veeline::impl::PipePlanWorkspaceBase<PlanWorkspace> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function->hasAttr(pipe::numResultsAttrName))
      return;
    if (failed(WorkspacePlanner(function, getArenaAlignment(target)).run()))
      signalPassFailure();
  }
};

} // namespace
