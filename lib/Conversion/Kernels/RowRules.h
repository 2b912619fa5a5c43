//===- RowRules.h - rules of ops that share rows ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_ROWRULES_H
#define VEELINE_LIB_CONVERSION_KERNELS_ROWRULES_H

#include "KernelBody.h"

namespace veeline {

/// Buffers start at multiples of this many bytes, and a thread loads or stores
/// at most as many at once.
inline constexpr int64_t vectorBytes = 16;
inline constexpr int64_t warpSize = 32;

/// The number of elements of `type` in one access of a thread.
int64_t elementsPerAccess(mlir::Type type);
int64_t getByteWidth(mlir::Type type);

/// How threads share a row: each of `threads` takes `lanes` elements at once,
/// in `rounds`. This decides the bits of a reduction, so it follows from the
/// number of elements and the accumulator's type alone.
struct RowTeam {
  int64_t threads, lanes, rounds;

  static RowTeam get(int64_t count, int64_t lanes);
  /// True if a thread can keep a row's elements in registers.
  bool fitsRegisters() const;
};

/// The team of all `nests`, whose first `numRowLoops` loops run over rows;
/// nothing where reductions want different ones.
std::optional<RowTeam> chooseTeam(llvm::ArrayRef<LoopNest> nests,
                                  unsigned numRowLoops);

/// True if a team of threads can run `nests` one after the other for a row:
/// inside of the row loops each is parallel or a whole lane reduction, and no
/// thread needs what another one has written.
bool canShareRows(llvm::ArrayRef<LoopNest> nests, unsigned numRowLoops);

/// The threads that share a column of a sum of rows: thread i adds up rows i,
/// i + rowGroups, ... of a part. They decide the bits.
inline constexpr int64_t rowGroups = 8;

/// A sum of a kernel of rows as an op on the rows themselves: with one loop
/// over rows, and outputs that stay where they are.
LoopNest asRow(const LoopNest &sum);

/// True if the warps that work on the rows of `body` can also add up its sums:
/// each block has the rows of a part, a warp those that one thread of a kernel
/// of columns would add up, and registers have room for the sums.
bool fitsRowSums(const KernelBody &body);

/// True if an input is contiguous along another loop than the outputs.
bool isTransposition(LoopNest nest);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_ROWRULES_H
