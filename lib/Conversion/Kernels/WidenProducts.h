//===- WidenProducts.h - products of 16-bit floats --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_WIDENPRODUCTS_H
#define VEELINE_LIB_CONVERSION_KERNELS_WIDENPRODUCTS_H

#include "mlir/IR/PatternMatch.h"

namespace veeline {

/// Turns every matrix product of f16 or bf16 below `root` into one of f32, on
/// converted operands, whose result is rounded once. Such sums are defined like
/// that, and the library of a CPU is fast at f32.
void widenProducts(mlir::RewriterBase &rewriter, mlir::Operation *root);

/// Prepares products for the libraries of a GPU, which multiply f16 and bf16
/// and sum in f32. Products and convolutions keep their operands. The result
/// has the operands' type if the product starts from zeros and is rounded to
/// that type; otherwise it is f32. If operands were only extended, their
/// narrower values are read. Operands of two different types are converted to
/// f32.
void keepSmallProducts(mlir::RewriterBase &rewriter, mlir::Operation *root);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_WIDENPRODUCTS_H
