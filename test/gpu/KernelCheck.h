//===- KernelCheck.h - a kernel against its host twin -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs no LLVM: what has to be known of a kernel is in its library.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_KERNELCHECK_H
#define VEELINE_TEST_GPU_KERNELCHECK_H

#include "KernelArguments.h"

#include <functional>

namespace veeline::gpu {

/// What the check of a kernel finds.
struct KernelVerdict {
  /// Empty: twin and threads agree.
  std::string difference;
  /// Every float has the same bits in both.
  bool hasSameBits = true;
  /// The largest difference, relative to what is allowed.
  double worst = 0;
  int64_t numRuns = 0;
};

struct CheckOptions {
  uint64_t seed = 0;
  /// Runs the threads on the arguments. Returns an error, or nothing. Without
  /// this function the threads are emulated.
  std::function<std::string(Arguments &)> run;
  /// Runs fewer kinds of data, for large kernels.
  bool isBrief = false;
};

/// Runs `code` as a twin and as threads, several times, on data that follows
/// from the seed, and compares what they leave in all buffers. These have to be
/// equal bit for bit or, if the kernel adds up floats, within what another
/// order of additions can change. Threads that run again, or in another order,
/// have to leave the same bits.
KernelVerdict checkKernel(const Kernel &code, const CheckOptions &options);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_KERNELCHECK_H
