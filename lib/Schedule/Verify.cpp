//===- Verify.cpp - verification of a schedule ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Text.h"
#include "veeline/Schedule/Execution.h"
#include "veeline/Schedule/Loop.h"
#include "veeline/Schedule/Memory.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::schedule;

namespace {
/// The last microbatches of a chunk whose B and whose W were seen, and their
/// steps.
struct Latest {
  int inputMicrobatch = -1, inputStep = -1;
  int weightMicrobatch = -1, weightStep = -1;
  /// The first W of the step before, and the last one.
  int firstLate = -1, lateMicrobatch = -1, lateStep = -1;
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
  auto tooLate = [&](int late) {
    return errorAt(ErrorKind::WrongOrder, problem, schedule, stage, step,
                   "comes, in its step, before microbatch " +
                       std::to_string(schedule.stages[stage][late].microbatch) +
                       ", whose W is late, at step " + std::to_string(late) +
                       "; the microbatches of a chunk's W must ascend");
  };
  bool isInput =
      op.kind == OpKind::BackwardInput || op.kind == OpKind::Backward;
  if (isInput && !op.late) {
    if (op.microbatch < latest.inputMicrobatch)
      return tooEarly(latest.inputStep);
    latest.inputMicrobatch = op.microbatch;
    latest.inputStep = step;
  }
  if (op.late) {
    if (op.kind == OpKind::Backward && latest.inputStep >= 0)
      return errorAt(ErrorKind::WrongOrder, problem, schedule, stage, step,
                     "comes after a backward of this step, at step " +
                         std::to_string(latest.inputStep) +
                         "; what is late adds to gradients first");
    if (op.microbatch < latest.lateMicrobatch)
      return tooEarly(latest.lateStep);
    if (latest.lateStep < 0)
      latest.firstLate = step;
    latest.lateMicrobatch = op.microbatch;
    latest.lateStep = step;
    return Status::success();
  }
  if (op.kind == OpKind::BackwardWeight || op.kind == OpKind::Backward) {
    if (op.microbatch < latest.weightMicrobatch)
      return tooEarly(latest.weightStep);
    if (latest.firstLate >= 0 &&
        op.microbatch > schedule.stages[stage][latest.firstLate].microbatch)
      return tooLate(latest.firstLate);
    latest.weightMicrobatch = op.microbatch;
    latest.weightStep = step;
  }
  if (op.kind == OpKind::Recompute) {
    int backward = index.firstBackward(problem, op.chunk, op.microbatch);
    return backward > step
               ? Status::success()
               : errorAt(ErrorKind::WrongOrder, problem, schedule, stage, step,
                         "comes after the backward that takes it, at step " +
                             std::to_string(backward));
  }
  if (op.kind != OpKind::BackwardWeight)
    return Status::success();
  int input = index.backwardInput(op.chunk, op.microbatch);
  if (input > step)
    return errorAt(ErrorKind::WrongOrder, problem, schedule, stage, step,
                   "comes before its B at step " + std::to_string(input));
  return Status::success();
}

namespace {
/// Checks that operations may belong to the step before.
class LateCheck {
public:
  LateCheck(const Problem &problem, const Schedule &schedule)
      : problem(problem), schedule(schedule), tiedWith(problem.numChunks()) {
    for (const std::vector<int> &chunks : problem.tied)
      for (int chunk : chunks)
        tiedWith[chunk] = chunks;
    late.resize(static_cast<std::size_t>(problem.numChunks()) *
                problem.microbatches);
    for (const std::vector<Op> &ops : schedule.stages)
      for (const Op &op : ops)
        if (op.late && op.kind == OpKind::Backward)
          late[static_cast<std::size_t>(op.chunk) * problem.microbatches +
               op.microbatch] = true;
  }
  Status run() const;

private:
  Status checkAt(int rank, int step, const std::vector<int> &forwards) const;
  Status checkBackward(int rank, int step) const;
  bool isLate(int chunk, int microbatch) const {
    return late[static_cast<std::size_t>(chunk) * problem.microbatches +
                microbatch];
  }

