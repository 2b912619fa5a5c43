//===- Gemm.h - a matrix product in the runtime's tables --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// c[batch..., m, n] = sum over k of a[batch..., m, k] * b[batch..., k, n].
// Every operand has its own strides. So a transpose needs no copy, only other
// strides.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVERSION_GEMM_H
#define VEELINE_CONVERSION_GEMM_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

#include <functional>

namespace veeline {

/// A function that a product applies to its result before it stores it. Bias
/// adds a number for each column. Gelu applies GELU (its tanh form), and stores
/// its argument in an auxiliary matrix. GeluDerivative multiplies by GELU's
/// derivative at such an argument.
enum class GemmEpilogue { None, Bias, GeluAux, BiasGeluAux, GeluDerivative };

/// Whether there is an auxiliary matrix.
constexpr bool hasAux(GemmEpilogue epilogue) {
  return epilogue >= GemmEpilogue::GeluAux;
}

/// One entry of a module's table of matrix products (`pipe.gemms`).
struct GemmDesc {
  mlir::Type dtype; ///< The type of a and b.
  mlir::Type cType; ///< The type of c: `dtype`, or f32 for f16 and bf16.
  /// Whether operands in f32 are rounded to tf32.
  bool isTf32 = false;
  /// The sizes of the batch dimensions, outermost first; may be empty.
  llvm::SmallVector<int64_t> batch;
  int64_t m = 1, n = 1, k = 1;
  /// Strides in elements: one for each batch dimension, then those of the
  /// matrix: (m, k) for a, (k, n) for b, (m, n) for c. The stride of a batch
  /// dimension is 0 in a or b if all its products share the operand.
  llvm::SmallVector<int64_t> aStrides, bStrides, cStrides;
  uint64_t scratchBytes = 0;
  bool accumulate = false; ///< Compute c += a * b.
  GemmEpilogue epilogue = GemmEpilogue::None;
  /// The alignment in bytes of the addresses of all operands, in every product
  /// of a batch. None on a CPU, whose library does not need it.
  std::optional<int64_t> alignment;

  /// The attribute: a dictionary of `dtype`, `batch`, `m`, `n`, `k`,
  /// `a_strides`, `b_strides`, `c_strides` and `scratch_bytes`; also `c_dtype`,
  /// `tf32`, `alignment`, `accumulate` and `epilogue`, each only if it is not
  /// the default.
  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Reads the attribute. Fails if an entry is missing or has another type.
  static mlir::FailureOr<GemmDesc> fromAttribute(mlir::DictionaryAttr dict);
};

/// Returns the bytes of scratch memory that the library wants for a product.
using GemmScratchFn = std::function<uint64_t(const GemmDesc &)>;

} // namespace veeline

#endif // VEELINE_CONVERSION_GEMM_H
