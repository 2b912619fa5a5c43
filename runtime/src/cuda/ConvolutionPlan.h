//===- ConvolutionPlan.h - convolutions as cuDNN takes them ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_CONVOLUTIONPLAN_H
#define VEELINE_RUNTIME_CUDA_CONVOLUTIONPLAN_H

#include "veeline/artifact.h"

#include <optional>

namespace veeline::cuda {

/// A tensor: its dimensions are (sample, channel, spatial...) of x and y,
/// (channel of y, channel of x, spatial...) of w.
struct DnnTensor {
  std::vector<int> sizes, strides;
};

/// A copy of an operand in scratch, between what compiled code has and what
/// cuDNN takes.
struct DnnCopy {
  int64_t offset = 0, bytes = 0; ///< Of the copy.
  int64_t firstElement = 0;      ///< In it, of what is copied.
  DnnTensor given, copied;       ///< Of equal sizes.
};

/// How cuDNN computes an entry. It wants x, y and w all with their channels
/// first, or all with them last, w without gaps, and as many zeros behind x as
/// before it; what is otherwise is copied.
struct DnnConvolution {
  bool isChannelsLast = false;
  DnnTensor x, y;
  std::vector<int> wSizes;
  std::vector<int> padding, strides, dilations;
  int groups = 1;
  std::optional<DnnCopy> copyOfX, copyOfW;
  int64_t scratchBytes = 0;
};

/// Nothing where a number is more than cuDNN can count to, or a copy has more
/// dimensions than it copies.
std::optional<DnnConvolution>
planConvolution(const artifact::Convolution &convolution);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CONVOLUTIONPLAN_H
