//===- CudnnHandle.h - what the stand-in's parts share ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_STANDIN_CUDNNHANDLE_H
#define VEELINE_TEST_STANDIN_CUDNNHANDLE_H

#include "CudnnGraphApi.h"

namespace veeline::standin::dnn {

struct Handle {
  cuda::api::Stream stream = nullptr;
};

// cudnnStatus_t
inline constexpr int badParam = 2000, nullPointer = 2002,
                     misalignedPointer = 2003, notFinalized = 2004,
                     outOfBound = 2005, badShape = 2008,
                     duplicatedEntries = 2009, wrongAttributeType = 2010,
                     unsupportedPattern = 3001, unsupportedShape = 3002,
                     unsupportedType = 3003, unsupportedLayout = 3004,
                     executionFailed = 5000;

/// The bytes of workspace that a call needs, at least.
inline constexpr size_t workspaceBytes = 512;

} // namespace veeline::standin::dnn

#endif // VEELINE_TEST_STANDIN_CUDNNHANDLE_H
