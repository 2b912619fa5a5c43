//===- OpIndex.cpp - the position of each operation -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Text.h"
#include "veeline/Schedule/Execution.h"
#include "veeline/Schedule/Text.h"

#include <algorithm>

using namespace veeline::schedule;

std::string
veeline::schedule::neighbourhood(const Problem &problem,
                                 const Schedule &schedule,
                                 const std::vector<Position> &positions) {
  constexpr int before = 4, after = 4;
  std::string table;
  for (auto [stage, step] : positions) {
    const std::vector<Op> &ops = schedule.stages[stage];
    int first = std::max(0, step - before);
    int last = std::min<int>(ops.size() - 1, step + after);
    table += table.empty() ? "" : "\n";
    table += "  " + problem.nameOfRank(stage) + ", steps " +
             std::to_string(first) + ".." + std::to_string(last) + ":";
    for (int i = first; i <= last; ++i) {
      std::string cell = cellName(problem, ops[i]);
      table += i == step ? " [" + cell + "]" : " " + cell;
    }
  }
  return table;
}

Error veeline::schedule::errorAt(ErrorKind kind, const Problem &problem,
                                 const Schedule &schedule, int stage, int step,
                                 const std::string &what) {
  const Op &op = schedule.stages[stage][step];
  Error error{kind, problem.nameOfRank(stage) + ", step " +
                        std::to_string(step) + ": " + describe(op) + " " +
                        what};
  error.stage = problem.stageOfRank(stage);
  error.step = step;
  error.op = op;
  error.neighbourhood = neighbourhood(problem, schedule, {{stage, step}});
  return error;
}

static bool isKnown(const Problem &problem, const Op &op) {
  return op.chunk >= 0 && op.chunk < problem.numChunks() &&
         op.microbatch >= 0 && op.microbatch < problem.microbatches &&
         op.kind <= OpKind::Recompute;
}

Status OpIndex::add(const Problem &problem, const Schedule &schedule, int stage,
                    int step) {
  const Op &op = schedule.stages[stage][step];
  auto fail = [&](ErrorKind kind, const std::string &what) {
    return errorAt(kind, problem, schedule, stage, step, what);
  };
  if (!isKnown(problem, op))
    return fail(ErrorKind::UnknownOp,
                "does not exist: the problem has " +
                    veeline::counted(problem.numChunks(), "chunk") + " and " +
                    veeline::counted(problem.microbatches, "microbatch"));
  if (op.kind == OpKind::BackwardInput &&
      !problem.chunks[op.chunk].hasBackwardInput)
    return fail(ErrorKind::UnknownOp,
                "does not exist: this chunk has no backward_input, its whole "
                "backward is W");
  if (op.kind == OpKind::Recompute && !problem.chunks[op.chunk].hasRecompute)
    return fail(ErrorKind::UnknownOp,
                "does not exist: what this chunk recomputes is inside of its "
                "backward");
  int home = problem.rankOf(op.chunk, op.microbatch);
  if (home != stage)
    return fail(ErrorKind::WrongStage,
                "belongs to " + problem.nameOfRank(home));

  int *entry = &steps[slot(op.chunk, op.microbatch)];
  bool takesInput =
      op.kind == OpKind::BackwardInput || op.kind == OpKind::Backward;
  bool takesWeight =
      op.kind == OpKind::BackwardWeight || op.kind == OpKind::Backward;
  bool taken[kindsOfIndex] = {op.kind == OpKind::Forward, takesInput,
                              takesWeight, op.kind == OpKind::Recompute};
  for (int i = 0; i < kindsOfIndex; ++i) {
    if (!taken[i])
      continue;
    if (entry[i] >= 0)
      return fail(ErrorKind::Duplicate,
                  "is done already at step " + std::to_string(entry[i]) +
                      " by " + describe(schedule.stages[stage][entry[i]]));
    entry[i] = step;
  }
  return Status::success();
}

