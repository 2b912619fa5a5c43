//===- RowRules.h - rules of ops that share rows ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_ROWRULES_H
#define VEELINE_LIB_CONVERSION_KERNELS_ROWRULES_H

#include "KernelBody.h"

namespace veeline {

/// The alignment of buffers in bytes, and the most bytes that a thread loads or
/// stores at once.
inline constexpr int64_t vectorBytes = 16;
inline constexpr int64_t warpSize = 32;

/// The number of elements of `type` in one access of a thread.
int64_t elementsPerAccess(mlir::Type type);
int64_t getByteWidth(mlir::Type type);

/// How threads share a row: in each of `rounds`, each of `threads` takes
/// `lanes` elements. This determines the bits of a reduction, so it depends
/// only on the number of elements and the type of the accumulator.
struct RowTeam {
  int64_t threads, lanes, rounds;

  static RowTeam get(int64_t count, int64_t lanes);
  /// True if a thread can keep its elements of a row in registers.
  bool fitsRegisters() const { return rounds <= 8; }
  /// The number of blocks that a multiprocessor has room for at the same time.
  /// Long rows that fit into registers need all registers for one block. All
  /// others leave half of them, so that one block loads while the other
  /// computes.
  int64_t blocksAtOnce() const {
    return threads == 512 && fitsRegisters() ? 1 : 2;
  }
  /// The number of 32-bit registers of a thread.
  int64_t registersPerThread() const {
    return 65536 / blocksAtOnce() / std::max<int64_t>(threads, 256);
  }
};

/// The team for all `nests`, whose first `numRowLoops` loops run over rows.
/// None if reductions need different teams.
std::optional<RowTeam> chooseTeam(llvm::ArrayRef<LoopNest> nests,
                                  unsigned numRowLoops);

/// True if a team of threads can run `nests` one after the other for a row. For
/// that, each nest has to be parallel or a whole lane reduction inside of the
/// row loops, and no thread may need what another one has written.
bool canShareRows(llvm::ArrayRef<LoopNest> nests, unsigned numRowLoops);

/// The number of threads that share a column of a sum over rows: thread i sums
/// the rows i, i + rowGroups, ... of a part. It determines the bits of the sum.
inline constexpr int64_t rowGroups = 8;

/// A sum over rows in a kernel of rows, as an op on the rows themselves: it has
/// one loop over rows, and outputs that stay at one place.
LoopNest asRow(const LoopNest &sum);

/// True if the warps that work on the rows of `body` can also compute its sums.
/// Each block then has the rows of a part, and a warp those rows that one
/// thread of a kernel of columns would sum. Registers must have room for the
/// sums.
bool fitsRowSums(const KernelBody &body);

/// True if an input is contiguous along another loop than the outputs.
bool isTransposition(LoopNest nest);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_ROWRULES_H
