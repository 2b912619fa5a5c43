//===- ProcessLimits.cpp - cores and memory of a process ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/ProcessLimits.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <string_view>
#include <vector>

using namespace veeline;

//===----------------------------------------------------------------------===//
// Files of the system
//===----------------------------------------------------------------------===//

/// The number at the beginning of a file. None if there is no such file, or if
/// it begins with a word such as `max`.
static std::optional<double> readNumber(const std::string &path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

/// The number that follows the word `name` in a file.
static std::optional<double> readField(const std::string &path,
                                       std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    double value = 0;
    if (words >> word >> value && word == name)
      return value;
  }
  return std::nullopt;
}

/// The folders of this process's control group and of the groups that contain
/// it, the innermost first. With control groups of version 1, these are the
/// groups of `controller`; version 2 has only one hierarchy. In a container,
/// the path may be the one on the host. Then only the last folder, the mount
/// itself, exists, and is that of the container.
static std::vector<std::string> findGroups(const std::string &root,
                                           std::string_view controller) {
  std::vector<std::string> folders;
  std::ifstream file(root + "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string names = line.substr(first + 1, second - first - 1);
    std::string mount = root + "sys/fs/cgroup";
    if (!names.empty()) {
      if (("," + names + ",").find("," + std::string(controller) + ",") ==
          std::string::npos)
        continue;
      mount += "/" + std::string(controller);
    }
    std::string path = line.substr(second + 1);
    while (!path.empty()) {
      folders.push_back(mount + path);
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    folders.push_back(mount);
  }
  return folders;
}

//===----------------------------------------------------------------------===//
// Cores
//===----------------------------------------------------------------------===//

/// The number of cores whose time a group may use.
static std::optional<double> readCores(const std::string &group) {
  std::ifstream file(group + "/cpu.max");
  double quota = 0, period = 0;
  if (file >> quota >> period)
    return period > 0 ? std::optional(quota / period) : std::nullopt;
  std::optional<double> time = readNumber(group + "/cpu.cfs_quota_us");
  std::optional<double> unit = readNumber(group + "/cpu.cfs_period_us");
  // A quota of -1 means that there is no limit.
  return time && unit && *time > 0 && *unit > 0 ? std::optional(*time / *unit)
                                                : std::nullopt;
}

/// The number of cores that the process may run on. The kernel refuses a set
/// that is too small for the machine, so larger sets are tried.
static int64_t countOwnCores() {
  for (size_t numCpus = CPU_SETSIZE; numCpus <= (1 << 20); numCpus *= 2) {
    std::vector<cpu_set_t> sets(numCpus / CPU_SETSIZE);
    size_t bytes = sets.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, sets.data()) == 0)
      return CPU_COUNT_S(bytes, sets.data());
    if (errno != EINVAL)
      break;
  }
  return 1;
}

int64_t veeline::countUsableCores(const std::string &root) {
  int64_t cores = countOwnCores();
  for (const std::string &group : findGroups(root, "cpu"))
    if (std::optional<double> allowed = readCores(group))
      cores = std::min(
          cores, static_cast<int64_t>(std::ceil(std::min(*allowed, 1e6))));
  return std::max<int64_t>(cores, 1);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// The memory limit of a group and its current use, in bytes.
struct Use {
  std::optional<double> limit, used;

  /// The bytes that are left if `more` bytes can be reclaimed. None if there is
  /// no limit.
  std::optional<double> left(double more = 0) const {
    return limit && used ? std::optional(std::max(*limit - *used + more, 0.0))
                         : std::nullopt;
  }
};
} // namespace

static Use readUse(const std::string &limit, const std::string &used) {
  return {readNumber(limit), readNumber(used)};
}

static void lower(double &value, std::optional<double> limit) {
  value = std::min(value, limit.value_or(value));
}

/// Lowers the free `memory` and `swap` to what a group leaves of each. Inactive
/// pages of files count as free, because the kernel reclaims them.
static void applyGroup(const std::string &group, double &memory, double &swap) {
  auto field = [&](const char *name) {
    return readField(group + "/memory.stat", name).value_or(0);
  };
  Use use = readUse(group + "/memory.max", group + "/memory.current");
  lower(memory, use.left(field("inactive_file")));
  use = readUse(group + "/memory.swap.max", group + "/memory.swap.current");
  lower(swap, use.left());
  // Version 1 has one limit for memory, and one for memory and swap together.
  double files = field("total_inactive_file");
  use = readUse(group + "/memory.limit_in_bytes",
                group + "/memory.usage_in_bytes");
  lower(memory, use.left(files));
  use = readUse(group + "/memory.memsw.limit_in_bytes",
                group + "/memory.memsw.usage_in_bytes");
  if (std::optional<double> both = use.left(files))
    swap = std::min(swap, std::max(*both - memory, 0.0));
}

/// The bytes of address space that this process's limit leaves.
static std::optional<double> readFreeAddresses(const std::string &root) {
  constexpr std::string_view name = "Max address space";
  std::ifstream file(root + "proc/self/limits");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name))
      continue;
    std::istringstream words(line.substr(name.size()));
    double limit = 0;
    std::optional<double> used =
        readField(root + "proc/self/status", "VmSize:");
    if (words >> limit && used)
      return std::max(limit - *used * 1024, 0.0);
  }
  return std::nullopt;
}

std::optional<int64_t> veeline::getAllowedMemory(const std::string &root) {
  std::optional<double> bytes = readField(root + "proc/meminfo", "MemTotal:");
  if (!bytes)
    return std::nullopt;
  *bytes *= 1024;
  for (const std::string &group : findGroups(root, "memory"))
    for (const char *name : {"/memory.max", "/memory.limit_in_bytes"})
      lower(*bytes, readNumber(group + name));
  return static_cast<int64_t>(*bytes);
}

std::optional<int64_t> veeline::getFreeMemory(const std::string &root) {
  std::string machine = root + "proc/meminfo";
  std::optional<double> available = readField(machine, "MemAvailable:");
  if (!available)
    return std::nullopt;
  double memory = *available * 1024;
  double swap = readField(machine, "SwapFree:").value_or(0) * 1024;
  for (const std::string &group : findGroups(root, "memory"))
    applyGroup(group, memory, swap);
  double bytes = memory + swap;
  lower(bytes, readFreeAddresses(root));
  return static_cast<int64_t>(bytes);
}
