//===- FolderLock.cpp - one process in a folder ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/FolderLock.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

using namespace veeline;

FolderLock::~FolderLock() {
  if (descriptor >= 0)
    ::close(descriptor);
}

std::optional<FolderLock> FolderLock::take(const std::string &folder) {
  constexpr int attempts = 20;
  FolderLock lock;
  lock.descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i != attempts; ++i) {
    if (lock.descriptor < 0 ||
        ::flock(lock.descriptor, LOCK_EX | LOCK_NB) == 0 ||
        errno != EWOULDBLOCK)
      return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return std::nullopt;
}

void FolderLock::keep() {
  if (descriptor >= 0)
    (void)::fcntl(std::exchange(descriptor, -1), F_SETFD, 0);
}
