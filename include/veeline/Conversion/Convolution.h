//===- Convolution.h - a convolution in the runtime's tables ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y[n, g, f, o...] = sum over c and k of
//     x[n, g, c, (o * stride + k * dilation - padding)...] * w[g, f, c, k...]
//
// and its two adjoints. x is zero outside of its extents.
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
  /// The type of x, w and y: f32, on a GPU also f16 or bf16. Sums are in f32.
  mlir::Type dtype;
  /// Whether operands in f32 are rounded to tf32.
  bool isTf32 = false;
  /// The numbers of samples and groups, and of channels of x and y in each
  /// group.
  int64_t batch = 1, groups = 1, inputs = 1, outputs = 1;
  /// One for each spatial dimension. `padding` is the padding before x; the
  /// padding after x follows from it.
  llvm::SmallVector<int64_t> xSizes, ySizes, wSizes;
  llvm::SmallVector<int64_t> strides, dilations, padding;
  /// Strides in elements: (sample, group, channel, spatial...) for x and y,
  /// (group, channel of y, channel of x, spatial...) for w. In x and y the
  /// stride of a group is the stride of a channel times the number of channels
  /// in a group.
  llvm::SmallVector<int64_t> xStrides, wStrides, yStrides;
  uint64_t scratchBytes = 0;

  /// The attribute: a dictionary of `kind`, `batch`, `groups`, `inputs`,
  /// `outputs`, `x_sizes`, `y_sizes`, `w_sizes`, `strides`, `dilations`,
  /// `padding`, `x_strides`, `w_strides`, `y_strides` and `scratch_bytes`; also
  /// `dtype` if it is not f32, and `tf32` if it is set.
  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Reads the attribute. Fails if an entry is missing or has another type.
  static mlir::FailureOr<ConvolutionDesc>
  fromAttribute(mlir::DictionaryAttr dict);
};

/// Returns the bytes of scratch memory that the library wants for a
/// convolution.
using ConvolutionScratchFn = std::function<uint64_t(const ConvolutionDesc &)>;

/// The attribute of a module that lists its convolutions, an array of
/// dictionaries in the order of the indices given to `veeline_convolution`.
inline constexpr llvm::StringLiteral convolutionsAttrName = "pipe.convolutions";

} // namespace veeline

#endif // VEELINE_CONVERSION_CONVOLUTION_H
