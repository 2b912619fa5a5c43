//===- Arena.h - the arena of a rank ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_ARENA_H
#define VEELINE_RUNTIME_ENGINE_ARENA_H

#include "veeline/status.h"

#include <cstdint>

namespace veeline::engine {

/// The memory of a rank: zeroed, page-aligned, and between two guard pages.
class Arena {
public:
  Arena() = default;
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  ~Arena();

  Status allocate(int64_t bytes);
  char *data() const { return begin; }
  int64_t size() const { return bytes; }
  bool contains(const void *place, int64_t count) const {
    const char *first = static_cast<const char *>(place);
    return first >= begin && count <= bytes && first - begin <= bytes - count;
  }

  /// Fills the arena and the rest of its last page with a pattern.
  void poison();

  /// What was changed since `poison`: the end of the last changed byte, which
  /// may be past the arena's end, and the number of 64-byte lines in [offset,
  /// offset + size) that were changed. A write of the pattern itself is not
  /// detected.
  int64_t highWaterMark() const;
  int64_t touchedLines(int64_t offset, int64_t size) const;

private:
  char *mapping = nullptr;
  int64_t mappedBytes = 0;
  char *begin = nullptr;
  int64_t bytes = 0;
  int64_t usableBytes = 0; ///< To the end of the last page.
};

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_ARENA_H
