//===- Attempts.h - the best of several constructions -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_ATTEMPTS_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_ATTEMPTS_H

#include "LegBuilder.h"
#include "veeline/Schedule/Generators.h"

#include <memory>
#include <string_view>

namespace veeline::schedule {

/// The best of several attempts: by the objective, then by the other objective,
/// then by memory, then the earlier one. Keeps the best by either objective, so
/// that the result does not depend on which of them was requested.
class Best {
public:
  explicit Best(Objective objective) : objective(objective) {}
  /// Whether this is the best so far by an objective. If so, takes the orders
  /// from the builder.
  bool offer(LegBuilder &builder);
  bool isFound() const { return sides[0].orders != nullptr; }
  /// What an attempt has to beat to be the best by an objective.
  LegGoal goal() const;
  /// Whether makespan and span are both as short as possible, so that further
  /// attempts can only save memory.
  bool isShortest(const LegProblem &problem) const;
  const LegBuilder::Orders &orders() const { return orders(objective); }
  const LegBuilder::Orders &orders(Objective objective) const {
    return *sides[static_cast<int>(objective)].orders;
  }

private:
  struct Side {
    Key key;
    std::shared_ptr<LegBuilder::Orders> orders;
  };
  std::shared_ptr<LegBuilder::Orders> storage(const bool *isBest);

  Objective objective;
  /// By objective.
  Side sides[2];
};

/// Offers list scheduling (ListBuilder.h) in as many variants as fit into a
/// budget of operations, but in at least `atLeast`.
void offerLists(LegBuilder &builder, std::int64_t budget, int atLeast,
                Best &best);

/// Fails with OutOfMemory for the first stage whose limit is below
/// `least[stage]`. The message ends with `why`, such as "one microbatch alone
/// needs", and that amount.
Status checkLimits(const Problem &problem, const LegProblem &legs,
                   std::string_view name,
                   const std::vector<std::int64_t> &least,
                   std::string_view why);

/// Checks the limits against what one microbatch alone needs, whatever the
/// order.
Status checkLeastLimits(const Problem &problem, const LegProblem &legs,
                        std::string_view name);

/// Returns what each stage needs to run F and B in the order of `orders`, each
/// W right after its B.
std::vector<std::int64_t> leastLimitsOf(const LegProblem &legs,
                                        const LegBuilder::Orders &orders);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_ATTEMPTS_H
