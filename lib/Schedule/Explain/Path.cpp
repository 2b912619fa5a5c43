//===- Path.cpp - the critical path of a simulated schedule ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Path.h"

#include <algorithm>

using namespace veeline::schedule;

int veeline::schedule::decisiveStage(const Simulation &simulation,
                                     Objective objective) {
  int worst = 0;
  double latest = -1;
  for (int s = 0, e = simulation.stages.size(); s < e; ++s) {
    const StageStatistics &stage = simulation.stages[s];
    double value =
        stage.lastEnd - (objective == Objective::Span ? stage.firstStart : 0);
    if (value > latest) {
      latest = value;
      worst = s;
    }
  }
  return worst;
}

/// Why an operation did not start earlier on a stage that was idle.
static WaitCause causeOf(const Trace &trace, const Activity &activity) {
  if (activity.step == 0)
    return WaitCause::Fill;
  if (activity.cause < 0 || !trace.activities[activity.cause].isMessage())
    return WaitCause::None;
  const Activity &message = trace.activities[activity.cause];
  if (message.stage != activity.stage)
    return WaitCause::Send;
  if (message.queued)
    return WaitCause::Link;
  return message.gradient ? WaitCause::Gradient : WaitCause::Forward;
}

static CriticalStep stepOf(const Simulation &simulation, const Trace &trace,
                           const Activity &activity) {
  CriticalStep step{activity.stage,   activity.step, activity.size,
                    activity.start,   activity.end,  activity.source,
                    activity.gradient};
  if (activity.isMessage())
    return step;
  double free =
      activity.step > 0 ? simulation.end[activity.stage][activity.step - 1] : 0;
  // A shorter wait is rounding.
  if (activity.start - free > 1e-9 * simulation.makespan) {
    step.waited = activity.start - free;
    step.cause = causeOf(trace, activity);
  }
  return step;
}

