//===- MemoryCheck.cpp - arenas as planned? -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryCheck.h"

#include "AllocationCounter.h"

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>

using namespace veeline;
using namespace veeline::train;

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

template <typename Function> static Function *findHook(const char *name) {
  return reinterpret_cast<Function *>(::dlsym(RTLD_DEFAULT, name));
}

static decltype(veeline_count_allocations) *countAllocations;

static void countAfterFirstStep(bool begins) {
  thread_local bool warm = false;
  if (warm)
    countAllocations(begins);
  warm |= !begins;
}

void (*train::allocationCounter())(bool) {
  countAllocations = findHook<decltype(veeline_count_allocations)>(
      "veeline_count_allocations");
  return countAllocations ? countAfterFirstStep : nullptr;
}

static void printAllocations(int64_t steps) {
  auto *read =
      findHook<decltype(veeline_read_allocations)>("veeline_read_allocations");
  if (!read) {
    std::printf("allocations were not counted: the counter is not preloaded\n");
    return;
  }
  veeline_allocations entries[16];
  size_t count =
      std::min(read(entries, std::size(entries)), std::size(entries));
  int64_t counted = std::max<int64_t>(steps - 1, 1);
  std::printf("allocations of rank threads, per step from the second on:\n");
  if (count == 0)
    std::printf("  none\n");
  for (size_t i = 0; i < count; ++i)
    std::printf("  %10.1f calls %12.0f bytes  by %s\n",
                double(entries[i].calls) / double(counted),
                double(entries[i].bytes) / double(counted), entries[i].object);
}

//===----------------------------------------------------------------------===//
// Arenas
//===----------------------------------------------------------------------===//

/// Lines of 64 bytes that were written outside of all regions of `rank`.
static int64_t linesOutsideRegions(const host::Arena &arena,
                                   const artifact::Rank &rank) {
  std::vector<std::pair<int64_t, int64_t>> regions;
  for (const artifact::Region &region : rank.regions)
    regions.emplace_back(region.offset, region.offset + region.bytes);
  std::sort(regions.begin(), regions.end());
  int64_t lines = 0, covered = 0;
  for (auto [begin, end] : regions) {
    if (begin > covered)
      lines += arena.touchedLines(covered, begin - covered);
    covered = std::max(covered, end);
  }
  return lines + arena.touchedLines(covered, arena.size() - covered);
}

static void printUntouched(const host::Arena &arena,
                           const artifact::Rank &rank) {
  for (const artifact::Region &region : rank.regions)
    if (region.bytes > 0 &&
        arena.touchedLines(region.offset, region.bytes) == 0)
      std::printf("        never written: '%s', %ld bytes at %ld\n",
                  region.name.c_str(), long(region.bytes), long(region.offset));
}

Status train::checkMemory(const Session &session, int64_t steps) {
  std::string error;
  std::printf("rank         arena    high water     peak live   arena / live  "
              "beside it\n");
  const std::vector<artifact::Rank> &ranks = session.program().ranks;
  for (size_t i = 0; i < ranks.size(); ++i) {
    auto index = static_cast<int32_t>(i);
    const host::Arena &arena = session.executor().arena(index);
    int64_t mark = arena.highWaterMark();
    int64_t live = std::max<int64_t>(ranks[i].peakLiveBytes, 1);
    std::printf("%4zu  %12ld  %12ld  %12ld  %13.3f  %9ld\n", i,
                long(arena.size()), long(mark), long(ranks[i].peakLiveBytes),
                double(arena.size()) / double(live),
                long(session.executor().extraScratchBytes(index)));
    printUntouched(arena, ranks[i]);
    std::string where = "rank " + std::to_string(i);
    int64_t stray = linesOutsideRegions(arena, ranks[i]);
    if (error.empty() && mark > arena.size())
      error = where + " wrote up to byte " + std::to_string(mark) +
              ", its arena has " + std::to_string(arena.size());
    if (error.empty() && stray > 0)
      error = where + " wrote " + std::to_string(stray) +
              " lines of 64 bytes outside of every planned region";
  }
  printAllocations(steps);
  return error.empty() ? Status::success()
                       : Status::error("memory check failed: " + error);
}
