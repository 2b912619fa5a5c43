//===- MatrixUnit.cpp - products of tiles in f32 --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixUnit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace veeline;

namespace {

/// Multiplies and adds one element after the other. Numbers are in the lanes
/// where tensor cores would have them.
class PlainUnit : public MatrixUnit {
public:
  explicit PlainUnit(TileCode &tiles)
      : tiles(tiles), code(tiles.code), builder(tiles.builder), loc(tiles.loc) {
  }

  void multiplyRows(Fragments &sums, const Left &left,
                    const TileStage &right) override;
  void multiply(Fragments &sums, ArrayRef<Value> left,
                const TileStage &right) override;
  bool hasTensorCores() const override { return false; }
  Value exp2(Value x) override { return math::Exp2Op::create(builder, loc, x); }

private:
  SmallVector<Value> load(const TileStage &stage, Value place, int64_t count);
  void multiplyRowsAt(Fragments &sums, const Left &left, const TileStage &right,
                      Value column);
  Value getLeft(ArrayRef<Value> left, int64_t half, int64_t column);

  TileCode &tiles;
  ThreadCode &code;
  OpBuilder &builder;
  Location loc;
};

} // namespace

/// Loads `count` adjacent numbers.
SmallVector<Value> PlainUnit::load(const TileStage &stage, Value place,
                                   int64_t count) {
  Value vector = vector::LoadOp::create(
      builder, loc, VectorType::get({count}, builder.getF32Type()),
      stage.tile.buffer, place, /*nontemporal=*/false,
      llvm::MaybeAlign(count * 4));
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(vector::ExtractOp::create(builder, loc, vector, i));
  return values;
}

/// Adds the products of four columns of both tiles.
void PlainUnit::multiplyRowsAt(Fragments &sums, const Left &left,
                               const TileStage &right, Value column) {
  constexpr int64_t count = 4;
  Value row = code.add(code.mul(tiles.warp, TileCode::warpRows), tiles.laneRow);
  Value place = tiles.place(left.stage, row, column);
  std::array<SmallVector<Value>, 2> a;
  for (int64_t half = 0; half < 2; ++half)
    a[half] = load(left.stage,
                   code.add(place, 8 * half * left.stage.tile.pitch), count);
  Value other = tiles.place(right, code.mul(tiles.laneColumn, 2), column);
  for (size_t i = 0; i < sums.size(); i += 4)
    for (int64_t j = 0; j < 2; ++j) {
      int64_t below = static_cast<int64_t>(i) / 4 * 8 + j;
      SmallVector<Value> b =
          load(right, code.add(other, below * right.tile.pitch), count);
      for (int64_t half = 0; half < 2; ++half)
        for (int64_t k = 0; k < count; ++k) {
          Value &sum = sums[i + 2 * half + j];
          sum = tiles.fma(a[half][k], b[k], sum);
        }
    }
}

void PlainUnit::multiplyRows(Fragments &sums, const Left &left,
                             const TileStage &right) {
  auto loop =
      scf::ForOp::create(builder, loc, code.index(0),
                         code.index(right.tile.columns), code.index(4), sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Fragments inside(loop.getRegionIterArgs());
  multiplyRowsAt(inside, left, right, loop.getInductionVar());
  scf::YieldOp::create(builder, loc, inside);
  sums.assign(loop.getResults().begin(), loop.getResults().end());
}

/// The number of a column in the lane's row. One of four lanes has it.
Value PlainUnit::getLeft(ArrayRef<Value> left, int64_t half, int64_t column) {
  Value value = left[column / 8 * 4 + 2 * half + column % 2];
  // The source is a lane of the whole warp. In PTX, a width of 4 would mean the
  // first four lanes only.
  Value first = code.mul(tiles.laneRow, 4);
  Value source = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                            code.add(first, column % 8 / 2));
  Value width = arith::ConstantIntOp::create(builder, loc, warpSize, 32);
  return gpu::ShuffleOp::create(builder, loc, value, source, width,
                                gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

void PlainUnit::multiply(Fragments &sums, ArrayRef<Value> left,
                         const TileStage &right) {
  Value start =
      tiles.place(right, code.index(0), code.mul(tiles.laneColumn, 2));
  for (int64_t k = 0; k < right.tile.rows; ++k) {
    Value a[2] = {getLeft(left, 0, k), getLeft(left, 1, k)};
    for (size_t i = 0; i < sums.size(); i += 4) {
      int64_t beside = static_cast<int64_t>(i) / 4 * 8;
      SmallVector<Value> b =
          load(right, code.add(start, k * right.tile.pitch + beside), 2);
      for (int64_t half = 0; half < 2; ++half)
        for (int64_t j = 0; j < 2; ++j) {
          Value &sum = sums[i + 2 * half + j];
          sum = tiles.fma(a[half], b[j], sum);
        }
    }
  }
}

std::unique_ptr<MatrixUnit> MatrixUnit::get(TileCode &tiles, bool tf32) {
  if (tiles.elementType.isF32() && !tf32)
    return std::make_unique<PlainUnit>(tiles);
  return createTensorUnit(tiles);
}
