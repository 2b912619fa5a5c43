//===- MemoryCheck.cpp - checking that arenas are as planned --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryCheck.h"

#include "AllocationCounter.h"

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>
#include <map>

using namespace veeline;
using namespace veeline::train;

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

template <typename Function> static Function *findHook(const char *name) {
  return reinterpret_cast<Function *>(::dlsym(RTLD_DEFAULT, name));
}

namespace {
/// The activities that the counter distinguishes.
enum Counted : int32_t { nothing, loading, stepsOfRanks, stepsOfTraining };
} // namespace

static decltype(veeline_count_allocations) *count;

void train::startCountingAllocations() {
  count = findHook<decltype(veeline_count_allocations)>(
      "veeline_count_allocations");
  if (count)
    count(loading);
}

void train::countTrainingAllocations(bool inSteps) {
  if (count)
    count(inSteps ? stepsOfTraining : nothing);
}

/// The first step counts as loading, because libraries initialise themselves in
/// it.
void train::countRankAllocations(host::Activity activity) {
  thread_local bool warm = false;
  if (!count)
    return;
  if (activity != host::Activity::step)
    return count(activity == host::Activity::loading ? loading : nothing);
  count(warm ? stepsOfRanks : loading);
  warm = true;
}

static void printAllocations(const char *title, Counted activity,
                             const std::vector<veeline_allocations> &entries,
                             int64_t steps) {
  std::printf("%s:\n", title);
  bool any = false;
  for (const veeline_allocations &entry : entries) {
    if (entry.activity != activity)
      continue;
    any = true;
    std::printf("  %10.1f calls %12.0f bytes  by %s\n",
                double(entry.calls) / double(steps),
                double(entry.bytes) / double(steps), entry.object);
  }
  if (!any)
    std::printf("  none\n");
}

static void printAllocations(int64_t steps) {
  auto *read =
      findHook<decltype(veeline_read_allocations)>("veeline_read_allocations");
  if (!count || !read) {
    std::printf("allocations were not counted: the counter is not preloaded\n");
    return;
  }
  std::vector<veeline_allocations> entries(read(nullptr, 0));
  read(entries.data(), entries.size());
  int64_t counted = std::max<int64_t>(steps - 1, 1);
  printAllocations("allocations while loading and in the first step", loading,
                   entries, 1);
  printAllocations("allocations of rank threads, per step from the second on",
                   stepsOfRanks, entries, counted);
  printAllocations("allocations of the training thread, per step from the "
                   "second on",
                   stepsOfTraining, entries, counted);
}

//===----------------------------------------------------------------------===//
// Intended memory outside of arenas
//===----------------------------------------------------------------------===//

static void printOutside(const Session &session) {
  const host::HostExecutor &executor = session.executor();
  int64_t discard = 0;
  for (size_t i = 0; i < session.program().ranks.size(); ++i)
    discard += executor.discardBytes(static_cast<int32_t>(i));
  std::printf("allocated once, outside of the arenas:\n"
              "  %12ld bytes  batches of %ld steps\n"
              "  %12ld bytes  constant buffers\n"
              "  %12ld bytes  first messages of a step\n"
              "  %12ld bytes  where ranks send to after a fault\n",
              long(session.batchBytes()), long(session.stepsInMemory()),
              long(session.bufferBytes()), long(executor.spareBytes()),
              long(discard));
}

/// `table` is a member of the executor that returns a rank's table.
static void
printCalls(const Session &session, int64_t steps, const char *what,
           const library::CallTable &(host::HostExecutor::*table)(int32_t)
               const) {
  std::map<std::string, int64_t> all;
  for (size_t i = 0; i < session.program().ranks.size(); ++i)
    for (auto &[name, runs] :
         (session.executor().*table)(static_cast<int32_t>(i))
             .runsByImplementation())
      all[name] += runs;
  if (all.empty())
    return;
  std::printf("%s, per step:\n", what);
  for (auto &[name, runs] : all)
    std::printf("  %10ld  by %s%s\n", long(runs / steps), name.c_str(),
                name.find("gemm") == std::string::npos
                    ? ""
                    : ", which allocates its scratch in each call");
}

//===----------------------------------------------------------------------===//
// Arenas
//===----------------------------------------------------------------------===//

