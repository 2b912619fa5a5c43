//===- Kernels.h - where kernels run ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_KERNELS_H
#define VEELINE_DIALECT_PIPE_IR_KERNELS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace veeline {

/// Where kernel functions run.
enum class KernelTarget { Host, Cuda };

/// Marks kernel functions: private functions of buffers that never overlap.
inline constexpr llvm::StringLiteral kernelAttrName = "pipe.kernel";

/// On a kernel function: its structured ops do not depend on each other. On a
/// GPU each has threads of its own.
inline constexpr llvm::StringLiteral sideBySideAttrName = "pipe.side_by_side";

/// On a kernel function: behind its loop over rows, sums add up these rows part
/// by part. On a GPU the threads of the rows do so.
inline constexpr llvm::StringLiteral rowSumsAttrName = "pipe.row_sums";

/// On an address of a step that is known at run time alone: it, and what is
/// reached from it, lies in so many bytes from its base on.
inline constexpr llvm::StringLiteral withinAttrName = "pipe.within";

/// On a function: bytes of workspace with which the libraries that it calls do
/// all that they are asked for, where that is more than they always have.
inline constexpr llvm::StringLiteral libraryBytesAttrName =
    "pipe.library_bytes";

/// On a module: the kernels that its steps need to add up gradients over ranks.
/// Each entry is an element type and the number of summands.
inline constexpr llvm::StringLiteral sumsAttrName = "pipe.sums";

/// On a module: the symbols of its dense constants, in the order of the
/// numbers given to `veeline_constant`.
inline constexpr llvm::StringLiteral constantsAttrName = "pipe.constants";

/// On a module: its matrix products, an array of dictionaries (GemmDesc of
/// veeline/Conversion/Gemm.h) in the order of the indices given to
/// `veeline_gemm`.
inline constexpr llvm::StringLiteral gemmsAttrName = "pipe.gemms";

/// The alignment of all offsets in an arena, in bytes: on a CPU that of a cache
/// line and of the widest vector, on a GPU that of its allocations.
inline constexpr uint64_t getArenaAlignment(KernelTarget target) {
  return target == KernelTarget::Cuda ? 256 : 64;
}

/// The alignment of the buffers of a GPU's kernels, in bytes: as much as a
/// thread loads at once.
inline constexpr int64_t kernelAlignment = 16;

} // namespace veeline

#endif // VEELINE_DIALECT_PIPE_IR_KERNELS_H
