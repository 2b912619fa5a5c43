//===- Convolution.h - convolutions that the runtime computes ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y[n, g, f, o...] = sum over c and k of
//     x[n, g, c, (o * stride + k * dilation - padding)...] * w[g, f, c, k...]
//
// and its two adjoints; x is zero outside of its extents.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVERSION_CONVOLUTION_H
#define VEELINE_CONVERSION_CONVOLUTION_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "veeline/Analysis/ConvolutionKind.h"

#include <functional>

namespace veeline {

/// One entry of a module's table of convolutions (`pipe.convolutions`).
struct ConvolutionDesc {
  ConvolutionKind kind = ConvolutionKind::Forward;
  /// Of x, w and y: f32, on a GPU also f16 or bf16. Sums are of f32.
  mlir::Type dtype;
  /// Operands of f32 are rounded to tf32.
  bool isTf32 = false;
  /// Samples, groups, and channels of x and of y in each group.
  int64_t batch = 1, groups = 1, inputs = 1, outputs = 1;
  /// One for each spatial dimension. `padding` is that before x; that behind x
  /// follows.
  llvm::SmallVector<int64_t> xSizes, ySizes, wSizes;
  llvm::SmallVector<int64_t> strides, dilations, padding;
  /// Strides in elements: (sample, group, channel, spatial...) of x and y,
  /// (group, channel of y, channel of x, spatial...) of w. In x and in y the
  /// stride of a group is that of a channel times the channels of a group.
  llvm::SmallVector<int64_t> xStrides, wStrides, yStrides;
  uint64_t scratchBytes = 0;

  /// The attribute: a dictionary of `kind`, `batch`, `groups`, `inputs`,
  /// `outputs`, `x_sizes`, `y_sizes`, `w_sizes`, `strides`, `dilations`,
  /// `padding`, `x_strides`, `w_strides`, `y_strides`, `scratch_bytes`, and of
  /// `dtype` if it is not f32 and `tf32` if it is set.
  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Reads the attribute; fails where an entry is missing or has another type.
  static mlir::FailureOr<ConvolutionDesc>
  fromAttribute(mlir::DictionaryAttr dict);
};

/// Bytes of scratch memory that the library wants for a convolution.
using ConvolutionScratchFn = std::function<uint64_t(const ConvolutionDesc &)>;

/// The attribute of a module that lists its convolutions, an array of
/// dictionaries in the order of the indices given to `veeline_convolution`.
inline constexpr llvm::StringLiteral convolutionsAttrName = "pipe.convolutions";

} // namespace veeline

#endif // VEELINE_CONVERSION_CONVOLUTION_H
