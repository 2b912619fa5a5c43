//===- RecomputePoints.cpp - choices of recomputation of a chunk ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecomputePoints.h"

using namespace mlir;
using namespace veeline;

double veeline::getWork(const schedule::Chunk &chunk, bool isFused) {
  return chunk.forward + chunk.recompute +
         (isFused ? chunk.cost(schedule::OpKind::Backward)
                  : chunk.backwardInput + chunk.backwardWeight);
}

namespace {

class PointFinder {
public:
  PointFinder(MemoryTrial &trial, int number, bool isFused)
      : trial(trial), number(number), isFused(isFused) {}

  LogicalResult run(int maxCuts, bool withNamed);
  std::vector<const ChunkVariant *> take();

private:
  FailureOr<const ChunkVariant *> add(const Recompute &policy);
  LogicalResult addCorners(int maxCuts);
  bool isAtLeastAsGood(const ChunkVariant &a, const ChunkVariant &b) const;
  double time(const ChunkVariant &point) const {
    return getWork(point.chunk, isFused);
  }
  static int64_t bytes(const ChunkVariant &point) {
    return point.chunk.forwardMemory;
  }

  MemoryTrial &trial;
  int number;
  bool isFused;
  std::vector<const ChunkVariant *> points;
};

} // namespace

FailureOr<const ChunkVariant *> PointFinder::add(const Recompute &policy) {
  auto variant = trial.getVariant(number, policy);
  if (succeeded(variant))
    points.push_back(*variant);
  return variant;
}

/// Finds corners of the convex hull. If there is a corner between two known
/// ones, the rate at which both cost the same finds it. The widest gap is
/// divided first.
LogicalResult PointFinder::addCorners(int maxCuts) {
  auto first = add({RecomputeKind::None});
  auto last = add({RecomputeKind::Rate, 0.0});
  if (failed(first) || failed(last))
    return failure();
  struct Gap {
    const ChunkVariant *from, *to;
    int64_t width() const { return bytes(*from) - bytes(*to); }
  };
  std::vector<Gap> gaps = {{*first, *last}};
  while (maxCuts > 0 && !gaps.empty()) {
    auto widest = llvm::max_element(
        gaps, [](const Gap &a, const Gap &b) { return a.width() < b.width(); });
    Gap gap = *widest;
    gaps.erase(widest);
    // Rates are in times of the cost model, so measured time is scaled back, by
    // the factor of the forward.
    double added =
        (time(*gap.to) - time(*gap.from)) / trial.getForwardScale(number);
    if (gap.width() <= 0 || added <= 0)
      continue;
    --maxCuts;
    auto corner = add({RecomputeKind::Rate, gap.width() / added});
    if (failed(corner))
      return failure();
    if (bytes(**corner) >= bytes(*gap.from) ||
        bytes(**corner) <= bytes(*gap.to))
      continue;
    gaps.push_back({gap.from, *corner});
    gaps.push_back({*corner, gap.to});
  }
  return success();
}

LogicalResult PointFinder::run(int maxCuts, bool withNamed) {
  if (failed(addCorners(maxCuts)))
    return failure();
  if (!withNamed)
    return success();
  for (RecomputeKind kind :
       {RecomputeKind::Balanced, RecomputeKind::Cheap, RecomputeKind::Full})
    if (failed(add({kind})))
      return failure();
  int64_t numPieces = trial.getPieces()[number], before = 0;
  for (double ratio : {0.25, 0.5, 0.75}) {
    auto count = static_cast<int64_t>(ratio * numPieces);
    if (std::exchange(before, count) != count &&
        failed(add({RecomputeKind::Tail, ratio})))
      return failure();
  }
  return success();
}

/// Whether `a` is not slower than `b` and never holds more.
bool PointFinder::isAtLeastAsGood(const ChunkVariant &a,
                                  const ChunkVariant &b) const {
  auto afterInput = [](const ChunkVariant &point) {
    return point.chunk.forwardMemory + point.chunk.backwardInputMemory;
  };
  return time(a) <= time(b) && bytes(a) <= bytes(b) &&
         (isFused || afterInput(a) <= afterInput(b));
}

std::vector<const ChunkVariant *> PointFinder::take() {
  llvm::stable_sort(points, [&](const auto *a, const auto *b) {
    return std::pair(time(*a), bytes(*a)) < std::pair(time(*b), bytes(*b));
  });
  std::vector<const ChunkVariant *> kept;
  for (const ChunkVariant *point : points)
    if (llvm::none_of(kept, [&](const ChunkVariant *other) {
          return isAtLeastAsGood(*other, *point);
        }))
      kept.push_back(point);
  return kept;
}

FailureOr<std::vector<const ChunkVariant *>>
veeline::findRecomputePoints(MemoryTrial &trial, int number, bool isFused,
                             int maxCuts, bool withNamed) {
  PointFinder finder(trial, number, isFused);
  if (failed(finder.run(maxCuts, withNamed)))
    return failure();
  return finder.take();
}
