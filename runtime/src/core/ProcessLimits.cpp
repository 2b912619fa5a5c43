//===- ProcessLimits.cpp - what a process may use -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessLimits.h"

#include <algorithm>
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

/// The first number in a file that is there; none for other words, such as
/// `max`.
static std::optional<double> readNumber(const std::string &path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

/// The number that follows the word `name`.
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

/// The folders that describe the group of this process and those around it, the
/// innermost first: of `controller` in version 1, of everything in version 2.
/// In a container a path may be that of the machine outside; then what is at
/// the top is the container's own.
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

/// How many cores' time a group allows.
static std::optional<double> readCores(const std::string &group) {
  std::ifstream file(group + "/cpu.max");
  double quota = 0, period = 0;
  if (file >> quota >> period)
    return period > 0 ? std::optional(quota / period) : std::nullopt;
  std::optional<double> time = readNumber(group + "/cpu.cfs_quota_us");
  std::optional<double> unit = readNumber(group + "/cpu.cfs_period_us");
  // -1 is no limit.
  return time && unit && *time > 0 && *unit > 0 ? std::optional(*time / *unit)
                                                : std::nullopt;
}

int64_t veeline::countUsableCores(const std::string &root) {
  cpu_set_t set;
  int64_t cores =
      sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  for (const std::string &group : findGroups(root, "cpu"))
    if (std::optional<double> allowed = readCores(group))
      cores = std::min(
          cores, static_cast<int64_t>(std::ceil(std::min(*allowed, 1e6))));
  return std::max<int64_t>(cores, 1);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The bytes that a group leaves: pages of files that nobody looks at make way.
static std::optional<double> readFreeBytes(const std::string &group) {
  std::optional<double> limit = readNumber(group + "/memory.max");
  std::optional<double> used = readNumber(group + "/memory.current");
  const char *files = "inactive_file";
  if (!limit) {
    limit = readNumber(group + "/memory.limit_in_bytes");
    used = readNumber(group + "/memory.usage_in_bytes");
    files = "total_inactive_file";
  }
  if (!limit || !used)
    return std::nullopt;
  double reclaimed = readField(group + "/memory.stat", files).value_or(0);
  return std::max(*limit - *used + reclaimed, 0.0);
}

std::optional<int64_t> veeline::getFreeMemory(const std::string &root) {
  std::string machine = root + "proc/meminfo";
  std::optional<double> bytes = readField(machine, "MemAvailable:");
  if (!bytes)
    return std::nullopt;
  *bytes *= 1024;
  for (const std::string &group : findGroups(root, "memory"))
    if (std::optional<double> left = readFreeBytes(group))
      bytes = std::min(*bytes, *left);
  double swap = readField(machine, "SwapFree:").value_or(0) * 1024;
  return static_cast<int64_t>(*bytes + swap);
}
