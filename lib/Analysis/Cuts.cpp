//===- Cuts.cpp - where to cut a sequence of pieces -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/Cuts.h"

#include "WindowCuts.h"

#include <algorithm>
#include <numeric>

using namespace veeline;

CutQuality veeline::evaluateCuts(std::span<const PieceWeight> pieces,
                                 std::span<const int> stageOf,
                                 std::span<const int> counts,
                                 std::span<const int> widths) {
  CutQuality quality;
  std::vector<double> loads(
      1 + *std::max_element(stageOf.begin(), stageOf.end()), 0.0);
  size_t next = 0;
  for (size_t chunk = 0; chunk != counts.size(); ++chunk) {
    double load = 0.0;
    for (int i = 0; i != counts[chunk]; ++i)
      load += pieces[next++].cost;
    load /= widthOf(widths, stageOf[chunk]);
    loads[stageOf[chunk]] += load;
    quality.unevenness += load * load;
    if (chunk + 1 != counts.size() && stageOf[chunk] != stageOf[chunk + 1])
      quality.bytes += pieces[next - 1].bytesAfter;
  }
  quality.heaviest = *std::max_element(loads.begin(), loads.end());
  return quality;
}

/// Loads that differ by less than this share count as equal.
static constexpr double tolerance = 1e-9;

/// If there are fewer ways to cut than this, all of them are tried.
static constexpr uint64_t maxWays = 20000;

static bool isLess(double a, double b) { return a < b * (1.0 - tolerance); }

bool CutQuality::isBetterThan(const CutQuality &other) const {
  if (isLess(heaviest, other.heaviest) || isLess(other.heaviest, heaviest))
    return heaviest < other.heaviest;
  if (bytes != other.bytes)
    return bytes < other.bytes;
  return isLess(unevenness, other.unevenness);
}

namespace {

/// Finds cuts for placements whose chunks are nested: stage s holds chunk s
/// and, unless `single`, chunk 2p-1-s. Each stage takes pieces from both ends
/// of the range that the stages before it have left.
class NestedCuts {
public:
  NestedCuts(std::span<const PieceWeight> pieces, int numStages, bool single,
             std::span<const int> widths)
      : pieces(pieces), numPieces(pieces.size()), numStages(numStages),
        single(single), prefix(numPieces + 1, 0.0), widthFrom(numStages + 1) {
    for (int i = 0; i != numPieces; ++i)
      prefix[i + 1] = prefix[i] + pieces[i].cost;
    for (int s = numStages; s-- > 0;)
      widthFrom[s] = widthFrom[s + 1] + widthOf(widths, s);
  }

  /// `achievable` is the load of the heaviest stage under some cuts.
  std::vector<int> solve(double achievable) {
    double low = prefix.back() / widthFrom[0], high = achievable;
    std::vector<int> best;
    for (int i = 0; i != 60 && high - low > tolerance * high; ++i) {
      double middle = (low + high) / 2;
      (tryBound(middle, best) ? high : low) = middle;
    }
    tryBound(high * (1.0 + loadMargin), best);
    return best;
  }

private:
  /// A range of pieces that the stages up to one have left, the best quality
  /// with which they can leave it, and the index of the state before. The
  /// quality does not include the load of the heaviest stage, because that is
  /// within the bound.
  struct State {
    int begin, end, parent;
    CutQuality quality;
  };

  double cost(int begin, int end) const { return prefix[end] - prefix[begin]; }
  int width(int stage) const { return widthFrom[stage] - widthFrom[stage + 1]; }
  double square(int begin, int end, int width = 1) const {
    double load = cost(begin, end) / width;
    return load * load;
  }

  /// The fewest pieces that `stages` stages need.
  int least(int stages) const { return single ? stages : 2 * stages; }

  /// Where the last stage divides its range between its two chunks.
  int half(int begin, int end) const {
    if (single)
      return end;
    int middle = begin + 1;
    while (middle + 1 < end &&
           square(begin, middle + 1) + square(middle + 1, end) <
               square(begin, middle) + square(middle, end))
      ++middle;
    return middle;
  }

