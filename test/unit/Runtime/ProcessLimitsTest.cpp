//===- ProcessLimitsTest.cpp - what a process may use ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Over folders that look like a system's proc and sys/fs/cgroup.
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/ProcessLimits.h"
#include "TempDir.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace veeline;
using test::TempDir;

namespace {
class ProcessLimits : public testing::Test {
protected:
  void write(const std::string &name, const std::string &text) {
    std::filesystem::path path = root() + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::string root() const { return directory.path("") + "/"; }

  TempDir directory;
  /// What this machine has, for limits above it.
  int64_t all = countUsableCores(root());
};
} // namespace

TEST_F(ProcessLimits, FreeIsAvailableAndSwap) {
  EXPECT_FALSE(getFreeMemory(root()));
  write("proc/meminfo", "SwapFree:   30 kB\n");
  EXPECT_FALSE(getFreeMemory(root()));
  write("proc/meminfo", "MemAvailable:     500 kB\n");
  EXPECT_EQ(getFreeMemory(root()), 500 * 1024);
  write("proc/meminfo", "MemTotal:  900 kB\nMemFree:  7 kB\n"
                        "MemAvailable:     500 kB\nSwapTotal:  90 kB\n"
                        "SwapFree:   30 kB\n");
  EXPECT_EQ(getFreeMemory(root()), 530 * 1024);
}

TEST_F(ProcessLimits, GroupsOfVersion2) {
  write("proc/meminfo", "MemAvailable:     500 kB\nSwapFree:   30 kB\n");
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("sys/fs/cgroup/outer/inner/memory.current", "4096\n");
  EXPECT_EQ(countUsableCores(root()), all);
  EXPECT_EQ(getFreeMemory(root()), 530 * 1024);
  // A limit around the group holds for it.
  write("sys/fs/cgroup/outer/cpu.max", "50000 100000\n");
  write("sys/fs/cgroup/outer/memory.max", "102400\n");
  write("sys/fs/cgroup/outer/memory.current", "20480\n");
  write("sys/fs/cgroup/outer/memory.stat", "anon 9\ninactive_file 4096\n");
  EXPECT_EQ(countUsableCores(root()), 1);
  EXPECT_EQ(getFreeMemory(root()), (80 + 4 + 30) * 1024);
  // The machine's swap is not the group's.
  write("sys/fs/cgroup/outer/memory.swap.max", "12288\n");
  write("sys/fs/cgroup/outer/memory.swap.current", "4096\n");
  EXPECT_EQ(getFreeMemory(root()), (80 + 4 + 8) * 1024);
  write("sys/fs/cgroup/outer/inner/memory.swap.max", "0\n");
  write("sys/fs/cgroup/outer/inner/memory.swap.current", "0\n");
  EXPECT_EQ(getFreeMemory(root()), (80 + 4) * 1024);
  // More is in use than is allowed now.
  write("sys/fs/cgroup/outer/memory.max", "1024\n");
  EXPECT_EQ(getFreeMemory(root()), 0);
}

TEST_F(ProcessLimits, AllowedIsOfTheMachineOrItsGroups) {
  EXPECT_FALSE(getAllowedMemory(root()));
  write("proc/meminfo", "MemTotal:  900 kB\nMemAvailable:  500 kB\n");
  write("proc/self/cgroup", "0::/inner\n");
  write("sys/fs/cgroup/inner/memory.max", "max\n");
  EXPECT_EQ(getAllowedMemory(root()), 900 * 1024);
  write("sys/fs/cgroup/memory.max", "409600\n");
  EXPECT_EQ(getAllowedMemory(root()), 400 * 1024);
  write("sys/fs/cgroup/memory.max", "4096000000\n");
  EXPECT_EQ(getAllowedMemory(root()), 900 * 1024);
}

TEST_F(ProcessLimits, AddressesAreMemory) {
  write("proc/meminfo", "MemAvailable:     500 kB\nSwapFree:   30 kB\n");
  write("proc/self/status", "VmPeak:  700 kB\nVmSize:   300 kB\n");
  write("proc/self/limits",
        "Limit                     Soft Limit           Hard Limit  Units\n"
        "Max address space         unlimited            unlimited   bytes\n");
  EXPECT_EQ(getFreeMemory(root()), 530 * 1024);
  write("proc/self/limits",
        "Max address space         409600               unlimited   bytes\n");
  EXPECT_EQ(getFreeMemory(root()), 100 * 1024);
  write("proc/self/limits",
        "Max address space         4096                 unlimited   bytes\n");
  EXPECT_EQ(getFreeMemory(root()), 0);
}

TEST_F(ProcessLimits, GroupsOfVersion1) {
  write("proc/meminfo", "MemAvailable:     500 kB\n");
  write("proc/self/cgroup",
        "5:cpuset:/\n4:memory:/docker/1\n3:cpu,cpuacct:/\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(countUsableCores(root()), all);
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "90000\n");
  EXPECT_EQ(countUsableCores(root()), 1);
  // The path of the machine outside: what is at the top is the container's.
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "102400\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "20480\n");
  write("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 1024\n");
  EXPECT_EQ(getFreeMemory(root()), 81 * 1024);
  // Here a limit is of memory and swap together.
  write("proc/meminfo", "MemAvailable:     500 kB\nSwapFree:   30 kB\n");
  EXPECT_EQ(getFreeMemory(root()), (81 + 30) * 1024);
  write("sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", "112640\n");
  write("sys/fs/cgroup/memory/memory.memsw.usage_in_bytes", "20480\n");
  EXPECT_EQ(getFreeMemory(root()), (81 + 10) * 1024);
}

TEST_F(ProcessLimits, PartsOfACoreCountAsOne) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "100001 100000\n");
  EXPECT_EQ(countUsableCores(root()), std::min<int64_t>(all, 2));
  write("sys/fs/cgroup/cpu.max", "1000 100000\n");
  EXPECT_EQ(countUsableCores(root()), 1);
}

TEST_F(ProcessLimits, WhatCannotBeReadIsNoLimit) {
  write("proc/self/cgroup", "nonsense\n0::\n1:cpu\n");
  write("sys/fs/cgroup/cpu.max", "many 0\n");
  EXPECT_EQ(countUsableCores(root()), all);
}
