//===- AttentionBackwardKV.cpp - the gradients of 64 keys and values ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Here, rows of scores are keys and columns are queries. So scores are the left
// operand of the products with queries and with gradients of outputs.
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

class BackwardKVCode : public AttentionCode {
public:
  using AttentionCode::AttentionCode;

  void run();

private:
  /// The sums of the gradients of keys and of values.
  struct State {
    Fragments key, value;

    SmallVector<Value> toValues() const;
  };

  /// The place of one number for each query of both stages.
  struct Numbers {
    Value buffer;
    /// The place of the first number, and the distances between numbers and
    /// between stages.
    int64_t first, pitch, stage;
  };

  State toState(ValueRange values) const;
  void startTiles();
  void startCount();
  Value enter(Value step);
  void copyTiles(Value step);
  Numbers addNumbers(int64_t number);
  void copyNumbers(const Numbers &numbers, const AttentionBuffer &buffer,
                   Value first, Value stage);
  Value loadNumber(const Numbers &numbers, Value stage, int64_t column);
  void work(State &state, Value step);

  Tile keys, values, queries, outputGrads;
  Numbers lse, delta;
  /// The first tile of queries that sees keys of the block, the number of such
  /// tiles, and that number for all members of the group.
  Value firstTile, numTiles, count;
};

} // namespace

SmallVector<Value> BackwardKVCode::State::toValues() const {
  SmallVector<Value> all(key);
  llvm::append_range(all, value);
  return all;
}

BackwardKVCode::State BackwardKVCode::toState(ValueRange all) const {
  size_t numKeys = static_cast<size_t>(keys.columns) / 8 * 4;
  State state;
  state.key.assign(all.begin(), all.begin() + numKeys);
  state.value.assign(all.begin() + numKeys, all.end());
  return state;
}

/// Sets `queryBatch` to the member of the group that a step belongs to, and
/// returns the first query of the step's tile.
Value BackwardKVCode::enter(Value step) {
  Value tile = step;
  if (problem.group > 1) {
    Value member = arith::DivUIOp::create(builder, loc, step, numTiles);
    tile = arith::RemUIOp::create(builder, loc, step, numTiles);
    queryBatch.back() =
        code.add(code.mul(keyBatch.back(), problem.group), member);
  }
  return code.mul(code.add(firstTile, tile), width);
}

void BackwardKVCode::copyTiles(Value step) {
  Value first = enter(step), stage = code.rem(step, 2);
  tiles.copy(tiles.getStage(queries, stage),
             queryRows(problem.query, first, problem.depth));
  tiles.copy(tiles.getStage(outputGrads, stage),
             queryRows(problem.outputGrad, first, problem.valueDepth));
  copyNumbers(lse, problem.lse, first, stage);
  copyNumbers(delta, problem.delta, first, stage);
  tiles.commit();
}

/// In f32, numbers are stored in the padding between the rows of queries.
BackwardKVCode::Numbers BackwardKVCode::addNumbers(int64_t number) {
  if (problem.elementType().isF32())
    return {queries.buffer, queries.columns + number, queries.pitch,
            queries.stageElements()};
  return {code.addShared(builder.getF32Type(), 2 * width), 0, 1, width};
}

void BackwardKVCode::copyNumbers(const Numbers &numbers,
                                 const AttentionBuffer &buffer, Value first,
                                 Value stage) {
  Value place = code.add(code.mul(stage, numbers.stage), numbers.first);
  tiles.copyNumbers(numbers.buffer, place, numbers.pitch,
                    queryRows(buffer, first, 1), width);
}

/// The lse or delta of a column. Columns are counted from the thread's first
/// one.
Value BackwardKVCode::loadNumber(const Numbers &numbers, Value stage,
                                 int64_t column) {
  Value row = code.add(code.mul(tiles.laneColumn, 2), column);
  Value place =
      code.add(code.mul(stage, numbers.stage), code.mul(row, numbers.pitch));
  return memref::LoadOp::create(builder, loc, numbers.buffer,
                                code.add(place, numbers.first));
}

