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

struct CheckOptions {
  uint64_t seed = 0;
  /// Runs the threads and leaves in the arguments what they do; returns what
  /// keeps it from that. Where there is none, they are emulated.
  std::function<std::string(Arguments &)> run;
  /// Looks at fewer kinds of data: of large kernels.
  bool isBrief = false;
};

/// Runs `code` as a twin and as threads, several times, on data that follows
/// from the seed, and compares what they leave in all buffers: bit for bit, or
/// within what the order of sums can make where it adds up floats. How often
/// threads run, and in which order, has to make no difference.
KernelVerdict checkKernel(const Kernel &code, const CheckOptions &options);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_KERNELCHECK_H
