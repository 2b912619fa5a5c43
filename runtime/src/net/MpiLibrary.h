//===- MpiLibrary.h - MPI, where it is installed ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing but a library of its own, libveeline_mpi.so, is linked against MPI;
// it is loaded where it is asked for and gives this table.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_MPILIBRARY_H
#define VEELINE_RUNTIME_NET_MPILIBRARY_H

#include "veeline/status.h"

#include <cstdint>
#include <string>

namespace veeline::net {

/// Functions return null, or what went wrong, which is valid until the next
/// call. One thread at a time calls them. `request` is of the library, until
/// `test` says that it is done; of a receive it says, where `bytes` is not
/// null, how many bytes have come.
struct MpiLibrary {
  const char *(*initialize)(int32_t *rank, int32_t *numRanks);
  /// From rank 0 to all.
  const char *(*broadcast)(void *data, int32_t bytes);
  const char *(*send)(const void *data, int64_t bytes, int32_t to, int32_t tag,
                      void **request);
  const char *(*receive)(void *data, int64_t bytes, int32_t from, int32_t tag,
                         void **request);
  const char *(*test)(void *request, bool *done, int64_t *bytes);
  /// Moves on what is under way: MPI does so in calls alone.
  const char *(*progress)();
  const char *(*finalize)();
};

/// The name of the function that returns the table.
inline constexpr char mpiLibrarySymbol[] = "veeline_mpi_library";
using GetMpiLibrary = const MpiLibrary *();

/// Loads libveeline_mpi.so from `directory`, and MPI with it.
Expected<const MpiLibrary *> loadMpi(const std::string &directory);

/// By Open MPI, processes of a host share memory that has a name, which stays
/// where a process ends without `finalize` and mpirun does not see to it.
class SharedMemoryName {
public:
  /// After `initialize`: whether this process uses the memory of all ranks of
  /// its host by now.
  bool find();
  /// Takes the name of its own away, which nobody needs then. `finalize` misses
  /// it.
  void remove();
  /// Before `finalize`.
  void restore();

private:
  std::string path;
  bool isRemoved = false;
};

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_MPILIBRARY_H
