//===- ConvolutionProducts.h - convolutions without a library ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a GPU without a library for convolutions, a convolution becomes one of
// these:
//
//   - one matrix product for each element of its window, added up in place:
//     of the elements of x at this element of all windows, and the weights of
//     this element. Where windows would reach over an edge, this also computes
//     rows that y does not have, which are left out;
//   - one matrix product, if x has few channels: x is copied into a matrix with
//     the elements of each window as a row;
//   - kernels, if each channel of x is a group: sums over the window.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_LIBRARY_CONVOLUTIONPRODUCTS_H
#define VEELINE_LIB_CONVERSION_LIBRARY_CONVOLUTIONPRODUCTS_H

#include "ConvolutionViews.h"
#include "LibraryCalls.h"

namespace veeline {

/// Computes the convolution of `operands` by one of these. Matrix products are
/// entries of `gemms`.
void emitConvolutionProducts(ViewBuilder &builder, LibraryCalls &gemms,
                             mlir::Value rank,
                             const ConvolutionOperands &operands);

/// Emits the kernels for groups of one channel.
void emitDepthwiseKernels(ViewBuilder &builder,
                          const ConvolutionOperands &operands);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_CONVOLUTIONPRODUCTS_H
