//===- Launch.cpp - the place of a process in its run ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "veeline/Base/Checksum.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace veeline;
using namespace veeline::net;

namespace {
/// The environment variables of one launcher.
struct Launcher {
  const char *name, *rank, *numRanks;
  const char *localRank; ///< Among the ranks of this host.
  const char *jobs[2];   ///< Which together identify a run.
};
} // namespace

static constexpr Launcher launchers[] = {
    {"mpirun",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     {"PMIX_NAMESPACE"}},
    {"srun",
     "SLURM_PROCID",
     "SLURM_STEP_NUM_TASKS",
     "SLURM_LOCALID",
     {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {"RANK", "RANK", "WORLD_SIZE", "LOCAL_RANK", {}}};

static Expected<int64_t> readNumber(const char *name, int64_t least,
                                    int64_t most) {
  const char *text = std::getenv(name);
  int64_t value = 0;
  const char *end = text ? text + std::strlen(text) : nullptr;
  auto [parsed, error] = std::from_chars(text, end, value);
  if (!text || *text == 0 || parsed != end || error != std::errc() ||
      value < least || value > most)
    return Status::error(std::string("the environment variable ") + name +
                         (text ? " is '" + std::string(text) + "'"
                               : std::string(" is not set")) +
                         "; expected a whole number from " +
                         std::to_string(least) + " to " + std::to_string(most));
  return value;
}

/// Chooses a port that depends on the job, so that two runs on a machine do not
/// meet.
static uint16_t choosePort(const std::string &job) {
  constexpr uint64_t first = 20'000, count = 9'500;
  Crc64 checksum;
  checksum.add(job);
  return static_cast<uint16_t>(first + checksum.value() % count);
}

static Status readRendezvous(Place &place) {
  const char *address = std::getenv("MASTER_ADDR");
  if (address && *address)
    place.address = address;
  else if (!place.job.empty())
    place.port = choosePort(place.job);
  if (!std::getenv("MASTER_PORT"))
    return Status::success();
  VEELINE_TRY_VALUE(int64_t port, readNumber("MASTER_PORT", 1, 65535));
  place.port = static_cast<uint16_t>(port);
  return Status::success();
}

/// Fails if a launcher whose variables are not supported has started this
/// process: its processes would each train alone.
static Status checkForgotten() {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  bool saysHowMany = std::getenv("WORLD_SIZE");
  if (saysHowMany && std::getenv("RANK"))
    return Status::success();
  for (const char *other : {"MASTER_ADDR", "LOCAL_RANK"})
    if (!saysHowMany && std::getenv("RANK") && std::getenv(other))
      return Status::error(std::string("the environment has RANK and ") +
                           other +
                           ", but not WORLD_SIZE; set it to the number of "
                           "processes, or unset RANK where this is the only "
                           "one");
  if (!std::getenv("PMI_SIZE"))
    return Status::success();
  Expected<int64_t> numRanks = readNumber("PMI_SIZE", 1, most);
  if (numRanks.ok() && *numRanks == 1)
    return Status::success();
  return Status::error(
      std::string("PMI_SIZE is '") + std::getenv("PMI_SIZE") +
      "': a launcher of another MPI than Open MPI has started this process; "
      "use Open MPI's mpirun, or hand on what it says: mpirun -n N sh -c "
      "'RANK=$PMI_RANK WORLD_SIZE=$PMI_SIZE exec veeline train ...'");
}

Expected<std::optional<Place>> net::findPlace() {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  for (const Launcher &launcher : launchers) {
    // RANK alone is not enough, because other programs also use that name.
    if (!std::getenv(launcher.numRanks))
      continue;
    VEELINE_TRY_VALUE(int64_t numRanks, readNumber(launcher.numRanks, 1, most));
    if (numRanks == 1)
      continue;
    VEELINE_TRY_VALUE(int64_t rank, readNumber(launcher.rank, 0, numRanks - 1));
    Place place;
    // Used to choose a GPU. It may be missing, because the host is one device.
    if (std::getenv(launcher.localRank)) {
      VEELINE_TRY_VALUE(int64_t local,
                        readNumber(launcher.localRank, 0, numRanks - 1));
      place.localRank = static_cast<int32_t>(local);
    }
    place.launcher = launcher.name;
    place.rank = static_cast<int32_t>(rank);
    place.numRanks = static_cast<int32_t>(numRanks);
    for (const char *name : launcher.jobs)
      if (const char *text = name ? std::getenv(name) : nullptr)
        place.job += (place.job.empty() ? "" : ".") + std::string(text);
    VEELINE_TRY(readRendezvous(place));
    return std::optional<Place>(std::move(place));
  }
  VEELINE_TRY(checkForgotten());
  return std::optional<Place>();
}
