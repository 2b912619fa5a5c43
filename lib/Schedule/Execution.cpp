//===- Execution.cpp - running a schedule in order ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include <algorithm>

using namespace veeline::schedule;

namespace {
/// Runs each stage until it has to wait for an operation of another one, and
/// goes on with it once that has run. Every operation is looked at once when it
/// runs and once for each time it has to wait, so the whole is linear.
class Executor {
public:
  Executor(const Problem &problem, const Flow &flow, const Schedule &schedule,
           const OpIndex &index);
  Expected<Execution> run();

private:
  /// Whether the next operation of the stage can run: sets `ready` to the time
  /// when its inputs are there, or `missing` to an input that is not.
  bool isReady(int stage, double &ready, Position &missing) const;
  bool needs(int chunk, int step, double transfer, double &ready,
             Position &missing) const;
  bool needsGradients(const Op &op, double &ready, Position &missing) const;
  void runStage(int stage);
  void wake(int stage);
  Error deadlock() const;

  const Problem &problem;
  const Flow &flow;
  const Schedule &schedule;
  const OpIndex &index;
  Execution result;
  std::vector<int> progress;
  std::vector<double> now;
  /// `waiting[s]`: what stages wait for from stage s.
  struct Waiter {
    int stage;
    int step;
  };
  std::vector<std::vector<Waiter>> waiting;
  std::vector<int> worklist;
};
} // namespace

Executor::Executor(const Problem &problem, const Flow &flow,
                   const Schedule &schedule, const OpIndex &index)
    : problem(problem), flow(flow), schedule(schedule), index(index),
      progress(problem.stages()), now(problem.stages()),
      waiting(problem.stages()) {
  std::size_t total = 0;
  result.start.resize(problem.stages());
  result.end.resize(problem.stages());
  for (int stage = problem.stages() - 1; stage >= 0; --stage) {
    std::size_t size = schedule.stages[stage].size();
    result.start[stage].resize(size);
    result.end[stage].resize(size);
    total += size;
    worklist.push_back(stage);
  }
  result.topological.reserve(total);
}

bool Executor::needs(int chunk, int step, double transfer, double &ready,
                     Position &missing) const {
  int stage = problem.placement.stageOf(chunk);
  if (progress[stage] <= step) {
    missing = {stage, step};
    return false;
  }
  ready = std::max(ready, result.end[stage][step] + transfer);
  return true;
}

bool Executor::needsGradients(const Op &op, double &ready,
                              Position &missing) const {
  if (!needs(op.chunk, index.forward(op.chunk, op.microbatch), 0, ready,
             missing))
    return false;
  for (const Link &link : flow.backwardInputs[op.chunk])
    if (!needs(link.chunk, index.backwardInput(link.chunk, op.microbatch),
               link.transfer, ready, missing))
      return false;
  return true;
}

bool Executor::isReady(int stage, double &ready, Position &missing) const {
  const Op &op = schedule.stages[stage][progress[stage]];
  switch (op.kind) {
  case OpKind::Forward:
    for (const Link &link : flow.forwardInputs[op.chunk])
      if (!needs(link.chunk, index.forward(link.chunk, op.microbatch),
                 link.transfer, ready, missing))
        return false;
    return true;
  case OpKind::BackwardWeight:
    if (problem.chunks[op.chunk].hasBackwardInput)
      return needs(op.chunk, index.backwardInput(op.chunk, op.microbatch), 0,
                   ready, missing);
    return needsGradients(op, ready, missing);
  case OpKind::BackwardInput:
  case OpKind::Backward:
    return needsGradients(op, ready, missing);
  }
  return true;
}

void Executor::runStage(int stage) {
  const std::vector<Op> &ops = schedule.stages[stage];
  int &step = progress[stage];
  for (int end = ops.size(); step < end; ++step) {
    double ready = now[stage];
    Position missing;
    if (!isReady(stage, ready, missing)) {
      if (missing.stage != stage)
        waiting[missing.stage].push_back({stage, missing.step});
      return;
    }
    result.start[stage][step] = ready;
    now[stage] = ready + problem.chunks[ops[step].chunk].cost(ops[step].kind);
    result.end[stage][step] = now[stage];
    result.topological.push_back({stage, step});
  }
}

void Executor::wake(int stage) {
  std::vector<Waiter> &waiters = waiting[stage];
  for (std::size_t i = 0; i < waiters.size();) {
    if (waiters[i].step >= progress[stage]) {
      ++i;
      continue;
    }
    worklist.push_back(waiters[i].stage);
    waiters[i] = waiters.back();
    waiters.pop_back();
  }
}

Expected<Execution> Executor::run() {
  while (!worklist.empty()) {
    int stage = worklist.back();
    worklist.pop_back();
    runStage(stage);
    wake(stage);
  }
  for (int stage = 0; stage < problem.stages(); ++stage)
    if (progress[stage] != static_cast<int>(schedule.stages[stage].size()))
      return deadlock();
  return std::move(result);
}

/// Every unfinished stage waits for an unfinished one, so following them from
/// anywhere ends in a circle.
Error Executor::deadlock() const {
  auto missingInput = [&](int stage) {
    double ready = 0;
    Position missing{stage, progress[stage]};
    isReady(stage, ready, missing);
    return missing;
  };
  int stage = 0;
  while (progress[stage] == static_cast<int>(schedule.stages[stage].size()))
    ++stage;
  std::vector<bool> seen(problem.stages());
  while (!seen[stage]) {
    seen[stage] = true;
    stage = missingInput(stage).stage;
  }

  std::string circle;
  std::vector<Position> positions;
  int first = stage;
  do {
    Position missing = missingInput(stage);
    const Op &input = schedule.stages[missing.stage][missing.step];
    positions.push_back({stage, progress[stage]});
    if (stage != first)
      circle += "; there, step " + std::to_string(progress[stage]) + ", " +
                describe(schedule.stages[stage][progress[stage]]) + ",";
    circle += " waits for " + describe(input) + ", which is step " +
              std::to_string(missing.step) + " of stage " +
              std::to_string(missing.stage);
    stage = missing.stage;
  } while (stage != first);

  Error error = errorAt(ErrorKind::Deadlock, problem, schedule, first,
                        progress[first], "never runs: it" + circle);
  error.neighbourhood = neighbourhood(problem, schedule, positions);
  return error;
}

Expected<Execution> veeline::schedule::execute(const Problem &problem,
                                               const Flow &flow,
                                               const Schedule &schedule,
                                               const OpIndex &index) {
  return Executor(problem, flow, schedule, index).run();
}
