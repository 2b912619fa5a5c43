//===- ZeroBubbleWave.cpp - zero bubble on a wave -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ZB-V (Qi et al. 2024, arXiv:2401.10241) and VPP (Narayanan et al. 2021,
// arXiv:2104.04473) combined: v chunks a stage, in a wave that goes down and up
// the stages (Liu et al., Hanayo, 2023, arXiv:2308.15762), and backward split.
// The smaller chunks fill the pipeline sooner. p = 2, v = 4, m = 1:
//
//   stage 0: 0F .  .  3F 4F .  .  7F 7B 7W .  4B 3B 4W 3W 0B 0W
//   stage 1: .  1F 2F .  .  5F 6F .  .  6B 5B 6W 5W 2B 1B 2W 1W
//
// There is no table of orders. Patterns of one microbatch (PatternSearch.h) and
// list scheduling (ListBuilder.h) compete; for v = 2, so does what zb-v builds.
// Without a limit, a stage holds at most p activations. The bubble of span with
// equal costs and free transfers is 0 for long steps, as for ZB-V. The wait at
// both ends of the step falls with 1/v.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "PatternSearch.h"

using namespace veeline::schedule;

Expected<Schedule>
veeline::schedule::generateZeroBubbleWave(const Problem &problem,
                                          const GeneratorOptions &options) {
  LegProblem legs(problem);
  if (Status status = checkLeastLimits(problem, legs, "zb-wave"); !status)
    return status.takeError();
  if (legs.legs() == 2) {
    Expected<Schedule> schedule = generateZeroBubbleV(problem, options);
    if (schedule)
      schedule->name = "zb-wave";
    return schedule;
  }
  LegBuilder builder(legs);
  Best best(options.objective);
  offerMore(problem, builder, best);
  Schedule schedule = LegBuilder::decode(best.orders(), problem);
  schedule.name = "zb-wave";
  return schedule;
}
