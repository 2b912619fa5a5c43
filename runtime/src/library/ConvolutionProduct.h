//===- ConvolutionProduct.h - convolutions as matrix products ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes a convolution as a matrix product. oneDNN's convolutions copy
// weights to another layout in each call. If weights are most of the data, a
// matrix product is faster, because it needs no copy of them. Instead, x is
// copied into a matrix (im2col). For each position of y, the matrix has a row
// with the inputs in the window there.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPRODUCT_H
#define VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPRODUCT_H

#include "veeline/Library/PreparedCall.h"

#include "veeline/artifact.h"

namespace veeline::library {

/// Whether a convolution is computed like this: it has no groups, channels come
/// last, w is in the order of a window, and the matrix is not larger than w.
bool isProduct(const artifact::Convolution &convolution);

Expected<std::unique_ptr<PreparedCall>>
prepareConvolutionProduct(const artifact::Convolution &convolution);

} // namespace veeline::library

#endif // VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPRODUCT_H
