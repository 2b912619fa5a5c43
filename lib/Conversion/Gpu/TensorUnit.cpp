//===- TensorUnit.cpp - products of tiles on tensor cores -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixUnit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace veeline;

namespace {

/// Products of blocks of 16 rows by 8 columns, over a depth of 32 bytes.
class TensorUnit : public MatrixUnit {
public:
  TensorUnit(TileCode &tiles, NVVM::MMATypes type)
      : tiles(tiles), code(tiles.code), builder(tiles.builder), loc(tiles.loc),
        type(type), rowElements(elementsPerAccess(tiles.elementType)) {}

  void preload(Left &left) override;
  void multiplyRows(Fragments &sums, const Left &left,
                    const TileStage &right) override;
  void multiply(Fragments &sums, ArrayRef<Value> left,
                const TileStage &right) override;
  bool hasTensorCores() const override { return true; }
  Value exp2(Value x) override;

protected:
  /// The number of columns of a block.
  static constexpr int64_t width = 8;

  int64_t getDepth() const { return 2 * rowElements; }
  SmallVector<Value> load(const TileStage &stage, Value place,
                          bool isTransposed);
  SmallVector<Value> loadLeft(const Left &left, int64_t step);
  void multiplyPair(Fragments &sums, size_t first, ArrayRef<Value> a,
                    ArrayRef<Value> b);
  void multiplyBlock(MutableArrayRef<Value> sums, ArrayRef<Value> a,
                     ArrayRef<Value> b);

  /// Converts 32 bits of a fragment to the type that an instruction takes.
  virtual Value toRegister(Value fragment) = 0;
  /// Converts numbers of a result to a left operand, from column `step` on.
  virtual SmallVector<Value> packLeft(ArrayRef<Value> left, int64_t step) = 0;
  /// Loads two blocks of columns of a right operand whose rows are the depth.
  virtual SmallVector<Value> loadColumns(const TileStage &right, int64_t row,
                                         int64_t column) = 0;

  TileCode &tiles;
  ThreadCode &code;
  OpBuilder &builder;
  Location loc;
  NVVM::MMATypes type;
  int64_t rowElements;
};

/// The unit for f16 and bf16. A register has two of these numbers.
class HalfUnit : public TensorUnit {
public:
  using TensorUnit::TensorUnit;

  Value toRegister(Value fragment) override;
  SmallVector<Value> packLeft(ArrayRef<Value> left, int64_t step) override;
  SmallVector<Value> loadColumns(const TileStage &right, int64_t row,
                                 int64_t column) override;
};

/// The unit for f32 rounded to tf32.
class Tf32Unit : public TensorUnit {
public:
  using TensorUnit::TensorUnit;

