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

/// Checks all kernels of the forward and backward functions of `count` random
/// models, the first of which is that of `seed`. Every model is checked in a
/// process of its own. Prints the kernels that differ, each with its function,
/// and a summary; returns false where there is one. `only` is part of the names
/// of the kernels.
bool checkRandomModels(int64_t count, uint64_t seed, const std::string &only);

/// The same of `count` random kernels of attention and its derivatives.
bool checkRandomAttention(int64_t count, uint64_t seed);

/// The same of the kernels of `count` random functions on wide rows.
bool checkRandomRows(int64_t count, uint64_t seed);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_RANDOMKERNELS_H
