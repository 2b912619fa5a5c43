//===- AttentionForward.cpp - attention of 64 queries ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An online softmax: maximum and sum are updated for each tile of keys. If a
// tile has a larger maximum, the sums so far are scaled.
//
//===----------------------------------------------------------------------===//

#include "AttentionCode.h"
#include "AttentionKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace veeline;

namespace {

class ForwardCode : public AttentionCode {
public:
  using AttentionCode::AttentionCode;

  void run();

private:
  /// The state that is passed from one tile of keys to the next.
  struct State {
    Fragments output;
    /// The maxima and sums of the thread's two rows. A sum is only over the
    /// thread's own columns.
    std::array<Value, 2> maximum, sum;

    SmallVector<Value> toValues() const;
    static State fromValues(ValueRange values);
  };

  void startTiles();
  State startState();
  void work(State &state, Value number, Value count);
  void exponentiate(State &state, Scores &scores);
  void finishRows(State &state);
  void copyTile(const Tile &tile, const AttentionBuffer &buffer, Value number,
                int64_t columns);

  Tile queries, keys, values;
  MatrixUnit::Left left;
};

} // namespace

SmallVector<Value> ForwardCode::State::toValues() const {
  SmallVector<Value> all(output);
  llvm::append_range(all, maximum);
  llvm::append_range(all, sum);
  return all;
}

ForwardCode::State ForwardCode::State::fromValues(ValueRange all) {
  State state;
  ValueRange first = all.drop_back(4);
  state.output.assign(first.begin(), first.end());
  ValueRange rest = all.take_back(4);
  state.maximum = {rest[0], rest[1]};
  state.sum = {rest[2], rest[3]};
  return state;
}

void ForwardCode::copyTile(const Tile &tile, const AttentionBuffer &buffer,
                           Value number, int64_t columns) {
  tiles.copy({tile, Value()},
             keyRows(buffer, code.mul(number, width), columns));
  tiles.commit();
}

void ForwardCode::startTiles() {
  // In f32 there is room for half as much. Without tensor cores, a product in
  // registers is unrolled over the keys, so fewer are better, too.
  width = problem.elementType().isF32() ? 32 : 64;
  int64_t depth = padded(problem.depth);
  int64_t valueDepth = padded(problem.valueDepth);
  queries = tiles.addTile(TileCode::blockRows, std::max(depth, valueDepth));
  queries.columns = depth;
  keys = tiles.addTile(width, depth);
  values = tiles.addTile(width, valueDepth);
  tiles.copy({queries, Value()},
             queryRows(problem.query, firstRow, problem.depth));
  copyTile(keys, problem.key, code.index(0), problem.depth);
}

ForwardCode::State ForwardCode::startState() {
  State state;
  state.output = tiles.zeros(values.columns);
  Value nothing = tiles.number(-std::numeric_limits<double>::infinity());
  state.maximum = {nothing, nothing};
  state.sum = {tiles.number(0), tiles.number(0)};
  return state;
}

/// Replaces scores by their exponentials, and scales the state to the new
/// maximum.
void ForwardCode::exponentiate(State &state, Scores &scores) {
  std::array<Value, 2> shifts, factors;
  std::array<Value, 2> maximum = state.maximum;
  forEach(scores.values, [&](size_t i, int64_t half, int64_t) {
    maximum[half] = tiles.maxF(maximum[half], scores.values[i]);
  });
  for (size_t half = 0; half < 2; ++half) {
    // Four lanes share a row.
    for (int64_t mask : {1, 2})
      maximum[half] =
          tiles.maxF(maximum[half], tiles.exchange(maximum[half], mask));
    // True if the row has seen no key so far.
    Value isNothing = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OEQ, maximum[half],
        tiles.number(-std::numeric_limits<double>::infinity()));
    shifts[half] = tiles.select(isNothing, tiles.number(0), maximum[half]);
    factors[half] = power(state.maximum[half], shifts[half]);
    state.sum[half] = tiles.mulF(state.sum[half], factors[half]);
  }
  state.maximum = maximum;
  forEach(scores.values, [&](size_t i, int64_t half, int64_t) {
    scores.values[i] = power(scores.values[i], shifts[half]);
    state.sum[half] = tiles.addF(state.sum[half], scores.values[i]);
  });
  forEach(state.output, [&](size_t i, int64_t half, int64_t) {
    state.output[i] = tiles.mulF(state.output[i], factors[half]);
  });
}

/// Processes one tile. Values are copied while scores are computed, and the
/// next keys while values are added.
void ForwardCode::work(State &state, Value number, Value count) {
  tiles.wait();
  tiles.barrier();
  copyTile(values, problem.value, number, problem.valueDepth);
  Scores scores = makeScores(width, code.mul(number, width),
                             /*rowsAreKeys=*/false);
  unit->multiplyRows(scores.values, left, {keys, Value()});
  tiles.wait();
  tiles.barrier();
  Value next = code.add(number, 1);
  code.when(tiles.isLess(next, count),
            [&] { copyTile(keys, problem.key, next, problem.depth); });
  finish(scores);
  exponentiate(state, scores);
  unit->multiply(state.output, scores.values, {values, Value()});
}

void ForwardCode::finishRows(State &state) {
  std::array<Value, 2> factors;
  Value isFirst = code.isLess(tiles.laneColumn, 1);
  for (int64_t half = 0; half < 2; ++half) {
    Value &sum = state.sum[half];
    for (int64_t mask : {1, 2})
      sum = tiles.addF(sum, tiles.exchange(sum, mask));
    factors[half] = arith::DivFOp::create(builder, loc, tiles.number(1), sum);
    Value row = getRow(half);
    Value exists = isFirst;
    if (problem.queries % TileCode::blockRows)
      exists = tiles.both(exists, code.isLess(row, problem.queries));
    code.when(exists, [&] {
      Value place = code.add(getStart(problem.lse, queryBatch),
                             code.mul(row, problem.lse.rowStride));
      memref::StoreOp::create(builder, loc, toLse(state.maximum[half], sum),
                              code.flat(problem.lse.base), place);
    });
  }
  forEach(state.output, [&](size_t i, int64_t half, int64_t) {
    state.output[i] = tiles.mulF(state.output[i], factors[half]);
  });
}

void ForwardCode::run() {
  queryBatch = startBlock(problem.queries, problem.batch, problem.isCausal);
  keyBatch = queryBatch;
  if (!keyBatch.empty())
    keyBatch.back() = code.div(keyBatch.back(), problem.group);
  startTiles();
  left.stage = {queries, Value()};
  tiles.wait();
  tiles.barrier();
  unit->preload(left);
  Value count = countKeyTiles();
  auto loop = scf::ForOp::create(builder, loc, code.index(0), count,
                                 code.index(1), startState().toValues());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    State state = State::fromValues(loop.getRegionIterArgs());
    work(state, loop.getInductionVar(), count);
    scf::YieldOp::create(builder, loc, state.toValues());
  }
  State state = State::fromValues(loop.getResults());
  finishRows(state);
  tiles.store(state.output, queries,
              queryRows(problem.results[0], firstRow, problem.valueDepth));
}

void veeline::emitAttentionForward(ThreadCode &code,
                                   const AttentionProblem &problem) {
  ForwardCode(code, problem).run();
}
