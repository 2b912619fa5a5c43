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
// Which one an op is, is in its indexing maps: named ops and the generic ops
// that differentiation makes of them are recognised alike.
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

/// One spatial dimension of a convolution. Loops are named by their numbers.
struct ConvolutionWindow {
  unsigned output, kernel;
  int64_t stride, dilation;
};

/// The parts that the operands and the loops of an op play.
struct Convolution {
  ConvolutionKind kind;
  /// Numbers of operands.
  unsigned x, w, y;
  /// Loops over n, g, c and f; none where there is only one.
  std::optional<unsigned> batch, group, input, output;
  /// In the order of the dimensions of x.
  llvm::SmallVector<ConvolutionWindow> windows;
};

/// Reads `op` as a sum of products over windows, of any type, also of factors
/// or products that are extended to the type of the sum.
std::optional<Convolution> matchConvolution(mlir::linalg::LinalgOp op);

/// True for a convolution, or an adjoint of one, that the library of `target`
/// computes: of static shape, of up to three spatial dimensions, in f32; on a
/// GPU also of f16 and bf16, with a sum of their own type or of f32. Such an op
/// stays whole from differentiation to the call of the runtime.
bool isLibraryConvolution(mlir::linalg::LinalgOp op,
                          KernelTarget target = KernelTarget::Host);

/// True where some library computes the op of `use`, which reads it as its x.
bool isReadByLibraryConvolution(mlir::OpOperand &use);

/// The same of every use of `value`, of which there is one at least.
bool isReadByLibraryConvolutions(mlir::Value value);

/// Where only some uses of `value` are such, gives these what `copy` creates,
/// an equal value. A call takes the zeros around its x as numbers where nothing
/// but calls reads them, and sums depend on that: so it must not depend on who
/// else does.
void separateLibraryUses(
    mlir::Value value, llvm::function_ref<mlir::Value(mlir::OpBuilder &)> copy);

/// True for zeros around an x that only such ops read: the call takes it
/// without them, and padding as numbers.
bool isLibraryPadding(mlir::tensor::PadOp pad);

/// True for the part that is read of an x that such an adjoint computes: the
/// call computes no more, as long as nothing else asks for the whole.
bool isInsideOfLibraryPadding(mlir::tensor::ExtractSliceOp slice);

/// The dimension of an operand that runs with `loop`, of which no other loop
/// is a part; none where there is no such dimension.
std::optional<unsigned> findDimension(mlir::AffineMap map,
                                      std::optional<unsigned> loop);

/// The dimension of x that runs through `window`.
unsigned findDimension(mlir::AffineMap map, const ConvolutionWindow &window);

} // namespace veeline

#endif // VEELINE_ANALYSIS_CONVOLUTION_H
