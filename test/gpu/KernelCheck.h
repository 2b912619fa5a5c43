//===- KernelCheck.h - a kernel against its host twin -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_KERNELCHECK_H
#define VEELINE_TEST_GPU_KERNELCHECK_H

#include "Emulation.h"
#include "KernelCode.h"

#include <random>

namespace veeline::gpu {

/// What is said of a kernel.
struct KernelVerdict {
  /// Empty: twin and threads agree.
  std::string difference;
  /// Every float has the same bits in both.
  bool hasSameBits = true;
  /// The largest difference, as a part of what is allowed.
  double worst = 0;
  int64_t numRuns = 0;
};

/// Runs `code` as a twin and as threads, in three orders, on data that follows
/// from `seed`, and compares what they leave in all buffers: bit for bit, or
/// within what the order of sums can make where `source` adds up floats.
KernelVerdict checkKernel(KernelSource source, const Kernel &code,
                          uint64_t seed);

/// Compiles `kernels` with checks of their accesses and hands the verdict of
/// each to `report`. Fails with what keeps them from running.
llvm::Error checkKernels(llvm::ArrayRef<KernelSource> kernels, uint64_t seed,
                         llvm::function_ref<void(KernelSource, const Kernel &,
                                                 const KernelVerdict &)>
                             report);

/// True if the order of additions is part of the result.
bool hasFloatReduction(KernelSource source);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_KERNELCHECK_H
