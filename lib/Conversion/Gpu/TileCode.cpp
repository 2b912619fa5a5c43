//===- TileCode.cpp - tiles of matrices in shared memory ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace veeline;

TileCode::TileCode(ThreadCode &code, Type elementType)
    : code(code), builder(code.builder), loc(code.loc),
      elementType(elementType) {
  Value thread = code.thread();
  warp = code.div(thread, warpSize);
  lane = code.rem(thread, warpSize);
  laneRow = code.div(lane, 4);
  laneColumn = code.rem(lane, 4);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Tile TileCode::addTile(int64_t rows, int64_t columns, int64_t stages) {
  Tile tile;
  tile.rows = rows;
  tile.columns = columns;
  tile.pitch = columns + elementsPerAccess(elementType);
  tile.buffer = code.addShared(elementType, stages * tile.stageElements());
  return tile;
}

TileStage TileCode::getStage(const Tile &tile, Value number) {
  return {tile, code.mul(number, tile.stageElements())};
}

Value TileCode::place(const TileStage &stage, Value row, Value column) {
  Value place = code.add(code.mul(row, stage.tile.pitch), column);
  return stage.start ? code.add(stage.start, place) : place;
}

Value TileCode::flat(const AttentionBuffer &buffer) {
  return code.flat(buffer.base);
}

Value TileCode::getPosition(const TileSource &source, Value row, Value column) {
  Value offset =
      code.mul(code.add(source.firstRow, row), source.buffer->rowStride);
  return code.add(code.add(source.start, offset), column);
}

/// The maximal number of elements of a row in one access.
int64_t TileCode::getLanes(const AttentionBuffer &buffer,
                           int64_t columns) const {
  auto divides = [&](int64_t lanes) {
    return columns % lanes == 0 && buffer.offset % lanes == 0 &&
           buffer.rowStride % lanes == 0 &&
           llvm::all_of(buffer.batchStrides,
                        [&](int64_t stride) { return stride % lanes == 0; });
  };
  int64_t lanes = elementsPerAccess(elementType);
  while (!divides(lanes))
    lanes /= 2;
  return lanes;
}

/// Divides a tile into parts of `lanes` elements. Emits `body` for each part of
/// the thread, with its row and first column.
void TileCode::forChunks(const Tile &tile, int64_t lanes,
                         llvm::function_ref<void(Value, Value)> body) {
  int64_t perRow = tile.columns / lanes, count = tile.rows * perRow;
  for (int64_t i = 0; i < count; i += numThreads) {
    Value exists = count - i < numThreads
                       ? code.isLess(code.thread(), count - i)
                       : Value();
    code.when(exists, [&] {
      // After a number of whole rows, the thread is in the same column again.
      bool isWhole = i % perRow == 0;
      Value chunk = isWhole ? code.thread() : code.add(code.thread(), i);
      Value row = code.div(chunk, perRow);
      body(isWhole ? code.add(row, i / perRow) : row,
           code.mul(code.rem(chunk, perRow), lanes));
    });
  }
}

/// True if the source has an element there. Null if it always has.
Value TileCode::exists(const Tile &tile, const TileSource &source, Value row,
                       Value column) {
  Value condition;
  if (source.rows % tile.rows)
    condition = code.isLess(code.add(source.firstRow, row), source.rows);
  if (source.columns < tile.columns)
    condition = both(condition, code.isLess(column, source.columns));
  return condition;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void TileCode::copyAsync(Value target, Value place,
                         const AttentionBuffer &buffer, Value position,
                         int64_t lanes, Value condition) {
  // With a count of 0, the copy reads nothing and fills with zeros.
  Value count;
  if (condition)
    count = select(condition, code.index(lanes), code.index(0));
  bool isWhole = lanes * getByteWidth(buffer.elementType) == vectorBytes;
  nvgpu::DeviceAsyncCopyOp::create(
      builder, loc, nvgpu::DeviceAsyncTokenType::get(builder.getContext()),
      target, place, flat(buffer), position, builder.getIndexAttr(lanes), count,
      isWhole ? builder.getUnitAttr() : UnitAttr());
}

/// Copies an element that is too narrow for an asynchronous copy.
void TileCode::copyElement(Value target, Value place, const TileSource &source,
                           Value position, Value condition) {
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(source.buffer->elementType));
  Value buffer = flat(*source.buffer), element;
  if (!condition) {
    element = memref::LoadOp::create(builder, loc, buffer, position);
  } else {
    auto branch = scf::IfOp::create(builder, loc, zero.getType(), condition,
                                    /*withElseRegion=*/true);
    OpBuilder load = branch.getThenBodyBuilder();
    scf::YieldOp::create(
        load, loc,
        memref::LoadOp::create(load, loc, buffer, position).getResult());
    OpBuilder none = branch.getElseBodyBuilder();
    scf::YieldOp::create(none, loc, zero);
    element = branch.getResult(0);
  }
  memref::StoreOp::create(builder, loc, element, target, place);
}

static constexpr int64_t minCopyBytes = 4;

void TileCode::copy(const TileStage &target, const TileSource &source) {
  const Tile &tile = target.tile;
  int64_t lanes = getLanes(*source.buffer, source.columns);
  forChunks(tile, lanes, [&](Value row, Value column) {
    Value condition = exists(tile, source, row, column);
    Value position = getPosition(source, row, column);
    Value into = place(target, row, column);
    if (lanes * getByteWidth(elementType) < minCopyBytes)
      copyElement(tile.buffer, into, source, position, condition);
    else
      copyAsync(tile.buffer, into, *source.buffer, position, lanes, condition);
  });
}

void TileCode::copyNumbers(Value target, Value place, int64_t pitch,
                           const TileSource &source, int64_t count) {
  code.when(code.isLess(code.thread(), count), [&] {
    Value row = code.thread();
    Value condition;
    if (source.rows % count)
      condition = code.isLess(code.add(source.firstRow, row), source.rows);
    copyAsync(target, code.add(place, code.mul(row, pitch)), *source.buffer,
              getPosition(source, row, code.index(0)), 1, condition);
  });
}

void TileCode::commit() { NVVM::CpAsyncCommitGroupOp::create(builder, loc); }

void TileCode::wait() {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, builder.getI32IntegerAttr(0));
}

