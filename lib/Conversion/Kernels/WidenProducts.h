//===- WidenProducts.h - products of 16-bit floats --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_WIDENPRODUCTS_H
#define VEELINE_LIB_CONVERSION_KERNELS_WIDENPRODUCTS_H

#include "mlir/IR/PatternMatch.h"

namespace veeline {

/// Makes every matrix product of f16 or bf16 below `root` one of f32, on
/// converted operands, whose result is rounded once. That is how such sums are
/// defined, and the library of a CPU is fast at it.
void widenProducts(mlir::RewriterBase &rewriter, mlir::Operation *root);

/// The same for the libraries of a GPU, which multiply f16 and bf16 and add up
/// in f32: products and convolutions keep their operands. The result has the
/// operands' type if the product starts from zeros and is rounded to that type,
/// else f32. Operands that were only extended are read as they were before.
/// Operands of two types are converted to f32.
void keepSmallProducts(mlir::RewriterBase &rewriter, mlir::Operation *root);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_WIDENPRODUCTS_H
