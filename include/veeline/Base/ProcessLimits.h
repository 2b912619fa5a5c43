//===- ProcessLimits.h - cores and memory of a process ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cores and the memory that this process may use. A container may have less
// than its machine: control groups (cgroups), version 1 or 2, limit its
// processor time and memory.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_PROCESSLIMITS_H
#define VEELINE_BASE_PROCESSLIMITS_H

#include <cstdint>
#include <optional>
#include <string>

namespace veeline {

/// The number of cores that this process may use: those of its affinity mask,
/// or, if less, the processor time that its control groups allow, in cores,
/// rounded up. `root` is the directory that contains proc and sys/fs/cgroup.
int64_t countUsableCores(const std::string &root = "/");

/// The bytes of memory that this process may have: those of the machine, or of
/// its control groups if they allow less. None if unknown.
std::optional<int64_t> getAllowedMemory(const std::string &root = "/");

/// The bytes of memory and swap that this process can still get: the least of
/// what is available on the machine, in its control groups, and within the
/// limit of its address space (ulimit -v). None if unknown.
std::optional<int64_t> getFreeMemory(const std::string &root = "/");

} // namespace veeline

#endif // VEELINE_BASE_PROCESSLIMITS_H
