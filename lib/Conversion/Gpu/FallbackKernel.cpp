//===- FallbackKernel.cpp - kernels of any form ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelClass.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace veeline;

bool veeline::fitsScalars(const KernelBody &body) {
  return fitsElementwise(body) && countIterations(body.nests.front(), 0) == 1;
}

/// Emits the loops of `nest` from `loop` on in order, one element at a time.
static void emitInOrder(ThreadCode &code, const LoopNest &nest,
                        SmallVector<Value> ids) {
  if (ids.size() < nest.loops.size()) {
    code.loop(code.index(0), nest.loops[ids.size()].size, 1, [&](Value id) {
      SmallVector<Value> inner = ids;
      inner.push_back(id);
      emitInOrder(code, nest, inner);
    });
    return;
  }
  ThreadCode::Point point{ids, static_cast<unsigned>(nest.loops.size()),
                          code.index(0)};
  SmallVector<Value> results =
      code.emitBody(nest, point, 1, [](unsigned) { return Value(); });
  for (auto [access, value] : llvm::zip(nest.outputs(), results))
    code.store(value, nest, access, point, 1);
}

/// If a single op has no loop over rows, makes its parallel loops rows.
static void chooseRows(KernelBody &body) {
  if (body.rows || body.nests.size() != 1)
    return;
  LoopNest &nest = body.nests.front();
  nest.sortParallelFirst();
  body.numRowLoops = nest.countParallel();
}

void veeline::emitFallback(ThreadCode &code) {
  KernelBody &body = code.body;
  chooseRows(body);
  SmallVector<int64_t> sizes;
  for (unsigned i = 0; i < body.numRowLoops; ++i)
    sizes.push_back(body.nests.front().loops[i].size);
  code.forEach(llvm::product_of(sizes), threadsPerBlock, [&](Value item) {
    SmallVector<Value> ids = code.delinearize(item, sizes);
    code.inlineOps(ids);
    for (const LoopNest &nest : body.nests) {
      code.builder.setInsertionPoint(nest.op);
      emitInOrder(code, nest, ids);
    }
  });
}