std::vector<CriticalStep>
veeline::schedule::criticalPath(const Simulation &simulation,
                                const Trace &trace, Objective objective) {
  int stage = decisiveStage(simulation, objective);
  double from =
      objective == Objective::Span ? simulation.stages[stage].firstStart : 0;
  std::vector<CriticalStep> path;
  for (int i = trace.computing[stage].back(); i >= 0;
       i = trace.activities[i].cause) {
    const Activity &activity = trace.activities[i];
    // An activity that ends at `from` belongs to the path only if it takes no
    // time.
    if (activity.end <= from && activity.start < from)
      break;
    path.push_back(stepOf(simulation, trace, activity));
    path.back().start = std::max(path.back().start, from);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

PathShares veeline::schedule::sharesOf(const Problem &problem,
                                       const Schedule &schedule,
                                       const std::vector<CriticalStep> &path) {
  PathShares shares;
  for (const CriticalStep &step : path) {
    double time = step.end - step.start;
    if (step.isMessage()) {
      shares.messages += time;
      continue;
    }
    auto opAt = [&](int i) {
      return schedule.stages[step.stage][step.step + i];
    };
    auto costAt = [&](int i) {
      return problem.chunks[opAt(i).chunk].cost(opAt(i).kind);
    };
    double cost = costAt(0) + (step.size > 1 ? costAt(1) : 0);
    for (int i = 0; i < step.size && cost > 0; ++i)
      shares.kinds[static_cast<int>(opAt(i).kind)] += time * costAt(i) / cost;
  }
  return shares;
}

PathParts veeline::schedule::partsOf(int ranks,
                                     const std::vector<CriticalStep> &path) {
  std::vector<double> work(ranks);
  PathParts parts;
  for (const CriticalStep &step : path)
    (step.isMessage() ? parts.messages : work[step.stage]) +=
        step.end - step.start;
  parts.stage = static_cast<int>(std::max_element(work.begin(), work.end()) -
                                 work.begin());
  parts.work = work[parts.stage];
  // The time of other stages since the last operation of the stage, or since
  // the start.
  double other = 0;
  bool reached = false;
  for (const CriticalStep &step : path) {
    if (step.isMessage())
      continue;
    if (step.stage != parts.stage) {
      other += step.end - step.start;
      continue;
    }
    (reached ? parts.between : parts.fill) += other;
    reached = true;
    other = 0;
  }
  parts.drain = other;
  return parts;
}

namespace {
/// Finds forwards that the memory limit delays on one rank.
class MemoryWaits {
public:
  MemoryWaits(const Problem &problem, const Schedule &schedule,
              const Simulation &simulation, const OpIndex &index,
              const Flow &flow, int rank)
      : problem(problem), ops(schedule.stages[rank]), simulation(simulation),
        index(index), flow(flow), rank(rank), stage(problem.stageOfRank(rank)),
        nextForward(problem.chunksPerStage()) {
    result = {rank, 0, 0, -1, -1, 0};
  }

  MemoryWait run() {
    for (int step = 1, e = ops.size(); step < e; ++step)
      if (simulation.start[rank][step] > simulation.end[rank][step - 1])
        look(step);
    return result;
  }

private:
  double readyTime(const Op &op) const;
  void look(int step);
  void add(int step, int forward, double time);

  const Problem &problem;
  const std::vector<Op> &ops;
  const Simulation &simulation;
  const OpIndex &index;
  const Flow &flow;
  int rank, stage;
  /// For each local chunk, a step before which there is no further forward.
  std::vector<int> nextForward;
  MemoryWait result;
};
} // namespace

double MemoryWaits::readyTime(const Op &op) const {
  double ready = 0;
  for (const Link &link : flow.forwardInputs[op.chunk]) {
    int step = index.forward(link.chunk, op.microbatch);
    int source = problem.rankOf(link.chunk, op.microbatch);
    ready = std::max(ready, simulation.end[source][step] + link.transfer);
  }
  return ready;
}

void MemoryWaits::add(int step, int forward, double time) {
  result.time += time;
  if (time <= result.longest)
    return;
  result.longest = time;
  result.blocked = forward;
  result.held = simulation.memory[rank][step - 1];
  auto releases = [&](const Op &op) {
    return problem.chunks[op.chunk].memory(op.kind) < 0;
  };
  auto release = std::find_if(ops.begin() + step, ops.end(), releases);
  result.release =
      release == ops.end() ? -1 : static_cast<int>(release - ops.begin());
}

/// Examines the idle time before `step`. The next forward of each chunk might
/// run in it.
void MemoryWaits::look(int step) {
  double begin = simulation.end[rank][step - 1];
  double end = simulation.start[rank][step];
  std::int64_t room =
      problem.memoryLimits[stage] - simulation.memory[rank][step - 1];
  double since = end;
  int blocked = -1;
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    int chunk = problem.placement.globalChunk(stage, local);
    int &next = nextForward[local];
    next = std::max(next, step);
    while (next < static_cast<int>(ops.size()) &&
           (ops[next].kind != OpKind::Forward || ops[next].chunk != chunk))
      ++next;
    if (next == static_cast<int>(ops.size()))
      continue;
    double ready = readyTime(ops[next]);
    if (ready >= end)
      continue;
    // A forward that would fit waits for something else.
    if (problem.chunks[chunk].forwardMemory <= room)
      return;
    if (ready < since || blocked < 0) {
      since = ready;
      blocked = next;
    }
  }
  if (blocked >= 0)
    add(step, blocked, end - std::max(begin, since));
}

std::optional<MemoryWait>
veeline::schedule::memoryWait(const Problem &problem, const Schedule &schedule,
                              const Simulation &simulation,
                              const OpIndex &index) {
  if (problem.memoryLimits.empty())
    return std::nullopt;
  Flow flow(problem);
  std::optional<MemoryWait> worst;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    MemoryWait wait =
        MemoryWaits(problem, schedule, simulation, index, flow, rank).run();
    if (wait.time > (worst ? worst->time : 0))
      worst = wait;
  }
  return worst;
}
