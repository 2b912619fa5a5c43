//===- OffsetAllocator.cpp - offsets of buffers with known lifetimes ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/OffsetAllocator.h"

#include "veeline/Base/Check.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

using namespace veeline;

namespace {

using Order = std::vector<uint32_t>;

/// A limit for the search for a better order, counted in overlaps examined over
/// all its rounds. It takes half a second at most, and nothing for the usual
/// few hundred buffers.
constexpr uint64_t searchBudget = 10'000'000;
/// The search gives up after this many rounds without a better plan.
constexpr unsigned searchPatience = 64;

/// The points where intervals begin or end, in order of time, each with the
/// change of live bytes there.
std::vector<std::pair<int64_t, int64_t>>
liveChanges(std::span<const LiveInterval> intervals) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  changes.reserve(2 * intervals.size());
  for (const LiveInterval &interval : intervals) {
    if (interval.begin >= interval.end)
      continue;
    changes.emplace_back(interval.begin, static_cast<int64_t>(interval.size));
    changes.emplace_back(interval.end, -static_cast<int64_t>(interval.size));
  }
  // At the same point, ends sort before beginnings: intervals are half open.
  std::sort(changes.begin(), changes.end());
  return changes;
}

/// A segment tree of numbers. It finds those in a range that are larger than a
/// bound.
class MaxTree {
public:
  explicit MaxTree(size_t size) {
    while (leaves < size)
      leaves *= 2;
    clear();
  }

  void clear() { values.assign(2 * leaves, lowest); }

  void set(size_t place, int64_t value) {
    for (size_t node = leaves + place; node > 0; node /= 2)
      values[node] = std::max(values[node], value);
  }

  template <typename Fn>
  void forLarger(size_t begin, size_t end, int64_t bound, Fn visit) const {
    if (begin < end)
      visitNode(1, 0, leaves, begin, end, bound, visit);
  }

private:
  static constexpr int64_t lowest = std::numeric_limits<int64_t>::min();

  template <typename Fn>
  void visitNode(size_t node, size_t first, size_t size, size_t begin,
                 size_t end, int64_t bound, Fn &visit) const {
    if (first >= end || first + size <= begin || values[node] <= bound)
      return;
    if (size == 1)
      return visit(first);
    visitNode(2 * node, first, size / 2, begin, end, bound, visit);
    visitNode(2 * node + 1, first + size / 2, size / 2, begin, end, bound,
              visit);
  }

  size_t leaves = 1;
  std::vector<int64_t> values;
};

/// The intervals that have been placed. Finds those that are live at the same
/// time as a given one.
class PlacedIntervals {
public:
  PlacedIntervals(std::span<const LiveInterval> intervals,
                  const StreamLives &lives)
      : intervals(intervals), lives(lives), byBegin(intervals.size()),
        rank(intervals.size()), ends(lives.numStreams, MaxTree(rank.size())),
        owned(ends) {
    std::iota(byBegin.begin(), byBegin.end(), 0u);
    std::stable_sort(byBegin.begin(), byBegin.end(),
                     [&](uint32_t a, uint32_t b) {
                       return intervals[a].begin < intervals[b].begin;
                     });
    for (uint32_t i = 0; i < byBegin.size(); ++i)
      rank[byBegin[i]] = i;
  }

  void clear() {
    for (MaxTree &tree : ends)
      tree.clear();
    for (MaxTree &tree : owned)
      tree.clear();
  }

  void insert(uint32_t id) {
    for (size_t stream = 0; stream < lives.numStreams; ++stream)
      ends[stream].set(rank[id], endOf(id, stream));
    owned[lives.streams[id]].set(rank[id], 1);
  }

