//===- Execution.h - running a schedule in order ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifier, the simulator and the message order share.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_EXECUTION_H
#define VEELINE_SCHEDULE_EXECUTION_H

#include "veeline/Schedule/Flow.h"
#include "veeline/Schedule/Loop.h"

#include <span>
#include <utility>
#include <vector>

namespace veeline::schedule {

/// Where each operation of a schedule stands.
class OpIndex {
public:
  /// Indexes a schedule. Errors: UnknownOp, WrongStage, Duplicate, Missing,
  /// WrongBlock.
  static Expected<OpIndex> build(const Problem &problem,
                                 const Schedule &schedule);

  /// The step of an operation on the stage of its chunk. A fused Backward
  /// stands for B and W; -1: there is none.
  int forward(int chunk, int microbatch) const {
    return steps[slot(chunk, microbatch)];
  }
  int backwardInput(int chunk, int microbatch) const {
    return steps[slot(chunk, microbatch) + 1];
  }
  int backwardWeight(int chunk, int microbatch) const {
    return steps[slot(chunk, microbatch) + 2];
  }
  int recompute(int chunk, int microbatch) const {
    return steps[slot(chunk, microbatch) + 3];
  }
  /// That of the first of the backwards.
  int firstBackward(const Problem &problem, int chunk, int microbatch) const {
    return problem.chunks[chunk].hasBackwardInput
               ? backwardInput(chunk, microbatch)
               : backwardWeight(chunk, microbatch);
  }
  /// That of the reader (`Problem`).
  int reader(const Problem &problem, int chunk, int microbatch) const {
    return problem.chunks[chunk].hasRecompute
               ? recompute(chunk, microbatch)
               : firstBackward(problem, chunk, microbatch);
  }

private:
  /// F, B, W and R.
  static constexpr int kindsOfIndex = 4;

  explicit OpIndex(const Problem &problem)
      : microbatches(problem.microbatches),
        steps(static_cast<std::size_t>(problem.numChunks()) *
                  problem.microbatches * kindsOfIndex,
              -1) {}
  std::size_t slot(int chunk, int microbatch) const {
    return (static_cast<std::size_t>(chunk) * microbatches + microbatch) *
           kindsOfIndex;
  }
  Status add(const Problem &problem, const Schedule &schedule, int stage,
             int step);
  Status checkComplete(const Problem &problem) const;

  int microbatches;
  std::vector<int> steps;
};

/// A position in a schedule.
struct Position {
  int stage;
  int step;
};

/// Tells how many operations run together from a step on: 2 for an overlapped
/// block, else 1. Expects the steps of each stage in order.
class BlockCursor {
public:
  explicit BlockCursor(const Schedule &schedule)
      : overlapped(&schedule.overlapped), next(overlapped->size()) {}
  int sizeAt(int stage, int step) const {
    if (next.empty())
      return 1;
    const std::vector<int> &blocks = (*overlapped)[stage];
    std::size_t &i = next[stage];
    while (i < blocks.size() && blocks[i] < step)
      ++i;
    return i < blocks.size() && blocks[i] == step ? 2 : 1;
  }

private:
  const std::vector<std::vector<int>> *overlapped;
  mutable std::vector<std::size_t> next;
};

/// The steps [first, last) of the overlapped block that a step belongs to, or
/// of the step alone.
std::pair<int, int> blockAround(const Schedule &schedule, int stage, int step);

/// The time that `size` operations from a step on take together.
double blockTime(const Problem &problem, const std::vector<Op> &ops, int step,
                 int size);

/// What a stage holds while an operation runs, at most, and then.
struct HeldMemory {
  std::int64_t during;
  /// For the first operation of an overlapped block, as `during`.
  std::int64_t after;
};
std::vector<HeldMemory> heldMemory(const Problem &problem,
                                   const Schedule &schedule, int stage);

/// The memory of a stage after each operation; for the first one of an
/// overlapped block, while the block runs.
std::vector<std::int64_t> memoryAfter(const Problem &problem,
                                      const Schedule &schedule, int stage);

/// Times of an execution, and the order it was found in.
struct Execution {
  std::vector<std::vector<double>> start, end;
  /// As `Schedule::offloads`.
  std::vector<std::vector<OffloadTimes>> offloads;
  /// Per stage, all but `drain`.
  std::vector<Waiting> waiting;
  /// All operations, each after everything it waits for.
  std::vector<Position> topological;
};

/// Runs every stage in its order, with buffered messages. Error (Deadlock):
/// stages that wait in a cycle.
Expected<Execution> execute(const Problem &problem, const Flow &flow,
                            const Schedule &schedule, const OpIndex &index,
                            bool contention = false);

/// What `verify` says of offloads.
Status checkOffloads(const Problem &problem, const Schedule &schedule,
                     const OpIndex &index);

/// `loopOf`, of an order whose execution is known.
Loop loopOf(const Problem &problem, const Schedule &schedule,
            const OpIndex &index, const Execution &execution);

/// The messages of a buffered execution in the order of `communicationOrder`.
std::vector<Message> orderMessages(const Problem &problem, const Flow &flow,
                                   const Schedule &schedule,
                                   const OpIndex &index,
                                   const Execution &execution);

/// For each message, how many of their operations the sender and the receiver
/// have run when they call it, where messages are called in order (see
/// `verifyCommunication`).
struct CallSites {
  CallSites(const Schedule &schedule, std::span<const Message> messages);
  std::vector<int> send, receive;
};

/// The execution with sends and receives that block; `messages` are all
/// messages in the order of `communicationOrder`.
Execution executeRendezvous(const Problem &problem, const Schedule &schedule,
                            std::span<const Message> messages);

/// `verifyCalls` for calls that are known to be complete.
Status checkCalls(const Problem &problem, const Schedule &schedule,
                  std::span<const Message> messages, const Calls &calls);

/// "the output of edge 0 (chunk 0 -> 1), microbatch 2"; for messages.
std::string describe(const Problem &problem, const Message &message);

/// An error about one step: "stage 1, step 3: F of chunk 2, microbatch 0 " and
/// `what`, with the neighbourhood.
Error errorAt(ErrorKind kind, const Problem &problem, const Schedule &schedule,
              int stage, int step, const std::string &what);

/// A table of the steps around some positions, for messages.
std::string neighbourhood(const Problem &problem, const Schedule &schedule,
                          const std::vector<Position> &positions);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_EXECUTION_H
