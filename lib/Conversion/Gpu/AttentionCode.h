//===- AttentionCode.h - what kernels of attention share --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block has 64 rows of its result, 16 for each of four warps, and goes over
// the other side of the scores in tiles. Scores, and what is made of them, stay
// in registers: nothing of their size is ever in memory.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_ATTENTIONCODE_H
#define VEELINE_LIB_CONVERSION_GPU_ATTENTIONCODE_H

#include "MatrixUnit.h"

namespace veeline {

/// 16 rows of a warp of scores, each with a tile of columns: rows are queries
/// and columns keys, or the other way round.
struct Scores {
  Fragments values;
  bool rowsAreKeys = false;
  /// The numbers of the thread's two rows, and of its first column.
  std::array<mlir::Value, 2> rows;
  mlir::Value column;
  /// The first row of the block, and the first column of the tile.
  mlir::Value firstRow, firstColumn;
  int64_t columns = 0;
  /// Where the mask is true, where that matters later.
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

  /// Of the block: its first row, and its places in the batch of queries and in
  /// that of keys.
  mlir::Value firstRow;
  llvm::SmallVector<mlir::Value> queryBatch, keyBatch;

  /// Sets the sizes of the kernel: a block for 64 of `rows` of each of `batch`.
  /// Returns the place of the block in it.
  llvm::SmallVector<mlir::Value>
  startBlock(int64_t rows, llvm::ArrayRef<int64_t> batch, bool lastFirst);
  /// The columns of a tile for rows of `depth` elements.
  static int64_t padded(int64_t depth);
  /// Columns of scores of a derivative's tile: what registers and shared memory
  /// allow.
  int64_t getBackwardWidth() const;
  /// The first element of a part of the batch.
  mlir::Value getStart(const AttentionBuffer &buffer,
                       llvm::ArrayRef<mlir::Value> batch);
  /// Rows of the query, or of what has as many; of the key, or of what has.
  TileSource queryRows(const AttentionBuffer &buffer, mlir::Value first,
                       int64_t columns);
  TileSource keyRows(const AttentionBuffer &buffer, mlir::Value first,
                     int64_t columns);

  /// A row of the warp that the thread has numbers of.
  mlir::Value getRow(int64_t half);
  Scores makeScores(int64_t columns, mlir::Value firstColumn, bool rowsAreKeys);
  /// Scales, masks and hides scores: where nothing is to be seen they are minus
  /// infinity.
  void finish(Scores &scores);
  /// The power whose exponent is `score` less `shift`, which is what finish()
  /// and toExponent() leave.
  mlir::Value power(mlir::Value score, mlir::Value shift);
  /// A row's lse in the unit of finished scores, and back.
  mlir::Value fromLse(mlir::Value lse);
  mlir::Value toLse(mlir::Value shift, mlir::Value sum);
  /// 0 where the mask is false: what `fill` stands for does not depend on the
  /// scores.
  void clearHidden(Fragments &values, const Scores &scores);
  /// Calls `body` with each number of a fragment: which one it is, whether it
  /// is of the first or the second row, and its column after the first one.
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
  /// With a mask scores are what they are; without one they are exponents of 2.
  bool isBaseTwo() const { return !problem.mask; }
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_ATTENTIONCODE_H
