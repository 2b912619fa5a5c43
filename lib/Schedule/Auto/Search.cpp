//===- Search.cpp - the search behind `auto` ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search.h"

#include "LocalSearch.h"
#include "LoopLists.h"
#include "LoopPattern.h"
#include "Random.h"
#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/Loop.h"

#include <algorithm>
#include <array>

using namespace veeline::schedule;

bool Pool::wants(double score) const {
  if (entries.size() == capacity && score >= entries.back().score)
    return false;
  return std::none_of(entries.begin(), entries.end(),
                      [&](const Entry &entry) { return entry.score == score; });
}

void Pool::offer(double score, FlatOrders orders) {
  if (!wants(score))
    return;
  auto place = std::upper_bound(
      entries.begin(), entries.end(), score,
      [](double value, const Entry &entry) { return value < entry.score; });
  entries.insert(place, {score, std::move(orders)});
  if (entries.size() > capacity)
    entries.pop_back();
}

double veeline::schedule::scoreOf(const FlatProblem &flat, Objective objective,
                                  const std::vector<double> &firstStart,
                                  const std::vector<double> &lastEnd) {
  double worst = 0;
  for (int stage = 0; stage < flat.stages(); ++stage) {
    double value = lastEnd[stage];
    if (objective == Objective::Span)
      value = flat.busy(stage) > 0
                  ? (value - firstStart[stage]) / flat.busy(stage)
                  : 0;
    worst = std::max(worst, value);
  }
  return worst;
}

double veeline::schedule::scoreOf(const FlatProblem &flat, Objective objective,
                                  const Simulation &simulation) {
  if (objective == Objective::Period)
    return simulation.period;
  std::vector<double> first, last;
  for (const StageStatistics &stage : simulation.stages) {
    first.push_back(stage.firstStart);
    last.push_back(stage.lastEnd);
  }
  return scoreOf(flat, objective, first, last);
}

Goal veeline::schedule::goalOf(const Problem &problem, Objective objective) {
  Problem inOrder = problem;
  inOrder.overlap = 0;
  if (objective != Objective::Span)
    return {objective, lowerBound(inOrder, objective).time};
  Bounds bounds = lowerBounds(inOrder);
  double bound = 0;
  for (const StageBounds &stage : bounds.stages)
    if (stage.busy > 0)
      bound = std::max(bound, stage.span.time / stage.busy);
  return {objective, bound};
}

namespace {
/// Searches the options of list scheduling.
class Tuner {
public:
  Tuner(const Problem &problem, const FlatProblem &flat, const Goal &goal,
        std::uint64_t seed, Pool &pool)
      : flat(flat), goal(goal), pool(pool),
        random((seed + 7) * 0xD1B54A32D192ED03ull | 1) {
    if (goal.objective == Objective::Period)
      loop.emplace(problem, flat);
  }

  void run(std::int64_t units, Work &work);

private:
  struct Variant {
    double score;
    ListOptions options;
  };
  void tryVariant(const ListOptions &options);
  void keep(double score, const ListOptions &options);
  ListOptions anyVariant();
  ListOptions varied();

  double unit() { return random.unit(); }
  int below(int bound) { return static_cast<int>(unit() * bound); }
  /// Changes a value by at most half of `range`, and keeps it at or above
  /// `least`.
  void vary(double &value, double range, double least) {
    value = std::max(least, value + (unit() - 0.5) * range);
  }

  const FlatProblem &flat;
  const Goal &goal;
  Pool &pool;
  Xorshift random;
  std::vector<Variant> variants;
  /// Given if steps follow each other.
  std::optional<LoopLists> loop;
};
} // namespace

void Tuner::tryVariant(const ListOptions &options) {
  if (loop) {
    std::optional<LoopLists::Turn> turn = loop->run(options);
    if (!turn)
      return;
    pool.offer(turn->period, std::move(turn->orders));
    return keep(turn->period, options);
  }
  ListResult result = listSchedule(flat, options);
  double score =
      scoreOf(flat, goal.objective, result.firstStart, result.lastEnd);
  pool.offer(score, std::move(result.orders));
  keep(score, options);
}

void Tuner::keep(double score, const ListOptions &options) {
  for (const Variant &variant : variants)
    if (variant.score == score)
      return;
  auto place = std::upper_bound(
      variants.begin(), variants.end(), score,
      [](double value, const Variant &other) { return value < other.score; });
  variants.insert(place, {score, options});
  if (variants.size() > 64)
    variants.pop_back();
}

ListOptions Tuner::anyVariant() {
  ListOptions options;
  // Plans have the most parameters, so they need the most attempts.
  options.first = static_cast<ListOptions::First>(std::min(3, below(6)));
  options.furtherOn = below(4) != 0;
  options.reserve = unit();
  options.overrun = unit();
  options.patience = below(2) == 0 ? 0 : 2 * unit();
  if (below(2) == 0) {
    options.mostOnFirst = 1 + unit() * 2 * flat.stages();
    options.mostOnLast = 1 + unit() * 2 * flat.stages();
  }
  if (loop && below(3) != 0) {
    options.lateOnFirst = unit() * 2 * flat.stages();
    options.lateOnLast = unit() * flat.stages();
  }
  options.noise = below(2) == 0 ? 0 : 0.3 * unit();
  options.seed = below(1 << 20);
  for (double &pace : options.paces)
    pace = below(3) == 0 ? 1 : 1 + 3 * unit();
  return options;
}