  template <typename Fn> void forOverlapping(uint32_t id, Fn visit) const {
    auto visitPlace = [&](size_t place) { visit(byBegin[place]); };
    int64_t begin = intervals[id].begin;
    // First the intervals that begin no later than this one, then those that
    // do.
    size_t later = countBefore(begin + 1);
    ends[lives.streams[id]].forLarger(0, later, begin, visitPlace);
    for (size_t stream = 0; stream < lives.numStreams; ++stream)
      owned[stream].forLarger(later, countBefore(endOf(id, stream)), 0,
                              visitPlace);
  }

private:
  int64_t endOf(uint32_t id, size_t stream) const {
    return lives.ends[id * lives.numStreams + stream];
  }

  size_t countBefore(int64_t point) const {
    auto it = std::lower_bound(
        byBegin.begin(), byBegin.end(), point,
        [&](uint32_t id, int64_t p) { return intervals[id].begin < p; });
    return it - byBegin.begin();
  }

  std::span<const LiveInterval> intervals;
  const StreamLives &lives;
  Order byBegin;
  std::vector<uint32_t> rank;
  /// For each stream, the ends of all intervals there.
  std::vector<MaxTree> ends;
  /// For each stream, the ends of the intervals that begin on it.
  std::vector<MaxTree> owned;
};

/// The placed intervals of a plan on one stream, sorted by offset. As long as
/// there are not too many, it is faster to look at all of them than to find and
/// sort those that are live at the same time as a given one.
class PlacedByOffset {
public:
  static constexpr size_t mostIntervals = 2048;

  void clear() { ranges.clear(); }

  void insert(const LiveInterval &interval, uint64_t offset) {
    Range range{offset, offset + interval.size, interval.begin, interval.end};
    auto place = std::upper_bound(ranges.begin(), ranges.end(), range,
                                  [](const Range &a, const Range &b) {
                                    return std::pair(a.offset, a.end) <
                                           std::pair(b.offset, b.end);
                                  });
    ranges.insert(place, range);
  }

  /// Calls `visit` with the bytes of each placed interval that is live at the
  /// same time as `one` or `other` (which may be null), in ascending order of
  /// offset. Returns the number of such overlaps.
  template <typename Fn>
  size_t forOverlapping(const LiveInterval &one, const LiveInterval *other,
                        Fn visit) const {
    const LiveInterval &second = other ? *other : one;
    size_t overlaps = 0, overlapsSecond = 0;
    for (const Range &range : ranges) {
      bool first = range.from < one.end && one.begin < range.until;
      bool also = range.from < second.end && second.begin < range.until;
      overlaps += first;
      overlapsSecond += also;
      if (first | also)
        visit(range.offset, range.end);
    }
    return overlaps + (other ? overlapsSecond : 0);
  }

private:
  /// A placed interval: its bytes, and the points between which it is live.
  struct Range {
    uint64_t offset, end;
    int64_t from, until;
  };
  std::vector<Range> ranges;
};

/// Finds the smallest gap of at least `size` bytes between ranges. These are
/// added in ascending order.
class BestGap {
public:
  explicit BestGap(uint64_t size) : size(size) {}

  void add(uint64_t begin, uint64_t end) {
    if (begin > top && begin - top >= size && begin - top < smallest) {
      smallest = begin - top;
      result = top;
    }
    top = std::max(top, end);
  }
  /// The start of the gap or, if there is none, the end of all ranges.
  uint64_t get() const { return smallest == none ? top : result; }

private:
  static constexpr uint64_t none = std::numeric_limits<uint64_t>::max();
  uint64_t size, top = 0, result = 0, smallest = none;
};

