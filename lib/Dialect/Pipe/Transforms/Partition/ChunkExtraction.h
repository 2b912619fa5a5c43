//===- ChunkExtraction.h - chunks out of a model function -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_PARTITION_CHUNKEXTRACTION_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_PARTITION_CHUNKEXTRACTION_H

#include "veeline/Analysis/Pieces.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "llvm/ADT/SetVector.h"

namespace veeline::pipe {

/// The content of one chunk's function, in terms of the model function.
struct ChunkPlan {
  /// Main ops, and the side ops that they need, in program order.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The last op of each piece except the last piece.
  llvm::DenseSet<mlir::Operation *> pieceEnds;
  /// The operands: values of earlier chunks, then batch arguments, buffers and
  /// parameters.
  llvm::SmallVector<mlir::Value> operands;
  /// The values that later chunks use or that the model returns.
  llvm::SmallVector<mlir::Value> results;
};

/// The division of a model function into chunks, before anything is built.
///
/// Values are those of the model function without marks: a `pipe.boundary`
/// stands for its operand.
class ExtractionPlan {
public:
  /// Gives chunk k the next `counts[k]` pieces. Fails with a diagnostic if a
  /// value that cannot be sent would cross a cut, or if a chunk would compute
  /// nothing that is used. O(ops and uses, times the chunks that repeat a side
  /// op).
  static mlir::FailureOr<ExtractionPlan> make(mlir::func::FuncOp model,
                                              llvm::ArrayRef<Piece> pieces,
                                              llvm::ArrayRef<int> counts);

  llvm::ArrayRef<ChunkPlan> getChunks() const { return chunks; }

  /// Whether `op` is in only one chunk, instead of being repeated where it is
  /// needed.
  bool isMain(mlir::Operation *op) const { return chunkOf.contains(op); }

  /// Adds arguments of the model that the backward of a chunk takes.
  void addOperands(unsigned chunk, llvm::ArrayRef<mlir::Value> operands);

  /// Builds a function for each chunk, and the chunks and inputs in `pipeline`,
  /// which is empty. Functions are inserted after `pipeline`. Warns about
  /// parameters that no chunk uses, and drops them.
  void build(PipelineOp pipeline, mlir::SymbolTable &symbols);

private:
  explicit ExtractionPlan(mlir::func::FuncOp model) : model(model) {}

  void assignOps(llvm::ArrayRef<Piece> pieces, llvm::ArrayRef<int> counts);
  void collect(int64_t chunk);
  void collectReturned();
  void sortValues();
  mlir::LogicalResult verify() const;
  std::tuple<int, int64_t, unsigned> getOrder(mlir::Value value);

  mlir::func::FuncOp model;
  llvm::SmallVector<ChunkPlan> chunks;
  /// The positions of the model's ops, and the chunks of its main ops.
  llvm::DenseMap<mlir::Operation *, int64_t> position;
  llvm::DenseMap<mlir::Operation *, int64_t> chunkOf;
  /// The values that the model returns, each with the chunk that returns it.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> returned;
};

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_PARTITION_CHUNKEXTRACTION_H
