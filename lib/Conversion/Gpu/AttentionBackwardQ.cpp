//===- AttentionBackwardQ.cpp - the gradient of 64 queries ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionCode.h"
#include "AttentionKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace veeline;

namespace {

class BackwardQCode : public AttentionCode {
public:
  using AttentionCode::AttentionCode;

  void run();

private:
  void startTiles();
  void copyTiles(Value number);
  Value loadNumber(const AttentionBuffer &buffer, int64_t half);
  void work(Fragments &sums, Value number, Value count);

  Tile queries, outputGrads, keys, values;
  /// The lse and delta of the thread's two rows.
  std::array<Value, 2> lse, delta;
};

} // namespace

/// Starts to copy tile `number` of keys and values to its stage.
void BackwardQCode::copyTiles(Value number) {
  Value stage = code.rem(number, 2), first = code.mul(number, width);
  tiles.copy(tiles.getStage(keys, stage),
             keyRows(problem.key, first, problem.depth));
  tiles.copy(tiles.getStage(values, stage),
             keyRows(problem.value, first, problem.valueDepth));
  tiles.commit();
}

void BackwardQCode::startTiles() {
  int64_t depth = padded(problem.depth);
  int64_t valueDepth = padded(problem.valueDepth);
  width = getBackwardWidth();
  queries = tiles.addTile(TileCode::blockRows, depth);
  outputGrads = tiles.addTile(TileCode::blockRows, valueDepth);
  keys = tiles.addTile(width, depth, 2);
  values = tiles.addTile(width, valueDepth, 2);
  tiles.copy({queries, Value()},
             queryRows(problem.query, firstRow, problem.depth));
  tiles.copy({outputGrads, Value()},
             queryRows(problem.outputGrad, firstRow, problem.valueDepth));
  copyTiles(code.index(0));
}

/// The lse or delta of one of the thread's rows. For a row after the last, that
/// of the last.
Value BackwardQCode::loadNumber(const AttentionBuffer &buffer, int64_t half) {
  Value row = arith::MinUIOp::create(builder, loc, getRow(half),
                                     code.index(problem.queries - 1));
  Value place =
      code.add(getStart(buffer, queryBatch), code.mul(row, buffer.rowStride));
  return memref::LoadOp::create(builder, loc, code.flat(buffer.base), place);
}

/// Processes one tile while the next one is copied.
void BackwardQCode::work(Fragments &sums, Value number, Value count) {
  tiles.wait();
  tiles.barrier();
  Value next = code.add(number, 1);
  code.when(tiles.isLess(next, count), [&] { copyTiles(next); });
  Value stage = code.rem(number, 2);
  Scores scores = makeScores(width, code.mul(number, width),
                             /*rowsAreKeys=*/false);
  unit->multiplyRows(scores.values, {{queries, Value()}, {}},
                     tiles.getStage(keys, stage));
  finish(scores);
  Fragments grads = tiles.zeros(width);
  unit->multiplyRows(grads, {{outputGrads, Value()}, {}},
                     tiles.getStage(values, stage));
  forEach(grads, [&](size_t i, int64_t half, int64_t) {
    Value factor = power(scores.values[i], lse[half]);
    grads[i] = tiles.mulF(factor, tiles.subF(grads[i], delta[half]));
  });
  clearHidden(grads, scores);
  unit->multiply(sums, grads, tiles.getStage(keys, stage));
}

void BackwardQCode::run() {
  queryBatch = startBlock(problem.queries, problem.batch, problem.isCausal);
  keyBatch = queryBatch;
  if (!keyBatch.empty())
    keyBatch.back() = code.div(keyBatch.back(), problem.group);
  startTiles();
  for (int64_t half = 0; half < 2; ++half) {
    lse[half] = fromLse(loadNumber(problem.lse, half));
    delta[half] = loadNumber(problem.delta, half);
  }
  Value count = countKeyTiles();
  auto loop = scf::ForOp::create(builder, loc, code.index(0), count,
                                 code.index(1), tiles.zeros(queries.columns));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Fragments sums(loop.getRegionIterArgs());
    work(sums, loop.getInductionVar(), count);
    scf::YieldOp::create(builder, loc, sums);
  }
  Fragments sums(loop.getResults());
  for (Value &sum : sums)
    sum = tiles.mulF(sum, tiles.number(problem.scale));
  tiles.store(sums, queries,
              queryRows(problem.results[0], firstRow, problem.depth));
}

void veeline::emitAttentionBackwardQ(ThreadCode &code,
                                     const AttentionProblem &problem) {
  BackwardQCode(code, problem).run();
}
