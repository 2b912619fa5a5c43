//===- Execution.h - running a schedule in order ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The execution of a schedule, which the verifier, the simulator and the
// message order share.
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

/// The position of each operation of a schedule.
class OpIndex {
public:
  /// Indexes a schedule. Errors: UnknownOp, WrongStage, Duplicate, Missing,
  /// WrongBlock.
  static Expected<OpIndex> build(const Problem &problem,
                                 const Schedule &schedule);

  /// The step of an operation on the stage of its chunk; -1 if there is none. A
  /// fused Backward is both B and W.
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
  /// The step of the first of the backwards.
  int firstBackward(const Problem &problem, int chunk, int microbatch) const {
    return problem.chunks[chunk].hasBackwardInput
               ? backwardInput(chunk, microbatch)
               : backwardWeight(chunk, microbatch);
  }
  /// The step of the reader (see `Problem`).
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

/// Returns how many operations run together from a step on: 2 for an overlapped
/// block, otherwise 1. The steps of each stage must be asked for in order.
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

/// The steps [first, last) of the overlapped block that contains `step`, or of
/// that step alone.
std::pair<int, int> blockAround(const Schedule &schedule, int stage, int step);

/// The time that `size` operations, beginning with `step`, take together.
double blockTime(const Problem &problem, const std::vector<Op> &ops, int step,
                 int size);

/// The memory of a stage around one operation.
struct HeldMemory {
  std::int64_t during; ///< At most, while the operation runs.
  /// When it has ended. For the first operation of an overlapped block,
  /// `during`.
  std::int64_t after;
};
std::vector<HeldMemory> heldMemory(const Problem &problem,
                                   const Schedule &schedule, int stage);

/// The memory of a stage after each operation. For the first operation of an
/// overlapped block, it is the memory while the block runs.
std::vector<std::int64_t> memoryAfter(const Problem &problem,
                                      const Schedule &schedule, int stage);

/// The times of an execution, and an order of its operations.
struct Execution {
  std::vector<std::vector<double>> start, end;
  /// As `Schedule::offloads`.
  std::vector<std::vector<OffloadTimes>> offloads;
  /// Per stage, all but `drain`.
  std::vector<Waiting> waiting;
  /// All operations, each after those that it waits for.
  std::vector<Position> topological;
};

/// Runs every stage in its order, with buffered messages. Error (Deadlock):
/// stages wait for each other in a cycle.
Expected<Execution> execute(const Problem &problem, const Flow &flow,
                            const Schedule &schedule, const OpIndex &index,
                            bool contention = false);

/// The part of `verify` that is about offloads.
Status checkOffloads(const Problem &problem, const Schedule &schedule,
                     const OpIndex &index);

/// `loopOf` for an order whose execution is known.
Loop loopOf(const Problem &problem, const Schedule &schedule,
            const OpIndex &index, const Execution &execution);

/// The messages of a buffered execution in the order of `communicationOrder`.
std::vector<Message> orderMessages(const Problem &problem, const Flow &flow,
                                   const Schedule &schedule,
                                   const OpIndex &index,
                                   const Execution &execution);

/// For each message, how many operations its sender and its receiver have run
/// when they call it. Messages are called in order (see `verifyCommunication`).
struct CallSites {
  CallSites(const Schedule &schedule, std::span<const Message> messages);
  std::vector<int> send, receive;
};

/// The execution with blocking sends and receives. `messages` are all messages
/// in the order of `communicationOrder`.
Execution executeRendezvous(const Problem &problem, const Schedule &schedule,
                            std::span<const Message> messages);

/// `verifyCalls` for calls that are known to be complete.
Status checkCalls(const Problem &problem, const Schedule &schedule,
                  std::span<const Message> messages, const Calls &calls);

/// "the output of edge 0 (chunk 0 -> 1), microbatch 2"; for messages.
std::string describe(const Problem &problem, const Message &message);

/// An error about one step, with its neighbourhood. The message is "stage 1,
/// step 3: F of chunk 2, microbatch 0 " followed by `what`.
Error errorAt(ErrorKind kind, const Problem &problem, const Schedule &schedule,
              int stage, int step, const std::string &what);

/// A table of the steps around `positions`, for messages.
std::string neighbourhood(const Problem &problem, const Schedule &schedule,
                          const std::vector<Position> &positions);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_EXECUTION_H
