//===- WindowCuts.cpp - cuts for any placement ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WindowCuts.h"

#include <algorithm>
#include <random>

using namespace veeline;

namespace {

class WindowSearch {
public:
  WindowSearch(std::span<const PieceWeight> pieces,
               std::span<const int> stageOf, std::span<const int> counts,
               std::span<const int> widths);
  std::vector<int> run();

private:
  double cost(int begin, int end) const { return prefix[end] - prefix[begin]; }
  int width(int chunk) const { return widthOf(widths, stageOf[chunk]); }
  /// The cost of a chunk, divided by the number of ranks of its stage.
  double chunkCost(int chunk) const {
    return cost(ends[chunk], ends[chunk + 1]) / width(chunk);
  }
  double heaviest() const {
    return *std::max_element(loads.begin(), loads.end());
  }
  void computeLoads();
  int windowEnd(int begin) const;
  bool fill(int begin, int end, double bound, std::vector<int> &newEnds);
  void cutWindow(int begin, int end);
  void descend();
  void perturb();

  std::span<const int> stageOf, widths;
  int numPieces, numChunks, numStages;
  std::vector<double> prefix;
  /// Chunk k has the pieces ends[k] to ends[k + 1] - 1.
  std::vector<int> ends;
  std::vector<double> loads;
  double lowerBound = 0.0;
  /// The seed is fixed, so that a model is always cut in the same way.
  std::mt19937 random;
  /// The work done so far, as a number of examined chunks.
  int64_t work = 0;
};

} // namespace

/// The limit of `work`: some tens of milliseconds.
static constexpr int64_t maxWork = 2'000'000;

/// Loads that differ by less than this share count as equal.
static constexpr double tolerance = 1e-9;

WindowSearch::WindowSearch(std::span<const PieceWeight> pieces,
                           std::span<const int> stageOf,
                           std::span<const int> counts,
                           std::span<const int> widths)
    : stageOf(stageOf), widths(widths), numPieces(pieces.size()),
      numChunks(stageOf.size()),
      numStages(1 + *std::max_element(stageOf.begin(), stageOf.end())),
      prefix(numPieces + 1, 0.0), ends(numChunks + 1, 0) {
  for (int i = 0; i != numPieces; ++i) {
    prefix[i + 1] = prefix[i] + pieces[i].cost;
    lowerBound = std::max(lowerBound, pieces[i].cost);
  }
  int ranks = 0, widest = 1;
  for (int stage = 0; stage != numStages; ++stage) {
    ranks += widthOf(widths, stage);
    widest = std::max(widest, widthOf(widths, stage));
  }
  lowerBound = std::max(lowerBound / widest, prefix.back() / ranks);
  for (int chunk = 0; chunk != numChunks; ++chunk)
    ends[chunk + 1] = ends[chunk] + counts[chunk];
  computeLoads();
}

void WindowSearch::computeLoads() {
  loads.assign(numStages, 0.0);
  for (int chunk = 0; chunk != numChunks; ++chunk)
    loads[stageOf[chunk]] += chunkCost(chunk);
}

/// The end of the longest window that begins at chunk `begin` and has no stage
/// twice.
int WindowSearch::windowEnd(int begin) const {
  int end = begin + 1;
  while (end != numChunks &&
         std::find(stageOf.begin() + begin, stageOf.begin() + end,
                   stageOf[end]) == stageOf.begin() + end)
    ++end;
  return end;
}

/// Cuts the window so that no stage exceeds `bound`. `loads` holds what the
/// other chunks of these stages take. Returns false if that is impossible.
bool WindowSearch::fill(int begin, int end, double bound,
                        std::vector<int> &newEnds) {
  work += end - begin;
  newEnds.clear();
  int at = ends[begin], last = ends[end];
  for (int chunk = begin; chunk != end; ++chunk) {
    // Leave one piece for each later chunk of the window.
    int most = last - (end - chunk - 1);
    double room = bound - loads[stageOf[chunk]];
    auto stop = std::upper_bound(prefix.begin() + at, prefix.begin() + most + 1,
                                 prefix[at] + room * width(chunk));
    int next = static_cast<int>(stop - prefix.begin()) - 1;
    if (next <= at)
      return false;
    newEnds.push_back(at = next);
  }
  return at == last;
}

/// Re-cuts chunks begin..end-1 in the best way.
void WindowSearch::cutWindow(int begin, int end) {
  double high = 0.0, low = 0.0;
  for (int chunk = begin; chunk != end; ++chunk) {
    high = std::max(high, loads[stageOf[chunk]]);
    loads[stageOf[chunk]] -= chunkCost(chunk);
    low = std::max(low, loads[stageOf[chunk]]);
  }
  std::vector<int> attempt, best;
  while (high - low > tolerance * high) {
    double middle = (low + high) / 2;
    if (fill(begin, end, middle, attempt)) {
      high = middle;
      best = attempt;
    } else {
      low = middle;
    }
  }
  if (!best.empty())
    std::copy(best.begin(), best.end(), ends.begin() + begin + 1);
  for (int chunk = begin; chunk != end; ++chunk)
    loads[stageOf[chunk]] += chunkCost(chunk);
}

/// Re-cuts window after window until the heaviest stage gets no lighter.
void WindowSearch::descend() {
  for (double before = heaviest();;) {
    for (int begin = 0; begin != numChunks; ++begin)
      if (int end = windowEnd(begin); end - begin > 1)
        cutWindow(begin, end);
    double after = heaviest();
    if (after >= before * (1.0 - tolerance))
      return;
    before = after;
  }
}

/// Moves up to three cuts to anywhere between their neighbours.
void WindowSearch::perturb() {
  for (int moves = 1 + random() % 3; moves; --moves) {
    int cut = 1 + random() % (numChunks - 1);
    ends[cut] =
        ends[cut - 1] + 1 + random() % (ends[cut + 1] - ends[cut - 1] - 1);
  }
  computeLoads();
}

std::vector<int> WindowSearch::run() {
  descend();
  std::vector<int> best = ends, current = ends;
  double bestLoad = heaviest(), currentLoad = bestLoad;
  while (work < maxWork && bestLoad > lowerBound * (1.0 + tolerance)) {
    perturb();
    descend();
    double load = heaviest();
    // Accept a slightly worse result, to escape a local minimum.
    if (load > currentLoad * (1.0 + loadMargin / 2)) {
      ends = current;
      computeLoads();
      continue;
    }
    current = ends;
    currentLoad = load;
    if (load < bestLoad) {
      best = ends;
      bestLoad = load;
    }
  }
  std::vector<int> counts(numChunks);
  for (int chunk = 0; chunk != numChunks; ++chunk)
    counts[chunk] = best[chunk + 1] - best[chunk];
  return counts;
}

std::vector<int> veeline::searchWindowCuts(std::span<const PieceWeight> pieces,
                                           std::span<const int> stageOf,
                                           std::span<const int> counts,
                                           std::span<const int> widths) {
  return WindowSearch(pieces, stageOf, counts, widths).run();
}
