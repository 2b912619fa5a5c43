//===- WidenProducts.h - matrix products of small floats --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_WIDENPRODUCTS_H
#define VEELINE_LIB_CONVERSION_WIDENPRODUCTS_H

#include "mlir/IR/PatternMatch.h"

namespace veeline {

/// Makes every matrix product of f16 or bf16 below `root` one of f32 on
/// converted operands, whose result is rounded once: that is how such sums are
/// defined, and what the library of a CPU is fast at.
void widenProducts(mlir::RewriterBase &rewriter, mlir::Operation *root);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_WIDENPRODUCTS_H
