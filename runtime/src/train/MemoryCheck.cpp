//===- MemoryCheck.cpp - checking that arenas are as planned --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryCheck.h"

#include "AllocationCounter.h"
#include "JsonLine.h"

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

static void
printAllocationsAsJson(const std::vector<veeline_allocations> &entries,
                       int64_t steps) {
  JsonLine line(256);
  for (const veeline_allocations &entry : entries) {
    bool isLoading = entry.activity == loading;
    double times = isLoading ? 1 : double(steps);
    line.begin("allocations");
    line.add("while", isLoading                        ? "loading"
                      : entry.activity == stepsOfRanks ? "steps of ranks"
                                                       : "steps of training");
    line.add("by", std::string_view(entry.object));
    line.add("calls", double(entry.calls) / times);
    line.add("bytes", double(entry.bytes) / times);
    line.print();
  }
}

static void printAllocations(int64_t steps, bool asJson) {
  auto *read =
      findHook<decltype(veeline_read_allocations)>("veeline_read_allocations");
  if (asJson && (!count || !read))
    return;
  if (!count || !read) {
    std::printf("allocations were not counted: the counter is not preloaded\n");
    return;
  }
  std::vector<veeline_allocations> entries(read(nullptr, 0));
  read(entries.data(), entries.size());
  int64_t counted = std::max<int64_t>(steps - 1, 1);
  if (asJson)
    return printAllocationsAsJson(entries, counted);
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

static std::vector<const artifact::Region *>
findUntouched(const engine::Arena &arena, const artifact::Rank &rank) {
  std::vector<const artifact::Region *> regions;
  for (const artifact::Region &region : rank.regions)
    if (region.bytes > 0 &&
        arena.touchedLines(region.offset, region.bytes) == 0)
      regions.push_back(&region);
  return regions;
}

static std::string describeStray(size_t rank, int64_t lines) {
  return "rank " + std::to_string(rank) + " wrote " + std::to_string(lines) +
         " lines of 64 bytes outside of every planned region";
}

static int64_t stateBytesOf(const artifact::Rank &rank) {
  int64_t bytes = 0;
  for (const artifact::Region &region : rank.regions)
    bytes += region.kind == artifact::RegionKind::state ? region.bytes : 0;
  return bytes;
}

/// Prints the size of the optimiser's state, as in "state of adamw, by rank:
/// 40960, 36864 bytes".
static void printState(const artifact::Metadata &metadata,
                       const Session &session) {
  std::string list;
  int64_t all = 0;
  int32_t shards = 1;
  for (const artifact::Rank &rank : session.program().ranks) {
    int64_t bytes = stateBytesOf(rank);
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

/// Begins a line of JSON about the memory of a rank.
static void beginRank(JsonLine &line, size_t number, const artifact::Rank &rank,
                      int64_t highWater) {
  line.begin("memory");
  line.add("rank", int64_t(number));
  line.add("arena_bytes", rank.arenaBytes);
  line.add("high_water_bytes", highWater);
  line.add("peak_live_bytes", rank.peakLiveBytes);
  line.add("state_bytes", stateBytesOf(rank));
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

static void printDevicesAsJson(const std::vector<artifact::Rank> &ranks,
                               const std::vector<cuda::DeviceUse> &all) {
  JsonLine line(512);
  for (size_t i = 0; i < ranks.size(); ++i) {
    const cuda::DeviceUse &use = all[i];
    beginRank(line, i, ranks[i], use.highWater);
    line.add("kernel_bytes", use.code);
    line.add("nccl_bytes", use.messages);
    line.add("context_bytes", use.context);
    line.add("library_bytes", use.libraries);
    line.add("graph_bytes", use.graphs);
    line.add("pinned_bytes", use.pinned);
    line.add("offloaded_bytes", use.offloaded);
    line.add("device", std::string_view(use.device));
    line.print();
  }
}

static void printDevicesAsText(const artifact::Metadata &metadata,
                               const Session &session,
                               const std::vector<cuda::DeviceUse> &all) {
  std::printf("rank         arena    high water     peak live      kernels  "
              "       NCCL  context and others\n");
  const std::vector<artifact::Rank> &ranks = session.program().ranks;
  std::map<int32_t, int64_t> planned; ///< By the first rank of a GPU.
  for (size_t i = 0; i < ranks.size(); ++i) {
    const cuda::DeviceUse &use = all[i];
    std::printf("%4zu  %12ld  %12ld  %12ld %12ld %12ld  %18ld  on %s\n", i,
                long(ranks[i].arenaBytes), long(use.highWater),
                long(ranks[i].peakLiveBytes), long(use.code),
                long(use.messages), long(use.context), use.device.c_str());
    planned[use.firstRank] += ranks[i].arenaBytes;
  }
  printState(metadata, session);
  for (auto [first, bytes] : planned)
    printDevice(all[static_cast<size_t>(first)], bytes);
  printPinned(all);
}

static Status checkDevices(const Run &run, const Session &session) {
  auto all = session.deviceMemory();
  if (!all.ok())
    return memoryVerdict(all.message());
  if (!session.isFirst())
    return Status::success();
  if (run.options.logsJson)
    printDevicesAsJson(session.program().ranks, *all);
  else
    printDevicesAsText(run.metadata(), session, *all);
  std::fflush(stdout);
  for (size_t i = 0; i < all->size(); ++i)
    if ((*all)[i].strayLines > 0)
      return memoryVerdict(describeStray(i, (*all)[i].strayLines));
  return Status::success();
}

/// What is wrong with the arena of a rank, or an empty string.
static std::string findFault(const Session &session, size_t rank) {
  auto index = static_cast<int32_t>(rank);
  const engine::Arena &arena = session.executor().arena(index);
  const engine::Arena &host = session.executor().hostArena(index);
  std::string where = "rank " + std::to_string(rank);
  if (host.highWaterMark() > host.size())
    return where + " wrote up to byte " + std::to_string(host.highWaterMark()) +
           " of the host's memory, of which it has " +
           std::to_string(host.size());
  if (arena.highWaterMark() > arena.size())
    return where + " wrote up to byte " +
           std::to_string(arena.highWaterMark()) + ", its arena has " +
           std::to_string(arena.size());
  int64_t stray = linesOutsideRegions(arena, session.program().ranks[rank]);
  return stray > 0 ? describeStray(rank, stray) : "";
}

/// The bytes that a rank's calls of libraries need beside its arena.
static int64_t bytesBeside(const Session &session, int32_t rank) {
  return session.executor().gemms(rank).extraScratchBytes() +
         session.executor().convolutions(rank).extraScratchBytes();
}

static void printArenasAsJson(const Session &session) {
  JsonLine line(512);
  const std::vector<artifact::Rank> &ranks = session.program().ranks;
  for (size_t i = 0; i < ranks.size(); ++i) {
    auto index = static_cast<int32_t>(i);
    const engine::Arena &arena = session.executor().arena(index);
    const engine::Arena &host = session.executor().hostArena(index);
    beginRank(line, i, ranks[i], arena.highWaterMark());
    line.add("beside_bytes", bytesBeside(session, index));
    line.add("unwritten_regions",
             int64_t(findUntouched(arena, ranks[i]).size()));
    line.add("host_bytes", int64_t(host.size()));
    line.add("host_high_water_bytes", int64_t(host.highWaterMark()));
    line.print();
  }
}

static void printArenas(const Session &session) {
  std::printf("rank         arena    high water     peak live   arena / live  "
              "beside it\n");
  const std::vector<artifact::Rank> &ranks = session.program().ranks;
  for (size_t i = 0; i < ranks.size(); ++i) {
    auto index = static_cast<int32_t>(i);
    const engine::Arena &arena = session.executor().arena(index);
    int64_t live = std::max<int64_t>(ranks[i].peakLiveBytes, 1);
    std::printf(
        "%4zu  %12ld  %12ld  %12ld  %13.3f  %9ld\n", i, long(arena.size()),
        long(arena.highWaterMark()), long(ranks[i].peakLiveBytes),
        double(arena.size()) / double(live), long(bytesBeside(session, index)));
    for (const artifact::Region *region : findUntouched(arena, ranks[i]))
      std::printf("        never written: '%s', %ld bytes at %ld\n",
                  region->name.c_str(), long(region->bytes),
                  long(region->offset));
    const engine::Arena &host = session.executor().hostArena(index);
    if (host.size() > 0)
      std::printf("      in the host's memory: %ld of %ld bytes\n",
                  long(host.highWaterMark()), long(host.size()));
  }
}

Status train::checkMemory(const Run &run, const Session &session,
                          int64_t steps) {
  if (session.isOnDevice())
    return checkDevices(run, session);
  steps = std::max<int64_t>(steps, 1);
  if (run.options.logsJson) {
    printArenasAsJson(session);
  } else {
    printArenas(session);
    printState(run.metadata(), session);
    printOutside(session);
    printCalls(session, steps, "matrix products", &host::HostExecutor::gemms);
    printCalls(session, steps, "convolutions",
               &host::HostExecutor::convolutions);
  }
  printAllocations(steps, run.options.logsJson);
  for (size_t i = 0; i < session.program().ranks.size(); ++i)
    if (std::string fault = findFault(session, i); !fault.empty())
      return memoryVerdict(fault);
  return Status::success();
}
