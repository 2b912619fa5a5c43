//===- KernelTraits.h - what data a kernel takes ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_KERNELTRAITS_H
#define VEELINE_TEST_GPU_KERNELTRAITS_H

#include "Emulation.h"
#include "KernelCode.h"

namespace veeline::gpu {

/// Adds to `info` what is needed to run the kernel on random data and to judge
/// the results.
void describeData(KernelSource source, KernelInfo &info);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_KERNELTRAITS_H
