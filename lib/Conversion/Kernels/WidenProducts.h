//===- WidenProducts.h - products of small floats ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_WIDENPRODUCTS_H
#define VEELINE_LIB_CONVERSION_KERNELS_WIDENPRODUCTS_H

#include "mlir/IR/PatternMatch.h"

namespace veeline {

/// Makes every matrix product of f16 or bf16 below `root` one of f32 on
/// converted operands, whose result is rounded once: that is how such sums are
/// defined, and what the library of a CPU is fast at.
void widenProducts(mlir::RewriterBase &rewriter, mlir::Operation *root);

/// The same for the libraries of a GPU, which multiply f16 and bf16 and add up
/// in f32: products and convolutions keep their operands. One that starts from
/// zeros has the type of its operands as its result, where that is what it is
/// rounded to, and f32 otherwise. Operands that are only extended are read as
/// they were before; those of two types are converted to f32.
void keepSmallProducts(mlir::RewriterBase &rewriter, mlir::Operation *root);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_WIDENPRODUCTS_H
