//===- Search.h - the search behind `auto` ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_AUTO_SEARCH_H
#define VEELINE_LIB_SCHEDULE_AUTO_SEARCH_H

#include "ListScheduler.h"
#include "Work.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Simulator.h"

namespace veeline::schedule {

/// The best orders so far, with distinct scores, best first.
class Pool {
public:
  struct Entry {
    double score;
    FlatOrders orders;
  };
  static constexpr std::size_t capacity = 24;

  void offer(double score, FlatOrders orders);
  /// Whether `offer` would keep orders with this score.
  bool wants(double score) const;
  bool empty() const { return entries.empty(); }
  std::size_t size() const { return entries.size(); }
  const Entry &operator[](std::size_t i) const { return entries[i]; }

private:
  std::vector<Entry> entries;
};

/// The value that the search minimises: the makespan, or the largest ratio of a
/// stage's span to its busy time.
double scoreOf(const FlatProblem &flat, Objective objective,
               const std::vector<double> &firstStart,
               const std::vector<double> &lastEnd);

double scoreOf(const FlatProblem &flat, Objective objective,
               const Simulation &simulation);

struct Goal {
  Objective objective;
  double bound;

  /// The comparison tolerates rounding.
  bool isReachedBy(double score) const { return score <= bound * (1 + 1e-12); }
};

Goal goalOf(const Problem &problem, Objective objective);

/// Runs list scheduling in many variants: first those of a table of good ones,
/// then variations of the best, until `units` of work are spent. Tries at least
/// one variant.
void searchVariants(const Problem &problem, const FlatProblem &flat,
                    const Goal &goal, std::uint64_t seed, std::int64_t units,
                    Work &work, Pool &pool);

/// Whether steps are short enough for a search over loops to gain anything
/// within `units` of work.
bool isWorthLooping(const FlatProblem &flat, std::int64_t units);

/// Returns the schedule with the shortest period (Loop.h) among `starter` and
/// the pool. The scores of the pool do not include what ties stages together.
Schedule bestLoop(const Problem &problem, const FlatProblem &flat,
                  const Pool &pool, Schedule starter, std::string_view name);

/// Returns the schedule that list scheduling finds for the objective within the
/// budget, or else `sequential`. Takes the time of the budget, or of one list,
/// and that of verifying a few orders.
Expected<Schedule> listedSchedule(const Problem &problem,
                                  const GeneratorOptions &options,
                                  std::string_view name);

/// Local search that starts from the best of the pool. It spends more and more
/// work on fewer and fewer orders, until the work is spent or the bound is
/// reached.
void searchOrders(const FlatProblem &flat, const Goal &goal, std::uint64_t seed,
                  Work &work, Pool &pool);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_AUTO_SEARCH_H
