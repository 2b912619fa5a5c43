//===- Placement.cpp - the GPU of a process -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Placement.h"

#include <cstdlib>
#include <map>
#include <unistd.h>

using namespace veeline;
using namespace veeline::cuda;

static std::string hostName() {
  char text[256] = {};
  (void)::gethostname(text, sizeof(text) - 1);
  return text;
}

/// The number of this process among those of its machine, in the order of
/// ranks.
static Expected<int32_t> findLocalRank(const CudaOptions &options) {
  // All processes take part in this, even if they do not need the result.
  VEELINE_TRY_VALUE(auto names, options.network->exchange(hostName()));
  if (options.localRank)
    return *options.localRank;
  int32_t local = 0;
  for (int32_t rank = 0; rank < options.network->rank(); ++rank)
    local += names[static_cast<size_t>(rank)] == hostName();
  return local;
}

static Expected<int32_t> chooseDevice(const Driver &driver,
                                      const CudaOptions &options,
                                      int32_t localRank) {
  auto rank = static_cast<size_t>(options.network->rank());
  auto numRanks = static_cast<size_t>(options.network->numRanks());
  const std::vector<int32_t> &devices = options.devices;
  if (devices.size() == 1)
    return devices[0];
  if (!devices.empty() && devices.size() < numRanks)
    return Status::error("there are " + std::to_string(numRanks) +
                         " ranks, and --device names GPUs for " +
                         std::to_string(devices.size()) +
                         " of them; it takes the GPU of this process, or that "
                         "of each rank");
  if (!devices.empty())
    return devices[rank];
  int count = 0;
  VEELINE_TRY(VEELINE_CALL(driver, cuDeviceGetCount, &count));
  // A launcher may show each process only its own GPU.
  if (count == 1)
    return 0;
  if (localRank >= count)
    return Status::error("rank " + std::to_string(rank) + " is process " +
                         std::to_string(localRank) +
                         " of its machine, from 0, and the CUDA driver finds " +
                         std::to_string(count) +
                         " GPUs there: one is needed for each process");
  return localRank;
}

/// A name for this GPU that is the same in all processes, and that no other GPU
/// has.
static Expected<std::string> identify(const Driver &driver, int32_t ordinal) {
  int count = 0;
  VEELINE_TRY(VEELINE_CALL(driver, cuDeviceGetCount, &count));
  // Device::open reports the error.
  if (ordinal >= count)
    return std::string();
  api::Device device = 0;
  VEELINE_TRY(VEELINE_CALL(driver, cuDeviceGet, &device, ordinal));
  api::Uuid uuid = {};
  VEELINE_TRY(VEELINE_CALL(driver, cuDeviceGetUuid_v2, &uuid, device));
  // If this variable is set, NCCL treats processes of one machine as if they
  // were on several.
  const char *host = std::getenv("NCCL_HOSTID");
  return std::string(uuid.bytes, sizeof(uuid.bytes)) + (host ? host : "");
}

Expected<int32_t> cuda::placeProcess(const Driver &driver,
                                     const CudaOptions &options) {
  VEELINE_TRY_VALUE(int32_t localRank, findLocalRank(options));
  VEELINE_TRY_VALUE(int32_t ordinal, chooseDevice(driver, options, localRank));
  VEELINE_TRY_VALUE(std::string identity, identify(driver, ordinal));
  VEELINE_TRY_VALUE(auto all, options.network->exchange(std::move(identity)));
  std::map<std::string, size_t> first;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    auto [known, isNew] = first.emplace(all[rank], rank);
    if (!isNew && !all[rank].empty())
      return Status::error(
          "ranks " + std::to_string(known->second) + " and " +
          std::to_string(rank) +
          " are processes on one GPU, and NCCL takes one process for each; say "
          "which with --device, or run all ranks as threads of one process, "
          "without a launcher");
  }
  return ordinal;
}
