//===- LoopNest.h - structured ops as loops over memory ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Represents a structured op on buffers for the passes that fuse, outline and
// lower it, by its loops and, for every operand, the stride of each loop in
// elements. There are no layouts, views and indexing maps: a transpose, a
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
  /// The stride of each loop, in elements.
  llvm::SmallVector<int64_t> strides;
  /// The distance from the start of `base`, in elements, if all loops are at
  /// zero.
  int64_t offset = 0;
  /// In a kernel of a GPU: numbers of its caller, each with a factor in
  /// elements. Their products are added to `offset`.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> starts;
  bool isMemRef = false;
  bool isRead = false;
  bool isWritten = false;

  /// Replaces `base` by the buffer that it is a view of: an allocation or an
  /// argument. Returns false if the place in this buffer is not static.
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
  /// The dimension of the op that this loop runs over. For collapsed
  /// dimensions, the innermost one.
  unsigned dim = 0;
  /// The number of indices of the dimension from one iteration to the next.
  int64_t step = 1;
};

/// The combiner of a float or integer reduction: `combine(accumulator, value)`.
struct NestReduction {
  /// Null if the op is not a recognised reduction of this output.
  mlir::Operation *combiner = nullptr;
  /// The operand of the combiner that is not the accumulator.
  mlir::Value value;
};

/// How output `index` of `op` combines its content with what the body computes.
NestReduction getReduction(mlir::linalg::LinalgOp op, unsigned index);

/// A structured op whose operands are scalars, or memrefs of static shape with
/// any strides.
class LoopNest {
public:
  /// Fails with a diagnostic at `op` if its shape is not static or an indexing
  /// map is not linear.
  static mlir::FailureOr<LoopNest> get(mlir::linalg::LinalgOp op);

  mutable mlir::linalg::LinalgOp op;
  llvm::SmallVector<NestLoop> loops;
  llvm::SmallVector<NestAccess> accesses;

  bool hasReduction() const;
  unsigned countParallel() const;
  bool isEmpty() const;

  /// True if the op is a reduction whose innermost loop (without loops of one
  /// iteration) can be summed in lanes. All outputs must have a recognised
  /// combiner, and must stay at one place during the reduction.
  bool isLaneReduction() const;

  /// Brings the loops into the order in which they are emitted. Parallel nests
  /// follow the first output in memory order. Lane reductions have their
  /// parallel loops first. Other nests are not changed. Bits of results do not
  /// depend on this order.
  void arrange();
  /// Moves parallel loops before reductions. The order within each kind does
  /// not change.
  void sortParallelFirst();

  /// Removes the loops of one iteration.
  void dropUnitLoops();
  /// Orders loops by `permutation`, which maps new positions to old ones.
  void permute(llvm::ArrayRef<unsigned> permutation);
  /// Collapses adjacent loops if every access allows it. With `keepReductions`,
  /// reduction loops do not change.
  void coalesce(bool keepReductions);

  /// Splits `loop` into two. The inner one has `inner` iterations, which must
  /// divide the size of `loop`.
  void split(unsigned loop, int64_t inner);

  /// How output `index` combines its content with what the body computes.
  NestReduction getReduction(unsigned index) const;
  /// The reductions of all outputs, or none if one is not recognised.
  std::optional<llvm::SmallVector<NestReduction>> getReductions() const;

  /// True if the body uses the index of dimension `dim`.
  bool usesIndex(unsigned dim) const;
  /// The accesses to outputs, which are the last ones.
  llvm::ArrayRef<NestAccess> outputs() const;

private:
  bool canMerge(unsigned outer) const;
};

/// True if the result of a combiner does not depend on the order in which it is
/// applied.
bool isExactCombiner(mlir::Operation *combiner);

/// Emits the op `combiner` on `a` and `b`, scalars or vectors.
mlir::Value emitCombiner(mlir::OpBuilder &builder, mlir::Operation *combiner,
                         mlir::Value a, mlir::Value b);

/// The neutral element of a reduction's combiner: the value of `type` (for a
/// vector, in all lanes) that does not change any x.
mlir::TypedAttr getNeutralElement(mlir::Operation *combiner, mlir::Type type);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_LOOPNEST_H