/// Tries orders and keeps the best plan. In a loop, a buffer may have a second
/// interval for the next turn, at the same offset. These intervals have the
/// numbers from `numBuffers` on, and `heads` has their buffers.
class Planner {
public:
  Planner(std::span<const LiveInterval> given, const StreamLives &lives,
          std::span<const uint32_t> heads, uint64_t alignment)
      : intervals(given.begin(), given.end()), placed(intervals, lives),
        isSmall(lives.numStreams == 1 &&
                given.size() <= PlacedByOffset::mostIntervals),
        offsets(given.size()), tails(given.size(), none) {
    auto numBuffers = static_cast<uint32_t>(given.size() - heads.size());
    for (uint32_t i = 0; i < heads.size(); ++i)
      tails[heads[i]] = numBuffers + i;
    for (LiveInterval &interval : intervals)
      interval.size = (interval.size + alignment - 1) & ~(alignment - 1);
    for (uint32_t i = 0; i < numBuffers; ++i)
      if (intervals[i].size && intervals[i].begin < intervals[i].end)
        ids.push_back(i);
    lowerBound = peakLiveBytes(intervals);
    best.offsets.assign(given.size(), 0);
    best.totalBytes = ids.empty() ? 0 : std::numeric_limits<uint64_t>::max();
    best.peakLiveBytes = peakLiveBytes(given);
  }

  OffsetPlan run() {
    for (auto order : {&Planner::bySize, &Planner::byBreadth, &Planner::byBegin,
                       &Planner::byArea}) {
      if (best.totalBytes == lowerBound)
        break;
      tryOrder((this->*order)());
    }
    improve();
    return std::move(best);
  }

private:
  /// The ids in descending order of a key. Ties keep their order.
  template <typename Key> Order sorted(Key key) const {
    Order order = ids;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return key(intervals[a]) > key(intervals[b]);
    });
    return order;
  }

  Order bySize() const {
    return sorted([](const LiveInterval &i) {
      return std::make_pair(i.size, i.end - i.begin);
    });
  }

  Order byArea() const {
    return sorted([](const LiveInterval &i) {
      return static_cast<double>(i.size) * static_cast<double>(i.end - i.begin);
    });
  }

  Order byBegin() const {
    return sorted([](const LiveInterval &i) {
      return std::make_tuple(-i.begin, i.end, i.size);
    });
  }

  /// Buffers come first that are live where most bytes are live.
  Order byBreadth() const {
    std::vector<uint64_t> breadth = breadths();
    Order order = ids;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::make_pair(breadth[a], intervals[a].size) >
             std::make_pair(breadth[b], intervals[b].size);
    });
    return order;
  }

  /// For each interval, the largest sum of live bytes during its life. Uses a
  /// sparse table of maxima.
  std::vector<uint64_t> breadths() const {
    std::vector<int64_t> times;
    std::vector<std::vector<uint64_t>> maxima(1);
    int64_t live = 0;
    for (auto [time, change] : liveChanges(intervals)) {
      live += change;
      if (times.empty() || times.back() != time) {
        times.push_back(time);
        maxima[0].push_back(0);
      }
      maxima[0].back() = static_cast<uint64_t>(live);
    }
    for (size_t width = 1; 2 * width <= times.size(); width *= 2) {
      const std::vector<uint64_t> &last = maxima.back();
      std::vector<uint64_t> next(last.size() - width);
      for (size_t i = 0; i < next.size(); ++i)
        next[i] = std::max(last[i], last[i + width]);
      maxima.push_back(std::move(next));
    }
    auto indexOf = [&](int64_t time) -> size_t {
      return std::lower_bound(times.begin(), times.end(), time) - times.begin();
    };
    std::vector<uint64_t> breadth(intervals.size());
    for (uint32_t id : ids) {
      size_t first = indexOf(intervals[id].begin);
      size_t last = indexOf(intervals[id].end);
      size_t level = std::bit_width(last - first) - 1;
      breadth[id] = std::max(maxima[level][first],
                             maxima[level][last - (size_t{1} << level)]);
    }
    return breadth;
  }

  /// The offset of the smallest gap for `id` between the placed intervals.
  uint64_t findGap(uint32_t id) {
    uint32_t tail = tails[id];
    BestGap gap(intervals[id].size);
    if (isSmall) {
      work +=
          1 + byOffset.forOverlapping(
                  intervals[id], tail != none ? &intervals[tail] : nullptr,
                  [&](uint64_t begin, uint64_t end) { gap.add(begin, end); });
      return gap.get();
    }
    taken.clear();
    auto take = [&](uint32_t other) {
      taken.emplace_back(offsets[other],
                         offsets[other] + intervals[other].size);
    };
    placed.forOverlapping(id, take);
    if (tail != none)
      placed.forOverlapping(tail, take);
    work += taken.size() + 1;
    std::sort(taken.begin(), taken.end());
    for (auto [begin, end] : taken)
      gap.add(begin, end);
    return gap.get();
  }

  void insert(uint32_t id) {
    if (isSmall)
      byOffset.insert(intervals[id], offsets[id]);
    else
      placed.insert(id);
  }

  /// Places the buffers in `order`, and keeps the plan if it is the best one so
  /// far. Stops as soon as it cannot be.
  bool tryOrder(const Order &order) {
    if (isSmall)
      byOffset.clear();
    else
      placed.clear();
    uint64_t total = 0;
    for (uint32_t id : order) {
      uint32_t tail = tails[id];
      offsets[id] = findGap(id);
      total = std::max(total, offsets[id] + intervals[id].size);
      if (total >= best.totalBytes)
        return false;
      insert(id);
      if (tail == none)
        continue;
      offsets[tail] = offsets[id];
      insert(tail);
    }
    best.totalBytes = total;
    for (uint32_t id : ids)
      best.offsets[id] = offsets[id];
    bestOrder = order;
    return true;
  }

  /// Improves the best plan: moves the buffers that end at its top to the front
  /// of the order and, from round to round, more and more of those placed
  /// highest.
  void improve() {
    uint64_t limit = work + searchBudget;
    unsigned patience = 0;
    while (best.totalBytes > lowerBound && patience < searchPatience &&
           work < limit)
      patience = tryOrder(promoteTop(patience)) ? 0 : patience + 1;
  }

  /// The order of the best plan, with the buffers in front that reach into its
  /// uppermost part. `round` determines how large this part is, and whether the
  /// longest-lived of these buffers come first.
  Order promoteTop(unsigned round) const {
    uint64_t excess = best.totalBytes - lowerBound;
    uint64_t part = excess * (1 + round / 2);
    uint64_t line = best.totalBytes > part ? best.totalBytes - part : 0;
    Order order = bestOrder;
    auto middle =
        std::stable_partition(order.begin(), order.end(), [&](uint32_t id) {
          return best.offsets[id] + intervals[id].size > line;
        });
    if (round % 2)
      std::stable_sort(order.begin(), middle, [&](uint32_t a, uint32_t b) {
        return intervals[a].end - intervals[a].begin >
               intervals[b].end - intervals[b].begin;
      });
    return order;
  }

  std::vector<LiveInterval> intervals;
  PlacedIntervals placed;
  /// Used instead of `placed` if there are few intervals.
  PlacedByOffset byOffset;
  bool isSmall;
  std::vector<uint64_t> offsets;
  /// For each interval, the second interval of its buffer, or `none`.
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> tails;
  /// The buffers that need memory.
  Order ids;
  std::vector<std::pair<uint64_t, uint64_t>> taken;
  uint64_t lowerBound = 0;
  uint64_t work = 0;
  Order bestOrder;
  OffsetPlan best;
};

