//===- LoopNest.h - a structured op as loops over strided memory -*- C++ -*-==//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The representation of a structured op on buffers for the passes that fuse,
// outline and lower it: its loops, and for every operand the stride of each
// loop in elements. It has no layouts, views and indexing maps: a transpose, a
// broadcast and a slice differ only in their strides.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_LOOPNEST_H
#define VEELINE_LIB_CONVERSION_KERNELS_LOOPNEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace veeline {

/// One operand of a structured op. A scalar has no strides.
struct NestAccess {
  /// The operand's value, or the buffer that it is a view of (see rebase).
  mlir::Value base;
  mlir::Type elementType;
  /// One per loop, in elements.
  llvm::SmallVector<int64_t> strides;
  /// From the start of `base`, in elements, where all loops are at zero.
  int64_t offset = 0;
  /// In a kernel of a GPU: numbers of its caller, each with a factor in
  /// elements. Their products are added to `offset`.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> starts;
  bool isMemRef = false;
  bool isRead = false;
  bool isWritten = false;

  /// Makes `base` the buffer that it is a view of: an allocation or an
  /// argument. False where the place in it is not static.
  bool rebase();

  /// True if `other` starts at the same place.
  bool startsWith(const NestAccess &other) const {
    return base == other.base && offset == other.offset &&
           starts == other.starts;
  }
};

struct NestLoop {
  int64_t size = 1;
  bool isReduction = false;
  /// The dimension of the op that this loop runs over; of collapsed dimensions
  /// the innermost.
  unsigned dim = 0;
  /// How far one step of this loop moves in that dimension.
  int64_t step = 1;
};

/// The combiner of a float or integer reduction: `combine(accumulator, value)`.
struct NestReduction {
  /// Null where the op is no recognised reduction of this output.
  mlir::Operation *combiner = nullptr;
  /// The operand of the combiner that is not the accumulator.
  mlir::Value value;
};

/// How output `index` of `op` combines what it holds with what the body
/// computes.
NestReduction getReduction(mlir::linalg::LinalgOp op, unsigned index);

/// A structured op whose operands are memrefs of static shape (any strides) or
/// scalars.
class LoopNest {
public:
  /// Fails with a diagnostic at `op` where the shape is not static or an
  /// indexing map is not linear.
  static mlir::FailureOr<LoopNest> get(mlir::linalg::LinalgOp op);

  mutable mlir::linalg::LinalgOp op;
  llvm::SmallVector<NestLoop> loops;
  llvm::SmallVector<NestAccess> accesses;

  bool hasReduction() const;
  unsigned countParallel() const;
  bool isEmpty() const;

  /// True if the op is a reduction whose innermost loop (loops of one iteration
  /// aside) is summed up in lanes: all outputs have a recognised combiner and
  /// stay where they are during the reduction.
  bool isLaneReduction() const;

  /// Brings the loops into the order in which they are emitted. Parallel nests
  /// run through the first output in memory order. Lane reductions have their
  /// parallel loops first. Others stay. Bits do not depend on it.
  void arrange();
  /// Puts parallel loops before reductions, each of both in order.
  void sortParallelFirst();

  /// Removes the loops of one iteration.
  void dropUnitLoops();
  /// Puts loops in the order `permutation` (new position to old one).
  void permute(llvm::ArrayRef<unsigned> permutation);
  /// Collapses adjacent loops wherever every access allows it. `keepReductions`
  /// leaves reduction loops alone.
  void coalesce(bool keepReductions);

  /// Makes two loops of `loop`, the inner one of `inner` iterations, which
  /// divides its size.
  void split(unsigned loop, int64_t inner);

  /// How output `index` combines what it holds with what the body computes.
  NestReduction getReduction(unsigned index) const;
  /// The reductions of all outputs, or nothing where one is not recognised.
  std::optional<llvm::SmallVector<NestReduction>> getReductions() const;

  /// True if the body asks for the index of dimension `dim`.
  bool usesIndex(unsigned dim) const;
  /// Accesses to outputs come last.
  llvm::ArrayRef<NestAccess> outputs() const;

private:
  bool canMerge(unsigned outer) const;
};

/// True if a combiner gives the same result in whatever order it is applied.
bool isExactCombiner(mlir::Operation *combiner);

/// The op `combiner` on `a` and `b`, scalars or vectors.
mlir::Value emitCombiner(mlir::OpBuilder &builder, mlir::Operation *combiner,
                         mlir::Value a, mlir::Value b);

/// The value of `type` (for a vector in all lanes) that leaves any x unchanged
/// under the combiner of a reduction.
mlir::TypedAttr getNeutralElement(mlir::Operation *combiner, mlir::Type type);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_LOOPNEST_H
