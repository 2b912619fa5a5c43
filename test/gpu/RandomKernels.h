//===- RandomKernels.h - kernels of random models ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_RANDOMKERNELS_H
#define VEELINE_TEST_GPU_RANDOMKERNELS_H

#include <cstdint>
#include <string>

namespace veeline::gpu {

/// Checks the kernels of the forward and backward functions of `count` random
/// models, from that of `seed` on, each model in a process of its own. Checks
/// only kernels whose names contain `only`. Prints the kernels that differ,
/// each with its function, and a summary. Returns false if a kernel differs or
/// a model could not be checked.
bool checkRandomModels(int64_t count, uint64_t seed, const std::string &only);

/// Checks `count` random kernels of attention and its derivatives.
bool checkRandomAttention(int64_t count, uint64_t seed);

/// Checks the kernels of `count` random functions on wide rows.
bool checkRandomRows(int64_t count, uint64_t seed);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_RANDOMKERNELS_H
