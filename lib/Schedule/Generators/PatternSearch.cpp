//===- PatternSearch.cpp - the best of many patterns ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PatternSearch.h"

#include "FlexiblePlan.h"
#include "Pattern.h"

#include <limits>
#include <optional>

using namespace veeline::schedule;

namespace {
/// A pattern and how closely it is followed.
struct Trial {
  PatternOptions pattern;
  FlexiblePlanOptions flexible;
};

/// The patterns with which the search begins. These are the stable patterns of
/// V-Min and V-Half (Qi et al. 2024, arXiv:2405.15362), with and without the
/// turn that some numbers of stages need, followed strictly or with W in
/// between. The search itself found the last four; without them, some published
/// results are not reached (scripts/prune-shapes leaves out what no test
/// needs).
struct Shape {
  double forwardSlack, backwardSlack, forwardSlackUp, backwardSlackUp, turn,
      evenness, overrun, weightOverrun;
  bool disjoint, looksAhead = true;
};
constexpr Shape shapes[] = {
    {0, 0, 0, 0, 0, 1, 0.5, 0, true},
    {0, 0, 0, 0, 2, 1, 0.5, 0, true},
    {1, 1, 0, 0, 0, 1, 0.5, 0, true},
    {1, 1, 0, 0, 3, 1, 0.5, 0, true},
    {1, 1, 0, 0, 0, 1, 0, 0, true},
    {1, 1, 0, 0, 3, 1, 0, 0, true},
    {0, 0, 0, 0, 0, 1, 0, 0, true, false},
    {0, 0, 0, 0, 2, 1, 0, 0, true, false},
    {0, 0, 0, 0, 0, 1, 0, 0.5, true, false},
    {0, 0, 0, 0, 0, 1, 0, 1, true, false},
    {0.75, 1, 0, 0.25, 1.75, 1, 0.125, 0, false},
    {0.75, 0.5, 0, 0.25, 2.125, 1, 0, 0, true},
    {0, 0, 0.375, 0.375, 1.75, 1, 0.75, 0.625, true},
    {1.25, 1.25, 0, 0, 0.375, 1, 0.5, 0.375, true},
};
constexpr int numShapes = sizeof shapes / sizeof shapes[0];
constexpr int window = 64;

/// Draws multiples of 1/8 in [0, most].
class Eighths {
public:
  double operator()(int most) { return next() % (8 * most + 1) / 8.0; }
  /// Returns true once in `n` times.
  bool oneIn(int n) { return next() % n == 0; }

private:
  std::uint32_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 33);
  }
  std::uint64_t state = 1;
};

/// Searches patterns within the limits of the builder's problem: first those of
/// a table, then random ones, then variations of the best. The result depends
/// only on the problem. A long step is searched with fewer stages and
/// microbatches of the same costs, and only the best patterns are then built in
/// full.
class Search {
public:
  Search(const Problem &problem, LegBuilder &builder)
      : problem(problem), builder(builder), legs(builder.getProblem()) {}

  /// Offers the results of the patterns. Places about `budget` operations in
  /// all, but at least those of one pattern that fits, if one does.
  void run(std::int64_t budget, Best &best);

private:
  struct Scored {
    double cost;
    Trial trial;
  };

  std::int64_t operations() const {
    return std::int64_t(3) * problem.numChunks() * problem.microbatches;
  }
  /// The work of the busiest stage, which no schedule undercuts.
  double leastTime() const;
  Trial next(int number);
  bool fits(const Pattern &pattern) const;
  bool build(Trial &trial);
  void explore(std::int64_t budget, Best *best);
  LegGoal goal(const Best *best) const;
  bool keep(const Trial &trial);
  std::int64_t runReduced(std::int64_t budget);

  static constexpr std::size_t numKept = 5;
  static constexpr double mostStretch = 2;

  const Problem &problem;
  LegBuilder &builder;
  const LegProblem &legs;
  Eighths random;
  /// The best trials by makespan and by span, in ascending order.
  std::vector<Scored> kept[2];
};
} // namespace