/// Changes one or two parameters of a good variant.
ListOptions Tuner::varied() {
  ListOptions options =
      variants[below(std::min<int>(variants.size(), 12))].options;
  bool planned = options.first == ListOptions::First::Planned;
  for (int i = 1 + below(2); i > 0; --i)
    switch (below(planned ? 12 : 8)) {
    case 0:
      options.first = static_cast<ListOptions::First>(below(4));
      break;
    case 1:
      vary(options.reserve, 0.3, 0);
      break;
    case 2:
      vary(options.overrun, 0.4, 0);
      break;
    case 3:
      vary(options.patience, 0.4, 0);
      break;
    case 4:
    case 5:
      if (options.mostOnFirst > 0) {
        vary(options.mostOnFirst, 3, 1);
        vary(options.mostOnLast, 3, 1);
      }
      break;
    case 6:
      if (loop && options.lateOnFirst >= 0) {
        vary(options.lateOnFirst, 3, 0);
        vary(options.lateOnLast, 3, 0);
        break;
      }
      vary(options.noise, 0.1, 0);
      break;
    case 7:
      options.seed = below(1 << 20);
      break;
    default:
      vary(options.paces[below(std::min(8, 2 * flat.chunksPerStage()))], 1,
           0.2);
    }
  return options;
}

namespace {
/// The options of list scheduling with a plan.
struct Plan {
  double reserve, overrun, patience;
  std::array<double, 8> paces;
};
} // namespace

/// Either all passes are alike, or those of the first F and B of a stage are
/// slow, or those of its backwards.
static constexpr Plan plans[] = {
    {0.25, 0.5, 1, {1, 1, 1, 1, 1, 1, 1, 1}},
    {0.25, 0.5, 1, {4, 1, 4, 1, 1, 1, 1, 1}},
    {0.25, 0.5, 1, {1, 1, 4, 4, 1, 1, 1, 1}},
};

/// Plans with slow and fast passes win for long steps, simple priorities for
/// short ones.
void Tuner::run(std::int64_t units, Work &work) {
  std::int64_t looks = loop ? 20 * LoopLists::steps : 10;
  std::int64_t cost = looks * flat.nodes() + 100;
  auto step = [&](const ListOptions &options) {
    tryVariant(options);
    units -= cost;
    work.spend(cost);
    return units > 0 && !work.isSpent() &&
           (pool.empty() || !goal.isReachedBy(pool[0].score));
  };
  using First = ListOptions::First;
  // In a V of equal chunks, p - 1 - s W of stage s fill the time that it waits
  // for its second chunk.
  for (double overrun : {0.0, 0.5})
    for (double reserve : {0.0, 0.25})
      for (First first : {First::Backward, First::Forward, First::Other})
        if (loop && !step({.first = first,
                           .reserve = reserve,
                           .overrun = overrun,
                           .lateOnFirst = flat.stages() - 1.0,
                           .lateOnLast = 0}))
          return;
  for (const Plan &plan : plans)
    if (!step({.first = First::Planned,
               .reserve = plan.reserve,
               .overrun = plan.overrun,
               .patience = plan.patience,
               .paces = plan.paces}))
      return;
  for (double patience : {0.0, 0.5})
    for (double reserve : {0.25, 0.55, 0.15})
      for (First first : {First::Backward, First::Forward, First::Other})
        if (!step({.first = first,
                   .reserve = reserve,
                   .overrun = patience > 0 ? 0 : 0.5,
                   .patience = patience}))
          return;
  while (step(variants.size() < 16 || below(10) < 3 ? anyVariant() : varied()))
    ;
}

static void offerPattern(const Problem &problem, const FlatProblem &flat,
                         Pool &pool) {
  std::optional<FlatOrders> orders = loopPattern(problem, flat);
  LocalSearch judge(flat, Objective::Period, /*seed=*/1);
  if (orders && judge.load(*orders))
    pool.offer(judge.score(), std::move(*orders));
}

void veeline::schedule::searchVariants(const Problem &problem,
                                       const FlatProblem &flat,
                                       const Goal &goal, std::uint64_t seed,
                                       std::int64_t units, Work &work,
                                       Pool &pool) {
  if (goal.objective == Objective::Period)
    offerPattern(problem, flat, pool);
  Tuner(problem, flat, goal, seed, pool).run(units, work);
}

namespace {
/// Anneals entries of a pool.
class Annealer {
public:
  Annealer(const FlatProblem &flat, const Goal &goal, std::uint64_t seed,
           Work &work, Pool &pool)
      : search(flat, goal.objective, seed), goal(goal), work(work), pool(pool) {
    int count = 0;
    for (int kind = 0; kind < flat.kinds(); ++kind) {
      typical += flat.kind(kind).cost;
      count += flat.kind(kind).cost > 0;
    }
    typical = count > 0 ? typical / count : 0;
  }

