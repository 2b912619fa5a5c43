//===- RecomputeSearch.h - recomputation within memory limits ---*- C++ -*-===//
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

#include <map>
#include <set>

namespace veeline {

/// Limits on the effort of a search.
struct SearchEffort {
  /// The number of corners of each chunk's hull, besides its two ends.
  int maxCuts = 6;
  /// Whether to add the choices that users can ask for by name or ratio.
  bool withNamed = true;
  /// Whether to choose also for stages within their limits: orders that depend
  /// on costs may get better.
  bool allStages = true;
  /// All combinations are simulated if there are at most `maxExact`, and their
  /// simulations have at most `maxExactOps` operations in total.
  size_t maxExact = 4096, maxExactOps = size_t(1) << 19;
  /// Limits if the schedule searches. `maxSearchedOps` is the number of
  /// operations in all orders that are made to compare choices, or to change
  /// the best one; each order takes a few milliseconds. `maxFitted` is the
  /// number of choices that are carried through to a plan that fits, in an
  /// order that was searched for; the best of these is taken.
  size_t maxSearchedOps = size_t(1) << 18;
  int maxFitted = 6;
  /// The number of changes of the best choice that are carried through to a
  /// plan.
  int maxChanged = 16;
  /// All combinations of one stage's chunks are estimated if there are at most
  /// this many.
  size_t maxOfStage = 4096;
  /// Whether the schedule can be generated under limits.
  bool canTighten = false;
};

/// Chooses what each chunk recomputes, among the points of RecomputePoints.h,
/// so that every arena is within its limit in the least time.
///
/// If there are few combinations of all chunks with a choice, all of them are
/// simulated. The first one, by predicted step, whose plan fits is the answer:
/// exactly the least time in the schedule's own order.
///
/// If there are many, or if orders that hold less may be faster than more
/// recomputation, combinations are predicted under limits for the schedule, by
/// an estimate of the arenas that plans correct. These are all combinations or,
/// for each amount of work, two in which no stage exceeds it. Then one or two
/// chunks of a stage change for as long as that makes the predicted step
/// shorter.
///
/// Orders are made for a combination only once its lower bound (Bounds.h),
/// which knows what memory is left, is less than what all others are predicted
/// to take. A schedule that searches for its orders does not while combinations
/// are predicted: list scheduling stands for it.
class RecomputeSearch {
public:
  using Answer = mlir::FailureOr<std::optional<MemoryAttempt>>;
  using AttemptFn = llvm::function_ref<mlir::FailureOr<MemoryAttempt>(
      std::vector<Recompute> policies, std::vector<int64_t> scheduleLimits)>;

  /// `start` is the attempt in which every chunk that is Auto in `asked`
  /// recomputes nothing. `attempt` makes all other attempts.
  RecomputeSearch(MemoryTrial &trial, llvm::ArrayRef<Recompute> asked,
                  llvm::ArrayRef<int64_t> limits, const MemoryAttempt &start,
                  const SearchEffort &effort, AttemptFn attempt);

  /// Returns the best attempt that fits, or none. Fails with a diagnostic.
  Answer run();

  /// Choices from the least time to the fewest bytes, by estimate, in which
  /// each stage runs in its order of `orders`. For callers that can also save
  /// memory in other ways. Call it after `run`. With `most`, returns only
  /// choices that may take less than that.
  std::vector<std::vector<Recompute>>
  getSteps(llvm::ArrayRef<schedule::Schedule> orders,
           std::optional<double> most) const;

private:
  /// For each chunk, the number of one of its points.
  using Choice = std::vector<size_t>;
  /// One combination of the points of a stage's chunks: its time, and the bytes
  /// that it holds.
  struct Step {
    Choice choice;
    double work;
    int64_t held;
  };
  struct Stage {
    int number;
    /// The chunks of the stage that have a choice.
    std::vector<int> chunks;
  };
  /// Results of an order that the schedule made: the step, the most that each
  /// stage's rank holds, and the same with workspaces.
  struct MadeOrder {
    double step;
    std::vector<int64_t> peaks, held;
  };
  struct Prediction {
    double step;
    Choice choice;
    /// The limits for the schedule. Empty if there are none.
    std::vector<int64_t> bounds = {};
    /// The number of plans that had been made before this prediction, or -1 if
    /// `step` is only a lower bound; and whether this choice was planned
    /// itself.
    int numPlans = -1;
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
  fitToChunks(const schedule::Problem &problem) const;
  std::optional<schedule::Schedule>
  makeOrder(const schedule::Problem &problem) const;
  std::optional<MadeOrder> describeOrder(const schedule::Problem &problem,
                                         const schedule::Schedule &order,
                                         const Choice &choice) const;
  const std::optional<MadeOrder> &madeFor(const schedule::Problem &problem,
                                          const Choice &choice);
  schedule::Problem makeProblem(const Choice &choice,
                                bool isBound = false) const;
  std::optional<double> getLeastStep(const Choice &choice,
                                     llvm::ArrayRef<int64_t> gaps,
                                     bool isBound = false) const;
  bool isTooLarge(const schedule::Schedule &order, const Choice &choice) const;
  std::optional<Prediction> predict(const Choice &choice,
                                    llvm::ArrayRef<int64_t> gaps);
  void allowOrders();
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
  Answer runByEstimates(std::vector<int64_t> gaps, Choice &chosen);
  std::vector<Choice> getNeighbours(const Choice &choice) const;
  std::vector<Prediction> getShorter(const MemoryAttempt &best,
                                     const Choice &choice, double most,
                                     llvm::ArrayRef<int64_t> gaps) const;
  mlir::LogicalResult improve(MemoryAttempt &best, Choice choice);

  MemoryTrial &trial;
  std::vector<Recompute> asked;
  std::vector<int64_t> limits;
  const MemoryAttempt &start;
  SearchEffort effort;
  AttemptFn attempt;
  bool isFused = false;
  /// Whether no order splits a backward, whatever the choice is; and whether
  /// the schedule searches for orders.
  bool neverSplits = false, searches = false;
  /// The number of operations of the whole schedule.
  size_t numOps = 0;
  /// For each chunk, its points. The first one is that of `start`.
  std::vector<std::vector<const ChunkVariant *>> points;
  std::vector<Stage> stages;
  /// The chunks of all stages that have a choice.
  std::vector<int> openChunks;
  /// The orders made so far, by choice and limits for the schedule.
  std::map<std::pair<Choice, std::vector<int64_t>>, std::optional<MadeOrder>>
      made;
  /// If the schedule searches, the choices and limits that were planned.
  std::set<std::pair<Choice, std::vector<int64_t>>> planned;
  /// The number of orders that may still be made.
  size_t ordersLeft = 0;
};

} // namespace veeline

#endif // VEELINE_LIB_PIPELINES_RECOMPUTESEARCH_H
