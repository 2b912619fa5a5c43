//===- OffloadPlanner.cpp - which activations to offload, and when --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Execution.h"
#include "veeline/Schedule/Loop.h"
#include "veeline/Schedule/Memory.h"
#include "veeline/Schedule/Offload.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

using namespace veeline::schedule;

namespace {
/// How far a plan may go to stay within a limit. Each value includes those
/// before it.
enum class Effort {
  /// All copies end in time.
  NoWaiting,
  /// A stage may wait until the memory that it needs has been copied out.
  WaitToLeave,
  /// A stage may also begin to copy back a value only when it needs it.
  WaitToReturn,
};

/// Something that can be offloaded.
struct Candidate {
  int chunk, microbatch, forward, reader;
  std::int64_t memory;
  double time;
  /// Whether it is offloaded, or cannot be.
  bool isChosen = false, isRefused = false;
  int leaves = 0, returns = 0;
};

/// Chooses the offloads of one rank.
class RankPlanner {
public:
  RankPlanner(const Problem &problem, const Schedule &schedule,
              const OpIndex &index, int rank);

  /// Plans for a limit. `start` and `end` are the times of the operations, with
  /// the offloads planned so far, or with none.
  std::vector<Offload> plan(std::int64_t limit, Effort effort,
                            const std::vector<double> &start,
                            const std::vector<double> &end);
  /// Whether any value could be offloaded, for however short a time.
  bool hasCandidates() const { return !candidates.empty(); }

private:
  void setTimes();
  void setLeaving();
  bool setReturning();
  bool choose(std::int64_t limit);
  int findReturn(double time, int reader) const;
  std::int64_t changeAt(int step, std::int64_t &during) const;

  const Problem &problem;
  const Schedule &schedule;
  const std::vector<Op> &ops;
  int rank;
  std::vector<Candidate> candidates; ///< In the order of their F.
  std::vector<int> byReader;         ///< Numbers of candidates, last first.
  Effort effort = Effort::NoWaiting;
  const std::vector<double> *start = nullptr, *end = nullptr;
};
} // namespace

RankPlanner::RankPlanner(const Problem &problem, const Schedule &schedule,
                         const OpIndex &index, int rank)
    : problem(problem), schedule(schedule), ops(schedule.stages[rank]),
      rank(rank) {
  for (int step = 0, e = static_cast<int>(ops.size()); step < e; ++step) {
    const Op &op = ops[step];
    const Chunk &chunk = problem.chunks[op.chunk];
    if (op.kind != OpKind::Forward || chunk.offloadMemory == 0)
      continue;
    int reader = index.reader(problem, op.chunk, op.microbatch);
    if (!ops[reader].late && reader > blockAround(schedule, rank, step).second)
      candidates.push_back({op.chunk, op.microbatch, step, reader,
                            chunk.offloadMemory, chunk.offloadTime});
  }
  byReader.resize(candidates.size());
  std::iota(byReader.begin(), byReader.end(), 0);
  std::sort(byReader.begin(), byReader.end(), [&](int a, int b) {
    return candidates[a].reader > candidates[b].reader;
  });
}

/// Returns the rounding error of a time, which is a sum of other times.
static double slack(double time) { return 1e-9 * std::max(1.0, time); }

/// Returns the last step up to `reader` that the rank reaches by `time`.
int RankPlanner::findReturn(double time, int reader) const {
  auto after =
      std::upper_bound(end->begin(), end->begin() + reader, time + slack(time));
  auto step = static_cast<int>(after - end->begin());
  return blockAround(schedule, rank, step).first;
}

/// Lets values leave as early as their copies, which run one after the other,
/// have ended. If the rank may wait for copies, the chosen step is kept if it
/// is earlier.
void RankPlanner::setLeaving() {
  double free = 0;
  for (Candidate &it : candidates) {
    if (!it.isChosen)
      continue;
    free = std::max(free, (*end)[it.forward]) + it.time;
    auto first =
        std::lower_bound(start->begin(), start->end(), free - slack(free));
    auto step = static_cast<int>(first - start->begin());
    if (effort == Effort::NoWaiting || step < it.leaves)
      it.leaves =
          std::max(step, blockAround(schedule, rank, it.forward).second);
  }
}

/// Lets values return as late as their copies back, which run one after the
/// other, are in time. Refuses values that would return before they have left.
/// Returns false if there were any.
bool RankPlanner::setReturning() {
  double next = std::numeric_limits<double>::max();
  bool isComplete = true;
  for (int number : byReader) {
    Candidate &it = candidates[number];
    if (!it.isChosen)
      continue;
    double begin = std::min(next, (*start)[it.reader]) - it.time;
    it.returns = effort == Effort::WaitToReturn
                     ? blockAround(schedule, rank, it.reader).first
                     : findReturn(begin, it.reader);
    if (it.returns < it.leaves && effort != Effort::NoWaiting)
      it.returns = it.leaves;
    if (it.returns > it.leaves && it.leaves < static_cast<int>(ops.size())) {
      next = begin;
      continue;
    }
    it.isChosen = false;
    it.isRefused = true;
    isComplete = false;
  }
  return isComplete;
}

