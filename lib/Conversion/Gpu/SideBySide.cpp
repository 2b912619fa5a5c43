//===- SideBySide.cpp - several kernels in one launch ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SideBySide.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace veeline;

static int64_t countBlocks(gpu::GPUFuncOp part) {
  return part.getKnownGridSize()->front();
}

static int64_t countThreads(gpu::GPUFuncOp part) {
  return part.getKnownBlockSize()->front();
}

bool SideBySide::add(gpu::GPUFuncOp part) {
  bool meets = part.walk([](gpu::BarrierOp) { return WalkResult::interrupt(); })
                   .wasInterrupted();
  ArrayRef<int32_t> grid = *part.getKnownGridSize();
  // All threads of a block have to reach a barrier.
  if (grid[1] != 1 || grid[2] != 1 || (meets && countThreads(part) < threads) ||
      (barriers && countThreads(part) > threads))
    return false;
  parts.push_back(part);
  threads = std::max(threads, countThreads(part));
  barriers |= meets;
  return true;
}

/// Finds a buffer of `target` that replaces a shared buffer of a part. A block
/// runs only one part, so all parts can use the same buffer.
static Value findShared(gpu::GPUFuncOp target, Type type,
                        SmallVectorImpl<Value> &taken) {
  for (Value shared : target.getWorkgroupAttributions())
    if (shared.getType() == type && !llvm::is_contained(taken, shared))
      return taken.emplace_back(shared);
  return taken.emplace_back(
      target.addWorkgroupAttribution(type, target.getLoc()));
}

static constexpr auto noWrap =
    arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;

/// Clones the body of `part`, whose first block is `begin`.
static void clonePart(OpBuilder &builder, gpu::GPUFuncOp part,
                      gpu::GPUFuncOp target, Value block, int64_t begin) {
  IRMapping mapping;
  mapping.map(part.getArguments(), target.getArguments());
  SmallVector<Value> taken;
  for (BlockArgument shared : part.getWorkgroupAttributions())
    mapping.map(shared, findShared(target, shared.getType(), taken));
  Location loc = part.getLoc();
  Value start = arith::ConstantIndexOp::create(builder, loc, begin);
  Value own = arith::SubIOp::create(builder, loc, block, start, noWrap);
  for (Operation &op : part.getBody().front().without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    SmallVector<gpu::BlockIdOp> ids;
    copy->walk([&](gpu::BlockIdOp id) { ids.push_back(id); });
    for (gpu::BlockIdOp id : ids) {
      if (id == copy)
        mapping.map(op.getResult(0), own);
      id.replaceAllUsesWith(own);
      id.erase();
    }
  }
}

/// Emits the parts `first` to `end` - 1 as a binary tree of branches. Part i
/// begins at block `begins[i]`.
void SideBySide::emitSome(OpBuilder &builder, gpu::GPUFuncOp target,
                          ArrayRef<int64_t> begins, size_t first, size_t end) {
  Location loc = target.getLoc();
  auto choose = [&](Value value, int64_t bound, bool withElse) {
    Value limit = arith::ConstantIndexOp::create(builder, loc, bound);
    Value isLess = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, value, limit);
    return scf::IfOp::create(builder, loc, isLess, withElse);
  };
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  if (end - first > 1) {
    size_t middle = first + (end - first) / 2;
    auto choice = choose(block, begins[middle], /*withElse=*/true);
    OpBuilder left = OpBuilder::atBlockBegin(choice.thenBlock());
    emitSome(left, target, begins, first, middle);
    OpBuilder right = OpBuilder::atBlockBegin(choice.elseBlock());
    return emitSome(right, target, begins, middle, end);
  }
  gpu::GPUFuncOp part = parts[first];
  if (countThreads(part) == threads)
    return clonePart(builder, part, target, block, begins[first]);
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  auto choice = choose(thread, countThreads(part), /*withElse=*/false);
  OpBuilder inner = OpBuilder::atBlockBegin(choice.thenBlock());
  clonePart(inner, part, target, block, begins[first]);
}

void SideBySide::emit(gpu::GPUFuncOp target) {
  SmallVector<int64_t> begins;
  int64_t numBlocks = 0;
  for (gpu::GPUFuncOp part : parts) {
    begins.push_back(numBlocks);
    numBlocks += countBlocks(part);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&target.getBody().front());
  emitSome(builder, target, begins, 0, parts.size());
  for (gpu::GPUFuncOp part : parts)
    part.erase();
  auto sizes = [&](int64_t first) {
    return builder.getDenseI32ArrayAttr({static_cast<int32_t>(first), 1, 1});
  };
  target.setKnownGridSizeAttr(sizes(numBlocks));
  target.setKnownBlockSizeAttr(sizes(threads));
}