Status OpIndex::checkComplete(const Problem &problem) const {
  constexpr OpKind kinds[kindsOfIndex] = {
      OpKind::Forward, OpKind::BackwardInput, OpKind::BackwardWeight,
      OpKind::Recompute};
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    for (int microbatch = 0; microbatch < problem.microbatches; ++microbatch)
      for (int i = 0; i < kindsOfIndex; ++i) {
        if (steps[slot(chunk, microbatch) + i] >= 0 ||
            (i == 1 && !problem.chunks[chunk].hasBackwardInput) ||
            (i == 3 && !problem.chunks[chunk].hasRecompute))
          continue;
        int rank = problem.rankOf(chunk, microbatch);
        Op op{kinds[i], chunk, microbatch};
        Error error{ErrorKind::Missing,
                    problem.nameOfRank(rank) + " never runs " + describe(op)};
        error.stage = problem.stageOfRank(rank);
        error.op = op;
        return error;
      }
  return Status::success();
}

/// Checks that the operations at a step and the next one can overlap.
static Status checkBlock(const Problem &problem, const Schedule &schedule,
                         int stage, int step, int previous) {
  const std::vector<Op> &ops = schedule.stages[stage];
  if (step < 0 || step + 1 >= static_cast<int>(ops.size())) {
    Error error{ErrorKind::WrongBlock,
                problem.nameOfRank(stage) + ": there are no steps " +
                    std::to_string(step) + " and " + std::to_string(step + 1) +
                    " to overlap; the " +
                    (problem.widths.empty() ? "stage" : "rank") + " has " +
                    std::to_string(ops.size())};
    error.stage = problem.stageOfRank(stage);
    return error;
  }
  auto fail = [&](const std::string &what) {
    return errorAt(ErrorKind::WrongBlock, problem, schedule, stage, step, what);
  };
  if (step < previous + 2)
    return fail("is said to overlap with the next step after step " +
                std::to_string(previous) +
                " is; blocks must ascend and share no operation");
  const Op &first = ops[step], &second = ops[step + 1];
  auto isBackward = [](const Op &op) {
    return op.kind == OpKind::BackwardInput || op.kind == OpKind::Backward;
  };
  bool fits = (first.kind == OpKind::Forward && isBackward(second)) ||
              (second.kind == OpKind::Forward && isBackward(first));
  if (!fits)
    return fail("cannot overlap with " + describe(second) +
                "; a block is one F and one B or BW");
  if (first.microbatch == second.microbatch)
    return fail("cannot overlap with " + describe(second) +
                "; a block is of two microbatches");
  return Status::success();
}

static Status checkBlocks(const Problem &problem, const Schedule &schedule) {
  if (schedule.overlapped.empty())
    return Status::success();
  if (schedule.overlapped.size() != schedule.stages.size())
    return Error{
        ErrorKind::WrongBlock,
        "overlapped blocks are given for " +
            veeline::counted(schedule.overlapped.size(),
                             problem.widths.empty() ? "stage" : "rank") +
            ", but there are " + std::to_string(schedule.stages.size())};
  for (int stage = 0; stage < problem.ranks(); ++stage) {
    int previous = -2;
    for (int step : schedule.overlapped[stage]) {
      if (Status status = checkBlock(problem, schedule, stage, step, previous);
          !status)
        return status;
      previous = step;
    }
  }
  return Status::success();
}

Expected<OpIndex> OpIndex::build(const Problem &problem,
                                 const Schedule &schedule) {
  if (schedule.stages.size() != static_cast<std::size_t>(problem.ranks()))
    return Error{
        ErrorKind::WrongStage,
        "the schedule has " +
            veeline::counted(schedule.stages.size(),
                             problem.widths.empty() ? "stage" : "rank") +
            ", the problem " + std::to_string(problem.ranks())};
  OpIndex index(problem);
  for (int stage = 0; stage < problem.ranks(); ++stage)
    for (int step = 0, e = schedule.stages[stage].size(); step < e; ++step)
      if (Status status = index.add(problem, schedule, stage, step); !status)
        return status.takeError();
  if (Status status = checkBlocks(problem, schedule); !status)
    return status.takeError();
  if (Status status = index.checkComplete(problem); !status)
    return status.takeError();
  return index;
}
