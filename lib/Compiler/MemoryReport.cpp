//===- MemoryReport.cpp - live memory of ranks, as text -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryLive.h"
#include "veeline/Compiler/Report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace veeline;
using namespace veeline::compiler;

static double toMiB(int64_t bytes) { return bytes / 1048576.0; }

int64_t veeline::compiler::sumOf(const Amounts &amounts) {
  int64_t sum = 0;
  for (int64_t bytes : amounts)
    sum += bytes;
  return sum;
}

static size_t getNumber(artifact::RegionKind kind) {
  return llvm::find_if(
             memoryKinds,
             [&](const MemoryKind &entry) { return entry.kind == kind; }) -
         memoryKinds.begin();
}

LiveBytes::LiveBytes(const std::vector<artifact::Region> &regions,
                     size_t numOps)
    : live(std::max<size_t>(numOps, 1) + 1) {
  size_t last = live.size() - 2;
  for (const artifact::Region &region : regions) {
    size_t kind = getNumber(region.kind);
    auto add = [&](size_t begin, size_t end) {
      live[begin][kind] += region.bytes;
      live[std::min(end, last) + 1][kind] -= region.bytes;
    };
    if (region.firstOp < 0)
      add(0, last);
    else if (region.firstOp <= region.lastOp)
      add(region.firstOp, region.lastOp);
    else {
      add(region.firstOp, last);
      add(0, region.lastOp);
    }
  }
  for (size_t op = 1; op != live.size(); ++op)
    for (size_t kind = 0; kind != memoryKinds.size(); ++kind)
      live[op][kind] += live[op - 1][kind];
  live.pop_back();
}

int64_t LiveBytes::getPeak(size_t kind) const {
  int64_t peak = 0;
  for (const Amounts &amounts : live)
    peak = std::max(peak, amounts[kind]);
  return peak;
}

size_t LiveBytes::getPeakOp() const {
  return std::max_element(live.begin(), live.end(),
                          [](const Amounts &a, const Amounts &b) {
                            return sumOf(a) < sumOf(b);
                          }) -
         live.begin();
}

static std::string describe(const artifact::Rank &rank, size_t number) {
  if (number >= rank.ops.size())
    return "no op";
  const artifact::Op &op = rank.ops[number];
  std::string text(artifact::name(op.kind));
  if (op.chunk >= 0)
    text += std::to_string(op.chunk) + "." + std::to_string(op.microbatch);
  if (op.late)
    text += "'";
  return text;
}

/// The number of ranks between which the updates of `rank` are divided.
static int32_t countShards(const artifact::Rank &rank) {
  int32_t shards = 1;
  for (const artifact::RankParam &entry : rank.params)
    shards = std::max(shards, entry.shards);
  return shards;
}

namespace {
/// The regions of one kind on a rank.
struct KindSummary {
  const MemoryKind *kind;
  int64_t regions = 0, largestBytes = 0;
  int64_t peakBytes;   ///< The most of this kind.
  int64_t bytesAtPeak; ///< What of it is live where most is in all.
};
} // namespace

/// The kinds of which a rank has regions.
static std::vector<KindSummary> summarize(const artifact::Rank &rank,
                                          const LiveBytes &live) {
  std::vector<KindSummary> kinds;
  for (auto [k, kind] : llvm::enumerate(memoryKinds)) {
    KindSummary summary{&kind, 0, 0, live.getPeak(k),
                        live.get()[live.getPeakOp()][k]};
    for (const artifact::Region &region : rank.regions)
      if (region.kind == kind.kind) {
        ++summary.regions;
        summary.largestBytes = std::max(summary.largestBytes, region.bytes);
      }
    if (summary.regions > 0)
      kinds.push_back(summary);
  }
  return kinds;
}

static void printTable(llvm::raw_ostream &os, size_t number,
                       const artifact::Rank &rank, const LiveBytes &live) {
  for (const KindSummary &summary : summarize(rank, live)) {
    const MemoryKind &kind = *summary.kind;
    os << llvm::format("%4zu  %c %-10s %8lld %12.3f %10.3f %12.3f", number,
                       kind.letter, kind.name,
                       static_cast<long long>(summary.regions),
                       toMiB(summary.largestBytes), toMiB(summary.peakBytes),
                       toMiB(summary.bytesAtPeak));
    int32_t shards = countShards(rank);
    if (kind.kind == artifact::RegionKind::state && shards > 1)
      os << "  1/" << shards << " of the state";
    os << '\n';
  }
  os << llvm::format(
      "%4zu  arena %.3f MiB, peak live %.3f MiB, most at op %zu, %s\n", number,
      toMiB(rank.arenaBytes), toMiB(rank.peakLiveBytes), live.getPeakOp(),
      describe(rank, live.getPeakOp()).c_str());
}

/// Prints one line about the host's memory for offloaded values, all of which
/// are residuals.
static void printHost(llvm::raw_ostream &os, size_t number,
                      const artifact::Rank &rank) {
  if (rank.hostBytes == 0)
    return;
  os << llvm::format("%4zu  host's memory %.3f MiB", number,
                     toMiB(rank.hostBytes));
  if (!rank.hostRegions.empty()) {
    LiveBytes live(rank.hostRegions, rank.ops.size());
    size_t peakOp = live.getPeakOp();
    os << llvm::format(", %zu regions, peak live %.3f MiB, most at op %zu, %s",
                       rank.hostRegions.size(), toMiB(live.getPeak()), peakOp,
                       describe(rank, peakOp).c_str());
  }
  os << '\n';
}

