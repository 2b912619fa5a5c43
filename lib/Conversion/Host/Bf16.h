//===- Bf16.h - bf16 on CPUs that do not have it ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_HOST_BF16_H
#define VEELINE_LIB_CONVERSION_HOST_BF16_H

#include "mlir/Pass/PassManager.h"

namespace veeline {

/// Has arithmetic of bf16 done in f32, each result rounded, and converts by
/// operations on bits: not every CPU has instructions for it, nor every C
/// library a function, and instructions that do flush what is denormal.
void addBf16Arithmetic(mlir::OpPassManager &passManager);

/// In the LLVM dialect, after that: what is left of bf16 is moved as integers.
/// LLVM extends what passes from block to block, and rounds it again.
void addBf16Moves(mlir::OpPassManager &passManager);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_HOST_BF16_H
