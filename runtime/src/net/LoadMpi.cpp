//===- LoadMpi.cpp - loading MPI on demand --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MpiLibrary.h"

#include "veeline/Base/File.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <unistd.h>

using namespace veeline;
using namespace veeline::net;

/// Restricts Open MPI to shared memory if all processes are on one host.
/// Otherwise it would also start its network transports, which listen at all
/// interfaces. Transports that the user has chosen are kept.
static void stayOnHost() {
  const char *all = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char *here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (!all || !here || std::strcmp(all, here) != 0 ||
      std::getenv("OMPI_MCA_btl") || std::getenv("OMPI_MCA_pml"))
    return;
  ::setenv("OMPI_MCA_pml", "ob1", /*overwrite=*/1);
  ::setenv("OMPI_MCA_btl", "self,vader", /*overwrite=*/1);
}

Expected<const MpiLibrary *> net::loadMpi(const std::string &directory) {
  stayOnHost();
  // Symbols are global, because MPI loads plugins that look for them.
  std::string path = directory + "/libveeline_mpi.so";
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void *symbol = library ? ::dlsym(library, mpiLibrarySymbol) : nullptr;
  if (!symbol)
    return Status::error(std::string("cannot load MPI: ") + ::dlerror() +
                         "; --transport tcp does without");
  return reinterpret_cast<GetMpiLibrary *>(symbol)();
}

bool SharedMemoryName::find() {
  const char *localRank = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  const char *localSize = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (!localRank || !localSize)
    return false;
  std::set<std::string> paths;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/vader_segment.") != std::string::npos)
      paths.insert(line.substr(line.find('/')));
  for (const std::string &other : paths)
    if (other.ends_with(std::string(".") + localRank))
      path = other;
  return !path.empty() && std::to_string(paths.size()) == localSize;
}

void SharedMemoryName::remove() { isRemoved = ::unlink(path.c_str()) == 0; }

void SharedMemoryName::restore() {
  if (!isRemoved)
    return;
  registerTemporary(path.c_str());
  ::close(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}