  bool isDone() const {
    return goal.isReachedBy(pool[0].score) || typical == 0;
  }
  /// `hot` and `cold` are in multiples of a typical cost.
  void anneal(const FlatOrders &orders, double hot, double cold,
              std::int64_t units) {
    if (isDone() || work.isSpent() || !search.load(orders))
      return;
    search.anneal({hot * typical, cold * typical, units}, work);
    double score = search.score();
    if (pool.wants(score))
      pool.offer(score, search.orders());
  }

private:
  LocalSearch search;
  const Goal &goal;
  Work &work;
  Pool &pool;
  double typical = 0;
};
} // namespace

bool veeline::schedule::isWorthLooping(const FlatProblem &flat,
                                       std::int64_t units) {
  return flat.nodes() < units / 500;
}

Schedule veeline::schedule::bestLoop(const Problem &problem,
                                     const FlatProblem &flat, const Pool &pool,
                                     Schedule starter, std::string_view name) {
  auto periodOf = [&](const Schedule &schedule) -> std::optional<double> {
    if (!verify(problem, schedule))
      return std::nullopt;
    Expected<Loop> loop = loopOf(problem, schedule);
    return loop ? std::optional(loop->period) : std::nullopt;
  };
  Schedule best = std::move(starter);
  best.name = name;
  if (pool.empty())
    return best;
  std::optional<double> least = periodOf(best);
  for (std::size_t i = 0; i < pool.size(); ++i) {
    Schedule schedule = unflatten(flat, pool[i].orders);
    std::optional<double> period = periodOf(schedule);
    if (!period || (least && *period >= *least))
      continue;
    least = period;
    best = std::move(schedule);
  }
  best.name = name;
  return best;
}

Expected<Schedule>
veeline::schedule::listedSchedule(const Problem &problem,
                                  const GeneratorOptions &options,
                                  std::string_view name) {
  Expected<Schedule> best = generate("sequential", problem);
  FlatProblem flat(problem);
  if (!best || !admitsSplit(flat))
    return best;
  Objective objective = options.objective;
  if (objective == Objective::Period && !options.maySlip)
    objective = Objective::Span;
  Pool pool;
  Work work(options.searchSeconds);
  searchVariants(problem, flat, goalOf(problem, objective), options.seed,
                 work.remaining(), work, pool);
  Expected<Simulation> simulation = simulate(problem, *best);
  if (!simulation)
    return simulation.takeError();
  double least = simulation->value(options.objective);
  // Scores are close to the results of simulation.
  constexpr std::size_t mostSimulated = 3;
  for (std::size_t i = 0; i < std::min(pool.size(), mostSimulated); ++i) {
    Schedule schedule = unflatten(flat, pool[i].orders);
    if (!verify(problem, schedule))
      continue;
    Expected<Simulation> run = simulate(problem, schedule);
    if (!run || run->value(options.objective) >= least)
      continue;
    least = run->value(options.objective);
    best = std::move(schedule);
  }
  best->name = name;
  return best;
}

namespace {
/// How orders are annealed. Temperatures are in multiples of a typical cost.
struct Cooling {
  /// The temperatures of the first rounds, which start from many orders, and of
  /// later rounds.
  double first;
  std::array<double, 3> later;
  /// The number of best orders from which later rounds start, in turn.
  std::size_t starts;
};
} // namespace

/// Orders of a loop fall into a few classes, and the best order of each is soon
/// found. So more starts help, but more heat does not.
static Cooling coolingOf(Objective objective) {
  if (objective == Objective::Period)
    return {0.03, {0.08, 0.02, 0.04}, 6};
  return {0.1, {0.1, 0.05, 0.2}, 2};
}

void veeline::schedule::searchOrders(const FlatProblem &flat, const Goal &goal,
                                     std::uint64_t seed, Work &work,
                                     Pool &pool) {
  // With fewer evaluations of each operation, little changes.
  std::int64_t least = std::int64_t(600) * flat.nodes();
  if (pool.empty() || work.isSpent())
    return;
  Annealer annealer(flat, goal, seed, work, pool);
  Cooling cooling = coolingOf(goal.objective);
  std::int64_t total = work.remaining();
  std::size_t most = std::min<std::int64_t>(12, total / 4 / least + 1);
  for (std::size_t count = most; count > 1; count /= 3) {
    std::vector<FlatOrders> starts;
    for (std::size_t i = 0; i < std::min(count, pool.size()); ++i)
      starts.push_back(pool[i].orders);
    for (const FlatOrders &orders : starts)
      annealer.anneal(orders, cooling.first, 0.003, total / 4 / count);
  }
  for (int round = 0; !annealer.isDone() && !work.isSpent(); ++round) {
    // The best order is used twice as often as all others together, which take
    // turns.
    std::size_t which =
        round % 3 == 2 ? 1 + round / 3 % (cooling.starts - 1) : 0;
    FlatOrders start = pool[std::min(which, pool.size() - 1)].orders;
    // Transfers may be much shorter than operations.
    annealer.anneal(start, cooling.later[round % 3], round % 2 ? 0.003 : 0.0002,
                    std::max(least, total / 8));
  }
}
