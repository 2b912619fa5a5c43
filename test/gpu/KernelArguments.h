//===- KernelArguments.h - random data of a kernel --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_KERNELARGUMENTS_H
#define VEELINE_TEST_GPU_KERNELARGUMENTS_H

#include "Elements.h"
#include "KernelLibrary.h"

namespace veeline::gpu {

/// What random floats of a run are like.
enum class Style { positive, signedValues, outliers, special };

/// The arguments of one run, in memory of the host.
class Arguments {
public:
  /// Each buffer starts at a multiple of `alignment`, but not of twice that.
  Arguments(const std::vector<KernelParam> &params, int64_t alignment);

  /// Integers are below `bound`: they may be indices.
  void fill(Style style, int64_t bound, uint64_t seed);
  void copyFrom(const Arguments &other);
  /// Changes every float by up to `part` of its value, except those of types
  /// whose roundings are larger.
  void perturb(double part, uint64_t seed);
  /// Changes the floats of types whose roundings are larger than `part`, which
  /// hides smaller changes, by up to two of the largest of these roundings.
  /// Returns this relative change; 0 if there are no such floats.
  double perturbNarrow(double part, uint64_t seed);

  std::vector<const void *> getParams();
  std::vector<BufferRange> getRanges() const;
  /// What is wrong with the memory around the buffers.
  std::string checkGuards() const;

  const std::vector<KernelParam> &params;
  std::vector<Buffer> buffers;

private:
  std::vector<void *> addresses;
};

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_KERNELARGUMENTS_H