/// Lives on one stream, where all operations run one after the other.
StreamLives onOneStream(std::span<const LiveInterval> intervals) {
  StreamLives lives;
  lives.streams.assign(intervals.size(), 0);
  for (const LiveInterval &interval : intervals)
    lives.ends.push_back(interval.end);
  return lives;
}

/// The buffers of a loop as intervals within one turn. After the intervals of
/// all buffers come the parts of `heads` that are live in the next turn.
struct Turn {
  std::vector<LiveInterval> intervals;
  std::vector<uint32_t> heads;

  Turn(std::span<const LiveInterval> given, int64_t turn)
      : intervals(given.begin(), given.end()) {
    for (uint32_t i = 0; i < given.size(); ++i) {
      if (given[i].end <= turn)
        continue;
      intervals[i].end = turn;
      intervals.push_back({0, given[i].end - turn, given[i].size});
      heads.push_back(i);
    }
  }
};

} // namespace

uint64_t veeline::peakLiveBytes(std::span<const LiveInterval> intervals) {
  int64_t live = 0, peak = 0;
  for (auto [time, change] : liveChanges(intervals))
    peak = std::max(peak, live += change);
  return static_cast<uint64_t>(peak);
}

OffsetPlan veeline::planOffsets(std::span<const LiveInterval> intervals,
                                uint64_t alignment) {
  return planOffsets(intervals, onOneStream(intervals), alignment);
}

