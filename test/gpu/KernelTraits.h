//===- KernelTraits.h - what data a kernel takes ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_KERNELTRAITS_H
#define VEELINE_TEST_GPU_KERNELTRAITS_H

#include "KernelCode.h"
#include "KernelLibrary.h"

namespace veeline::gpu {

/// How a kernel is launched, and what is needed to run it on random data and to
/// judge the results.
KernelInfo describe(KernelSource source);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_KERNELTRAITS_H
