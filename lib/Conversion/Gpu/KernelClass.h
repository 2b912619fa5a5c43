//===- KernelClass.h - classes of kernels -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_KERNELCLASS_H
#define VEELINE_LIB_CONVERSION_GPU_KERNELCLASS_H

#include "Kernels/RowRules.h"
#include "ThreadCode.h"

namespace veeline {

/// A form of kernels. `fits` returns whether a kernel can have this form.
/// `emit` emits the code of a thread in front of the kernel's ops; the caller
/// erases these.
struct KernelClass {
  llvm::StringLiteral name;
  bool (*fits)(const KernelBody &body);
  void (*emit)(ThreadCode &code);
};

/// The first form that `body` fits. Faster forms come first.
const KernelClass &chooseClass(const KernelBody &body);

/// Whether all ops have one element, so that one thread runs the body.
bool fitsScalars(const KernelBody &body);

/// No reductions, and all ops have the same iterations: a thread has the
/// elements of one access.
bool fitsElementwise(const KernelBody &body);
void emitElementwise(ThreadCode &code);

/// One op that reads along one loop and writes along another: square tiles go
/// through shared memory.
bool fitsTranspose(const KernelBody &body);
void emitTranspose(ThreadCode &code);

/// Reductions of rows, and ops on the rows: a team of threads has a row, which
/// stays in their registers.
bool fitsRow(const KernelBody &body);
void emitRow(ThreadCode &code);

/// One reduction with a contiguous parallel loop inside: the threads of a block
/// share the rows of some columns.
bool fitsColumns(const KernelBody &body);
void emitColumns(ThreadCode &code);

/// A loop of scalars instead of structured ops: its parallel loops run over
/// threads.
bool isLoopKernel(mlir::Block &block);
void emitLoops(ThreadCode &code);

/// Loops of scalars that add to rows selected by indices. With `inOrder`,
/// blocks own rows and add in order. Otherwise, all sums are atomic.
bool fitsScatter(mlir::Block &block);
void emitScatter(ThreadCode &code, bool inOrder);

/// Anything else: parallel loops run over threads, and the others in order.
void emitFallback(ThreadCode &code);

/// The number of threads of a block, unless a kernel needs another one.
inline constexpr int64_t threadsPerBlock = 256;

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_KERNELCLASS_H