/// Sets the times of all copies. A refused value makes room on the links, so
/// others leave sooner. A few rounds find most of that, and after any of them
/// the result is right.
void RankPlanner::setTimes() {
  constexpr int mostRounds = 8;
  for (int round = 0; round < mostRounds; ++round) {
    setLeaving();
    if (setReturning())
      return;
  }
}

/// Returns the memory that a step adds. `during` is the maximum of it while the
/// step runs.
std::int64_t RankPlanner::changeAt(int step, std::int64_t &during) const {
  auto [first, last] = blockAround(schedule, rank, step);
  std::int64_t after = 0;
  during = 0;
  for (int i = first; i < last; ++i) {
    std::int64_t change = problem.chunks[ops[i].chunk].memory(ops[i].kind);
    during += std::max<std::int64_t>(change, 0);
    after += change;
  }
  return after;
}

/// Goes through the order and chooses the values that have to leave before each
/// step that exceeds the limit. Returns false if no further value was chosen.
bool RankPlanner::choose(std::int64_t limit) {
  std::vector<std::int64_t> offloaded(ops.size() + 1);
  for (const Candidate &it : candidates)
    if (it.isChosen) {
      offloaded[it.leaves] -= it.memory;
      offloaded[it.returns] += it.memory;
    }
  auto isSooner = [&](int a, int b) {
    return candidates[a].reader < candidates[b].reader;
  };
  std::priority_queue<int, std::vector<int>, decltype(isSooner)> present(
      isSooner);
  // If no rank may wait, a value can leave once its copy has ended.
  auto over = [&](int number) {
    const Candidate &it = candidates[number];
    return (*end)[it.forward] + it.time;
  };
  auto isLater = [&](int a, int b) { return over(a) > over(b); };
  std::priority_queue<int, std::vector<int>, decltype(isLater)> copying(
      isLater);
  std::size_t next = 0;
  std::int64_t held = 0, during = 0;
  for (const Op &op : ops)
    held -= op.late ? problem.chunks[op.chunk].memory(op.kind) : 0;
  bool hasChosen = false;
  for (int step = 0, e = static_cast<int>(ops.size()); step < e;
       step = blockAround(schedule, rank, step).second) {
    held += offloaded[step];
    for (; next < candidates.size() && candidates[next].forward < step; ++next)
      if (!candidates[next].isChosen && !candidates[next].isRefused)
        copying.push(static_cast<int>(next));
    for (; !copying.empty(); copying.pop()) {
      double time = over(copying.top());
      if (effort == Effort::NoWaiting && time > (*start)[step] + slack(time))
        break;
      present.push(copying.top());
    }
    std::int64_t change = changeAt(step, during);
    while (held + during > limit && !present.empty()) {
      int number = present.top();
      present.pop();
      Candidate &it = candidates[number];
      if (it.reader <= step)
        continue;
      it.returns = effort == Effort::WaitToReturn
                       ? blockAround(schedule, rank, it.reader).first
                       : findReturn((*start)[it.reader] - it.time, it.reader);
      if (it.returns <= step)
        continue;
      it.isChosen = hasChosen = true;
      it.leaves = step;
      held -= it.memory;
      offloaded[it.returns] += it.memory;
    }
    held += change;
  }
  return hasChosen;
}

std::vector<Offload> RankPlanner::plan(std::int64_t limit, Effort most,
                                       const std::vector<double> &starts,
                                       const std::vector<double> &ends) {
  effort = most;
  start = &starts;
  end = &ends;
  for (Candidate &it : candidates)
    it.isChosen = it.isRefused = false;
  // Each round begins with the copies of the previous round for which the links
  // suffice.
  constexpr int mostRounds = 16;
  for (int round = 0; round < mostRounds && choose(limit); ++round)
    setTimes();
  std::vector<Offload> result;
  for (const Candidate &it : candidates)
    if (it.isChosen)
      result.push_back({it.chunk, it.microbatch, it.leaves, it.returns});
  return result;
}

