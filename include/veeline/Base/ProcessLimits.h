//===- ProcessLimits.h - what a process may use ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A container may have less than its machine: processor time and memory that
// control groups (cgroups) of version 1 or 2 limit.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_PROCESSLIMITS_H
#define VEELINE_BASE_PROCESSLIMITS_H

#include <cstdint>
#include <optional>
#include <string>

namespace veeline {

/// Cores that this process may use: those that it may run on, at most the
/// processor time that its control groups allow it in a unit of time, rounded
/// up. `root` is where proc and sys/fs/cgroup are.
int64_t countUsableCores(const std::string &root = "/");

/// Bytes of memory that this process may have: the machine's, at most what its
/// control groups allow it. None where the system does not say.
std::optional<int64_t> getAllowedMemory(const std::string &root = "/");

/// Bytes that this process can still get, of memory and swap: what the machine
/// has, at most what its control groups and the limit of its addresses (ulimit
/// -v) leave. None where the system does not say.
std::optional<int64_t> getFreeMemory(const std::string &root = "/");

} // namespace veeline

#endif // VEELINE_BASE_PROCESSLIMITS_H
