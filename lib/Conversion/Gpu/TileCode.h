//===- TileCode.h - tiles of matrices in shared memory ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code for a block of four warps that keeps tiles of matrices in shared memory.
// Each warp has 16 rows of a result, in the layout of tensor cores: in each
// block of 8 columns, lane l has four numbers, which are columns 2 (l mod 4)
// and 2 (l mod 4) + 1 of row l / 4, then those of row l / 4 + 8.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_TILECODE_H
#define VEELINE_LIB_CONVERSION_GPU_TILECODE_H

#include "AttentionProblem.h"
#include "ThreadCode.h"

namespace veeline {

/// A matrix in shared memory, or several stages of equal size: one is filled
/// while another one is used. Rows are padded by 16 bytes, so that groups of 16
/// bytes in 8 consecutive rows are in different banks.
struct Tile {
  mlir::Value buffer;
  int64_t rows = 0, columns = 0, pitch = 0;

  int64_t stageElements() const { return rows * pitch; }
};

/// One stage of a tile. `start` is its first element, and null means 0.
struct TileStage {
  Tile tile;
  mlir::Value start;
};

/// Rows of a matrix in global memory.
struct TileSource {
  const AttentionBuffer *buffer;
  /// The position of the matrix' first element, and the number of the tile's
  /// first row.
  mlir::Value start, firstRow;
  /// The numbers of rows and columns of the matrix.
  int64_t rows, columns;
};

/// A thread's numbers of the 16 rows of its warp: four for each block of 8
/// columns.
using Fragments = llvm::SmallVector<mlir::Value>;

class TileCode {
public:
  TileCode(ThreadCode &code, mlir::Type elementType);

  static constexpr int64_t numWarps = 4, numThreads = numWarps * warpSize;
  static constexpr int64_t warpRows = 16, blockRows = numWarps * warpRows;

  ThreadCode &code;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type elementType;
  /// The warp and lane l of the thread, l / 4 and l mod 4.
  mlir::Value warp, lane, laneRow, laneColumn;

  Tile addTile(int64_t rows, int64_t columns, int64_t stages = 1);
  TileStage getStage(const Tile &tile, mlir::Value number);
  /// The position of the element at a row and column of a stage.
  mlir::Value place(const TileStage &stage, mlir::Value row,
                    mlir::Value column);

  /// Starts to copy rows to a tile. Missing rows are filled with zeros. The
  /// data is valid after commit(), wait() and a barrier.
  void copy(const TileStage &target, const TileSource &source);
  /// Starts to copy one number of each of `count` rows to `target`. The first
  /// one goes to `place`, and each next one is `pitch` elements further.
  void copyNumbers(mlir::Value target, mlir::Value place, int64_t pitch,
                   const TileSource &source, int64_t count);
  void commit();
  /// Waits for all committed copies of the thread.
  void wait();
  void barrier();

  /// Writes the block's rows of `values` to memory, through a tile. A warp
  /// writes its rows of the tile, which no other warp may still need.
  void store(const Fragments &values, const Tile &through,
             const TileSource &target);

  // Arithmetic in f32.
  mlir::Value number(double value);
  mlir::Value addF(mlir::Value a, mlir::Value b);
  mlir::Value subF(mlir::Value a, mlir::Value b);
  mlir::Value mulF(mlir::Value a, mlir::Value b);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value maxF(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value isLess(mlir::Value a, mlir::Value b);
  mlir::Value both(mlir::Value a, mlir::Value b);
  /// Packs two elements of the tiles' type, or two of f32.
  mlir::Value pack(mlir::Value a, mlir::Value b);
  /// The value of the lane whose number differs in the bit `mask`.
  mlir::Value exchange(mlir::Value value, int64_t mask);
  Fragments zeros(int64_t columns);

private:
  int64_t getLanes(const AttentionBuffer &buffer, int64_t columns) const;
  void forChunks(const Tile &tile, int64_t lanes,
                 llvm::function_ref<void(mlir::Value, mlir::Value)> body);
  mlir::Value getPosition(const TileSource &source, mlir::Value row,
                          mlir::Value column);
  mlir::Value exists(const Tile &tile, const TileSource &source,
                     mlir::Value row, mlir::Value column);
  void copyElement(mlir::Value target, mlir::Value place,
                   const TileSource &source, mlir::Value position,
                   mlir::Value condition);
  void copyAsync(mlir::Value target, mlir::Value place,
                 const AttentionBuffer &buffer, mlir::Value position,
                 int64_t lanes, mlir::Value condition);
  /// Collapses a buffer to one dimension.
  mlir::Value flat(const AttentionBuffer &buffer);
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_TILECODE_H
