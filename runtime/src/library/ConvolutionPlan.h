//===- ConvolutionPlan.h - convolutions in cuDNN's terms --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPLAN_H
#define VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPLAN_H

#include "CudnnApi.h"

#include "veeline/artifact.h"

#include <optional>
#include <span>

namespace veeline::cuda {

/// A tensor as cuDNN describes it. Dimensions of x and y are (sample, channel,
/// spatial...), those of w (channel of y, channel of x, spatial...).
struct DnnTensor {
  std::vector<int> sizes, strides;
};

/// A copy of an operand in scratch, from the layout of compiled code to one
/// that cuDNN takes, or back.
struct DnnCopy {
  int64_t offset = 0, bytes = 0; ///< Of the copy.
  int64_t firstElement = 0;      ///< Where the data begins in the copy.
  DnnTensor given, copied;       ///< Of equal sizes.
};

/// Types of a convolution that cuDNN has, by our names and by its own.
struct DnnTypes {
  artifact::DataType type;       ///< Of x, w and y.
  artifact::ComputeType compute; ///< Sums are of f32 in each.
  int dataType, mathType;
};

std::span<const DnnTypes> allDnnTypes();

/// Null where cuDNN has no such convolutions.
const DnnTypes *findDnnTypes(const artifact::Convolution &convolution);

/// How cuDNN computes an entry. It wants x, y and w either all channels-first
/// or all channels-last, w without gaps, and as many zeros after x as before
/// it. An operand that is otherwise is copied.
struct DnnConvolution {
  const DnnTypes *types = nullptr;
  bool isChannelsLast = false;
  DnnTensor x, y;
  std::vector<int> wSizes;
  std::vector<int> padding, strides, dilations;
  int groups = 1;
  std::optional<DnnCopy> copyOfX, copyOfW;
  int64_t scratchBytes = 0;
};

/// Nothing if cuDNN does not have the types, if a number does not fit into an
/// int, or if a tensor to copy has too many dimensions.
std::optional<DnnConvolution>
planConvolution(const artifact::Convolution &convolution);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPLAN_H