static Trial trialOf(const Shape &shape) {
  Trial trial;
  trial.pattern.forwardSlack = shape.forwardSlack;
  trial.pattern.backwardSlack = shape.backwardSlack;
  trial.pattern.forwardSlackUp = shape.forwardSlackUp;
  trial.pattern.backwardSlackUp = shape.backwardSlackUp;
  trial.pattern.turn = shape.turn;
  trial.pattern.evenness = shape.evenness;
  trial.pattern.disjoint = shape.disjoint;
  trial.flexible = {shape.looksAhead ? window : 0, shape.overrun,
                    shape.weightOverrun};
  return trial;
}

static Trial randomTrial(Eighths &random, int mostSlack) {
  Trial trial;
  PatternOptions &pattern = trial.pattern;
  pattern.forwardSlack = random(mostSlack);
  pattern.backwardSlack =
      random.oneIn(2) ? pattern.forwardSlack : random(mostSlack);
  pattern.forwardSlackUp = random.oneIn(3) ? random(1) : 0;
  pattern.backwardSlackUp =
      random.oneIn(2) ? pattern.forwardSlackUp : random(1);
  pattern.turn = random(3);
  pattern.evenness = random(1);
  pattern.disjoint = random.oneIn(3);
  trial.flexible = {random.oneIn(4) ? 0 : window,
                    random.oneIn(2) ? 0.5 : random(1),
                    random.oneIn(2) ? 0.5 * random.oneIn(2) : random(1)};
  return trial;
}

/// Changes one or two parameters of a trial.
static Trial varied(Trial trial, Eighths &random) {
  double *numbers[] = {
      &trial.pattern.forwardSlack,   &trial.pattern.backwardSlack,
      &trial.pattern.forwardSlackUp, &trial.pattern.backwardSlackUp,
      &trial.pattern.turn,           &trial.pattern.evenness,
      &trial.flexible.overrun,       &trial.flexible.weightOverrun};
  for (int change = 0; change < 2; ++change) {
    double &number = *numbers[static_cast<int>(random(1) * 8) % 8];
    number = std::max(0.0, number + random(1) - 0.5);
  }
  trial.pattern.evenness = std::min(1.0, trial.pattern.evenness);
  if (random.oneIn(8))
    trial.pattern.disjoint = !trial.pattern.disjoint;
  if (random.oneIn(8))
    trial.flexible.window = window - trial.flexible.window;
  return trial;
}

double Search::leastTime() const {
  double most = 0;
  for (int stage = 0; stage < legs.stages(); ++stage) {
    double work = 0;
    for (int code = 0; code < legs.codes(); ++code)
      work += legs.leg(stage, code).cost + legs.leg(stage, code).weightCost;
    most = std::max(most, work);
  }
  return most * problem.microbatches * (1 + 1e-9);
}

Trial Search::next(int number) {
  if (number < numShapes)
    return trialOf(shapes[number]);
  const std::vector<Scored> &best = kept[number / 2 % 2];
  if (best.empty() || number % 2 == 0)
    return randomTrial(random, number % 8 == 0 ? 4 : 2);
  return varied(best[number / 4 % std::min<std::size_t>(best.size(), 3)].trial,
                random);
}

/// Whether a pattern fits into memory. Only the first microbatches, which fill
/// the pipeline, matter.
bool Search::fits(const Pattern &pattern) const {
  double last = 0;
  for (double start : pattern.starts)
    last = std::max(last, start);
  int m = problem.microbatches;
  if (pattern.period > 0)
    m = static_cast<int>(std::min<double>(m, last / pattern.period + 2));
  std::vector<std::int64_t> least =
      leastLimitsOf(legs, planOf(legs, pattern, m));
  for (int stage = 0; stage < legs.stages(); ++stage)
    if (least[stage] > legs.limit(stage))
      return false;
  return true;
}

/// Builds the pattern of a trial if it fits into memory. Otherwise slows it
/// down, so that fewer microbatches are in flight.
bool Search::build(Trial &trial) {
  double &stretch = trial.pattern.stretch;
  Pattern pattern = makePattern(problem, legs, trial.pattern);
  if (!fits(pattern)) {
    double fast = stretch, slow = mostStretch;
    stretch = slow;
    pattern = makePattern(problem, legs, trial.pattern);
    if (!fits(pattern))
      return false;
    for (int halving = 0; halving < 8; ++halving) {
      stretch = (fast + slow) / 2;
      Pattern between = makePattern(problem, legs, trial.pattern);
      bool good = fits(between);
      (good ? slow : fast) = stretch;
      if (good)
        pattern = std::move(between);
    }
    stretch = slow;
  }
  return buildFlexiblePlan(builder, planOf(legs, pattern, problem.microbatches),
                           trial.flexible);
}