//===----------------------------------------------------------------------===//
// The picture
//===----------------------------------------------------------------------===//

static constexpr int numColumns = 72, numRows = 12;

/// For each column, the amounts at the op in its stretch of time at which the
/// most is live. An op without a predicted time follows the end of the one
/// before.
static std::vector<Amounts> getColumns(const artifact::Rank &rank,
                                       const LiveBytes &live, double makespan) {
  std::vector<Amounts> columns(numColumns);
  std::vector<bool> isSet(numColumns, false);
  double time = 0;
  auto put = [&](int column, const Amounts &amounts) {
    if (!isSet[column] || sumOf(amounts) > sumOf(columns[column]))
      columns[column] = amounts;
    isSet[column] = true;
  };
  auto toColumn = [&](double at) {
    return std::clamp<int>(std::floor(at / makespan * numColumns), 0,
                           numColumns - 1);
  };
  for (auto [number, op] : llvm::enumerate(rank.ops)) {
    double begin = op.predictedBegin >= 0 ? op.predictedBegin : time;
    double end = std::max(begin, op.predictedEnd);
    for (int column = toColumn(begin), last = toColumn(end); column <= last;
         ++column)
      put(column, live.get()[number]);
    time = end;
  }
  // Between two ops, the amounts of the first remain.
  for (int column = 0; column != numColumns; ++column)
    if (!isSet[column])
      columns[column] = column ? columns[column - 1] : live.get().front();
  return columns;
}

/// The letter of a cell whose middle is at `bytes`.
static char getLetter(const Amounts &amounts, double bytes) {
  double top = 0;
  for (auto [k, kind] : llvm::enumerate(memoryKinds)) {
    top += amounts[k];
    if (bytes < top)
      return kind.letter;
  }
  return ' ';
}

static void drawRank(llvm::raw_ostream &os, const std::string &name,
                     const artifact::Rank &rank, const LiveBytes &live,
                     double makespan, int64_t highest) {
  os << llvm::formatv("\n{0}, MiB over {1:f3} ms\n", name, makespan / 1e3);
  std::vector<Amounts> columns = getColumns(rank, live, makespan);
  for (int row = numRows; row-- != 0;) {
    std::string line;
    for (const Amounts &amounts : columns)
      line += getLetter(amounts, (row + 0.5) * highest / numRows);
    line.erase(line.find_last_not_of(' ') + 1);
    bool isMarked = row % 4 == 3;
    os << (isMarked ? llvm::formatv("{0,9:F2} |",
                                    toMiB(highest) * (row + 1) / numRows)
                          .str()
                    : std::string(10, ' ') + "|")
       << line << '\n';
  }
  os << std::string(10, ' ') << '+' << std::string(numColumns, '-') << '\n';
}

void veeline::compiler::printMemory(llvm::raw_ostream &os,
                                    const artifact::Program &program) {
  std::vector<LiveBytes> live;
  double makespan = 0;
  int64_t highest = 0;
  for (const artifact::Rank &rank : program.ranks) {
    live.emplace_back(rank);
    for (const artifact::Op &op : rank.ops)
      makespan = std::max(makespan, op.predictedEnd);
    highest =
        std::max({highest, live.back().getPeak(),
                  LiveBytes(rank.hostRegions, rank.ops.size()).getPeak()});
  }
  os << "rank  kind         regions  largest MiB   peak MiB  at rank's peak\n";
  for (auto [i, rank] : llvm::enumerate(program.ranks))
    printTable(os, i, rank, live[i]);
  for (auto [i, rank] : llvm::enumerate(program.ranks))
    printHost(os, i, rank);
  if (makespan <= 0 || highest <= 0)
    return;
  for (auto [i, rank] : llvm::enumerate(program.ranks)) {
    std::string name = "rank " + std::to_string(i);
    drawRank(os, name, rank, live[i], makespan, highest);
    if (!rank.hostRegions.empty())
      drawRank(os, name + ", in the host's memory", rank,
               LiveBytes(rank.hostRegions, rank.ops.size()), makespan, highest);
  }
}

llvm::json::Array
veeline::compiler::getMemoryAsJson(const artifact::Program &program) {
  llvm::json::Array ranks;
  for (auto [i, rank] : llvm::enumerate(program.ranks)) {
    LiveBytes live(rank);
    llvm::json::Array kinds;
    for (const KindSummary &summary : summarize(rank, live))
      kinds.push_back(
          llvm::json::Object{{"kind", summary.kind->name},
                             {"regions", summary.regions},
                             {"largest_bytes", summary.largestBytes},
                             {"peak_bytes", summary.peakBytes},
                             {"bytes_at_peak", summary.bytesAtPeak}});
    ranks.push_back(llvm::json::Object{
        {"rank", i},
        {"arena_bytes", rank.arenaBytes},
        {"peak_live_bytes", rank.peakLiveBytes},
        {"peak_op", live.getPeakOp()},
        {"peak_at", describe(rank, live.getPeakOp())},
        {"shards_of_state", countShards(rank)},
        {"host_bytes", rank.hostBytes},
        {"host_peak_live_bytes",
         LiveBytes(rank.hostRegions, rank.ops.size()).getPeak()},
        {"kinds", std::move(kinds)}});
  }
  return ranks;
}
