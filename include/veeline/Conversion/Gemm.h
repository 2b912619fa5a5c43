//===- Gemm.h - matrix products that the runtime computes -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// c[batch..., m, n] = sum over k of a[batch..., m, k] * b[batch..., k, n],
// every operand with its own strides: a transpose is a pair of strides.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVERSION_GEMM_H
#define VEELINE_CONVERSION_GEMM_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

#include <functional>

namespace veeline {

/// What a product does to its result before it stores it. Bias adds one number
/// for each column. Gelu applies GELU (by tanh), and stores its argument in a
/// matrix beside the result. GeluDerivative multiplies by GELU's derivative at
/// such an argument.
enum class GemmEpilogue { None, Bias, GeluAux, BiasGeluAux, GeluDerivative };

/// Whether there is a matrix beside the result.
constexpr bool hasAux(GemmEpilogue epilogue) {
  return epilogue >= GemmEpilogue::GeluAux;
}

/// One entry of a module's table of matrix products (`pipe.gemms`).
struct GemmDesc {
  mlir::Type dtype; ///< Of a and b.
  mlir::Type cType; ///< Of c: `dtype`, or f32 for f16 and bf16.
  /// Operands of f32 are rounded to tf32.
  bool isTf32 = false;
  /// Sizes of the batch dimensions, outermost first; may be empty.
  llvm::SmallVector<int64_t> batch;
  int64_t m = 1, n = 1, k = 1;
  /// Strides in elements: one for each batch dimension (0 in a or b where all
  /// products of the dimension share an operand), then (m, k) of a, (k, n) of b
  /// and (m, n) of c.
  llvm::SmallVector<int64_t> aStrides, bStrides, cStrides;
  uint64_t scratchBytes = 0;
  bool accumulate = false; ///< c += a * b.
  GemmEpilogue epilogue = GemmEpilogue::None;
  /// The alignment in bytes of the addresses of all operands, in every product
  /// of a batch. None on a CPU, whose library does not ask.
  std::optional<int64_t> alignment;

  /// The attribute: a dictionary of `dtype`, `batch`, `m`, `n`, `k`,
  /// `a_strides`, `b_strides`, `c_strides`, `scratch_bytes`, and, only where
  /// they are not the default, `c_dtype`, `tf32`, `alignment`, `accumulate` and
  /// `epilogue`.
  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Reads the attribute; fails where an entry is missing or has another type.
  static mlir::FailureOr<GemmDesc> fromAttribute(mlir::DictionaryAttr dict);
};

/// Bytes of scratch memory that the library wants for a product.
using GemmScratchFn = std::function<uint64_t(const GemmDesc &)>;

} // namespace veeline

#endif // VEELINE_CONVERSION_GEMM_H
