//===- ConvolutionProduct.h - convolutions as matrix products --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN's convolutions copy weights into an order of their own in each call.
// If weights are most of the data, a matrix product is faster, since it takes
// them as they are. Instead x is copied into a matrix (im2col), with a row for
// each position of y, which has what the window there sees.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPRODUCT_H
#define VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPRODUCT_H

#include "veeline/Library/PreparedCall.h"

#include "veeline/artifact.h"

namespace veeline::library {

/// Whether a convolution is computed so: it has no groups, channels come last,
/// w is in the order of a window, and the matrix is not larger than w.
bool isProduct(const artifact::Convolution &convolution);

Expected<std::unique_ptr<PreparedCall>>
prepareConvolutionProduct(const artifact::Convolution &convolution);

} // namespace veeline::library

#endif // VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPRODUCT_H