  /// Finds the best cuts under which no stage exceeds `bound`. If there are
  /// any, fills `counts` and returns true.
  bool tryBound(double bound, std::vector<int> &counts) const {
    // Layer s has the ranges that stages 0..s-1 can leave. The last stage takes
    // all that is left.
    std::vector<std::vector<State>> layers = {{{0, numPieces, -1, {}}}};
    for (int s = 0; s + 1 < numStages; ++s)
      layers.push_back(extend(bound, s, layers.back()));
    const State *best = nullptr;
    CutQuality bestQuality;
    for (const State &state : layers.back()) {
      if (cost(state.begin, state.end) > bound * width(numStages - 1))
        continue;
      CutQuality quality = state.quality;
      int middle = half(state.begin, state.end);
      quality.unevenness += square(state.begin, middle, width(numStages - 1)) +
                            square(middle, state.end, width(numStages - 1));
      if (best && !quality.isBetterThan(bestQuality))
        continue;
      best = &state;
      bestQuality = quality;
    }
    if (best)
      collect(*best, layers, counts);
    return best != nullptr;
  }

  std::vector<State> extend(double bound, int s,
                            const std::vector<State> &states) const {
    std::vector<State> next;
    std::vector<int> indexOf((numPieces + 1) * (numPieces + 1), -1);
    int left = least(numStages - s - 1);
    for (int parent = 0; parent != static_cast<int>(states.size()); ++parent) {
      const State &from = states[parent];
      int maxBack = single ? from.end : from.end - 1;
      for (int front = from.begin + 1; front + left <= maxBack; ++front) {
        int minBack = single ? from.end : front + left;
        for (int back = maxBack;
             back >= minBack &&
             cost(from.begin, front) + cost(back, from.end) <= bound * width(s);
             --back) {
          if (cost(front, back) > widthFrom[s + 1] * bound)
            continue;
          State to = {front, back, parent, from.quality};
          to.quality.bytes += pieces[front - 1].bytesAfter +
                              (single ? 0 : pieces[back - 1].bytesAfter);
          to.quality.unevenness += square(from.begin, front, width(s)) +
                                   square(back, from.end, width(s));
          int &index = indexOf[front * (numPieces + 1) + back];
          if (index < 0) {
            index = next.size();
            next.push_back(to);
          } else if (to.quality.isBetterThan(next[index].quality)) {
            next[index] = to;
          }
        }
      }
    }
    return next;
  }

  void collect(State state, const std::vector<std::vector<State>> &layers,
               std::vector<int> &counts) const {
    counts.assign(least(numStages), 0);
    int s = numStages - 1, middle = half(state.begin, state.end);
    counts[s] = middle - state.begin;
    if (!single)
      counts[s + 1] = state.end - middle;
    for (; s > 0; --s) {
      State outer = layers[s - 1][state.parent];
      counts[s - 1] = state.begin - outer.begin;
      if (!single)
        counts[2 * numStages - s] = outer.end - state.end;
      state = outer;
    }
  }

