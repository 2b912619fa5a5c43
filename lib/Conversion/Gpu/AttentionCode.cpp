//===- AttentionCode.cpp - shared code of attention's kernels -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <numbers>
using namespace mlir;
using namespace veeline;

AttentionCode::AttentionCode(ThreadCode &code, AttentionProblem given)
    : code(code), problem(std::move(given)), tiles(code, problem.elementType()),
      unit(MatrixUnit::get(tiles, problem.tf32)), builder(code.builder),
      loc(code.loc) {}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

int64_t AttentionCode::padded(int64_t depth) {
  return llvm::alignTo(depth, 16);
}

int64_t AttentionCode::getBackwardWidth() const {
  // Up to 128 elements of f32, 64 rows of one side and two stages of the other
  // fit into maxSharedBytes.
  int64_t depth = std::max(problem.depth, problem.valueDepth);
  int64_t columns = depth > 64 ? 32 : 64;
  return getByteWidth(problem.elementType()) > 2 ? columns / 2 : columns;
}

SmallVector<Value> AttentionCode::startBlock(int64_t rows,
                                             ArrayRef<int64_t> batch,
                                             bool lastFirst) {
  int64_t blocks = llvm::divideCeil(rows, TileCode::blockRows);
  code.setSizes(blocks * llvm::product_of(batch), TileCode::numThreads);
  Value number = code.rem(code.block(), blocks);
  // The blocks with the most work start first.
  if (lastFirst)
    number =
        arith::SubIOp::create(builder, loc, code.index(blocks - 1), number);
  firstRow = code.mul(number, TileCode::blockRows);
  return code.delinearize(code.div(code.block(), blocks), batch);
}

Value AttentionCode::getStart(const AttentionBuffer &buffer,
                              ArrayRef<Value> batch) {
  Value start = code.index(buffer.offset);
  for (auto [id, stride] : llvm::zip(batch, buffer.batchStrides))
    if (stride)
      start = code.add(start, code.mul(id, stride));
  return start;
}

Value AttentionCode::countKeyTiles() {
  int64_t all = llvm::divideCeil(problem.keys, width);
  if (!problem.isCausal)
    return code.index(all);
  Value seen =
      code.div(code.add(firstRow, TileCode::blockRows + width - 1), width);
  return arith::MinUIOp::create(builder, loc, seen, code.index(all));
}

TileSource AttentionCode::queryRows(const AttentionBuffer &buffer, Value first,
                                    int64_t columns) {
  return {&buffer, getStart(buffer, queryBatch), first, problem.queries,
          columns};
}

TileSource AttentionCode::keyRows(const AttentionBuffer &buffer, Value first,
                                  int64_t columns) {
  return {&buffer, getStart(buffer, keyBatch), first, problem.keys, columns};
}

