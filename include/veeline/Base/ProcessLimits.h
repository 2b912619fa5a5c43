//===- ProcessLimits.h - what a process may use ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A container may have less than its machine: control groups (cgroups) of
// version 1 or 2 limit its processor time and memory.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_PROCESSLIMITS_H
#define VEELINE_BASE_PROCESSLIMITS_H

#include <cstdint>
#include <optional>
#include <string>

namespace veeline {

/// The number of cores that this process may use: those that it may run on, or
/// as many as its control groups allow it the time of, rounded up, if that is
/// less. `root` is where proc and sys/fs/cgroup are.
int64_t countUsableCores(const std::string &root = "/");

/// Bytes of memory that this process may have: the machine's, or less if its
/// control groups allow less. None if the system does not say.
std::optional<int64_t> getAllowedMemory(const std::string &root = "/");

/// Bytes of memory and swap that this process can still get: the least of what
/// the machine has, what its control groups leave, and what the limit of its
/// address space (ulimit -v) leaves. None if the system does not say.
std::optional<int64_t> getFreeMemory(const std::string &root = "/");

} // namespace veeline

#endif // VEELINE_BASE_PROCESSLIMITS_H
