//===- ConvolutionProduct.h - convolutions as matrix products --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library's convolutions want weights in an order of their own, which costs
// a copy in each call. Where weights are most of what there is, a matrix
// product is faster: it takes them as they are, and instead of them x is copied
// into a matrix, one row for each element of y and in it what its window sees.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPRODUCT_H
#define VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPRODUCT_H

#include "veeline/Library/PreparedCall.h"

#include "veeline/artifact.h"

namespace veeline::library {

/// True for a convolution that is computed so: without groups, all channels
/// last, w in the order of a window, and that matrix smaller than w.
bool isProduct(const artifact::Convolution &convolution);

Expected<std::unique_ptr<PreparedCall>>
prepareConvolutionProduct(const artifact::Convolution &convolution);

} // namespace veeline::library

#endif // VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPRODUCT_H
