//===- OldDriver.cpp - a driver of CUDA 11.8 ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What bench/gpu/run names with --cuda-driver, to see what is said of a driver
// that is too old: has every function that is looked for, and knows no more
// than its version.
//
//===----------------------------------------------------------------------===//

#include "CudaApi.h"

#include <cstring>

static constexpr int oldVersion = 11080, notInitialized = 3;

static int answer(const char *function, void *firstArgument) {
  if (std::strcmp(function, "cuDriverGetVersion") != 0)
    return notInitialized;
  *static_cast<int *>(firstArgument) = oldVersion;
  return veeline::cuda::api::success;
}

// The other arguments are those of the caller, who cleans up after them.
#define VEELINE_ANSWER(name, parameters)                                       \
  extern "C" __attribute__((visibility("default"))) int name(                  \
      void *firstArgument) {                                                   \
    return answer(#name, firstArgument);                                       \
  }
VEELINE_CUDA_FUNCTIONS(VEELINE_ANSWER)