  const Problem &problem;
  const Schedule &schedule;
  /// By chunk: the chunks tied with it, including itself; empty if there are
  /// none.
  std::vector<std::vector<int>> tiedWith;
  /// By chunk and microbatch: whether the fused backward is late.
  std::vector<bool> late;
};
} // namespace

/// `forwards` has the step of the first F of each chunk so far, or -1.
Status LateCheck::checkAt(int rank, int step,
                          const std::vector<int> &forwards) const {
  const Op &op = schedule.stages[rank][step];
  auto fail = [&](const std::string &what) {
    return errorAt(ErrorKind::WrongOrder, problem, schedule, rank, step, what);
  };
  bool isAsynchronous = problem.updates != UpdateSemantics::Synchronous;
  if (op.kind != (isAsynchronous ? OpKind::Backward : OpKind::BackwardWeight))
    return fail(isAsynchronous
                    ? "cannot be late; only BW of the step before may run in "
                      "the next one, which waits for no update"
                    : "cannot be late; only W of the step before may run in "
                      "the next one");
  if (!schedule.overlapped.empty())
    return fail("cannot be late in a schedule with overlapped blocks");
  if (problem.ranks() != problem.stages())
    return fail("cannot be late where stages have several ranks");
  if (isAsynchronous)
    return problem.chunks[op.chunk].hasRecompute
               ? fail("cannot be late: its chunk has an R, which is in time")
               : Status::success();
  if (!problem.chunks[op.chunk].hasBackwardInput)
    return fail("cannot be late: its chunk has no B, so it waits for gradients "
                "of other stages itself");
  std::vector<int> users = tiedWith[op.chunk];
  if (users.empty())
    users.push_back(op.chunk);
  for (int user : users) {
    if (problem.placement.stageOf(user) != problem.placement.stageOf(op.chunk))
      return fail("cannot be late: chunk " + std::to_string(user) +
                  " on stage " +
                  std::to_string(problem.placement.stageOf(user)) +
                  " uses a parameter of it");
    if (forwards[user] >= 0)
      return fail("comes after " +
                  describe(schedule.stages[rank][forwards[user]]) +
                  " at step " + std::to_string(forwards[user]) +
                  "; its parameters have to be updated before the next step "
                  "uses them");
  }
  return Status::success();
}

/// A backward that is not late takes gradients of backwards that are not late.
Status LateCheck::checkBackward(int rank, int step) const {
  const Op &op = schedule.stages[rank][step];
  for (const Edge &edge : problem.edges)
    if (edge.from == op.chunk && edge.carriesGradient &&
        isLate(edge.to, op.microbatch))
      return errorAt(ErrorKind::WrongOrder, problem, schedule, rank, step,
                     "takes a gradient of chunk " + std::to_string(edge.to) +
                         ", whose backward of this microbatch is late");
  return Status::success();
}

Status LateCheck::run() const {
  std::vector<int> forwards(problem.numChunks());
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    forwards.assign(forwards.size(), -1);
    const std::vector<Op> &ops = schedule.stages[rank];
    for (int step = 0, e = static_cast<int>(ops.size()); step < e; ++step) {
      if (ops[step].late) {
        if (Status status = checkAt(rank, step, forwards); !status)
          return status;
      } else if (ops[step].kind == OpKind::Backward) {
        if (Status status = checkBackward(rank, step); !status)
          return status;
      } else if (ops[step].kind == OpKind::Forward &&
                 forwards[ops[step].chunk] < 0) {
        forwards[ops[step].chunk] = step;
      }
    }
  }
  return Status::success();
}

static Status checkOrder(const Problem &problem, const Schedule &schedule,
                         const OpIndex &index) {
  std::vector<Latest> latest(problem.numChunks());
  for (int stage = 0; stage < problem.ranks(); ++stage) {
    // Each rank of a stage has its own microbatches.
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

/// Checks one offload of a rank. `previous` is the step of the F of the offload
/// before it.
static Status checkOffload(const Problem &problem, const Schedule &schedule,
                           const OpIndex &index, int rank,
                           const Offload &offload, int &previous) {
  auto [chunk, microbatch, leaves, returns] = offload;
  auto fail = [&](int step, const std::string &what) {
    return errorAt(ErrorKind::WrongOffload, problem, schedule, rank, step,
                   what);
  };
  int forward = index.forward(chunk, microbatch);
  int reader = index.reader(problem, chunk, microbatch);
  if (forward <= previous)
    return fail(forward, "is offloaded after that of step " +
                             std::to_string(previous) +
                             "; offloads stand in the order of their F, each "
                             "once");
  previous = forward;
  if (problem.chunks[chunk].offloadMemory == 0)
    return fail(forward, "keeps nothing that could be offloaded");
  if (schedule.stages[rank][reader].late)
    return fail(forward, "is offloaded, but its backward is late");
  if (leaves <= forward || returns < leaves || reader < returns)
    return fail(forward,
                "is offloaded from step " + std::to_string(leaves) + " to " +
                    std::to_string(returns) +
                    "; it can leave after its own step, and has to be back "
                    "for " +
                    describe(schedule.stages[rank][reader]) + " at step " +
                    std::to_string(reader));
  for (int step : {leaves, returns})
    if (blockAround(schedule, rank, step).first != step)
      return fail(forward, "leaves or returns within the overlapped block at "
                           "step " +
                               std::to_string(step));
  return Status::success();
}

Status veeline::schedule::checkOffloads(const Problem &problem,
                                        const Schedule &schedule,
                                        const OpIndex &index) {
  if (schedule.offloads.empty())
    return Status::success();
  if (schedule.offloads.size() != schedule.stages.size())
    return Error{ErrorKind::WrongOffload,
                 "the schedule has offloads of " +
                     counted(schedule.offloads.size(), "rank") + " and " +
                     counted(schedule.stages.size(), "order")};
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    int previous = -1;
    for (const Offload &offload : schedule.offloads[rank]) {
      auto [chunk, microbatch, leaves, returns] = offload;
      if (chunk < 0 || chunk >= problem.numChunks() || microbatch < 0 ||
          microbatch >= problem.microbatches ||
          problem.rankOf(chunk, microbatch) != rank)
        return Error{ErrorKind::WrongOffload,
                     problem.nameOfRank(rank) + " offloads chunk " +
                         std::to_string(chunk) + ", microbatch " +
                         std::to_string(microbatch) +
                         ", which it does not have"};
      if (Status status =
              checkOffload(problem, schedule, index, rank, offload, previous);
          !status)
        return status;
    }
  }
  return Status::success();
}

static Status checkMemory(const Problem &problem, const Schedule &schedule,
                          int rank) {
  std::int64_t limit = problem.memoryLimits[problem.stageOfRank(rank)];
  std::vector<HeldMemory> memory = heldMemory(problem, schedule, rank);
  auto above =
      std::find_if(memory.begin(), memory.end(),
                   [&](const HeldMemory &held) { return held.during > limit; });
  if (above == memory.end())
    return Status::success();
  int firstAbove = above - memory.begin();
  std::int64_t peak = 0;
  for (const HeldMemory &held : memory)
    peak = std::max(peak, held.during);
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
  if (isCyclic(schedule))
    if (Status status = LateCheck(problem, schedule).run(); !status)
      return status;
  if (Status status = checkOrder(problem, schedule, *index); !status)
    return status;
  if (Status status = checkOffloads(problem, schedule, *index); !status)
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