namespace {
/// The results of a schedule that planning needs.
struct Trial {
  TurnTimes times; ///< In each rank's order, also of a cyclic schedule.
  double value = 0;
  std::vector<std::int64_t> peaks; ///< By rank.
};

/// A schedule with offloads, and its results.
struct Plan {
  Schedule schedule;
  double value;
  std::int64_t peak;
};

/// Chooses the offloads of all ranks.
class Planner {
public:
  Planner(const Problem &problem, Schedule schedule, Objective objective,
          OpIndex index)
      : problem(problem), schedule(std::move(schedule)), objective(objective),
        flow(problem), index(std::move(index)) {
    for (int rank = 0; rank < problem.ranks(); ++rank)
      ranks.emplace_back(problem, this->schedule, this->index, rank);
  }

  /// To be called first: evaluates the schedule without offloads.
  Status begin();
  /// None if the limits of stages are too low.
  std::optional<Plan> plan(const std::vector<std::int64_t> &limits,
                           Effort effort);
  /// Plans for one limit of all stages, and a step that takes at most
  /// `longest`. None if that is impossible.
  std::optional<Plan> planWithin(std::int64_t limit, double longest);
  Plan planLowest(double tolerance);
  /// An error with the least peaks of all stages, without regard to time, and
  /// the limits that they exceed.
  Error tooLow(const std::vector<std::int64_t> &limits);

private:
  Expected<Trial> run() const;
  Expected<Trial> tryPlan(const std::vector<std::int64_t> &limits,
                          Effort effort, const TurnTimes &times);
  bool fits(const Trial &trial, const std::vector<std::int64_t> &limits) const;
  Plan planOf(const Trial &trial) const {
    return {schedule, trial.value,
            *std::max_element(trial.peaks.begin(), trial.peaks.end())};
  }

  const Problem &problem;
  Schedule schedule;
  Objective objective;
  Flow flow;
  OpIndex index;
  std::vector<RankPlanner> ranks;
  Trial unloaded;
};
} // namespace

static double valueOf(const Execution &execution, Objective objective) {
  double value = 0;
  for (std::size_t rank = 0; rank < execution.end.size(); ++rank) {
    double begin =
        objective == Objective::Span ? execution.start[rank].front() : 0;
    value = std::max(value, execution.end[rank].back() - begin);
  }
  return value;
}

/// Like `simulate`, without results that planning does not need.
Expected<Trial> Planner::run() const {
  Trial trial;
  if (isCyclic(schedule)) {
    Expected<Simulation> simulation = simulate(problem, schedule);
    Expected<TurnTimes> times = turnTimes(problem, schedule);
    if (!simulation || !times)
      return simulation ? times.takeError() : simulation.takeError();
    trial.times = std::move(*times);
    trial.value = simulation->value(objective);
  } else {
    Expected<Execution> execution = execute(problem, flow, schedule, index);
    if (!execution)
      return execution.takeError();
    trial.value = objective == Objective::Period
                      ? loopOf(problem, schedule, index, *execution).period
                      : valueOf(*execution, objective);
    trial.times = {std::move(execution->start), std::move(execution->end)};
  }
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    std::int64_t &peak = trial.peaks.emplace_back(0);
    for (const HeldMemory &held : heldMemory(problem, schedule, rank))
      peak = std::max(peak, held.during);
  }
  return trial;
}

Status Planner::begin() {
  Expected<Trial> trial = run();
  if (!trial)
    return trial.takeError();
  unloaded = std::move(*trial);
  return Status::success();
}

bool Planner::fits(const Trial &trial,
                   const std::vector<std::int64_t> &limits) const {
  for (int rank = 0; rank < problem.ranks(); ++rank)
    if (trial.peaks[rank] > limits[problem.stageOfRank(rank)])
      return false;
  return true;
}

Expected<Trial> Planner::tryPlan(const std::vector<std::int64_t> &limits,
                                 Effort effort, const TurnTimes &times) {
  schedule.offloads.clear();
  for (int rank = 0; rank < problem.ranks(); ++rank)
    schedule.offloads.push_back(
        ranks[rank].plan(limits[problem.stageOfRank(rank)], effort,
                         times.start[rank], times.end[rank]));
  return run();
}

std::optional<Plan> Planner::plan(const std::vector<std::int64_t> &limits,
                                  Effort effort) {
  // If ranks wait, copies have more time than assumed.
  int rounds = effort == Effort::NoWaiting ? 1 : 4;
  std::optional<Plan> best;
  TurnTimes times = unloaded.times;
  for (int round = 0; round < rounds; ++round) {
    Expected<Trial> trial = tryPlan(limits, effort, times);
    if (!trial)
      break;
    if (fits(*trial, limits) && (!best || trial->value < best->value))
      best = planOf(*trial);
    times = std::move(trial->times);
  }
  return best;
}

