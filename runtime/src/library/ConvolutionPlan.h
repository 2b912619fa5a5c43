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

/// A copy of an operand in scratch memory, from the layout of compiled code to
/// one that cuDNN supports, or back.
struct DnnCopy {
  int64_t offset = 0, bytes = 0; ///< The offset and size of the copy.
  /// The place in the copy where the data begins.
  int64_t firstElement = 0;
  DnnTensor given, copied; ///< Both have the same sizes.
};

/// The types of a convolution that cuDNN supports, as our names and as cuDNN's.
struct DnnTypes {
  artifact::DataType type;       ///< The type of x, w and y.
  artifact::ComputeType compute; ///< Sums are always in f32.
  int dataType, mathType;
};

std::span<const DnnTypes> allDnnTypes();

/// Null if cuDNN does not support these types.
const DnnTypes *findDnnTypes(const artifact::Convolution &convolution);

/// How cuDNN computes an entry. It needs x, y and w either all channels-first
/// or all channels-last, a dense w, and equal padding before and after x. Other
/// operands are copied.
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

/// None if cuDNN does not support the types, if a number does not fit into an
/// int, or if a tensor to copy has too many dimensions.
std::optional<DnnConvolution>
planConvolution(const artifact::Convolution &convolution);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPLAN_H
