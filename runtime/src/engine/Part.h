//===- Part.h - messages in parts -------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_PART_H
#define VEELINE_RUNTIME_ENGINE_PART_H

#include "veeline/artifact.h"

#include <algorithm>

namespace veeline::engine {

struct Part {
  int64_t offset, bytes;
};

/// Returns the place of a part in a message of `bytes` on `channel`. Parts have
/// whole elements. If these do not divide evenly, the first parts have one
/// more.
inline Part partOf(const artifact::Channel &channel, int64_t bytes,
                   int32_t part) {
  int64_t size = artifact::byteSize(channel.type);
  int64_t each = bytes / size / channel.parts;
  int64_t rest = bytes / size % channel.parts;
  auto begin = [&](int64_t i) {
    return i == channel.parts ? bytes : (each * i + std::min(i, rest)) * size;
  };
  return {begin(part), begin(part + 1) - begin(part)};
}

/// Counts parts, and complete messages.
struct PartCounter {
  uint32_t messages = 0;
  int32_t part = 0; ///< The next one.

  /// Counts a part. Returns true if it ends a message.
  bool count(int32_t parts) {
    if (++part < parts)
      return false;
    part = 0;
    ++messages;
    return true;
  }
};

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_PART_H
