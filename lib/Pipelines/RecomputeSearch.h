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
  /// Whether chunks of stages that are within their limits get a choice, too:
  /// orders that depend on costs may be better for it.
  bool allStages = true;
  /// Combinations of all chunks that are all simulated; and the operations of
  /// all these simulations.
  size_t maxExact = 4096, maxExactOps = size_t(1) << 19;
  /// Combinations of one stage's chunks that are all estimated.
  size_t maxOfStage = 4096;
  /// Whether the schedule can be told to hold less.
  bool canTighten = false;
};

/// Chooses what each chunk computes again, among the points of
/// RecomputePoints.h, so that every arena is within its limit in the least
/// time.
///
/// Where the combinations of all chunks with a choice are few, all of them are
/// simulated, and the first in the order of their predicted steps whose plan
/// fits is the answer: exactly the least time in the schedule's own order.
///
/// Where they are many, or where orders that hold less may be faster than
/// computing more again, combinations are predicted under limits for the
/// schedule, by an estimate of what an arena holds, which plans correct: all of
/// them, or those in which the work of no stage exceeds an amount, for all
/// amounts. Then one or two chunks of a stage change for as long as that makes
/// the predicted step shorter.
class RecomputeSearch {
public:
  using Answer = mlir::FailureOr<std::optional<MemoryAttempt>>;
  using AttemptFn = llvm::function_ref<mlir::FailureOr<MemoryAttempt>(
      std::vector<Recompute> policies, std::vector<int64_t> scheduleLimits)>;

  /// `start` is the attempt in which every chunk that is Auto in `asked`
  /// computes nothing again; `attempt` is asked for all others.
  RecomputeSearch(MemoryTrial &trial, llvm::ArrayRef<Recompute> asked,
                  llvm::ArrayRef<int64_t> limits, const MemoryAttempt &start,
                  const SearchEffort &effort, AttemptFn attempt);

  /// The best that fits, or none. Fails with a diagnostic.
  Answer run();

  /// Choices from less time to fewer bytes, the last one of the least bytes by
  /// estimate, where each stage runs as in its one of `orders`: for who can
  /// make room in other ways too. To be asked after `run`.
  std::vector<std::vector<Recompute>>
  getSteps(llvm::ArrayRef<schedule::Schedule> orders) const;

private:
  /// For each chunk the number of one of its points.
  using Choice = std::vector<size_t>;
  /// One of a stage's combinations.
  struct Step {
    Choice choice;
    double work;
    int64_t held;
  };
  struct Stage {
    int number;
    /// Those with a choice.
    std::vector<int> chunks;
  };
  struct Prediction {
    double makespan;
    Choice choice;
    /// For the schedule; empty: none.
    std::vector<int64_t> bounds;
    /// How many plans the gaps are of; and whether it was planned itself.
    int numPlans = 0;
    bool wasPlanned = false;
  };

  mlir::LogicalResult addStage(int number);
  mlir::LogicalResult findPoints();
  const ChunkVariant &getPoint(const Choice &choice, int chunk) const {
    return *points[chunk][choice[chunk]];
  }
  std::vector<Recompute> getPolicies(const Choice &choice) const;
  size_t countCombinations(llvm::ArrayRef<int> chunks) const;
  bool advance(llvm::ArrayRef<int> chunks, Choice &choice) const;

  int64_t estimateHeld(const schedule::Schedule &order, int stage,
                       const Choice &choice, bool isBound) const;
  std::optional<schedule::Schedule>
  makeOrder(const schedule::Problem &problem) const;
  schedule::Problem makeProblem(const Choice &choice) const;
  bool isTooLarge(const schedule::Schedule &order, const Choice &choice) const;
  std::vector<int64_t> estimateArenas(const schedule::Schedule &order,
                                      const Choice &choice,
                                      llvm::ArrayRef<int64_t> gaps) const;
  std::optional<Prediction> predict(const Choice &choice,
                                    llvm::ArrayRef<int64_t> gaps) const;
  bool isSmall() const;
  Answer runExactly();

  std::vector<Step> makeSteps(const Stage &stage,
                              const schedule::Schedule &order) const;
  std::vector<Step> enumerateSteps(const Stage &stage,
                                   const schedule::Schedule &order) const;
  std::vector<Step> followRatios(const Stage &stage,
                                 const schedule::Schedule &order) const;
  double getStageWork(const Stage &stage, const Choice &choice) const;
  std::vector<Choice> makeAllChoices() const;
  std::vector<Choice> makeChoicesByWork(llvm::ArrayRef<int64_t> gaps) const;
  Answer runByEstimates(std::vector<int64_t> gaps);
  std::vector<Choice> getNeighbours(const Choice &choice) const;
  mlir::LogicalResult improve(MemoryAttempt &best, Choice choice);

  MemoryTrial &trial;
  std::vector<Recompute> asked;
  std::vector<int64_t> limits;
  const MemoryAttempt &start;
  SearchEffort effort;
  AttemptFn attempt;
  bool isFused = false;
  /// Of the whole schedule.
  size_t numOps = 0;
  /// Of each chunk; the first is that of `start`.
  std::vector<std::vector<const ChunkVariant *>> points;
  std::vector<Stage> stages;
};

} // namespace veeline

#endif // VEELINE_LIB_PIPELINES_RECOMPUTESEARCH_H
