//===- OpIndex.cpp - where each operation of a schedule stands ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution.h"
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
    table += "  stage " + std::to_string(stage) + ", steps " +
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
  Error error{kind, "stage " + std::to_string(stage) + ", step " +
                        std::to_string(step) + ": " + describe(op) + " " +
                        what};
  error.stage = stage;
  error.step = step;
  error.op = op;
  error.neighbourhood = neighbourhood(problem, schedule, {{stage, step}});
  return error;
}

static bool isKnown(const Problem &problem, const Op &op) {
  return op.chunk >= 0 && op.chunk < problem.numChunks() &&
         op.microbatch >= 0 && op.microbatch < problem.microbatches &&
         op.kind <= OpKind::Backward;
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
                    std::to_string(problem.numChunks()) + " chunks and " +
                    std::to_string(problem.microbatches) + " microbatches");
  if (op.kind == OpKind::BackwardInput &&
      !problem.chunks[op.chunk].hasBackwardInput)
    return fail(ErrorKind::UnknownOp,
                "does not exist: this chunk has no backward_input, its whole "
                "backward is W");
  int home = problem.placement.stageOf(op.chunk);
  if (home != stage)
    return fail(ErrorKind::WrongStage,
                "belongs to stage " + std::to_string(home));

  int *entry = &steps[slot(op.chunk, op.microbatch)];
  bool takesInput =
      op.kind == OpKind::BackwardInput || op.kind == OpKind::Backward;
  bool takesWeight =
      op.kind == OpKind::BackwardWeight || op.kind == OpKind::Backward;
  bool taken[3] = {op.kind == OpKind::Forward, takesInput, takesWeight};
  for (int i = 0; i < 3; ++i) {
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
  constexpr OpKind kinds[] = {OpKind::Forward, OpKind::BackwardInput,
                              OpKind::BackwardWeight};
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    for (int microbatch = 0; microbatch < problem.microbatches; ++microbatch)
      for (int i = 0; i < 3; ++i) {
        if (steps[slot(chunk, microbatch) + i] >= 0 ||
            (i == 1 && !problem.chunks[chunk].hasBackwardInput))
          continue;
        int stage = problem.placement.stageOf(chunk);
        Op op{kinds[i], chunk, microbatch};
        Error error{ErrorKind::Missing, "stage " + std::to_string(stage) +
                                            " never runs " + describe(op)};
        error.stage = stage;
        error.op = op;
        return error;
      }
  return Status::success();
}

Expected<OpIndex> OpIndex::build(const Problem &problem,
                                 const Schedule &schedule) {
  if (schedule.stages.size() != static_cast<std::size_t>(problem.stages()))
    return Error{ErrorKind::WrongStage,
                 "the schedule has " + std::to_string(schedule.stages.size()) +
                     " stages, the problem " +
                     std::to_string(problem.stages())};
  OpIndex index(problem);
  for (int stage = 0; stage < problem.stages(); ++stage)
    for (int step = 0, e = schedule.stages[stage].size(); step < e; ++step)
      if (Status status = index.add(problem, schedule, stage, step); !status)
        return status.takeError();
  if (Status status = index.checkComplete(problem); !status)
    return status.takeError();
  return index;
}
