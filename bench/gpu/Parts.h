//===- Parts.h - what bench-gpu measures -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BENCH_GPU_PARTS_H
#define VEELINE_BENCH_GPU_PARTS_H

#include "Gpu.h"

#include <set>

namespace veeline::bench {

/// An artifact, and its kernels as host twins.
struct KernelFiles {
  std::string artifact, twins;
  /// Only kernels with `only` in their names, and not those that `done` names.
  std::string only;
  std::set<std::string> done;
};

/// Prints a row for each kernel: whether it does what its twin does. Fails if
/// the GPU cannot go on.
Status checkKernels(const GpuOptions &options, const KernelFiles &files,
                    unsigned jobs);

/// Prints a row for each kernel that moves `leastBytes` or more: its bandwidth
/// as a share of that of a copy of as many bytes.
Status measureKernels(const GpuOptions &options, const KernelFiles &files,
                      int64_t leastBytes);

/// Prints a row for each matrix product, such as "4096x768x3072:bf16" or
/// "96*1024x1024x64:f32": our time relative to that of cuBLASLt called
/// directly.
Status measureProducts(const GpuOptions &options,
                       const std::vector<std::string> &products);

/// Prints what a launch of the artifact's smallest kernel takes, one by one and
/// in a graph of `count`.
Status measureLaunches(const GpuOptions &options, const KernelFiles &files,
                       int64_t count);

/// One of `numRanks` ranks. They meet by `file`, which the first one writes,
/// and removes when they have met; a single rank sends to itself.
struct NcclOptions {
  int rank = 0, numRanks = 1;
  std::string file;
  std::vector<int64_t> sizes;
  double timeoutSeconds = 60;
};
Status measureNccl(const GpuOptions &options, const NcclOptions &ranks);

} // namespace veeline::bench

#endif // VEELINE_BENCH_GPU_PARTS_H
