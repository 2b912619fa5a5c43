//===- FolderLock.cpp - one process in a folder ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/FolderLock.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

using namespace veeline;

FolderLock::~FolderLock() {
  if (descriptor >= 0)
    ::close(descriptor);
}

/// Locks what is open. Returns 0, or the error: EWOULDBLOCK if another has the
/// lock after so many attempts.
static int tryToLock(int descriptor, int attempts) {
  for (int i = 0;; ++i) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      return 0;
    if (errno != EWOULDBLOCK || i + 1 == attempts)
      return errno;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Expected<std::optional<FolderLock>> FolderLock::take(const std::string &folder,
                                                     bool waits) {
  const int attempts = waits ? 20 : 1;
  FolderLock lock;
  lock.descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int error =
      lock.descriptor < 0 ? errno : tryToLock(lock.descriptor, attempts);
  // NFS locks only what is open for writing, and so no folder. Elsewhere, no
  // file is open for writing, which keeps a file system from being unmounted.
  if (error == EBADF) {
    std::string path = folder + "/.lock";
    ::close(lock.descriptor);
    lock.descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    error = lock.descriptor < 0 ? errno : tryToLock(lock.descriptor, attempts);
  }
  if (error == EWOULDBLOCK)
    return std::optional<FolderLock>();
  // A folder that may not be read has no lock, nor has a file system without
  // locks.
  constexpr int none[] = {EACCES, EBADF, EINVAL, ENOLCK, ENOSYS, ENOTSUP};
  if (error != 0 &&
      std::find(std::begin(none), std::end(none), error) == std::end(none))
    return Status::error("cannot lock the folder '" + folder +
                         "': " + std::strerror(error));
  return std::optional<FolderLock>(std::move(lock));
}

void FolderLock::keep() {
  if (descriptor >= 0)
    (void)::fcntl(std::exchange(descriptor, -1), F_SETFD, 0);
}
