//===- Schedule.h - the order of operations on each stage -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_SCHEDULE_H
#define VEELINE_SCHEDULE_SCHEDULE_H

#include "veeline/Schedule/Problem.h"

#include <span>
#include <string>
#include <vector>

namespace veeline::schedule {

/// A chunk's memory for one microbatch that is in the host's memory for a part
/// of the time between F and the reader (`Problem`, Offload.h). Steps are
/// positions in the order of the rank.
struct Offload {
  int chunk;
  int microbatch;
  /// The copy to the host begins when F ends. The rank waits for its end before
  /// this step. From then on the memory is free.
  int leaves;
  /// Before this step the memory is taken again, and the copy back begins. The
  /// reader waits for its end.
  int returns;

  friend bool operator==(const Offload &, const Offload &) = default;
};

/// A solution of a problem: the operations of each stage, in order. With late
/// operations it is *cyclic*: one turn of a loop over steps (Loop.h).
struct Schedule {
  std::string name;
  /// `stages[s]` is the order of stage s. If stages have several ranks
  /// (`Problem::widths`), there is one order for each rank.
  std::vector<std::vector<Op>> stages;
  /// Blocks in which a forward and a backward of different microbatches run
  /// together (DualPipe). `overlapped[s]` contains, in ascending order, each
  /// step k of stage s whose operation runs together with that of step k+1.
  /// Empty if the schedule has no such blocks. Both operations start when the
  /// inputs of both are available, and they end together; `Problem::overlap`
  /// gives the time that a block takes. Memory that either adds is taken at the
  /// start, and memory that either releases is free at the end.
  std::vector<std::vector<int>> overlapped = {};
  /// Warnings for the user, one sentence each, without a full stop. For
  /// example, that few microbatches cost a lot.
  std::vector<std::string> warnings = {};
  /// For each rank, in the order of their F. Empty if there are none.
  std::vector<std::vector<Offload>> offloads = {};

  /// Whether any backward is split into B and W.
  bool splitsBackward() const {
    for (const std::vector<Op> &ops : stages)
      for (const Op &op : ops)
        if (op.kind == OpKind::BackwardInput)
          return true;
    return false;
  }
};

/// Checks that `schedule` solves `problem`. Expects `check(problem)` to hold;
/// the schedule may be any data. The checks, in this order:
/// - every operation names a chunk and a microbatch of the problem, and is on
///   the stage of its chunk and the rank of its microbatch;
/// - every overlapped block is two neighbours, one F and one B or fused
///   Backward, of different microbatches, and shares no operation with the next
///   block;
/// - every (chunk, microbatch) has one F, and either one fused Backward or one
///   W and, where the chunk has a BackwardInput, one B, and, where the chunk
///   has one, an R; nothing twice;
/// - per chunk, B and fused Backward ascend in the microbatch, and so do W and
///   fused Backward, so that every synchronous schedule sums gradients in the
///   same order; W follows its B, and the backwards their R;
/// - a late operation is a W of a chunk that has a B. Then there are no
///   overlapped blocks, and every stage has one rank. The W is before the first
///   F of its chunk and of each chunk tied to it, all of which are on this
///   stage. The late W of a chunk are those of its last microbatches, in
///   ascending order. So the update, after the last W, is complete before the
///   next step uses the parameters. If steps wait for no update, a late
///   operation is a fused Backward instead, on any chunk; one that is not late
///   takes no gradient of a late one;
/// - an offload is of a chunk that has memory to offload, and its reader is not
///   late. It leaves after F, and returns after that, at its reader's step or
///   before; neither is within an overlapped block;
/// - the execution of each stage in order, with the dependencies of the
///   problem, ends. Then no strict rendezvous can deadlock either, if messages
///   are called in `communicationOrder`: see the proof at
///   `verifyCommunication`, which checks any other order by executing it;
/// - memory stays within the limit of each stage, on each of its ranks. It
///   includes the memory that late operations hold when a turn begins.
/// The error names stage, step and operation, and has the neighbourhood.
/// O(operations · edges per chunk).
Status verify(const Problem &problem, const Schedule &schedule);

/// One message between two different stages.
struct Message {
  /// Index into `Problem::edges`.
  int edge;
  int microbatch;
  /// False: the value, from the stage of `Edge::from` to that of `Edge::to`.
  /// True: its gradient, the other way.
  bool gradient;
  int sourceStage, sourceStep;
  int targetStage, targetStep;

  friend bool operator==(const Message &, const Message &) = default;
};

/// All messages of a valid schedule, in a total order that is consistent with
/// every rank's program: by the simulated end of the producer (ties in a
/// topological order, then by edge). Let each rank issue its sends and receives
/// in this order, each as early as the order and, for a send, its producer
/// permit. Then they cannot deadlock, even if a send blocks until its receive
/// is posted. Errors: those of `simulate`. O(operations · log operations).
Expected<std::vector<Message>> communicationOrder(const Problem &problem,
                                                  const Schedule &schedule);

/// A call of one stage that sends or receives a message.
struct Call {
  /// Index into a list of all messages.
  int message;
  /// The number of its operations that the stage has run before the call.
  int step;

  friend bool operator==(const Call &, const Call &) = default;
};

/// The calls of each stage, in order.
using Calls = std::vector<std::vector<Call>>;

/// The blocking calls by which stages exchange `messages` in this order, one
/// call for each end of a message. A stage receives the inputs of an operation
/// (or overlapped block) right before it, and sends its outputs right after it.
/// Before any call, the stage makes the calls of all its messages that are
/// earlier in the order. O(messages).
Calls blockingCalls(const Schedule &schedule,
                    std::span<const Message> messages);

/// Checks that the ranks of a schedule can exchange all messages by the
/// blocking `calls`. Every stage is one thread without buffers. It runs its
/// operations and makes its calls in order, and a call returns when the other
/// stage has called the same message. Errors: those of `simulate`, and
/// - WrongMessage: a message that is missing, occurs twice, is not one of the
///   schedule, or is between wrong steps; the same for calls;
/// - Deadlock: a send before its producer, a receive after its consumer, or
///   stages that wait for each other in a cycle, which the message lists.
/// O(operations + messages).
Status verifyCalls(const Problem &problem, const Schedule &schedule,
                   std::span<const Message> messages, const Calls &calls);

/// `verifyCalls` with the `blockingCalls` of `messages`, which may be in any
/// order.
///
/// In `communicationOrder` it never deadlocks. Proof: suppose that some message
/// does not complete, and let M be the first such message in that order. Before
/// the call of M, each of its two stages only makes calls of earlier messages,
/// which complete, and runs operations up to M's producer or before M's
/// consumer. All that these operations receive was produced no later than M, so
/// it is before M in the order and completes, too. So both stages reach the
/// call of M, and M completes: a contradiction.
Status verifyCommunication(const Problem &problem, const Schedule &schedule,
                           std::span<const Message> messages);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_SCHEDULE_H
