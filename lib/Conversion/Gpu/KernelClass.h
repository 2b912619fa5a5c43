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

/// A form that a kernel can take: `fits` says whether. `emit` writes the code
/// of a thread where the kernel's ops stand; the caller erases these.
struct KernelClass {
  llvm::StringLiteral name;
  bool (*fits)(const KernelBody &body);
  void (*emit)(ThreadCode &code);
};

/// The first form that `body` fits, in the order of what is faster.
const KernelClass &chooseClass(const KernelBody &body);

/// One element of everything: one thread.
bool fitsScalars(const KernelBody &body);

/// No reduction, every op on the same iterations: a thread has the elements of
/// one access.
bool fitsElementwise(const KernelBody &body);
void emitElementwise(ThreadCode &code);

/// One op that reads along one loop and writes along another: squares go
/// through shared memory.
bool fitsTranspose(const KernelBody &body);
void emitTranspose(ThreadCode &code);

/// Reductions of rows and what is done with them: a team of threads for a row,
/// which stays in their registers.
bool fitsRow(const KernelBody &body);
void emitRow(ThreadCode &code);

/// One reduction with a contiguous parallel loop inside: threads of a block
/// share the rows of some columns.
bool fitsColumns(const KernelBody &body);
void emitColumns(ThreadCode &code);

/// A loop of scalars, no structured op: its parallel loops run over threads.
bool isLoopKernel(mlir::Block &block);
void emitLoops(ThreadCode &code);

/// Loops of scalars that add to rows which indices choose. With `inOrder`
/// blocks own rows and add in order, else everything is added atomically.
bool fitsScatter(mlir::Block &block);
void emitScatter(ThreadCode &code, bool inOrder);

/// Anything else: parallel loops run over threads, the rest in order.
void emitFallback(ThreadCode &code);

/// Threads of a block that has no reason for another number.
inline constexpr int64_t threadsPerBlock = 256;

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_KERNELCLASS_H