/// Keeps a trial if it is among the best. Returns whether it is the best so far
/// by an objective.
bool Search::keep(const Trial &trial) {
  bool isBest = false;
  for (int which = 0; which < 2; ++which) {
    double cost = which == 0 ? builder.makespan() : builder.span();
    std::vector<Scored> &list = kept[which];
    auto place =
        std::find_if(list.begin(), list.end(),
                     [&](const Scored &other) { return other.cost >= cost; });
    // Equal cost most likely means the same schedule.
    if (place != list.end() && place->cost == cost)
      continue;
    isBest |= place == list.begin();
    list.insert(place, {cost, trial});
    if (list.size() > numKept)
      list.pop_back();
  }
  return isBest;
}

/// What a trial has to beat to be kept, or to be the best.
LegGoal Search::goal(const Best *best) const {
  LegGoal goal = best ? best->goal() : LegGoal{{}, {}};
  for (int which = 0; which < 2; ++which) {
    Key &key = which == 0 ? goal.makespan : goal.span;
    double last =
        kept[which].size() < numKept ? LegGoal::never : kept[which].back().cost;
    key = std::max(key, Key{last, 0, 0});
  }
  return goal;
}

void Search::explore(std::int64_t budget, Best *best) {
  double bound = leastTime();
  // Most improvements are found early.
  constexpr int patience = 120;
  int improved = numShapes;
  // A pattern that does not fit costs a fraction of one that is built.
  for (int number = 0; budget > 0 && number < improved + patience; ++number) {
    if (!kept[0].empty() && kept[0][0].cost <= bound)
      return;
    Trial trial = next(number);
    builder.setGoal(goal(best));
    if (!build(trial)) {
      budget -= builder.isHopeless() ? operations() : operations() / 2 + 1;
      continue;
    }
    budget -= operations();
    if (keep(trial) && number > improved)
      improved = number;
    if (best)
      best->offer(builder);
  }
}

/// Returns a similar pipeline with fewer stages. None if the placement has no
/// rule.
static std::optional<Problem> reduce(const Problem &problem,
                                     const LegProblem &legs, int stages,
                                     int microbatches) {
  Expected<Placement> placement = Placement::get(
      problem.placement.kind(), stages, problem.chunksPerStage());
  if (!placement)
    return std::nullopt;
  double transfer = 0;
  for (const Edge &edge : problem.edges)
    transfer += edge.forwardTransfer + edge.backwardTransfer;
  if (!problem.edges.empty())
    transfer /= 2.0 * problem.edges.size();
  int chunks = placement->chunks();
  Problem reduced{std::move(*placement), microbatches, {}, {}};
  reduced.edges = chainEdges(chunks, transfer);
  auto sourceOf = [&](int stage) {
    return stages > 1 ? stage * (problem.stages() - 1) / (stages - 1) : 0;
  };
  for (int chunk = 0; chunk < chunks; ++chunk) {
    int stage = sourceOf(reduced.placement.stageOf(chunk));
    int local = reduced.placement.localChunk(chunk);
    reduced.chunks.push_back(
        problem.chunks[problem.placement.globalChunk(stage, local)]);
    // Only the first chunk of the chain may lack its B.
    if (chunk > 0)
      reduced.chunks.back().hasBackwardInput = true;
  }
  for (int stage = 0; stage < stages; ++stage) {
    int source = sourceOf(stage);
    std::int64_t one = legs.held(source), limit = legs.limit(source);
    double share = static_cast<double>(stages) / problem.stages();
    reduced.memoryLimits.push_back(
        limit > one ? one + static_cast<std::int64_t>(
                                static_cast<double>(limit - one) * share)
                    : limit);
  }
  return reduced;
}

