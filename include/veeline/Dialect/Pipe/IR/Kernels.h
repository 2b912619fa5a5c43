//===- Kernels.h - attributes of kernels, and their target ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_KERNELS_H
#define VEELINE_DIALECT_PIPE_IR_KERNELS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace veeline {

/// The target on which kernel functions run.
enum class KernelTarget { Host, Cuda };

/// Marks kernel functions: private functions whose buffers never overlap.
inline constexpr llvm::StringLiteral kernelAttrName = "pipe.kernel";

/// On a kernel function: its structured ops do not depend on each other. On a
/// GPU each op has separate threads.
inline constexpr llvm::StringLiteral sideBySideAttrName = "pipe.side_by_side";

/// On a kernel function: its loop over rows is followed by sums of these rows,
/// part by part. On a GPU the threads of the rows compute these sums.
inline constexpr llvm::StringLiteral rowSumsAttrName = "pipe.row_sums";

/// On an address of a step that is only known at run time: the size in bytes of
/// the range, from its base on, that contains the address and all that is
/// accessed through it.
inline constexpr llvm::StringLiteral withinAttrName = "pipe.within";

/// On a function: the bytes of workspace that its library calls need, if they
/// are more than libraries always have.
inline constexpr llvm::StringLiteral libraryBytesAttrName =
    "pipe.library_bytes";

/// On a module: the kernels that its steps need to add up gradients over ranks.
/// Each entry is an element type and a number of summands.
inline constexpr llvm::StringLiteral sumsAttrName = "pipe.sums";

/// On a module: the symbols of its dense constants, in the order of the
/// numbers given to `veeline_constant`.
inline constexpr llvm::StringLiteral constantsAttrName = "pipe.constants";

/// On a module: its matrix products, an array of dictionaries (GemmDesc of
/// veeline/Conversion/Gemm.h) in the order of the indices given to
/// `veeline_gemm`.
inline constexpr llvm::StringLiteral gemmsAttrName = "pipe.gemms";

/// The alignment of all offsets in an arena, in bytes. On a CPU it is that of a
/// cache line and of the widest vector, on a GPU that of allocations.
inline constexpr uint64_t getArenaAlignment(KernelTarget target) {
  return target == KernelTarget::Cuda ? 256 : 64;
}

/// The alignment of the buffers of GPU kernels, in bytes. It is the largest
/// access of a thread.
inline constexpr int64_t kernelAlignment = 16;

} // namespace veeline

#endif // VEELINE_DIALECT_PIPE_IR_KERNELS_H
