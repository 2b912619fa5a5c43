//===- Object.cpp - loading compiled steps --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace veeline;
using namespace veeline::engine;

Object::~Object() {
  if (handle)
    ::dlclose(handle);
  if (descriptor >= 0)
    ::close(descriptor);
}

static Status writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return Status::error(std::string("cannot copy an object to memory: ") +
                           std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return Status::success();
}

Status Object::load(std::string_view bytes) {
  descriptor = ::memfd_create("veeline-object", MFD_CLOEXEC);
  if (descriptor < 0)
    return Status::error(std::string("cannot make a file in memory: ") +
                         std::strerror(errno));
  VEELINE_TRY(writeAll(descriptor, bytes));
  // The loader treats files of equal names as the same file. So the descriptor
  // stays open while the object is loaded, and no other object gets its number.
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  if (::access(path.c_str(), F_OK) != 0)
    return Status::error("code is loaded through '" + path +
                         "', which is not there; mount /proc");
  handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Status::error(std::string("cannot load an object: ") + ::dlerror());
  return Status::success();
}

Expected<veeline_step_fn> Object::findStep(const std::string &symbol) const {
  void *address = ::dlsym(handle, symbol.c_str());
  if (!address)
    return Status::error("an object has no function '" + symbol + "'");
  return reinterpret_cast<veeline_step_fn>(address);
}