/// Searches a smaller pipeline, and keeps its good trials in `kept`. Returns
/// the budget that is left.
std::int64_t Search::runReduced(std::int64_t budget) {
  constexpr int mostStages = 16;
  int stages = std::min(problem.stages(), mostStages);
  int microbatches = std::min(problem.microbatches, 2 * stages);
  std::optional<Problem> reduced = reduce(problem, legs, stages, microbatches);
  if (!reduced || !check(*reduced))
    return budget;
  LegProblem reducedLegs(*reduced);
  LegBuilder reducedBuilder(reducedLegs);
  Search search(*reduced, reducedBuilder);
  constexpr std::int64_t mostBudget = 200'000;
  std::int64_t part = std::min(budget / 2, mostBudget);
  search.explore(part, nullptr);
  for (int which = 0; which < 2; ++which)
    kept[which] = std::move(search.kept[which]);
  return budget - part;
}

void Search::run(std::int64_t budget, Best &best) {
  constexpr int enough = 200;
  if (operations() * enough <= budget) {
    explore(budget, &best);
    return;
  }
  budget = runReduced(budget);
  std::vector<Scored> candidates;
  for (std::size_t i = 0; i < numKept; ++i)
    for (const std::vector<Scored> &list : kept)
      if (i < list.size())
        candidates.push_back(list[i]);
  // Whether any pattern fits. A hopeless one also fits.
  bool found = false;
  auto attempt = [&](Trial &trial) {
    builder.setGoal(best.goal());
    bool built = build(trial);
    if (built)
      best.offer(builder);
    found |= built || builder.isHopeless();
    budget -= operations();
  };
  for (Scored &candidate : candidates) {
    if (found && budget < operations())
      return;
    attempt(candidate.trial);
  }
  for (int number = 0; number < numShapes && (!found || budget > 0); ++number) {
    Trial trial = trialOf(shapes[number]);
    attempt(trial);
  }
}

/// Follows the order of the best again, with other rules for what runs in its
/// gaps. Repeats this as long as it improves the best and the budget of
/// operations lasts.
static void polish(LegBuilder &builder, std::int64_t budget, Best &best) {
  const LegProblem &legs = builder.getProblem();
  std::int64_t operations =
      std::int64_t(3) * legs.legs() * legs.stages() * legs.microbatches();
  while (best.isFound()) {
    bool improved = false;
    for (Objective objective : {Objective::Makespan, Objective::Span}) {
      Plan plan = planOf(legs, best.orders(objective));
      for (int ahead : {0, window})
        for (double overrun : {0.0, 0.5})
          for (double weightOverrun : {0.0, 0.25, 0.5, 0.75, 1.0}) {
            if (ahead == 0 && overrun > 0)
              continue;
            budget -= operations;
            if (budget < 0)
              return;
            builder.setGoal(best.goal());
            if (buildFlexiblePlan(builder, plan,
                                  {ahead, overrun, weightOverrun}))
              improved |= best.offer(builder);
          }
      for (double overrun : {0.0, 0.5}) {
        builder.setGoal(best.goal());
        budget -= operations;
        if (budget > 0 &&
            buildPlan(builder, plan, {.keepWeights = true, .overrun = overrun}))
          improved |= best.offer(builder);
      }
    }
    if (!improved)
      return;
  }
}

void veeline::schedule::offerMore(const Problem &problem, LegBuilder &builder,
                                  Best &best) {
  // Short steps leave time for more. If memory is tight, no other construction
  // succeeds.
  constexpr std::int64_t shortBudget = 100'000, longBudget = 600'000;
  const LegProblem &legs = builder.getProblem();
  bool isTight = !best.isFound();
  for (int stage = 0; stage < legs.stages(); ++stage)
    isTight |= legs.limit(stage) < legs.stages() * legs.held(stage);
  std::int64_t operations =
      std::int64_t(3) * problem.numChunks() * problem.microbatches;
  std::int64_t budget = isTight ? longBudget : shortBudget;
  if (!isTight && operations > budget / 10)
    return;
  Search(problem, builder).run(budget, best);
  offerLists(builder, budget / 5, best.isFound() ? 0 : 4, best);
  polish(builder, budget / 4, best);
}