void BackwardKVCode::startTiles() {
  int64_t depth = padded(problem.depth);
  int64_t valueDepth = padded(problem.valueDepth);
  // The sums of two gradients leave fewer registers for a tile.
  width = std::min<int64_t>(getBackwardWidth(), 32);
  keys = tiles.addTile(TileCode::blockRows, depth);
  values = tiles.addTile(TileCode::blockRows, valueDepth);
  queries = tiles.addTile(width, depth, 2);
  outputGrads = tiles.addTile(width, valueDepth, 2);
  lse = addNumbers(0);
  delta = addNumbers(1);
  tiles.copy({keys, Value()}, keyRows(problem.key, firstRow, problem.depth));
  tiles.copy({values, Value()},
             keyRows(problem.value, firstRow, problem.valueDepth));
  tiles.commit();
}

/// Finds the tiles of queries that see keys of the block: queries before the
/// first key see none.
void BackwardKVCode::startCount() {
  int64_t all = llvm::divideCeil(problem.queries, width);
  firstTile = code.index(0);
  numTiles = code.index(all);
  if (problem.isCausal) {
    firstTile = arith::MinUIOp::create(builder, loc, code.div(firstRow, width),
                                       numTiles);
    numTiles = arith::SubIOp::create(builder, loc, numTiles, firstTile);
  }
  count = code.mul(numTiles, problem.group);
}

/// Processes one tile while the next one is copied.
void BackwardKVCode::work(State &state, Value step) {
  tiles.wait();
  tiles.barrier();
  Value next = code.add(step, 1), stage = code.rem(step, 2);
  code.when(tiles.isLess(next, count), [&] { copyTiles(next); });
  Scores scores = makeScores(width, enter(step), /*rowsAreKeys=*/true);
  unit->multiplyRows(scores.values, {{keys, Value()}, {}},
                     tiles.getStage(queries, stage));
  finish(scores);
  DenseMap<int64_t, Value> shifts, deltas;
  forEach(scores.values, [&](size_t i, int64_t half, int64_t column) {
    if (half == 0) {
      shifts[column] = fromLse(loadNumber(lse, stage, column));
      deltas[column] = loadNumber(delta, stage, column);
    }
    scores.values[i] = power(scores.values[i], shifts[column]);
  });
  Fragments grads = tiles.zeros(width);
  auto addValues = [&] {
    unit->multiply(state.value, scores.values,
                   tiles.getStage(outputGrads, stage));
  };
  // Without tensor cores, LLVM would move these sums behind the loop that
  // follows, and keep their operands until then. So they come after it.
  if (unit->hasTensorCores())
    addValues();
  unit->multiplyRows(grads, {{values, Value()}, {}},
                     tiles.getStage(outputGrads, stage));
  if (!unit->hasTensorCores())
    addValues();
  forEach(grads, [&](size_t i, int64_t, int64_t column) {
    Value difference = tiles.subF(grads[i], deltas[column]);
    grads[i] = tiles.mulF(scores.values[i], difference);
  });
  clearHidden(grads, scores);
  unit->multiply(state.key, grads, tiles.getStage(queries, stage));
}

void BackwardKVCode::run() {
  keyBatch = startBlock(problem.keys, problem.getKeyBatch(),
                        /*lastFirst=*/false);
  queryBatch = keyBatch;
  startTiles();
  startCount();
  // If there are more keys than queries, some blocks of keys have no tiles of
  // queries.
  code.when(tiles.isLess(code.index(0), count),
            [&] { copyTiles(code.index(0)); });
  State zeros{tiles.zeros(keys.columns), tiles.zeros(values.columns)};
  auto loop = scf::ForOp::create(builder, loc, code.index(0), count,
                                 code.index(1), zeros.toValues());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    State state = toState(loop.getRegionIterArgs());
    work(state, loop.getInductionVar());
    scf::YieldOp::create(builder, loc, state.toValues());
  }
  State state = toState(loop.getResults());
  for (Value &sum : state.key)
    sum = tiles.mulF(sum, tiles.number(problem.scale));
  // Without a tile, nothing has waited for the copies of keys and values yet.
  if (problem.isCausal && problem.keys > problem.queries) {
    tiles.wait();
    tiles.barrier();
  }
  tiles.store(state.key, keys,
              keyRows(problem.results[0], firstRow, problem.depth));
  tiles.store(state.value, values,
              keyRows(problem.results[1], firstRow, problem.valueDepth));
}

void veeline::emitAttentionBackwardKV(ThreadCode &code,
                                      const AttentionProblem &problem) {
  BackwardKVCode(code, problem).run();
}
