//===- LoadMpi.cpp - MPI, where it is asked for ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MpiLibrary.h"

#include <dlfcn.h>

using namespace veeline;
using namespace veeline::net;

Expected<const MpiLibrary *> net::loadMpi(const std::string &directory) {
  // MPI loads parts of its own, which look for its symbols.
  std::string path = directory + "/libveeline_mpi.so";
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void *symbol = library ? ::dlsym(library, mpiLibrarySymbol) : nullptr;
  if (!symbol)
    return Status::error(std::string("cannot load MPI: ") + ::dlerror() +
                         "; --transport tcp does without");
  return reinterpret_cast<GetMpiLibrary *>(symbol)();
}
