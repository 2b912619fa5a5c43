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
  /// Kernels with this in their names, but for those that are named here.
  std::string only;
  std::set<std::string> done;
};

/// A row for each kernel: whether it does what its twin does. Ends with an
/// error where the GPU cannot go on.
Status checkKernels(const GpuOptions &options, const KernelFiles &files,
                    unsigned jobs);

/// A row for each kernel that moves `leastBytes` or more: what it takes, as a
/// share of what a copy of as many bytes takes.
Status measureKernels(const GpuOptions &options, const KernelFiles &files,
                      int64_t leastBytes);

/// Rows of a matrix product, as in "4096x768x3072:bf16" or
/// "96*1024x1024x64:f32": ours, and cuBLASLt called directly.
Status measureProducts(const GpuOptions &options,
                       const std::vector<std::string> &products);

/// What a launch takes, of the smallest kernel of the artifact, one by one and
/// as a graph of `count`.
Status measureLaunches(const GpuOptions &options, const KernelFiles &files,
                       int64_t count);

/// One of `numRanks` ranks that meet by `file`, whose first one writes it; of
/// one rank, to itself.
struct NcclOptions {
  int rank = 0, numRanks = 1;
  std::string file;
  std::vector<int64_t> sizes;
  double timeoutSeconds = 60;
};
Status measureNccl(const GpuOptions &options, const NcclOptions &ranks);

} // namespace veeline::bench

#endif // VEELINE_BENCH_GPU_PARTS_H