Value AttentionCode::getRow(int64_t half) {
  Value row = code.add(code.mul(tiles.warp, TileCode::warpRows), tiles.laneRow);
  return code.add(code.add(firstRow, row), 8 * half);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Scores AttentionCode::makeScores(int64_t columns, Value firstColumn,
                                 bool rowsAreKeys) {
  Scores scores;
  scores.values = tiles.zeros(columns);
  scores.rowsAreKeys = rowsAreKeys;
  scores.rows = {getRow(0), getRow(1)};
  scores.column = code.add(firstColumn, code.mul(tiles.laneColumn, 2));
  scores.firstRow = firstRow;
  scores.firstColumn = firstColumn;
  scores.columns = columns;
  return scores;
}

void AttentionCode::forEach(
    const Fragments &values,
    llvm::function_ref<void(size_t, int64_t, int64_t)> body) {
  for (size_t i = 0; i < values.size(); ++i)
    body(i, static_cast<int64_t>(i % 4 / 2),
         static_cast<int64_t>(i / 4 * 8 + i % 2));
}

/// The query and the key of a score.
std::pair<Value, Value> AttentionCode::getPlace(const Scores &scores,
                                                int64_t half, int64_t column) {
  Value row = scores.rows[half], other = code.add(scores.column, column);
  return scores.rowsAreKeys ? std::pair(other, row) : std::pair(row, other);
}

/// Returns `value`, or the last of `count` numbers if `value` is beyond it.
Value AttentionCode::clamp(Value value, int64_t count) {
  return arith::MinUIOp::create(builder, loc, value, code.index(count - 1));
}

Value AttentionCode::getElement(const AttentionBuffer &buffer, Value query,
                                Value key) {
  Value position = getStart(buffer, queryBatch);
  if (buffer.rowStride)
    position = code.add(
        position, code.mul(clamp(query, problem.queries), buffer.rowStride));
  if (buffer.columnStride)
    position = code.add(
        position, code.mul(clamp(key, problem.keys), buffer.columnStride));
  return memref::LoadOp::create(builder, loc, code.flat(buffer.base), position);
}

void AttentionCode::applyMask(Scores &scores) {
  Type wide = builder.getF32Type();
  // A fill beyond the range of f32 would become infinite.
  constexpr double most = std::numeric_limits<float>::max();
  double fill = std::isinf(problem.fill)
                    ? problem.fill
                    : std::clamp(problem.fill, -most, most);
  forEach(scores.values, [&](size_t i, int64_t half, int64_t column) {
    auto [query, key] = getPlace(scores, half, column);
    Value element = getElement(problem.mask, query, key);
    Value &score = scores.values[i];
    if (problem.hasBooleanMask()) {
      score = tiles.select(element, score, tiles.number(fill));
      scores.isVisible.push_back(element);
      return;
    }
    if (element.getType() != wide)
      element = arith::ExtFOp::create(builder, loc, wide, element);
    score = tiles.addF(score, element);
  });
}

/// True if some scores of the tile are hidden. Null if that is never so.
Value AttentionCode::isEdge(const Scores &scores) {
  Value beyond, hidden;
  Value end = code.add(scores.firstColumn, scores.columns);
  if (int64_t count = numColumns(scores); count % scores.columns)
    beyond = tiles.isLess(code.index(count), end);
  if (problem.isCausal)
    hidden =
        scores.rowsAreKeys
            ? tiles.isLess(scores.firstColumn,
                           code.add(scores.firstRow, TileCode::blockRows - 1))
            : tiles.isLess(code.add(scores.firstRow, 1), end);
  if (!beyond || !hidden)
    return beyond ? beyond : hidden;
  return arith::OrIOp::create(builder, loc, beyond, hidden);
}

/// Hides scores after the last column and, if attention is causal, those of
/// keys after their query.
void AttentionCode::hide(Scores &scores) {
  Value condition = isEdge(scores);
  if (!condition)
    return;
  SmallVector<Type> types(scores.values.size(), builder.getF32Type());
  auto branch = scf::IfOp::create(builder, loc, types, condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, scores.values);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value nothing = tiles.number(-std::numeric_limits<double>::infinity());
  Fragments values = scores.values;
  forEach(values, [&](size_t i, int64_t half, int64_t column) {
    auto [query, key] = getPlace(scores, half, column);
    Value isThere;
    if (int64_t count = numColumns(scores); count % scores.columns)
      isThere = code.isLess(code.add(scores.column, column), count);
    if (problem.isCausal)
      isThere = tiles.both(
          isThere, arith::CmpIOp::create(
                       builder, loc, arith::CmpIPredicate::ule, key, query));
    values[i] = tiles.select(isThere, values[i], nothing);
  });
  scf::YieldOp::create(builder, loc, values);
  scores.values.assign(branch.getResults().begin(), branch.getResults().end());
}

void AttentionCode::finish(Scores &scores) {
  double scale = problem.scale * (isBaseTwo() ? std::numbers::log2e : 1);
  for (Value &score : scores.values)
    score = tiles.mulF(score, tiles.number(scale));
  if (problem.mask)
    applyMask(scores);
  hide(scores);
}

void AttentionCode::clearHidden(Fragments &values, const Scores &scores) {
  if (std::isinf(problem.fill))
    return;
  for (auto [value, isVisible] : llvm::zip(values, scores.isVisible))
    value = tiles.select(isVisible, value, tiles.number(0));
}

//===----------------------------------------------------------------------===//
// Exponents
//===----------------------------------------------------------------------===//

Value AttentionCode::power(Value score, Value shift) {
  Value exponent = tiles.subF(score, shift);
  if (!isBaseTwo())
    exponent = tiles.mulF(exponent, tiles.number(std::numbers::log2e));
  return unit->exp2(exponent);
}

Value AttentionCode::fromLse(Value lse) {
  return isBaseTwo() ? tiles.mulF(lse, tiles.number(std::numbers::log2e)) : lse;
}

Value AttentionCode::toLse(Value shift, Value sum) {
  Value log = math::LogOp::create(builder, loc, sum);
  if (isBaseTwo())
    return tiles.fma(shift, tiles.number(std::numbers::ln2), log);
  return tiles.addF(shift, log);
}
