//===- OldDriver.cpp - a driver of CUDA 11.8 ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A driver that is too old: bench/gpu/run names it with --cuda-driver, to see
// what is said of it. It has every function that is looked for, but knows no
// more than its version.
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

// Callers pass more arguments, and clean them up themselves.
#define VEELINE_ANSWER(name, parameters)                                       \
  extern "C" __attribute__((visibility("default"))) int name(                  \
      void *firstArgument) {                                                   \
    return answer(#name, firstArgument);                                       \
  }
VEELINE_CUDA_FUNCTIONS(VEELINE_ANSWER)
