//===- Spool.cpp - bytes that wait in a file ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Spool.h"

#include "veeline/Base/File.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>
#include <utility>

using namespace veeline;

Spool::Spool(Spool &&other) noexcept
    : path(std::move(other.path)),
      descriptor(std::exchange(other.descriptor, -1)) {}

Spool::~Spool() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Status Spool::failure(const char *action, int error) const {
  return Status::error("cannot " + std::string(action) + " a file beside '" +
                       path + "': " + std::strerror(error));
}

Status Spool::open() {
  std::string folder = std::filesystem::path(path).parent_path().string();
  descriptor = ::open(folder.empty() ? "." : folder.c_str(),
                      O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0)
    return Status::success();
  // Not every file system has files without a name.
  std::string pattern = path + ".XXXXXX";
  descriptor = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (descriptor < 0)
    return failure("create", errno);
  ::unlink(pattern.c_str());
  return Status::success();
}

Status Spool::append(std::string_view bytes) {
  if (descriptor < 0)
    VEELINE_TRY(open());
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failure("write", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return Status::success();
}

Status Spool::copyTo(AtomicFile &file) const {
  constexpr size_t partBytes = size_t(1) << 20;
  std::string part(partBytes, '\0');
  for (off_t place = 0; descriptor >= 0;) {
    ssize_t count = ::pread(descriptor, part.data(), partBytes, place);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failure("read", errno);
    if (count == 0)
      break;
    VEELINE_TRY(
        file.write(std::string_view(part.data(), static_cast<size_t>(count))));
    place += count;
  }
  return Status::success();
}
