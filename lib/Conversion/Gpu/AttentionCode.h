//===- AttentionCode.h - shared code of attention's kernels -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block computes 64 rows of its result, 16 in each of four warps, and
// iterates over tiles of the columns of its scores. Scores, and values computed
// from them, stay in registers. No tensor of their size is ever in memory.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_ATTENTIONCODE_H
#define VEELINE_LIB_CONVERSION_GPU_ATTENTIONCODE_H

#include "MatrixUnit.h"

namespace veeline {

/// The scores of the 16 rows of a warp and the columns of a tile. Either rows
/// are queries and columns are keys, or the other way round.
struct Scores {
  Fragments values;
  bool rowsAreKeys = false;
  /// The numbers of the thread's two rows, and of its first column.
  std::array<mlir::Value, 2> rows;
  mlir::Value column;
  /// The first row of the block, and the first column of the tile.
  mlir::Value firstRow, firstColumn;
  int64_t columns = 0;
  /// The elements of a boolean mask, for clearHidden().
  llvm::SmallVector<mlir::Value> isVisible;
};

class AttentionCode {
public:
  AttentionCode(ThreadCode &code, AttentionProblem problem);
  virtual ~AttentionCode() = default;

protected:
  ThreadCode &code;
  AttentionProblem problem;
  TileCode tiles;
  std::unique_ptr<MatrixUnit> unit;
  mlir::OpBuilder &builder;
  mlir::Location loc;

  /// The first row of the block, and its indices in the batches of queries and
  /// of keys.
  mlir::Value firstRow;
  llvm::SmallVector<mlir::Value> queryBatch, keyBatch;

  /// The number of columns of scores in a tile.
  int64_t width = 0;

  /// Sets the grid of the kernel: in each part of `batch`, one block for every
  /// 64 of `rows`. With `lastFirst`, the blocks of the last rows start first.
  /// Returns the indices of the block's part.
  llvm::SmallVector<mlir::Value>
  startBlock(int64_t rows, llvm::ArrayRef<int64_t> batch, bool lastFirst);
  /// The columns of a tile for rows of `depth` elements.
  static int64_t padded(int64_t depth);
  /// The number of columns of scores in a tile of a backward kernel: as many as
  /// registers and shared memory allow.
  int64_t getBackwardWidth() const;
  /// The number of tiles of keys that the queries of the block see.
  mlir::Value countKeyTiles();
  /// The place of the first element of a part of the batch.
  mlir::Value getStart(const AttentionBuffer &buffer,
                       llvm::ArrayRef<mlir::Value> batch);
  /// The rows of a buffer that has one row for each query (or key).
  TileSource queryRows(const AttentionBuffer &buffer, mlir::Value first,
                       int64_t columns);
  TileSource keyRows(const AttentionBuffer &buffer, mlir::Value first,
                     int64_t columns);

  /// The number of the thread's first or second row.
  mlir::Value getRow(int64_t half);
  Scores makeScores(int64_t columns, mlir::Value firstColumn, bool rowsAreKeys);
  /// Scales and masks scores, and sets hidden ones to minus infinity.
  void finish(Scores &scores);
  /// The exponential of `score` - `shift`. Both are in the unit of finished
  /// scores (see isBaseTwo).
  mlir::Value power(mlir::Value score, mlir::Value shift);
  /// Converts the lse of a row to the unit of finished scores, and back.
  mlir::Value fromLse(mlir::Value lse);
  mlir::Value toLse(mlir::Value shift, mlir::Value sum);
  /// Clears values where the mask is false: the score there is `fill`, a
  /// constant, so it has no gradient.
  void clearHidden(Fragments &values, const Scores &scores);
  /// Calls `body` for each value of a fragment, with its number, whether it is
  /// in the first or the second row, and its column, counted from the thread's
  /// first one.
  static void forEach(const Fragments &values,
                      llvm::function_ref<void(size_t, int64_t, int64_t)> body);

private:
  mlir::Value getElement(const AttentionBuffer &buffer, mlir::Value query,
                         mlir::Value key);
  void applyMask(Scores &scores);
  void hide(Scores &scores);
  mlir::Value isEdge(const Scores &scores);
  int64_t numColumns(const Scores &scores) const {
    return scores.rowsAreKeys ? problem.queries : problem.keys;
  }
  mlir::Value clamp(mlir::Value value, int64_t count);
  std::pair<mlir::Value, mlir::Value> getPlace(const Scores &scores,
                                               int64_t half, int64_t column);
  /// Finished scores are exponents of 2 or, with a mask, of e.
  bool isBaseTwo() const { return !problem.mask; }
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_ATTENTIONCODE_H
