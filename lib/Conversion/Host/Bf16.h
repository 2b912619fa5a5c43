//===- Bf16.h - bf16 on CPUs without support for it -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_HOST_BF16_H
#define VEELINE_LIB_CONVERSION_HOST_BF16_H

#include "mlir/Pass/PassManager.h"

namespace veeline {

/// Adds passes that do arithmetic of bf16 in f32, rounding each result, and
/// convert by operations on bits. Not every CPU has instructions for that, nor
/// every C library a function, and those instructions flush denormals.
void addBf16Arithmetic(mlir::OpPassManager &passManager);

/// Adds a pass for the LLVM dialect, after those: what is left of bf16 is moved
/// as integers. LLVM would extend and round it between blocks.
void addBf16Moves(mlir::OpPassManager &passManager);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_HOST_BF16_H