Error Planner::tooLow(const std::vector<std::int64_t> &limits) {
  Error error{ErrorKind::OutOfMemory,
              "no choice of what to offload stays within all memory limits"};
  std::vector<std::int64_t> none(problem.stages(), 0);
  Expected<Trial> least = tryPlan(none, Effort::WaitToReturn, unloaded.times);
  for (int rank = 0; least && rank < problem.ranks(); ++rank) {
    int stage = problem.stageOfRank(rank);
    if (least->peaks[rank] <= limits[stage])
      continue;
    error.message =
        problem.nameOfRank(rank) + ": exceeds the memory limit of " +
        formatMemory(problem, limits[stage]) + "; this order of the " +
        (problem.widths.empty() ? "stage" : "rank") + " needs " +
        formatMemory(problem, least->peaks[rank]) +
        ", however much it offloads";
    error.stage = stage;
    error.leastLimit = least->peaks[rank];
    break;
  }
  return error;
}

std::optional<Plan> Planner::planWithin(std::int64_t limit, double longest) {
  std::vector<std::int64_t> limits(problem.stages(), limit);
  // Plans with waiting take several rounds, so those of one round are tried
  // first.
  for (Effort effort : {Effort::NoWaiting, Effort::WaitToLeave})
    if (std::optional<Plan> found = plan(limits, effort);
        found && found->value <= longest)
      return found;
  return std::nullopt;
}

/// Finds the least limit by bisection.
Plan Planner::planLowest(double tolerance) {
  Plan best = planOf(unloaded);
  std::int64_t low = 0, high = best.peak;
  double longest = best.value * (1 + tolerance);
  while (high - low > best.peak / 256) {
    std::int64_t limit = low + (high - low) / 2;
    if (std::optional<Plan> found = planWithin(limit, longest)) {
      high = found->peak;
      best = std::move(*found);
    } else {
      low = limit + 1;
    }
  }
  return best;
}

static bool isOffloading(const Schedule &schedule) {
  return std::any_of(
      schedule.offloads.begin(), schedule.offloads.end(),
      [](const std::vector<Offload> &ofRank) { return !ofRank.empty(); });
}

/// A schedule without any offload has no lists of offloads.
static Schedule withoutEmptyLists(Schedule schedule) {
  if (!isOffloading(schedule))
    schedule.offloads.clear();
  return schedule;
}

Expected<Schedule> veeline::schedule::addOffloads(const Problem &problem,
                                                  Schedule schedule,
                                                  Objective objective,
                                                  double tolerance) {
  Expected<OpIndex> index = OpIndex::build(problem, schedule);
  if (!index)
    return index.takeError();
  Planner planner(problem, std::move(schedule), objective, std::move(*index));
  if (Status status = planner.begin(); !status)
    return status.takeError();
  if (problem.memoryLimits.empty())
    return withoutEmptyLists(planner.planLowest(tolerance).schedule);
  for (Effort effort :
       {Effort::NoWaiting, Effort::WaitToLeave, Effort::WaitToReturn})
    if (std::optional<Plan> plan = planner.plan(problem.memoryLimits, effort))
      return withoutEmptyLists(std::move(plan->schedule));
  return planner.tooLow(problem.memoryLimits);
}

//===----------------------------------------------------------------------===//
// Nothing is offloaded
//===----------------------------------------------------------------------===//

static bool hasCandidates(const Problem &problem, const Schedule &schedule,
                          const OpIndex &index) {
  for (int rank = 0; rank < problem.ranks(); ++rank)
    if (RankPlanner(problem, schedule, index, rank).hasCandidates())
      return true;
  return false;
}

/// Whether a step whose copies take no time would have a lower peak.
static bool wouldOffload(Problem problem, Schedule schedule,
                         Objective objective) {
  for (Chunk &chunk : problem.chunks)
    chunk.offloadTime = 0;
  schedule.offloads.clear();
  Expected<Schedule> found =
      addOffloads(problem, std::move(schedule), objective);
  return found && isOffloading(*found);
}

static std::string whyNothing(const Problem &problem, const Schedule &schedule,
                              Objective objective) {
  if (!canOffload(problem))
    return "no chunk keeps anything between F and its backward";
  Expected<OpIndex> index = OpIndex::build(problem, schedule);
  if (!index || !hasCandidates(problem, schedule, *index))
    return "the backward of each F is the next operation of its stage, or runs "
           "in the next step";
  if (!problem.memoryLimits.empty())
    return "all stages stay within their memory limits without";
  return wouldOffload(problem, schedule, objective)
             ? "copies take too long to lower the peak of a step that takes at "
               "most 1 % longer"
             : "no peak of a step that takes at most 1 % longer is lower, "
               "however fast copies are";
}

void veeline::schedule::warnOfNoOffloads(const Problem &problem,
                                         Schedule &schedule,
                                         Objective objective) {
  if (!isOffloading(schedule))
    schedule.warnings.push_back("nothing is offloaded: " +
                                whyNothing(problem, schedule, objective));
}
