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
  // All threads of a block come to a barrier.
  if (grid[1] != 1 || grid[2] != 1 || (meets && countThreads(part) < threads) ||
      (barriers && countThreads(part) > threads))
    return false;
  parts.push_back(part);
  threads = std::max(threads, countThreads(part));
  barriers |= meets;
  return true;
}

/// The buffer of `target` for one that threads of a block of a part share:
/// a block runs one part, so that all parts use the same.
static Value findShared(gpu::GPUFuncOp target, Type type,
                        SmallVectorImpl<Value> &taken) {
  for (Value shared : target.getWorkgroupAttributions())
    if (shared.getType() == type && !llvm::is_contained(taken, shared))
      return taken.emplace_back(shared);
  return taken.emplace_back(
      target.addWorkgroupAttribution(type, target.getLoc()));
}

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
  constexpr auto noWrap =
      arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;
  Value own = arith::SubIOp::create(builder, loc, block, start, noWrap);
  for (Operation &op : part.getBody().front().without_terminator())
    builder.clone(op, mapping);
  Block *body = builder.getInsertionBlock();
  SmallVector<gpu::BlockIdOp> ids;
  body->walk([&](gpu::BlockIdOp id) { ids.push_back(id); });
  for (gpu::BlockIdOp id : ids) {
    id.replaceAllUsesWith(own);
    id.erase();
  }
}

void SideBySide::emit(gpu::GPUFuncOp target) {
  Block &entry = target.getBody().front();
  Location loc = target.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  auto isLess = [&](Value value, int64_t bound) -> Value {
    return arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, value,
        arith::ConstantIndexOp::create(builder, loc, bound));
  };
  int64_t begin = 0;
  for (gpu::GPUFuncOp part : parts) {
    int64_t end = begin + countBlocks(part);
    // The difference wraps below `begin`.
    Value from = arith::SubIOp::create(
        builder, loc, block,
        arith::ConstantIndexOp::create(builder, loc, begin));
    Value isHere = isLess(from, end - begin);
    if (countThreads(part) < threads)
      isHere = arith::AndIOp::create(builder, loc, isHere,
                                     isLess(thread, countThreads(part)));
    auto choice = scf::IfOp::create(builder, loc, isHere,
                                    /*withElseRegion=*/false);
    OpBuilder inner = OpBuilder::atBlockBegin(choice.thenBlock());
    clonePart(inner, part, target, block, begin);
    begin = end;
    part.erase();
  }
  auto sizes = [&](int64_t first) {
    return builder.getDenseI32ArrayAttr({static_cast<int32_t>(first), 1, 1});
  };
  target.setKnownGridSizeAttr(sizes(begin));
  target.setKnownBlockSizeAttr(sizes(threads));
}
