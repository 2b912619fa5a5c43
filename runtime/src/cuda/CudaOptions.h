//===- CudaOptions.h - which libraries and GPUs to use ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_CUDAOPTIONS_H
#define VEELINE_RUNTIME_CUDA_CUDAOPTIONS_H

#include "veeline/runtime.h"

#include <string>
#include <vector>

namespace veeline::cuda {

struct CudaOptions {
  /// Files, or empty for the usual ones.
  std::string driver, blasLt;
  /// Of each rank, as the driver counts them; empty: the first one.
  std::vector<int32_t> devices;
  /// Issue each step anew, and never replay a graph.
  bool isEager = false;
  /// Where given, one per rank: run these instead of the artifact's objects.
  std::vector<veeline_step_fn> steps;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CUDAOPTIONS_H