OffsetPlan veeline::planOffsets(std::span<const LiveInterval> intervals,
                                const StreamLives &lives, uint64_t alignment) {
  OffsetPlan plan = Planner(intervals, lives, {}, alignment).run();
  VEELINE_CHECK(isValidPlan(intervals, lives, plan, alignment),
                "buffers that are live at the same time overlap");
  return plan;
}

OffsetPlan veeline::planLoopOffsets(std::span<const LiveInterval> intervals,
                                    int64_t turn, uint64_t alignment) {
  Turn parts(intervals, turn);
  OffsetPlan plan = Planner(parts.intervals, onOneStream(parts.intervals),
                            parts.heads, alignment)
                        .run();
  plan.offsets.resize(intervals.size());
  VEELINE_CHECK(isValidLoopPlan(intervals, turn, plan, alignment),
                "buffers that are live at the same time overlap");
  return plan;
}

uint64_t veeline::peakLoopBytes(std::span<const LiveInterval> intervals,
                                int64_t turn) {
  return peakLiveBytes(Turn(intervals, turn).intervals);
}

bool veeline::isValidLoopPlan(std::span<const LiveInterval> intervals,
                              int64_t turn, const OffsetPlan &plan,
                              uint64_t alignment) {
  if (plan.offsets.size() != intervals.size())
    return false;
  Turn parts(intervals, turn);
  OffsetPlan whole = plan;
  for (uint32_t head : parts.heads) {
    if (intervals[head].end - turn > intervals[head].begin)
      return false;
    whole.offsets.push_back(plan.offsets[head]);
  }
  return isValidPlan(parts.intervals, whole, alignment);
}

bool veeline::isValidPlan(std::span<const LiveInterval> intervals,
                          const OffsetPlan &plan, uint64_t alignment) {
  return isValidPlan(intervals, onOneStream(intervals), plan, alignment);
}

bool veeline::isValidPlan(std::span<const LiveInterval> intervals,
                          const StreamLives &lives, const OffsetPlan &plan,
                          uint64_t alignment) {
  if (plan.offsets.size() != intervals.size())
    return false;
  Order byBegin;
  for (uint32_t i = 0; i < intervals.size(); ++i)
    if (intervals[i].size && intervals[i].begin < intervals[i].end)
      byBegin.push_back(i);
  std::stable_sort(byBegin.begin(), byBegin.end(), [&](uint32_t a, uint32_t b) {
    return intervals[a].begin < intervals[b].begin;
  });
  auto endsOf = [&](uint32_t id) {
    return std::span(lives.ends)
        .subspan(id * lives.numStreams, lives.numStreams);
  };
  Order live;
  for (uint32_t id : byBegin) {
    uint64_t begin = plan.offsets[id], end = begin + intervals[id].size;
    if (begin % alignment != 0 || end > plan.totalBytes)
      return false;
    std::erase_if(live, [&](uint32_t other) {
      auto ends = endsOf(other);
      return *std::max_element(ends.begin(), ends.end()) <= intervals[id].begin;
    });
    for (uint32_t other : live)
      if (endsOf(other)[lives.streams[id]] > intervals[id].begin &&
          begin < plan.offsets[other] + intervals[other].size &&
          plan.offsets[other] < end)
        return false;
    live.push_back(id);
  }
  return true;
}