/// The number of lines of 64 bytes that were written outside of all regions of
/// `rank`.
static int64_t linesOutsideRegions(const engine::Arena &arena,
                                   const artifact::Rank &rank) {
  std::vector<std::pair<int64_t, int64_t>> regions;
  regions.reserve(rank.regions.size());
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

static void printUntouched(const engine::Arena &arena,
                           const artifact::Rank &rank) {
  for (const artifact::Region &region : rank.regions)
    if (region.bytes > 0 &&
        arena.touchedLines(region.offset, region.bytes) == 0)
      std::printf("        never written: '%s', %ld bytes at %ld\n",
                  region.name.c_str(), long(region.bytes), long(region.offset));
}

static std::string describeStray(size_t rank, int64_t lines) {
  return "rank " + std::to_string(rank) + " wrote " + std::to_string(lines) +
         " lines of 64 bytes outside of every planned region";
}

/// Prints the size of the optimiser's state, as in "state of adamw, by rank:
/// 40960, 36864 bytes".
static void printState(const artifact::Metadata &metadata,
                       const Session &session) {
  std::string list;
  int64_t all = 0;
  int32_t shards = 1;
  for (const artifact::Rank &rank : session.program().ranks) {
    int64_t bytes = 0;
    for (const artifact::Region &region : rank.regions)
      bytes += region.kind == artifact::RegionKind::state ? region.bytes : 0;
    for (const artifact::RankParam &entry : rank.params)
      shards = std::max(shards, entry.shards);
    list += (list.empty() ? "" : ", ") + std::to_string(bytes);
    all += bytes;
  }
  if (all > 0)
    std::printf(
        "state of %s, by rank: %s bytes%s\n",
        describeOptimizer(metadata.optimizer, metadata.errorFeedback).c_str(),
        list.c_str(), shards > 1 ? ", a share each" : "");
}

static Status memoryVerdict(const std::string &error) {
  return error.empty() ? Status::success()
                       : Status::error("memory check failed: " + error);
}

/// Other programs read this line. Numbers are in bytes.
static void printDevice(const cuda::DeviceUse &use, int64_t planned) {
  std::printf("memory of %s: planned %ld, arenas %ld, kernels %ld, libraries "
              "%ld, NCCL %ld, graphs %ld, context and others %ld, rest %ld, "
              "most %ld bytes\n",
              use.device.c_str(), long(planned), long(use.arenas),
              long(use.code), long(use.libraries), long(use.messages),
              long(use.graphs), long(use.context), long(use.rest),
              long(use.most));
}

/// Prints the host memory that ranks have locked for copies to and from a GPU.
static void printPinned(const std::vector<cuda::DeviceUse> &ranks) {
  std::string all, offloaded;
  int64_t most = 0;
  for (const cuda::DeviceUse &use : ranks) {
    const char *comma = all.empty() ? "" : ", ";
    all += comma + std::to_string(use.pinned);
    offloaded += comma + std::to_string(use.offloaded);
    most = std::max(most, use.offloaded);
  }
  std::printf("page-locked memory of the host, by rank: %s bytes%s%s\n",
              all.c_str(), most > 0 ? "; for what is offloaded: " : "",
              most > 0 ? offloaded.c_str() : "");
}

static Status printDevices(const artifact::Metadata &metadata,
                           const Session &session) {
  auto all = session.deviceMemory();
  if (!all.ok())
    return memoryVerdict(all.message());
  if (!session.isFirst())
    return Status::success();
  std::printf("rank         arena    high water     peak live      kernels  "
              "       NCCL  context and others\n");
  std::string error;
  const std::vector<artifact::Rank> &ranks = session.program().ranks;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const cuda::DeviceUse &use = (*all)[i];
    std::printf("%4zu  %12ld  %12ld  %12ld %12ld %12ld  %18ld  on %s\n", i,
                long(ranks[i].arenaBytes), long(use.highWater),
                long(ranks[i].peakLiveBytes), long(use.code),
                long(use.messages), long(use.context), use.device.c_str());
    if (error.empty() && use.strayLines > 0)
      error = describeStray(i, use.strayLines);
  }
  std::map<int32_t, int64_t> planned; ///< By the first rank of a GPU.
  for (size_t i = 0; i < ranks.size(); ++i)
    planned[(*all)[i].firstRank] += ranks[i].arenaBytes;
  printState(metadata, session);
  for (auto [first, bytes] : planned)
    printDevice((*all)[static_cast<size_t>(first)], bytes);
  printPinned(*all);
  std::fflush(stdout);
  return memoryVerdict(error);
}

Status train::checkMemory(const artifact::Metadata &metadata,
                          const Session &session, int64_t steps) {
  if (session.isOnDevice())
    return printDevices(metadata, session);
  std::string error;
  std::printf("rank         arena    high water     peak live   arena / live  "
              "beside it\n");
  const std::vector<artifact::Rank> &ranks = session.program().ranks;
  for (size_t i = 0; i < ranks.size(); ++i) {
    auto index = static_cast<int32_t>(i);
    const engine::Arena &arena = session.executor().arena(index);
    int64_t mark = arena.highWaterMark();
    int64_t live = std::max<int64_t>(ranks[i].peakLiveBytes, 1);
    std::printf(
        "%4zu  %12ld  %12ld  %12ld  %13.3f  %9ld\n", i, long(arena.size()),
        long(mark), long(ranks[i].peakLiveBytes),
        double(arena.size()) / double(live),
        long(session.executor().gemms(index).extraScratchBytes() +
             session.executor().convolutions(index).extraScratchBytes()));
    printUntouched(arena, ranks[i]);
    const engine::Arena &host = session.executor().hostArena(index);
    if (host.size() > 0)
      std::printf("      in the host's memory: %ld of %ld bytes\n",
                  long(host.highWaterMark()), long(host.size()));
    std::string where = "rank " + std::to_string(i);
    int64_t stray = linesOutsideRegions(arena, ranks[i]);
    if (error.empty() && host.highWaterMark() > host.size())
      error = where + " wrote up to byte " +
              std::to_string(host.highWaterMark()) +
              " of the host's memory, of which it has " +
              std::to_string(host.size());
    if (error.empty() && mark > arena.size())
      error = where + " wrote up to byte " + std::to_string(mark) +
              ", its arena has " + std::to_string(arena.size());
    if (error.empty() && stray > 0)
      error = describeStray(i, stray);
  }
  printState(metadata, session);
  printOutside(session);
  steps = std::max<int64_t>(steps, 1);
  printCalls(session, steps, "matrix products", &host::HostExecutor::gemms);
  printCalls(session, steps, "convolutions", &host::HostExecutor::convolutions);
  printAllocations(steps);
  return memoryVerdict(error);
}
