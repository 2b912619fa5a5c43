//===- LoopKernel.cpp - kernels of scalar loops ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelClass.h"
#include "ScalarLoops.h"

#include "Kernels/StructuredOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace veeline;

SmallVector<Value> veeline::getWrittenBuffers(Operation *root) {
  SmallVector<Value> written;
  root->walk(
      [&](memref::StoreOp store) { written.push_back(store.getMemRef()); });
  return written;
}

/// True if every access to a written buffer has `iv` as the same index.
/// Iterations of its loop are then independent.
static bool separates(Value iv, Operation *root, ArrayRef<Value> written) {
  DenseMap<Value, int64_t> dimensions;
  auto check = [&](Value memref, ValueRange indices) {
    if (!llvm::is_contained(written, memref))
      // Another view of a written buffer may be the same memory.
      return llvm::none_of(written, [&](Value other) {
        return getRootBuffer(other) == getRootBuffer(memref);
      });
    auto at = llvm::find(indices, iv);
    if (at == indices.end())
      return false;
    int64_t dimension = at - indices.begin();
    return dimensions.try_emplace(memref, dimension).first->second == dimension;
  };
  return !root->walk([&](Operation *op) {
                bool isSeparate = true;
                if (auto store = dyn_cast<memref::StoreOp>(op))
                  isSeparate = check(store.getMemRef(), store.getIndices());
                else if (auto load = dyn_cast<memref::LoadOp>(op))
                  isSeparate = check(load.getMemRef(), load.getIndices());
                return isSeparate ? WalkResult::advance()
                                  : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// The loop in `block` that contains all its stores, if there is one.
static scf::ForOp findInner(Block &block) {
  scf::ForOp inner;
  for (Operation &op : block) {
    if (getWrittenBuffers(&op).empty())
      continue;
    if (inner || !isa<scf::ForOp>(op))
      return {};
    inner = cast<scf::ForOp>(op);
  }
  return inner;
}

SmallVector<scf::ForOp> veeline::getStoringLoops(scf::ForOp root) {
  SmallVector<scf::ForOp> loops;
  for (scf::ForOp loop = root; loop; loop = findInner(*loop.getBody()))
    loops.push_back(loop);
  return loops;
}

int64_t veeline::countLoop(scf::ForOp loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  return count ? count->getSExtValue() : 0;
}

static SmallVector<scf::ForOp> findParallel(scf::ForOp root) {
  SmallVector<Value> written = getWrittenBuffers(root);
  SmallVector<scf::ForOp> loops;
  for (Value a : written)
    for (Value b : written)
      if (a != b && getRootBuffer(a) == getRootBuffer(b))
        return loops;
  for (scf::ForOp loop : getStoringLoops(root))
    if (loop->getNumResults() == 0 && countLoop(loop) > 0 &&
        separates(loop.getInductionVar(), root, written))
      loops.push_back(loop);
  return loops;
}

bool veeline::isLoopKernel(Block &block) {
  return llvm::hasSingleElement(block.getOps<scf::ForOp>());
}

/// Moves the body of `loop` in front of it, as iteration `id`.
static void inlineIteration(ThreadCode &code, scf::ForOp loop, Value id) {
  OpBuilder::InsertionGuard guard(code.builder);
  code.builder.setInsertionPoint(loop);
  Value step = loop.getStep(), begin = loop.getLowerBound();
  Value iv = arith::MulIOp::create(code.builder, code.loc, id, step);
  iv = arith::AddIOp::create(code.builder, code.loc, iv, begin);
  IRRewriter rewriter(code.builder.getContext());
  rewriter.eraseOp(loop.getBody()->getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(), loop, iv);
  rewriter.eraseOp(loop);
}

void veeline::emitLoops(ThreadCode &code) {
  Block &block = code.function.getBody().front();
  scf::ForOp root = *block.getOps<scf::ForOp>().begin();
  SmallVector<scf::ForOp> loops = findParallel(root);
  SmallVector<int64_t> sizes = llvm::map_to_vector(loops, countLoop);
  // Threads may run for long, so small blocks spread them over all
  // multiprocessors.
  constexpr int64_t fewThreads = 64;
  code.forEach(llvm::product_of(sizes), fewThreads, [&](Value item) {
    SmallVector<Value> ids = code.delinearize(item, sizes);
    root->moveBefore(code.builder.getInsertionBlock(),
                     code.builder.getInsertionPoint());
    for (auto [loop, id] : llvm::zip(loops, ids))
      inlineIteration(code, loop, id);
  });
}
