//===- ConvolutionPlan.h - convolutions as cuDNN takes them ----*- C++ -*-===//
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

/// A row of the table of convolutions: what cuDNN calls them.
struct DnnTypes {
  artifact::DataType type;       ///< Of x, w and y.
  artifact::ComputeType compute; ///< Sums are of f32 in each.
  int dataType, mathType;
};

std::span<const DnnTypes> allDnnTypes();

/// Null where cuDNN has no such convolutions.
const DnnTypes *findDnnTypes(const artifact::Convolution &convolution);

/// How cuDNN computes an entry. It wants x, y and w all with their channels
/// first, or all with them last, w without gaps, and as many zeros behind x as
/// before it; what is otherwise is copied.
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

/// Nothing where cuDNN has no such types, where a number is more than it can
/// count to, or a copy has more dimensions than it copies.
std::optional<DnnConvolution>
planConvolution(const artifact::Convolution &convolution);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_LIBRARY_CONVOLUTIONPLAN_H
