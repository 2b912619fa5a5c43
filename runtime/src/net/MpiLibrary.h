//===- MpiLibrary.h - MPI, loaded on demand ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only libveeline_mpi.so is linked with MPI. It is loaded on demand, and
// provides this table of functions.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_MPILIBRARY_H
#define VEELINE_RUNTIME_NET_MPILIBRARY_H

#include "veeline/status.h"

#include <cstdint>
#include <string>

namespace veeline::net {

/// The functions of MPI that are used. They return null or an error, which is
/// valid until the next call. One thread at a time calls them. The library owns
/// `request` until `test` says that it is done. Then `test` sets `bytes`,
/// unless it is null, to the number of bytes that a receive got.
struct MpiLibrary {
  const char *(*initialize)(int32_t *rank, int32_t *numRanks);
  /// Broadcasts from rank 0 to all.
  const char *(*broadcast)(void *data, int32_t bytes);
  const char *(*send)(const void *data, int64_t bytes, int32_t to, int32_t tag,
                      void **request);
  const char *(*receive)(void *data, int64_t bytes, int32_t from, int32_t tag,
                         void **request);
  const char *(*test)(void *request, bool *done, int64_t *bytes);
  /// Advances messages, which MPI does only in calls.
  const char *(*progress)();
  const char *(*finalize)();
};

/// The name of the function that returns the table.
inline constexpr char mpiLibrarySymbol[] = "veeline_mpi_library";
using GetMpiLibrary = const MpiLibrary *();

/// Loads libveeline_mpi.so from `directory`, and MPI with it.
Expected<const MpiLibrary *> loadMpi(const std::string &directory);

/// The name of the memory that Open MPI shares between processes of a host. The
/// name stays if a process ends without `finalize` and mpirun does not clean
/// up.
class SharedMemoryName {
public:
  /// Called after `initialize`: whether this process already uses the memory of
  /// all ranks of its host.
  bool find();
  /// Removes the name of this process's memory, which nobody needs once all
  /// ranks use the memory.
  void remove();
  /// Restores the name for `finalize`, which needs it.
  void restore();

private:
  std::string path;
  bool isRemoved = false;
};

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_MPILIBRARY_H
