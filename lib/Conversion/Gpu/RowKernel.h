//===- RowKernel.h - a team of threads for a row ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_ROWKERNEL_H
#define VEELINE_LIB_CONVERSION_GPU_ROWKERNEL_H

#include "KernelClass.h"

namespace veeline {

/// Emits the work of a thread in a team that processes a row. Threads keep the
/// results of ops in registers: an element in the thread that computed it, a
/// scalar of the row in all threads.
class RowEmitter {
public:
  RowEmitter(ThreadCode &code, RowTeam team);

  void run();

private:
  void emitRow();
  void runWithSums();
  void storeSums(mlir::Value part, mlir::Value own, mlir::ValueRange sums);
  /// The elements that a thread processes in one round.
  struct Chunk {
    /// The position of the first element, which is always within the row.
    mlir::Value linear;
    /// Whether the chunk exists; null if it always does. If it does not, none
    /// of its results is stored.
    mlir::Value exists;
    /// If each element may or may not exist, their positions and conditions.
    llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> elements;
    /// The number of the round. Negative if registers keep nothing of it.
    int64_t round;
    /// For a wide row, the position in the shared memory of a kept input.
    mlir::Value slot;
  };
  struct Held {
    const NestAccess *access;
    const LoopNest *nest;
    /// One vector for each round, or one scalar if it is a scalar of the row.
    llvm::SmallVector<mlir::Value> values;
  };

  struct Loaded {
    const NestAccess *access;
    const LoopNest *nest;
    int64_t round, element;
    mlir::Value value;
  };

  /// Ops that process a wide row together.
  struct Sweep {
    size_t begin, end;
    /// The number of rounds that a thread processes at once.
    int64_t atOnce;
  };
  /// An input that several sweeps read.
  struct Kept {
    const NestAccess *access;
    const LoopNest *nest;
    /// The first sweep that reads it, given by its first op.
    size_t sweep;
    mlir::Value shared;
  };

  void emitUniform(const LoopNest &nest, size_t number);
  void emitParallel(const LoopNest &nest, size_t number);
  void emitReduction(const LoopNest &nest, size_t number);
  llvm::SmallVector<mlir::Value>
  forChunks(const LoopNest &nest, llvm::ArrayRef<mlir::Value> init,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(const Chunk &,
                                                              mlir::ValueRange)>
                body);
  Chunk makeChunk(const LoopNest &nest, mlir::Value round, int64_t number,
                  bool isWhole);
  llvm::SmallVector<mlir::Value>
  emitChunk(const LoopNest &nest, const Chunk &chunk,
            llvm::ArrayRef<NestReduction> reductions);
  mlir::Value loadOnce(const LoopNest &nest, const NestAccess &access,
                       const Chunk &chunk, int64_t element);
  mlir::Value getInput(const LoopNest &nest, unsigned input, const Chunk &chunk,
                       int64_t element);
  void storeChunk(mlir::Value value, const LoopNest &nest,
                  const NestAccess &access, const Chunk &chunk);
  mlir::Value combineChunk(mlir::Operation *combiner, mlir::Value partial,
                           mlir::Value value, const Chunk &chunk);
  llvm::SmallVector<mlir::Value> getNeutral(const LoopNest &nest) const;
  void finishReduction(const LoopNest &nest, size_t number,
                       llvm::ArrayRef<mlir::Value> partials);

  // For wide rows, which need more than a few registers.
  void runWide();
  void hoistNumbers();
  bool isNumber(const LoopNest &nest) const;
  bool isVectorized(const LoopNest &nest) const;
  bool isWritten(mlir::Value base, size_t begin, size_t end) const;
  bool canJoin(const Sweep &sweep, const LoopNest &nest) const;
  llvm::SmallVector<Sweep> findSweeps() const;
  llvm::SmallVector<Kept> findLoaded(const Sweep &sweep) const;
  Kept *findPlace(llvm::MutableArrayRef<Kept> places, const LoopNest &nest,
                  const NestAccess &access) const;
  void chooseKept(llvm::ArrayRef<Sweep> sweeps);
  mlir::Value loadShared(Kept &input, const LoopNest &nest,
                         const NestAccess &access, const Chunk &chunk);
  void note(const LoopNest &nest, const NestAccess &access, const Chunk &chunk,
            mlir::Value value);
  void readNumbers(const LoopNest &nest);
  llvm::SmallVector<mlir::Value> visit(const Sweep &sweep,
                                       llvm::ArrayRef<Chunk> chunks,
                                       mlir::ValueRange carried);
  Chunk makePassing(const LoopNest &nest, mlir::Value round, int64_t begin,
                    int64_t offset, bool isWhole, bool isShared);
  llvm::SmallVector<mlir::Value>
  visitWhole(const Sweep &sweep, int64_t begin, int64_t end, bool isShared,
             llvm::SmallVector<mlir::Value> carried);
  int64_t getRoundsAtOnce(llvm::ArrayRef<Kept> inputs) const;
  llvm::SmallVector<mlir::Value>
  visitRounds(Sweep sweep, llvm::SmallVector<mlir::Value> carried);
  void emitSweep(const Sweep &current);

  /// Lets a thread have as many registers as a row needs, up to 128 (64 for
  /// long rows that are wide). Without this, assemblers make room for more
  /// blocks, and spill registers for it.
  void takeRegisters();

  mlir::Value isFirst();
  mlir::Value broadcast(const LoopNest &nest, const NestAccess &access);
  mlir::Value readNumber(const LoopNest &nest, const NestAccess &access);
  void writeNumber(mlir::Value value, const LoopNest &nest, size_t number,
                   const NestAccess &access);
  mlir::Value reduceTeam(mlir::Operation *combiner, mlir::Value partial);
  mlir::Value reduceWarps(mlir::Operation *combiner, mlir::Value value);
  ThreadCode::Point at(mlir::Value linear) const {
    return {rowIds, numRowLoops, linear};
  }
  Held *find(const NestAccess &access);
  void hold(const NestAccess &access, const LoopNest &nest,
            llvm::ArrayRef<mlir::Value> values);
  bool mustStore(size_t nest, const NestAccess &access) const;

  ThreadCode &code;
  RowTeam team;
  unsigned numRowLoops;
  llvm::SmallVector<int64_t> rowSizes;
  llvm::SmallVector<mlir::Value> rowIds;
  /// The number of the thread in its block, and in the team of its row.
  mlir::Value thread, lane;
  /// The number of teams of a block. Each team has a row.
  int64_t teams = 1;
  llvm::SmallVector<Held> held;
  llvm::SmallVector<Loaded> loaded;
  /// The number of registers that loaded elements may still take.
  int64_t freeRegisters;

  // State for wide rows.
  llvm::SmallVector<Kept> kept;
  int64_t registerRounds = 0, sharedRounds = 0;
  size_t currentSweep = 0;
};

/// True if two ops access the same elements in the same iterations of a row.
bool isSamePlace(const LoopNest &a, const NestAccess &left, const LoopNest &b,
                 const NestAccess &right, unsigned numRowLoops);

/// Combines lane i of `vector` with lane i + n/2, and so on down to one lane.
mlir::Value emitTree(mlir::OpBuilder &builder, mlir::Operation *combiner,
                     mlir::Value vector);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_ROWKERNEL_H
