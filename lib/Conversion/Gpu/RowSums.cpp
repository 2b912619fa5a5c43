//===- RowSums.cpp - sums over rows in a kernel of rows -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel of columns would read values again that a kernel of rows has in
// registers. So the kernel of rows computes the sums itself. Each warp has the
// rows of a part that one thread of a kernel of columns would have, and adds
// its elements of all of them.
//
//===----------------------------------------------------------------------===//

#include "RowKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace veeline;

void RowEmitter::runWithSums() {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  const LoopNest &first = code.body.sums.front();
  int64_t rows = first.loops[1].size;
  code.setSizes(first.loops[0].size, rowGroups * warpSize);
  thread = code.thread();
  lane = code.rem(thread, warpSize);
  teams = rowGroups;
  Value part = code.block(), own = code.div(thread, warpSize);
  std::vector<LoopNest> sums;
  SmallVector<Value> start;
  for (const LoopNest &sum : code.body.sums) {
    sums.push_back(asRow(sum));
    forChunks(sums.back(), {}, [&](const Chunk &, ValueRange) {
      llvm::append_range(start, getNeutral(sum));
      return SmallVector<Value>();
    });
  }
  auto loop = scf::ForOp::create(builder, loc, own, code.index(rows),
                                 code.index(rowGroups), start);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Value row = code.add(code.mul(part, rows), loop.getInductionVar());
    rowIds = code.delinearize(row, rowSizes);
    emitRow();
    builder.setInsertionPointToEnd(loop.getBody());
    SmallVector<Value> next;
    for (const LoopNest &sum : sums) {
      SmallVector<NestReduction> reductions = *sum.getReductions();
      forChunks(sum, {}, [&](const Chunk &chunk, ValueRange) {
        for (auto [reduction, value] :
             llvm::zip(reductions, emitChunk(sum, chunk, reductions)))
          next.push_back(emitCombiner(builder, reduction.combiner,
                                      loop.getRegionIterArg(next.size()),
                                      value));
        return SmallVector<Value>();
      });
    }
    scf::YieldOp::create(builder, loc, next);
  }
  // The sums need registers in addition to those of a row.
  code.function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                         builder.getI32IntegerAttr(1));
  storeSums(part, own, loop.getResults());
}

/// Combines the sums of the warps of a block, like the row groups of a kernel
/// of columns, and adds them to the outputs.
void RowEmitter::storeSums(Value part, Value own, ValueRange sums) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  int64_t mostColumns = 0;
  for (const LoopNest &sum : code.body.sums)
    mostColumns = std::max(mostColumns, sum.loops[2].size);
  // All sums of a type use the same buffer, one after the other.
  llvm::DenseMap<Type, Value> buffers;
  size_t next = 0;
  for (const LoopNest &sum : code.body.sums) {
    LoopNest row = asRow(sum);
    int64_t columns = sum.loops[2].size;
    SmallVector<NestReduction> reductions = *sum.getReductions();
    for (auto [i, access] : llvm::enumerate(sum.outputs())) {
      Value &shared = buffers[access.elementType];
      if (shared)
        gpu::BarrierOp::create(builder, loc);
      else
        shared = code.addShared(access.elementType, rowGroups * mostColumns);
      Value begin = code.mul(own, columns);
      size_t round = 0;
      forChunks(row, {}, [&](const Chunk &chunk, ValueRange) {
        Value sumOfChunk = sums[next + round++ * reductions.size() + i];
        for (int64_t element = 0; element < team.lanes; ++element) {
          bool isApart = !chunk.elements.empty();
          code.when(
              isApart ? chunk.elements[element].second : chunk.exists, [&] {
                Value place = isApart ? chunk.elements[element].first
                                      : code.add(chunk.linear, element);
                memref::StoreOp::create(builder, loc,
                                        vector::ExtractOp::create(
                                            builder, loc, sumOfChunk, element),
                                        shared, code.add(begin, place));
              });
        }
        return SmallVector<Value>();
      });
      gpu::BarrierOp::create(builder, loc);
      Operation *combiner = reductions[i].combiner;
      code.loop(
          thread, columns, rowGroups * warpSize,
          [&, &access = access](Value column) {
            SmallVector<Value> parts;
            for (int64_t group = 0; group < rowGroups; ++group)
              parts.push_back(memref::LoadOp::create(
                  builder, loc, shared, code.add(column, group * columns)));
            auto type = VectorType::get({rowGroups}, access.elementType);
            Value total = emitTree(
                builder, combiner,
                vector::FromElementsOp::create(builder, loc, type, parts));
            ThreadCode::Point point{{part, code.index(0)}, 2, column};
            Value old = code.load(sum, access, point, 1);
            code.store(emitCombiner(builder, combiner, old, total), sum, access,
                       point, 1);
          });
    }
    next += reductions.size() *
            llvm::divideCeil(columns, team.threads * team.lanes);
  }
}
