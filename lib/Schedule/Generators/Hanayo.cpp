//===- Hanayo.cpp - 1F1B on a wave ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Liu et al., Hanayo: Harnessing Wave-like Pipeline Parallelism for Enhanced
// Large Model Training Efficiency (2023), arXiv:2308.15762. Chunks run back and
// forth over the stages, so that a microbatch stays on a stage where it turns.
// The order is that of the ideal pipeline, in which F takes 1 and a fused
// backward 2 units, transfers are free, and a free stage starts, of what is
// ready,
//   - the backward of the oldest microbatch; else
//   - the forward of the chunk that is furthest in the model, oldest first;
// at most p microbatches are between their first F and their last backward.
// p = 2, v = 2, m = 2:
//
//   stage 0: 0F0 0F1 .   3F0 3BW0----- 3F1 3BW1-----  0BW0----- .         0BW1
//   stage 1:     1F0 2F0 1F1 2F1 .     2BW0----- 1BW0----- 2BW1----- 1BW1-----
//
// The paper has m = p. For more, the stages also try the forward of the chunk
// that is nearest to the input, which fills the pipeline again sooner, and the
// order that is better at the costs of the problem wins.
//
// A stage holds at most min(p, m) activations. For v = 2, m <= p, equal chunks,
// free transfers and a backward of at least two forwards, the bubble is
// 1 - m(F+B+W)/(p(F+B+W) + (m-1)(B+W)). O(operations · log operations).
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "veeline/Schedule/Simulator.h"

#include <algorithm>
#include <functional>
#include <queue>

using namespace veeline::schedule;

namespace {
/// The ideal pipeline, one unit of time after the other.
class IdealWave {
public:
  enum class First { Furthest, Nearest };
  IdealWave(const Problem &problem, First first)
      : problem(problem), first(first), ready(problem.stages()),
        isBusy(problem.stages()) {
    schedule.name = "hanayo";
    schedule.stages.resize(problem.stages());
  }
  Schedule run();

private:
  /// Something that can run; the least one does.
  struct Ready {
    /// Backwards before forwards, then by microbatch or by chunk.
    int order[3];
    Op op;
    bool operator>(const Ready &other) const {
      return std::lexicographical_compare(other.order, other.order + 3, order,
                                          order + 3);
    }
  };
  struct Running {
    std::int64_t end;
    int stage;
    Op op;
    bool operator>(const Running &other) const {
      return std::pair(end, stage) > std::pair(other.end, other.stage);
    }
  };
  template <typename T>
  using Queue = std::priority_queue<T, std::vector<T>, std::greater<T>>;

  void makeReady(OpKind kind, int chunk, int microbatch);
  void startAll();
  void finish(const Running &running);

  const Problem &problem;
  First first;
  std::int64_t now = 0;
  std::vector<Queue<Ready>> ready;
  std::vector<bool> isBusy;
  /// Stages that may have something to start.
  std::vector<int> idle;
  Queue<Running> running;
  Schedule schedule;
};
} // namespace

void IdealWave::makeReady(OpKind kind, int chunk, int microbatch) {
  Ready entry{{0, microbatch, 0}, {kind, chunk, microbatch}};
  if (kind == OpKind::Forward) {
    entry.order[0] = 1;
    entry.order[1] = first == First::Furthest ? -chunk : chunk;
    entry.order[2] = microbatch;
  }
  int stage = problem.placement.stageOf(chunk);
  ready[stage].push(entry);
  idle.push_back(stage);
}

void IdealWave::startAll() {
  for (int stage : idle) {
    if (isBusy[stage] || ready[stage].empty())
      continue;
    Op op = ready[stage].top().op;
    ready[stage].pop();
    schedule.stages[stage].push_back(op);
    isBusy[stage] = true;
    running.push({now + (op.kind == OpKind::Forward ? 1 : 2), stage, op});
  }
  idle.clear();
}

void IdealWave::finish(const Running &done) {
  isBusy[done.stage] = false;
  idle.push_back(done.stage);
  auto [kind, chunk, microbatch] = done.op;
  int next = microbatch + problem.stages();
  if (kind == OpKind::Forward && chunk + 1 < problem.numChunks())
    makeReady(OpKind::Forward, chunk + 1, microbatch);
  else if (kind == OpKind::Forward)
    makeReady(OpKind::Backward, chunk, microbatch);
  else if (chunk > 0)
    makeReady(OpKind::Backward, chunk - 1, microbatch);
  else if (next < problem.microbatches)
    makeReady(OpKind::Forward, 0, next);
}

Schedule IdealWave::run() {
  for (std::vector<Op> &ops : schedule.stages)
    ops.reserve(std::size_t(2) * problem.chunksPerStage() *
                problem.microbatches);
  for (int i = 0; i < std::min(problem.stages(), problem.microbatches); ++i)
    makeReady(OpKind::Forward, 0, i);
  startAll();
  while (!running.empty()) {
    now = running.top().end;
    while (!running.empty() && running.top().end == now) {
      Running done = running.top();
      running.pop();
      finish(done);
    }
    startAll();
  }
  return std::move(schedule);
}

/// What the objective makes small.
static Expected<double> timeOf(const Problem &problem, const Schedule &schedule,
                               Objective objective) {
  Expected<Simulation> result = simulate(problem, schedule);
  if (!result)
    return result.takeError();
  if (objective == Objective::Makespan)
    return result->makespan;
  double longest = 0;
  for (const StageStatistics &stage : result->stages)
    longest = std::max(longest, stage.lastEnd - stage.firstStart);
  return longest;
}

Expected<Schedule>
veeline::schedule::generateHanayo(const Problem &problem,
                                  const GeneratorOptions &options) {
  Schedule best = IdealWave(problem, IdealWave::First::Furthest).run();
  if (problem.microbatches <= problem.stages())
    return best;
  Schedule other = IdealWave(problem, IdealWave::First::Nearest).run();
  Expected<double> bestTime = timeOf(problem, best, options.objective);
  Expected<double> otherTime = timeOf(problem, other, options.objective);
  if (!bestTime)
    return bestTime.takeError();
  if (!otherTime)
    return otherTime.takeError();
  return *otherTime < *bestTime ? other : best;
}
