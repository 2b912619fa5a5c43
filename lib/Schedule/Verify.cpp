//===- Verify.cpp - does a schedule solve a problem -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Execution.h"
#include "veeline/Schedule/Memory.h"

#include <algorithm>

using namespace veeline::schedule;

namespace {
/// The last microbatches of a chunk whose B and whose W were seen, and where.
struct Latest {
  int inputMicrobatch = -1, inputStep = -1;
  int weightMicrobatch = -1, weightStep = -1;
};
} // namespace

/// Checks at one step that microbatches ascend, and that W follows its B.
static Status checkOrderAt(const Problem &problem, const Schedule &schedule,
                           const OpIndex &index, int stage, int step,
                           Latest &latest) {
  const Op &op = schedule.stages[stage][step];
  auto tooEarly = [&](int previous) {
    return errorAt(
        ErrorKind::WrongOrder, problem, schedule, stage, step,
        "comes after microbatch " +
            std::to_string(schedule.stages[stage][previous].microbatch) +
            " at step " + std::to_string(previous) +
            "; the microbatches of a chunk's B and W must ascend");
  };
  if (op.kind == OpKind::BackwardInput || op.kind == OpKind::Backward) {
    if (op.microbatch < latest.inputMicrobatch)
      return tooEarly(latest.inputStep);
    latest.inputMicrobatch = op.microbatch;
    latest.inputStep = step;
  }
  if (op.kind == OpKind::BackwardWeight || op.kind == OpKind::Backward) {
    if (op.microbatch < latest.weightMicrobatch)
      return tooEarly(latest.weightStep);
    latest.weightMicrobatch = op.microbatch;
    latest.weightStep = step;
  }
  if (op.kind != OpKind::BackwardWeight)
    return Status::success();
  int input = index.backwardInput(op.chunk, op.microbatch);
  if (input > step)
    return errorAt(ErrorKind::WrongOrder, problem, schedule, stage, step,
                   "comes before its B at step " + std::to_string(input));
  return Status::success();
}

static Status checkOrder(const Problem &problem, const Schedule &schedule,
                         const OpIndex &index) {
  std::vector<Latest> latest(problem.numChunks());
  for (int stage = 0; stage < problem.ranks(); ++stage) {
    // Each rank of a stage has microbatches of its own.
    if (!problem.widths.empty())
      latest.assign(latest.size(), Latest());
    for (int step = 0, e = schedule.stages[stage].size(); step < e; ++step) {
      int chunk = schedule.stages[stage][step].chunk;
      if (Status status = checkOrderAt(problem, schedule, index, stage, step,
                                       latest[chunk]);
          !status)
        return status;
    }
  }
  return Status::success();
}

static Status checkMemory(const Problem &problem, const Schedule &schedule,
                          int rank) {
  std::int64_t limit = *problem.memoryLimit(problem.stageOfRank(rank));
  std::vector<std::int64_t> memory = memoryAfter(problem, schedule, rank);
  auto above = std::find_if(memory.begin(), memory.end(),
                            [&](std::int64_t held) { return held > limit; });
  if (above == memory.end())
    return Status::success();
  int firstAbove = above - memory.begin();
  std::int64_t peak = *std::max_element(above, memory.end());
  Error error = errorAt(
      ErrorKind::OutOfMemory, problem, schedule, rank, firstAbove,
      "exceeds the memory limit of " + formatMemory(problem, limit) +
          "; this order of the " + (problem.widths.empty() ? "stage" : "rank") +
          " needs " + formatMemory(problem, peak));
  error.leastLimit = peak;
  return error;
}

Status veeline::schedule::verify(const Problem &problem,
                                 const Schedule &schedule) {
  Expected<OpIndex> index = OpIndex::build(problem, schedule);
  if (!index)
    return index.takeError();
  if (Status status = checkOrder(problem, schedule, *index); !status)
    return status;
  if (Expected<Execution> execution =
          execute(problem, Flow(problem), schedule, *index);
      !execution)
    return execution.takeError();
  if (problem.memoryLimits.empty())
    return Status::success();
  for (int rank = 0; rank < problem.ranks(); ++rank)
    if (Status status = checkMemory(problem, schedule, rank); !status)
      return status;
  return Status::success();
}
