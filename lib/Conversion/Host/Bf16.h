//===- Bf16.h - bf16 on CPUs without support for it -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_HOST_BF16_H
#define VEELINE_LIB_CONVERSION_HOST_BF16_H

#include "mlir/Pass/PassManager.h"

namespace veeline {

/// Adds passes that compute bf16 arithmetic in f32, round each result, and
/// convert by operations on bits. Not every CPU has instructions for these
/// conversions, nor every C library functions, and those instructions flush
/// denormals.
void addBf16Arithmetic(mlir::OpPassManager &passManager);

/// Adds a pass for the LLVM dialect that runs after these passes. It makes the
/// remaining moves of bf16 moves of integers. Otherwise LLVM would extend and
/// round them between blocks.
void addBf16Moves(mlir::OpPassManager &passManager);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_HOST_BF16_H
