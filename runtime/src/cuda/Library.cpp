//===- Library.cpp - shared libraries loaded at run time ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"

#include <dlfcn.h>

using namespace veeline;
using namespace veeline::cuda;

Expected<Library> Library::open(const LibraryName &name,
                                const std::string &path) {
  Library library;
  std::string tried;
  for (const std::string &file :
       path.empty() ? name.files : std::vector<std::string>{path}) {
    library.handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle) {
      library.file = file;
      return library;
    }
    const char *error = ::dlerror();
    tried += (tried.empty() ? "'" : "; '") + file +
             "': " + (error ? error : "the loader does not say why");
  }
  return Status::error(std::string("cannot load ") + name.what + ": tried " +
                       tried + "; " + name.advice + ", or name its file with " +
                       name.option);
}

void *Library::find(const char *name) const { return ::dlsym(handle, name); }

Status Library::missing(const char *name, const char *what) const {
  return Status::error("'" + file + "' has no function " + name +
                       ": it is not " + what);
}