  std::span<const PieceWeight> pieces;
  int numPieces, numStages;
  bool single;
  std::vector<double> prefix;
  /// Entry s: the number of ranks of stages s, s + 1, ...
  std::vector<int> widthFrom;
};

/// The quality of cuts, with all loads up to `bound` taken as equal to it.
CutQuality evaluateAbove(double bound, std::span<const PieceWeight> pieces,
                         std::span<const int> stageOf,
                         std::span<const int> counts,
                         std::span<const int> widths) {
  CutQuality quality = evaluateCuts(pieces, stageOf, counts, widths);
  quality.heaviest = std::max(quality.heaviest, bound);
  return quality;
}

/// Moves pieces between neighbouring chunks while the quality improves.
void improve(double bound, std::span<const PieceWeight> pieces,
             std::span<const int> stageOf, std::span<const int> widths,
             std::vector<int> &counts) {
  CutQuality best = evaluateAbove(bound, pieces, stageOf, counts, widths);
  int numChunks = counts.size();
  auto attempt = [&](int from, int to) {
    bool improved = false;
    const std::vector<int> original = counts;
    for (int amount = 1; amount < original[from]; ++amount) {
      std::vector<int> moved = original;
      moved[from] -= amount;
      moved[to] += amount;
      CutQuality quality = evaluateAbove(bound, pieces, stageOf, moved, widths);
      if (!quality.isBetterThan(best))
        continue;
      best = quality;
      counts = std::move(moved);
      improved = true;
    }
    return improved;
  };
  // Moving pieces from one chunk to another shifts all cuts between the two:
  // one cut for neighbours, two cuts for chunks that are two apart.
  for (bool improved = true; improved;) {
    improved = false;
    for (int chunk = 0; chunk + 1 < numChunks; ++chunk)
      for (int other = chunk + 1; other < std::min(numChunks, chunk + 3);
           ++other) {
        improved |= attempt(chunk, other);
        improved |= attempt(other, chunk);
      }
  }
}

/// Splits the pieces into chunks of about equal cost.
std::vector<int> splitEvenly(std::span<const PieceWeight> pieces,
                             int numChunks) {
  double total = 0.0;
  for (const PieceWeight &piece : pieces)
    total += piece.cost;
  std::vector<int> counts(numChunks, 0);
  int next = 0, numPieces = pieces.size();
  double done = 0.0;
  for (int chunk = 0; chunk != numChunks; ++chunk) {
    double target = total * (chunk + 1) / numChunks;
    int last = numPieces - (numChunks - chunk - 1);
    do {
      done += pieces[next++].cost;
      ++counts[chunk];
    } while (next < last &&
             (chunk + 1 == numChunks || done + pieces[next].cost / 2 < target));
  }
  return counts;
}

/// The number of ways to cut, but at most `limit`.
uint64_t countWays(uint64_t numPieces, uint64_t numChunks, uint64_t limit) {
  // A way is a choice of the places that are cut or, equally, of those that are
  // not. With the smaller of both numbers, the product only grows.
  uint64_t chosen = std::min(numChunks - 1, numPieces - numChunks);
  uint64_t ways = 1;
  for (uint64_t i = 1; i <= chosen && ways < limit; ++i)
    ways = ways * (numPieces - i) / i;
  return std::min(ways, limit);
}

/// Tries all ways to cut and returns the best one.
std::vector<int> enumerate(double bound, std::span<const PieceWeight> pieces,
                           std::span<const int> stageOf,
                           std::span<const int> widths) {
  int numChunks = stageOf.size(), spare = pieces.size() - numChunks;
  std::vector<int> counts(numChunks, 1);
  counts.back() += spare;
  std::vector<int> best = counts;
  CutQuality bestQuality =
      evaluateAbove(bound, pieces, stageOf, counts, widths);
  // Counts up like an odometer whose digits have a bounded sum.
  for (int digit = 0; digit + 1 < numChunks;) {
    if (counts.back() > 1) {
      ++counts[digit];
      --counts.back();
      CutQuality quality =
          evaluateAbove(bound, pieces, stageOf, counts, widths);
      if (quality.isBetterThan(bestQuality)) {
        bestQuality = quality;
        best = counts;
      }
      digit = 0;
    } else {
      counts.back() += counts[digit] - 1;
      counts[digit] = 1;
      ++digit;
    }
  }
  return best;
}

/// Finds the lightest heaviest stage, then the best cuts among those whose
/// heaviest stage is about as light.
std::vector<int> enumerateTwice(std::span<const PieceWeight> pieces,
                                std::span<const int> stageOf,
                                std::span<const int> widths) {
  std::vector<int> lightest = enumerate(0.0, pieces, stageOf, widths);
  double heaviest = evaluateCuts(pieces, stageOf, lightest, widths).heaviest;
  return enumerate(heaviest * (1.0 + loadMargin), pieces, stageOf, widths);
}

bool isPalindrome(std::span<const int> stageOf) {
  size_t n = stageOf.size();
  for (size_t k = 0; k != n; ++k)
    if (stageOf[k] != static_cast<int>(std::min(k, n - 1 - k)))
      return false;
  return n % 2 == 0;
}

} // namespace

std::vector<int> veeline::chooseCuts(std::span<const PieceWeight> pieces,
                                     std::span<const int> stageOf,
                                     std::span<const int> widths) {
  int numChunks = stageOf.size();
  int numStages = 1 + *std::max_element(stageOf.begin(), stageOf.end());
  bool single = numStages == numChunks;
  if (!single && countWays(pieces.size(), numChunks, maxWays) < maxWays)
    return enumerateTwice(pieces, stageOf, widths);
  std::vector<int> counts = splitEvenly(pieces, numChunks);
  if (single || isPalindrome(stageOf))
    return NestedCuts(pieces, numStages, single, widths)
        .solve(evaluateCuts(pieces, stageOf, counts, widths).heaviest);
  counts = searchWindowCuts(pieces, stageOf, counts, widths);
  double heaviest = evaluateCuts(pieces, stageOf, counts, widths).heaviest;
  improve(heaviest * (1.0 + loadMargin), pieces, stageOf, widths, counts);
  return counts;
}
