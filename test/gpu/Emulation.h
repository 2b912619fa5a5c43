//===- Emulation.h - PTX run on a CPU ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the threads of a kernel as a GPU does: blocks in any order, lanes of a
// warp that part at branches and meet again, barriers, exchanges, shared memory
// and copies that arrive late. Says what a GPU would fault at or leave
// undefined. Needs no LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_EMULATION_H
#define VEELINE_TEST_GPU_EMULATION_H

#include "Ptx.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace veeline::gpu {

/// The order of blocks, and of the threads of a block between two points where
/// they wait for each other. Asynchronous copies arrive as late as they may
/// (warps, forward), at once (backward), or one or the other (random). Of
/// `warps`, the lanes of a warp go side by side where they take the same way,
/// which is the fastest.
enum class Order { warps, forward, backward, random };

struct RunOptions {
  Order order = Order::forward;
  uint64_t seed = 0;
  /// The memory that the kernel may use. Accesses have to be within it, and as
  /// aligned as they say. A read of what another thread writes without a
  /// barrier in between gives NaN, or all bits set. Without ranges, accesses
  /// are only checked to be aligned.
  std::vector<BufferRange> ranges;
};

struct Launch {
  std::array<int64_t, 3> grid = {1, 1, 1};
  int64_t blockSize = 1;
  /// Of dynamic shared memory.
  int64_t sharedBytes = 0;
  /// params[i] points to argument i.
  const void *const *params = nullptr;
};

/// Runs all threads. Returns what is wrong with them, or nothing: threads that
/// do not wait at the same point, misaligned accesses, and those that
/// options.ranges do not allow. Sets `garbage` to the first read of undefined
/// data, which is no error.
std::string runThreads(const PtxKernel &kernel, const Launch &launch,
                       const RunOptions &options = {},
                       std::string *garbage = nullptr);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_EMULATION_H
