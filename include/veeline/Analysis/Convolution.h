//===- Convolution.h - convolutions and their adjoints ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution and its two adjoints are one sum of products over one iteration
// space, in which three tensors play parts:
//
//   forward:           y[n, g, f, o...] += x[n, g, c, o*s + k*d...] * w
//   backward data:     x[n, g, c, o*s + k*d...] += y[n, g, f, o...] * w
//   backward weights:  w[g, f, c, k...] += x[n, g, c, o*s + k*d...] * y
//
// The indexing maps of an op tell which one it is. So named ops and the generic
// ops that differentiation makes of them are recognised alike.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_CONVOLUTION_H
#define VEELINE_ANALYSIS_CONVOLUTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Analysis/ConvolutionKind.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

#include <optional>

namespace veeline {

/// One spatial dimension of a convolution. `output` and `kernel` are loop
/// numbers.
struct ConvolutionWindow {
  unsigned output, kernel;
  int64_t stride, dilation;
};

/// The parts that the operands and the loops of an op play.
struct Convolution {
  ConvolutionKind kind;
  /// Operand numbers.
  unsigned x, w, y;
  /// The loops over n, g, c and f; none for a dimension that the op lacks.
  std::optional<unsigned> batch, group, input, output;
  /// In the order of the dimensions of x.
  llvm::SmallVector<ConvolutionWindow> windows;
};

/// Matches `op` as a convolution or an adjoint of one, of static shape and of
/// any float types. Factors or products may be extended to the type of the sum.
std::optional<Convolution> matchConvolution(mlir::linalg::LinalgOp op);

/// True for a convolution, or an adjoint of one, that the library of `target`
/// computes: of static shape, of up to three spatial dimensions, in f32; on a
/// GPU also of f16 and bf16, with a sum of their own type or of f32. Such an op
/// stays whole from differentiation to the call of the runtime.
bool isLibraryConvolution(mlir::linalg::LinalgOp op,
                          KernelTarget target = KernelTarget::Host);

/// True where `use` is the x of an op that the library of some target computes.
bool isReadByLibraryConvolution(mlir::OpOperand &use);

/// True where `value` has uses, and all of them are such.
bool isReadByLibraryConvolutions(mlir::Value value);

/// Where only some uses of `value` are such, makes these use the equal value
/// that `copy` creates. A library call takes the zeros around its x as padding
/// numbers only if nothing but calls reads the padded x. The bits of its sums
/// depend on that, and must not depend on other readers of `value`.
void separateLibraryUses(
    mlir::Value value, llvm::function_ref<mlir::Value(mlir::OpBuilder &)> copy);

/// True where `pad` adds zeros around an x that only such ops read. A call then
/// takes the x without the zeros, and the padding as numbers.
bool isLibraryPadding(mlir::tensor::PadOp pad);

/// True where `slice` is the only use of the x that a backward-data op computes
/// in the library. The call then computes no more than the slice.
bool isInsideOfLibraryPadding(mlir::tensor::ExtractSliceOp slice);

/// The dimension of an operand that `loop` alone indexes; none where there is
/// no such dimension.
std::optional<unsigned> findDimension(mlir::AffineMap map,
                                      std::optional<unsigned> loop);

/// The dimension of x that `window` slides along.
unsigned findDimension(mlir::AffineMap map, const ConvolutionWindow &window);

} // namespace veeline

#endif // VEELINE_ANALYSIS_CONVOLUTION_H
