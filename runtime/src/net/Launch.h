//===- Launch.h - the place of a process in its run -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_LAUNCH_H
#define VEELINE_RUNTIME_NET_LAUNCH_H

#include "veeline/status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace veeline::net {

/// The place of this process among those that a launcher has started.
struct Place {
  std::string launcher; ///< For messages: "mpirun", "srun", "RANK".
  int32_t rank = 0;
  int32_t numRanks = 1;
  /// The number among the processes of this machine; none if the launcher does
  /// not say.
  std::optional<int32_t> localRank;
  std::string address = "127.0.0.1"; ///< Where rank 0 listens.
  uint16_t port = 29500;
  /// The launcher's name of this run, which no other run has; may be empty.
  std::string job;
};

/// Reads the environment: that of Open MPI's mpirun, of Slurm's srun, or RANK
/// and WORLD_SIZE. MASTER_ADDR and MASTER_PORT say where rank 0 listens;
/// without both, a run of mpirun or srun has a port of its own. Returns none if
/// no launcher has started more than one process. Fails if an unknown launcher
/// has, or one that does not say how many.
Expected<std::optional<Place>> findPlace();

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_LAUNCH_H
