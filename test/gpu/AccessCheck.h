//===- AccessCheck.h - what kernels do to memory ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_ACCESSCHECK_H
#define VEELINE_TEST_GPU_ACCESSCHECK_H

#include "Emulation.h"

namespace veeline::gpu {

/// Checks that every access of a kernel is within one of its buffers and
/// aligned, and that no two threads write an element without a barrier in
/// between. A read of what another thread has written without a barrier in
/// between returns garbage, which the thread may throw away. A read before such
/// a write is found in the opposite order of threads and blocks, where it
/// follows the write.
class AccessCheck {
public:
  explicit AccessCheck(bool findRaces) : findRaces(findRaces) {}

  /// Adds memory of the space `global`; `shared`, whose content is undefined
  /// when a block begins; or `local`, of which no two threads have the same.
  void add(const BufferRange &range, Device::Space space);

  void beginBlock();
  /// All threads of the block have arrived at a barrier.
  void passBarrier() { ++now; }

  /// Returns what is wrong with an access of the block's thread `thread`, or
  /// nothing. Sets `isGarbage` if the access reads undefined data.
  std::string access(const void *address, int64_t bytes, int64_t alignment,
                     Device::Access kind, Device::Space space, int64_t thread,
                     bool &isGarbage);

  /// The first read of garbage, in words.
  const std::string &garbage() const { return firstGarbage; }

private:
  /// Who wrote an element last, and when. Time counts the intervals between
  /// barriers, of all blocks, from 1 on.
  struct Element {
    uint32_t writer = 0, time = 0;
  };
  struct Buffer {
    BufferRange range;
    Device::Space space;
    std::vector<Element> elements;
  };

  Buffer &find(const char *address);
  std::string describe(const Buffer &buffer, const void *address) const;
  std::string checkPlace(const Buffer &buffer, int64_t offset, int64_t bytes,
                         int64_t alignment, bool isRead) const;
  std::string checkSpace(const Buffer &buffer, Device::Space space) const;
  bool clashes(const Element &element, uint32_t thread) const;
  std::string follow(Buffer &buffer, int64_t offset, Device::Access kind,
                     uint32_t thread, bool &isGarbage);

  std::vector<Buffer> buffers; // by address
  size_t last = 0;
  bool findRaces;
  std::string firstGarbage;
  uint32_t now = 0, blockBegin = 0;
};

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_ACCESSCHECK_H
