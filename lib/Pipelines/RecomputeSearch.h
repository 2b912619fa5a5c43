//===- RecomputeSearch.h - the least time within limits ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_PIPELINES_RECOMPUTESEARCH_H
#define VEELINE_LIB_PIPELINES_RECOMPUTESEARCH_H

#include "MemoryAttempt.h"
#include "RecomputePoints.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace veeline {

/// How much a search may take.
struct SearchEffort {
  /// Corners of each chunk's hull, besides its ends.
  int maxCuts = 6;
  /// Whether what users can ask for by name or ratio counts as well.
  bool withNamed = true;
  /// Whether chunks of ranks that are within their limits get a choice, too:
  /// orders that depend on costs may be better for it.
  bool allRanks = true;
  /// Combinations of all chunks that are all simulated; and the operations of
  /// all these simulations.
  size_t maxExact = 4096, maxExactOps = size_t(1) << 19;
  /// Combinations of one rank's chunks that are all estimated.
  size_t maxOfRank = 4096;
};

/// Chooses what each chunk computes again, among the points of
/// RecomputePoints.h, so that every arena is within its limit in the least
/// time.
///
/// Where the combinations of all chunks with a choice are
/// few, all of them are simulated, and the first in the order of their
/// predicted steps whose plan fits is the answer: exactly the least time.
///
/// Where they are many, each rank goes along its own combinations, of which no
/// one is both slower and larger than another, by an estimate of what it holds;
/// where even those of a rank are many, from point to point, each time with
/// most bytes for the added time. Plans correct the estimates, and each rank
/// steps back as far as plans allow. Then one or two chunks of a rank change
/// for as long as that makes the predicted step shorter.
class RecomputeSearch {
public:
  using Answer = mlir::FailureOr<std::optional<MemoryAttempt>>;
  using AttemptFn = llvm::function_ref<mlir::FailureOr<MemoryAttempt>(
      std::vector<Recompute> policies)>;

  /// `start` is the attempt in which every chunk that is Auto in `asked`
  /// computes nothing again; `attempt` is asked for all others.
  RecomputeSearch(MemoryTrial &trial, llvm::ArrayRef<Recompute> asked,
                  llvm::ArrayRef<int64_t> limits, const MemoryAttempt &start,
                  const SearchEffort &effort, AttemptFn attempt);

  /// The best that fits, or none. Fails with a diagnostic.
  Answer run();

  /// Choices from less time to fewer bytes, the last one of the least bytes by
  /// estimate, where each rank runs as in its one of `orders`: for who can make
  /// room in other ways too. To be asked after `run`.
  std::vector<std::vector<Recompute>>
  getSteps(llvm::ArrayRef<schedule::Schedule> orders) const;

private:
  /// For each chunk the number of one of its points.
  using Choice = std::vector<size_t>;
  /// One of a rank's combinations.
  struct Step {
    Choice choice;
    double work;
    int64_t held;
  };
  struct Rank {
    int number;
    /// Those with a choice.
    std::vector<int> chunks;
    /// Ascending by work, descending by bytes.
    std::vector<Step> steps;
    size_t current = 0;
    /// What plans took beyond the estimate, the last one.
    int64_t gap = 0;
  };

  mlir::LogicalResult addRank(int number);
  mlir::LogicalResult findPoints();
  const ChunkVariant &getPoint(const Choice &choice, int chunk) const {
    return *points[chunk][choice[chunk]];
  }
  std::vector<Recompute> getPolicies(const Choice &choice) const;
  size_t countCombinations(llvm::ArrayRef<int> chunks) const;
  bool advance(llvm::ArrayRef<int> chunks, Choice &choice) const;

  int64_t estimateHeld(const schedule::Schedule &order, int rank,
                       const Choice &choice, bool isBound) const;
  std::optional<double> predict(const Choice &choice) const;
  Answer runExactly();

  std::vector<Step> makeSteps(const Rank &rank,
                              const schedule::Schedule &order) const;
  std::vector<Step> enumerateSteps(const Rank &rank,
                                   const schedule::Schedule &order) const;
  std::vector<Step> followRatios(const Rank &rank,
                                 const schedule::Schedule &order) const;
  double getRankWork(const Rank &rank, const Choice &choice) const;
  bool moveOn(Rank &rank, const MemoryAttempt &refused);
  Choice getCurrent() const;
  Answer runBySteps();
  mlir::LogicalResult stepBack(MemoryAttempt &best);
  std::vector<Choice> getNeighbours(const Choice &choice) const;
  mlir::LogicalResult improve(MemoryAttempt &best, Choice choice);

  MemoryTrial &trial;
  std::vector<Recompute> asked;
  std::vector<int64_t> limits;
  const MemoryAttempt &start;
  SearchEffort effort;
  AttemptFn attempt;
  bool isFused = false;
  /// Of each chunk; the first is that of `start`.
  std::vector<std::vector<const ChunkVariant *>> points;
  std::vector<Rank> ranks;
};

} // namespace veeline

#endif // VEELINE_LIB_PIPELINES_RECOMPUTESEARCH_H
