//===- ValidateDevice.h - rules for targets ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ARTIFACT_VALIDATEDEVICE_H
#define VEELINE_RUNTIME_ARTIFACT_VALIDATEDEVICE_H

#include "veeline/artifact.h"

namespace veeline::artifact {

/// Whether [offset, offset + bytes) is within [0, limit).
inline bool isWithin(int64_t offset, int64_t bytes, int64_t limit) {
  return offset >= 0 && bytes >= 0 && offset <= limit &&
         bytes <= limit - offset;
}

template <typename T> bool isIndex(int64_t index, const std::vector<T> &table) {
  return index >= 0 && index < static_cast<int64_t>(table.size());
}

/// Checks what depends on the target: the code for a GPU, and the members of
/// ranks that are for a GPU, or that there are none. Expects that `artifact`
/// follows all other rules.
Status validateTarget(const Artifact &artifact);

} // namespace veeline::artifact

#endif // VEELINE_RUNTIME_ARTIFACT_VALIDATEDEVICE_H
