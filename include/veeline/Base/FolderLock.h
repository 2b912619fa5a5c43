//===- FolderLock.h - one process in a folder -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_FOLDERLOCK_H
#define VEELINE_BASE_FOLDERLOCK_H

#include "veeline/status.h"

#include <optional>
#include <string>
#include <utility>

namespace veeline {

/// A lock on a folder, which only one object has at once, among all processes
/// (flock(2)). It ends with the object or with the process, in whatever way
/// that ends.
class FolderLock {
public:
  /// Locks nothing.
  FolderLock() = default;
  FolderLock(FolderLock &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)) {}
  FolderLock &operator=(FolderLock &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~FolderLock();

  /// Locks a folder, on NFS by the file `.lock` in it. Returns none if another
  /// has the lock; if this `waits`, one that was killed just before is given a
  /// moment to release it. Locks nothing if the file system has no locks.
  static Expected<std::optional<FolderLock>> take(const std::string &folder,
                                                  bool waits);

  /// Keeps the lock until the process ends, also across exec(2).
  void keep();

private:
  int descriptor = -1;
};

} // namespace veeline

#endif // VEELINE_BASE_FOLDERLOCK_H