  Value toRegister(Value fragment) override;
  SmallVector<Value> packLeft(ArrayRef<Value> left, int64_t step) override;
  SmallVector<Value> loadColumns(const TileStage &right, int64_t row,
                                 int64_t column) override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Loads four matrices of 8 rows of 16 bytes. Each lane points to one of their
/// rows.
SmallVector<Value> TensorUnit::load(const TileStage &stage, Value place,
                                    bool isTransposed) {
  constexpr int64_t count = 4;
  auto matrices = VectorType::get({count, rowElements / 4}, tiles.elementType);
  Value loaded = nvgpu::LdMatrixOp::create(
      builder, loc, matrices, stage.tile.buffer, place,
      builder.getBoolAttr(isTransposed), builder.getI32IntegerAttr(count));
  SmallVector<Value> registers;
  for (int64_t i = 0; i < count; ++i)
    registers.push_back(
        toRegister(vector::ExtractOp::create(builder, loc, loaded, i)));
  return registers;
}

/// Loads the warp's upper 8 rows and its lower ones for the first half of the
/// depth, then for the second.
SmallVector<Value> TensorUnit::loadLeft(const Left &left, int64_t step) {
  if (!left.registers.empty())
    return SmallVector<Value>(
        ArrayRef(left.registers).slice(step / getDepth() * 4, 4));
  Value row = code.add(code.mul(tiles.warp, TileCode::warpRows),
                       code.rem(tiles.lane, 16));
  Value column = code.mul(code.div(tiles.lane, 16), rowElements);
  return load(left.stage, code.add(tiles.place(left.stage, row, column), step),
              /*isTransposed=*/false);
}

void TensorUnit::preload(Left &left) {
  SmallVector<Value> registers;
  int64_t depth = left.stage.tile.columns;
  // With more registers, other values would be spilled.
  constexpr int64_t maxRegisters = 32;
  if (depth / getDepth() * 4 > maxRegisters)
    return;
  for (int64_t step = 0; step < depth; step += getDepth())
    llvm::append_range(registers, loadLeft(left, step));
  left.registers = std::move(registers);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void TensorUnit::multiplyBlock(MutableArrayRef<Value> sums, ArrayRef<Value> a,
                               ArrayRef<Value> b) {
  auto result = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(4, builder.getF32Type()));
  Value product = NVVM::MmaOp::create(
      builder, loc, result, a, b, sums, {16, width, getDepth()}, std::nullopt,
      std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = LLVM::ExtractValueOp::create(builder, loc, product,
                                       static_cast<int64_t>(i));
}

/// Multiplies two blocks of columns, of which the first has the number `first`.
void TensorUnit::multiplyPair(Fragments &sums, size_t first, ArrayRef<Value> a,
                              ArrayRef<Value> b) {
  MutableArrayRef<Value> all(sums);
  multiplyBlock(all.slice(first, 4), a, b.take_front(2));
  multiplyBlock(all.slice(first + 4, 4), a, b.drop_front(2));
}

void TensorUnit::multiplyRows(Fragments &sums, const Left &left,
                              const TileStage &right) {
  // Rows 0 to 7 and 8 to 15 of the right tile are two blocks of columns.
  Value row = code.add(code.mul(code.div(tiles.lane, 16), width),
                       code.rem(tiles.lane, 8));
  Value column = code.mul(code.rem(code.div(tiles.lane, 8), 2), rowElements);
  Value start = tiles.place(right, row, column);
  for (int64_t step = 0; step < right.tile.columns; step += getDepth()) {
    SmallVector<Value> a = loadLeft(left, step);
    for (size_t i = 0; i < sums.size(); i += 8) {
      int64_t below = static_cast<int64_t>(i) / 4 * width * right.tile.pitch;
      multiplyPair(sums, i, a,
                   load(right, code.add(start, below + step),
                        /*isTransposed=*/false));
    }
  }
}

void TensorUnit::multiply(Fragments &sums, ArrayRef<Value> left,
                          const TileStage &right) {
  for (int64_t step = 0; step < right.tile.rows; step += getDepth()) {
    SmallVector<Value> a = packLeft(left, step);
    for (size_t i = 0; i < sums.size(); i += 8)
      multiplyPair(
          sums, i, a,
          loadColumns(right, step, static_cast<int64_t>(i) / 4 * width));
  }
}

/// One instruction, with an error of at most 2 roundings. That is enough,
/// because the result becomes a factor of 8 or 11 bits.
Value TensorUnit::exp2(Value x) {
  return LLVM::CallIntrinsicOp::create(
             builder, loc, builder.getF32Type(),
             builder.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"), x)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// f16 and bf16
//===----------------------------------------------------------------------===//

Value HalfUnit::toRegister(Value fragment) {
  if (tiles.elementType.isF16())
    return fragment;
  return LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), fragment);
}

/// Two blocks of columns of a result are the two halves of a left operand.
SmallVector<Value> HalfUnit::packLeft(ArrayRef<Value> left, int64_t step) {
  SmallVector<Value> registers;
  for (int64_t i = step / width * 4, end = i + 8; i < end; i += 2)
    registers.push_back(toRegister(tiles.pack(left[i], left[i + 1])));
  return registers;
}

SmallVector<Value> HalfUnit::loadColumns(const TileStage &right, int64_t row,
                                         int64_t column) {
  Value start = tiles.place(right, code.rem(tiles.lane, 16),
                            code.mul(code.div(tiles.lane, 16), width));
  return load(right, code.add(start, row * right.tile.pitch + column),
              /*isTransposed=*/true);
}

//===----------------------------------------------------------------------===//
// tf32
//===----------------------------------------------------------------------===//

Value Tf32Unit::toRegister(Value fragment) {
  if (isa<VectorType>(fragment.getType()))
    fragment = vector::ExtractOp::create(builder, loc, fragment, 0);
  return NVVM::ConvertFloatToTF32Op::create(
      builder, loc, builder.getI32Type(), fragment, NVVM::FPRoundingMode::RNA);
}

/// The depth may have any order that is the same for both operands. So each
/// lane gives the columns that it has: 2 (l mod 4) and the next one.
SmallVector<Value> Tf32Unit::packLeft(ArrayRef<Value> left, int64_t step) {
  ArrayRef<Value> block = left.slice(step / width * 4, 4);
  return {toRegister(block[0]), toRegister(block[2]), toRegister(block[1]),
          toRegister(block[3])};
}

SmallVector<Value> Tf32Unit::loadColumns(const TileStage &right, int64_t row,
                                         int64_t column) {
  Value start =
      tiles.place(right, code.mul(tiles.laneColumn, 2), tiles.laneRow);
  SmallVector<Value> registers;
  for (int64_t block = 0; block < 2; ++block)
    for (int64_t next = 0; next < 2; ++next) {
      Value place = code.add(start, (row + next) * right.tile.pitch + column +
                                        block * width);
      registers.push_back(toRegister(
          memref::LoadOp::create(builder, loc, right.tile.buffer, place)));
    }
  return registers;
}

std::unique_ptr<MatrixUnit> veeline::createTensorUnit(TileCode &tiles) {
  Type type = tiles.elementType;
  if (type.isF32())
    return std::make_unique<Tf32Unit>(tiles, NVVM::MMATypes::tf32);
  return std::make_unique<HalfUnit>(tiles, type.isF16() ? NVVM::MMATypes::f16
                                                        : NVVM::MMATypes::bf16);
}
