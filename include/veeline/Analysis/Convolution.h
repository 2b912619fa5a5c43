//===- Convolution.h - convolutions and their adjoints ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recognises convolutions and their adjoints. All three are one sum of products
// over one iteration space, in which three tensors have different roles:
//
//   forward:           y[n, g, f, o...] += x[n, g, c, o*s + k*d...] * w
//   backward data:     x[n, g, c, o*s + k*d...] += y[n, g, f, o...] * w
//   backward weights:  w[g, f, c, k...] += x[n, g, c, o*s + k*d...] * y
//
// The indexing maps of an op determine its kind. So named ops, and the generic
// ops that differentiation makes of them, are recognised in the same way.
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

/// One spatial dimension of a convolution. `output` and `kernel` are numbers of
/// loops.
struct ConvolutionWindow {
  unsigned output, kernel;
  int64_t stride, dilation;
};

/// The roles of the operands and the loops of an op.
struct Convolution {
  ConvolutionKind kind;
  /// Operand numbers.
  unsigned x, w, y;
  /// The loops over n, g, c and f; none if the op lacks the dimension.
  std::optional<unsigned> batch, group, input, output;
  /// In the order of the dimensions of x.
  llvm::SmallVector<ConvolutionWindow> windows;
};

/// Matches `op` as a convolution or an adjoint of one. It must have a static
/// shape and may have any float types. Factors or products may be extended to
/// the type of the sum.
std::optional<Convolution> matchConvolution(mlir::linalg::LinalgOp op);

/// True for a convolution, or an adjoint of one, that the library of `target`
/// computes. It has a static shape and up to three spatial dimensions, and is
/// in f32; on a GPU also in f16 or bf16, with a sum of the same type or of f32.
/// Such an op stays whole from differentiation to the call of the runtime.
bool isLibraryConvolution(mlir::linalg::LinalgOp op,
                          KernelTarget target = KernelTarget::Host);

/// True if `use` is the x of an op that the library of some target computes (a
/// *library use*).
bool isReadByLibraryConvolution(mlir::OpOperand &use);

/// True if `value` has uses, and all of them are library uses.
bool isReadByLibraryConvolutions(mlir::Value value);

/// If only some uses of `value` are library uses, makes these use the equal
/// value that `copy` creates. The reason: a library call takes the zeros around
/// its x as padding numbers only if nothing but library calls reads the padded
/// x. The bits of its sums depend on that, and must not depend on other readers
/// of `value`.
void separateLibraryUses(
    mlir::Value value, llvm::function_ref<mlir::Value(mlir::OpBuilder &)> copy);

/// True if `pad` adds zeros around an x that has only library uses. The call
/// then takes the x without the zeros, and the padding as numbers.
bool isLibraryPadding(mlir::tensor::PadOp pad);

/// True if `slice` is the only use of the x that a backward-data op computes in
/// the library. The call then computes only the slice.
bool isInsideOfLibraryPadding(mlir::tensor::ExtractSliceOp slice);

/// The dimension of an operand that `loop` alone indexes; none if there is no
/// such dimension.
std::optional<unsigned> findDimension(mlir::AffineMap map,
                                      std::optional<unsigned> loop);

/// The dimension of x that `window` slides along.
unsigned findDimension(mlir::AffineMap map, const ConvolutionWindow &window);

} // namespace veeline

#endif // VEELINE_ANALYSIS_CONVOLUTION_H
