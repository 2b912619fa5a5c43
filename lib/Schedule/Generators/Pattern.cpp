//===- Pattern.cpp - one microbatch, repeated -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pattern.h"

#include <cmath>

using namespace veeline::schedule;

namespace {
/// The times of one stage that are taken, modulo the period.
class Ring {
public:
  /// Takes the earliest time from `time` on at which `cost` is free, and
  /// returns it. Returns `time` itself if there is none.
  double take(double time, double cost, double period);

private:
  struct Taken {
    double begin, cost;
  };
  std::vector<Taken> taken;
};
} // namespace

double Ring::take(double time, double cost, double period) {
  double start = time;
  // Times that touch up to rounding do not overlap.
  double tolerance = period * 1e-9;
  for (std::size_t tries = 0; tries <= 2 * taken.size(); ++tries) {
    double shift = 0;
    for (const Taken &other : taken) {
      // The time by which the other one begins after this one, or by which it
      // has begun before.
      double after = std::fmod(other.begin - start, period);
      if (after < 0)
        after += period;
      if (after > period - tolerance)
        after = 0;
      double before = period - after;
      if (after < cost - tolerance || before < other.cost - tolerance)
        shift = std::max(shift, std::fmod(after + other.cost, period));
    }
    if (shift <= tolerance) {
      taken.push_back({start, cost});
      return start;
    }
    start += shift;
  }
  taken.push_back({time, cost});
  return time;
}

static double periodOf(const LegProblem &legs) {
  double period = 0;
  for (int stage = 0; stage < legs.stages(); ++stage) {
    double work = 0;
    for (int code = 0; code < legs.codes(); ++code)
      work += legs.leg(stage, code).cost + legs.leg(stage, code).weightCost;
    period = std::max(period, work);
  }
  return period;
}

namespace {
/// Takes a microbatch through the stages.
class PatternMaker {
public:
  PatternMaker(const Problem &problem, const LegProblem &legs,
               const PatternOptions &options)
      : problem(problem), legs(legs), options(options), rings(legs.stages()),
        forwardEnds(problem.numChunks()), backwardEnds(problem.numChunks()),
        work(periodOf(legs)), pattern{
                                  options.stretch * work,
                                  std::vector<double>(std::size_t(2) *
                                                      problem.numChunks())} {}

  Pattern make() {
    int chunks = problem.numChunks();
    for (int chunk = 0; chunk < chunks; ++chunk)
      step(chunk, false);
    for (int chunk = chunks - 1; chunk >= 0; --chunk)
      step(chunk, true);
    return std::move(pattern);
  }

private:
  double slack(int chunk, int code, bool isBackward) const;
  void step(int chunk, bool isBackward);

  const Problem &problem;
  const LegProblem &legs;
  const PatternOptions &options;
  std::vector<Ring> rings;
  std::vector<double> forwardEnds, backwardEnds;
  double work;
  Pattern pattern;
};
} // namespace

double PatternMaker::slack(int chunk, int code, bool isBackward) const {
  if (!isBackward && chunk == 0)
    return 0;
  if (isBackward && chunk == problem.numChunks() - 1)
    return options.turn;
  if (code % legs.legs() % 2 == 0)
    return isBackward ? options.backwardSlack : options.forwardSlack;
  return isBackward ? options.backwardSlackUp : options.forwardSlackUp;
}

void PatternMaker::step(int chunk, bool isBackward) {
  int stage = problem.placement.stageOf(chunk);
  int local = problem.placement.localChunk(chunk);
  int code = isBackward ? 2 * legs.legs() - 1 - local : local;
  const LegProblem::Leg &info = legs.leg(stage, code);
  double even = info.hasInputGradient ? work / (3.0 * legs.legs()) : 0;
  double cost = info.cost + options.evenness * (even - info.cost);
  std::vector<double> &ends = isBackward ? backwardEnds : forwardEnds;
  double start = isBackward ? forwardEnds[chunk] : 0;
  for (const Link &link : info.inputs)
    start = std::max(start,
                     ends[link.chunk] + link.transfer * (1 - options.evenness));
  start += slack(chunk, code, isBackward) * cost;
  if (options.disjoint && info.hasInputGradient)
    start = rings[stage].take(start, cost, pattern.period);
  pattern.starts[static_cast<std::size_t>(stage) * legs.codes() + code] = start;
  ends[chunk] = start + cost;
}

Pattern veeline::schedule::makePattern(const Problem &problem,
                                       const LegProblem &legs,
                                       const PatternOptions &options) {
  return PatternMaker(problem, legs, options).make();
}

/// Merges the codes of one stage by time. O(v² · microbatches), even if there
/// are long times in which nothing starts.
static void planStage(const LegProblem &legs, const Pattern &pattern, int stage,
                      int m, std::vector<std::int32_t> &order) {
  int codes = legs.codes();
  const double *starts =
      pattern.starts.data() + static_cast<std::size_t>(stage) * codes;
  struct Phase {
    double phase;
    int code;
    std::int64_t period;
  };
  // Far beyond the resolution of a double.
  constexpr double mostPeriods = 1e18;
  std::vector<Phase> phases;
  for (int code = 0; code < codes; ++code) {
    double periods = pattern.period > 0 ? starts[code] / pattern.period : 0;
    auto whole =
        static_cast<std::int64_t>(std::min(periods + 1e-9, mostPeriods));
    phases.push_back(
        {std::max(0.0, periods - static_cast<double>(whole)), code, whole});
  }
  std::stable_sort(
      phases.begin(), phases.end(),
      [](const Phase &a, const Phase &b) { return a.phase < b.phase - 1e-9; });
  std::size_t all = static_cast<std::size_t>(codes) * m;
  order.reserve(all);
  for (std::int64_t period = 0; order.size() < all; ++period) {
    std::size_t before = order.size();
    std::int64_t later = std::numeric_limits<std::int64_t>::max();
    for (const Phase &phase : phases) {
      std::int64_t microbatch = period - phase.period;
      if (microbatch >= 0 && microbatch < m)
        order.push_back(phase.code);
      else if (microbatch < 0)
        later = std::min(later, phase.period);
    }
    if (order.size() == before)
      period = later - 1;
  }
}

Plan veeline::schedule::planOf(const LegProblem &legs, const Pattern &pattern,
                               int microbatches) {
  Plan plan(legs.stages());
  for (int stage = 0; stage < legs.stages(); ++stage)
    planStage(legs, pattern, stage, microbatches, plan[stage]);
  return plan;
}
