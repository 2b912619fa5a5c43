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

/// On a module: the sums of replicas that its steps ask for, each an element
/// type and how many there are to add.
inline constexpr llvm::StringLiteral sumsAttrName = "pipe.sums";

/// On a module: the symbols of its dense constants, in the order of the
/// numbers given to `veeline_constant`.
inline constexpr llvm::StringLiteral constantsAttrName = "pipe.constants";

/// What every offset in memory is a multiple of: on a CPU a cache line, and the
/// widest vector; on a GPU what its allocations are aligned to.
inline constexpr uint64_t getArenaAlignment(KernelTarget target) {
  return target == KernelTarget::Cuda ? 256 : 64;
}

/// What the buffers of a GPU's kernels start at: what a thread loads at once.
inline constexpr int64_t kernelAlignment = 16;

} // namespace veeline

#endif // VEELINE_DIALECT_PIPE_IR_KERNELS_H