void TileCode::barrier() { gpu::BarrierOp::create(builder, loc); }

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void TileCode::store(const Fragments &values, const Tile &through,
                     const TileSource &target) {
  Tile tile = through;
  tile.columns = static_cast<int64_t>(values.size()) / 4 * 8;
  Value row = code.add(code.mul(warp, warpRows), laneRow);
  for (int64_t i = 0; 8 * i < target.columns; ++i)
    for (int64_t half = 0; half < 2; ++half) {
      Value column = code.add(code.mul(laneColumn, 2), 8 * i);
      Value pair = pack(values[4 * i + 2 * half], values[4 * i + 2 * half + 1]);
      vector::StoreOp::create(
          builder, loc, pair, tile.buffer,
          place({tile, Value()}, code.add(row, 8 * half), column));
    }
  barrier();
  int64_t lanes = getLanes(*target.buffer, target.columns);
  auto type = VectorType::get({lanes}, elementType);
  auto alignment = llvm::MaybeAlign(lanes * getByteWidth(elementType));
  forChunks(tile, lanes, [&](Value row, Value column) {
    code.when(exists(tile, target, row, column), [&] {
      Value part = vector::LoadOp::create(builder, loc, type, tile.buffer,
                                          place({tile, Value()}, row, column),
                                          /*nontemporal=*/false, alignment);
      vector::StoreOp::create(builder, loc, part, flat(*target.buffer),
                              getPosition(target, row, column),
                              /*nontemporal=*/false, alignment);
    });
  });
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value TileCode::number(double value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

Value TileCode::addF(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b);
}

Value TileCode::subF(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a, b);
}

Value TileCode::mulF(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a, b);
}

Value TileCode::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(builder, loc, a, b, c);
}

Value TileCode::maxF(Value a, Value b) {
  return arith::MaximumFOp::create(builder, loc, a, b);
}

Value TileCode::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value TileCode::isLess(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, a, b);
}

Value TileCode::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}

Value TileCode::pack(Value a, Value b) {
  auto wide = VectorType::get({2}, builder.getF32Type());
  Value pair =
      vector::FromElementsOp::create(builder, loc, wide, ValueRange{a, b});
  if (elementType.isF32())
    return pair;
  return arith::TruncFOp::create(builder, loc,
                                 VectorType::get({2}, elementType), pair);
}

Value TileCode::exchange(Value value, int64_t mask) {
  return gpu::ShuffleOp::create(builder, loc, value, static_cast<int32_t>(mask),
                                warpSize, gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

Fragments TileCode::zeros(int64_t columns) {
  return Fragments(columns / 8 * 4, number(0));
}
