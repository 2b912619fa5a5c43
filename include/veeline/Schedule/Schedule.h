//===- Schedule.h - an order of operations per stage ------------*- C++ -*-===//
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

/// A part of the memory that a chunk holds of a microbatch between its F and
/// its reader (`Problem`), which waits in the host's memory meanwhile
/// (Offload.h). Steps are places in the order of the rank.
struct Offload {
  int chunk;
  int microbatch;
  /// The copy to the host begins when F ends. Before this step the rank waits
  /// until it is over. From there on the memory is free.
  int leaves;
  /// Before this step the memory is taken again, and the copy back begins. The
  /// reader waits until it is over.
  int returns;

  friend bool operator==(const Offload &, const Offload &) = default;
};

/// The solution of a problem: what each stage runs, in order. With late
/// operations it is *cyclic*: one turn of a loop over steps (Loop.h).
struct Schedule {
  std::string name;
  /// `stages[s]` is the order of stage s; where stages have several ranks
  /// (`Problem::widths`), there is one for each rank.
  std::vector<std::vector<Op>> stages;
  /// Blocks in which a forward and a backward of different microbatches run
  /// together (DualPipe): `overlapped[s]` has, ascending, the steps k of stage
  /// s whose operation runs together with that of step k+1. Empty where the
  /// schedule has no such blocks. Both operations start when the inputs of both
  /// are there and end together; `Problem::overlap` says how long that takes.
  /// What either adds to memory is there from the start, what either releases
  /// until the end.
  std::vector<std::vector<int>> overlapped = {};
  /// What its user should know, one sentence each, without a full stop: that
  /// few microbatches cost a lot, say.
  std::vector<std::string> warnings = {};
  /// Of each rank, in the order of their F. Empty where there are none.
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

/// Does `schedule` solve `problem`? Expects `check(problem)` to hold; the
/// schedule may come from anywhere. In this order:
/// - every operation names a chunk and a microbatch of the problem and stands
///   on the stage of its chunk, on the rank of its microbatch;
/// - every overlapped block is two neighbours, one F and one B or fused
///   Backward, of different microbatches, and shares no operation with the next
///   block;
/// - every (chunk, microbatch) has one F, and either one fused Backward or one
///   W and, where the chunk has a BackwardInput, one B, and, where the chunk
///   has one, an R; nothing twice;
/// - per chunk, B and fused Backward ascend in the microbatch, and so do W and
///   fused Backward, so that every synchronous schedule sums gradients in the
///   same order; W follows its B, and the backwards their R;
/// - what is late is a W of a chunk that has a B, without overlapped blocks and
///   where every stage has one rank. It stands before the first F of its chunk,
///   and of each chunk tied to it, all of which are on this stage. The late W
///   of a chunk are those of its last microbatches, and ascend. So the update,
///   after the last W, is complete before the next step uses the parameters;
/// - what is offloaded has memory to offload and a reader that is not late. It
///   leaves after F and returns before its reader or there, after it has left,
///   and not within an overlapped block;
/// - executing each stage in order, with the dependencies of the problem, ends.
///   Then no strict rendezvous can deadlock either, if the messages are called
///   in the order of `communicationOrder`: see the proof at
///   `verifyCommunication`, which executes it for an order from anywhere;
/// - memory stays within the limit of each stage, on each of its ranks, also
///   where what is late holds memory when a turn begins.
/// The error names stage, step and operation, with the neighbourhood.
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

/// All messages of a valid schedule in one total order that no rank's program
/// contradicts: by the simulated end of the producer (ties in a topological
/// order, then by edge). Ranks that issue their sends and receives in this
/// order, each as early as the order and, for a send, its producer permit,
/// cannot deadlock, even where a send blocks until its receive is posted.
/// Errors as of `simulate`. O(operations · log operations).
Expected<std::vector<Message>> communicationOrder(const Problem &problem,
                                                  const Schedule &schedule);

/// A call of one stage to send or receive a message.
struct Call {
  /// Index into a list of all messages.
  int message;
  /// How many of its operations the stage has run when it calls.
  int step;

  friend bool operator==(const Call &, const Call &) = default;
};

/// The calls of each stage, in order.
using Calls = std::vector<std::vector<Call>>;

/// The blocking calls by which stages exchange `messages` in this order, one
/// call for each end of a message. A stage receives what an operation (or
/// overlapped block) needs just before it, and sends what it made right after
/// it. Before any call, it makes those of all its messages that stand earlier
/// in the order. O(messages).
Calls blockingCalls(const Schedule &schedule,
                    std::span<const Message> messages);

/// Whether the ranks of a schedule can exchange all their messages by `calls`
/// that block. Every stage is one thread of control without buffers: it runs
/// its operations and makes its calls in order, and a call returns when the
/// other stage has called the same message. Errors: those of `simulate`, and
/// - WrongMessage: a message that the schedule does not have, has between other
///   steps, has twice or lacks; the same of calls;
/// - Deadlock: a send before its producer, a receive after its consumer, or
///   stages that wait for each other in a cycle, which the message spells out.
/// O(operations + messages).
Status verifyCalls(const Problem &problem, const Schedule &schedule,
                   std::span<const Message> messages, const Calls &calls);

/// `verifyCalls` with the `blockingCalls` of `messages`, in an order that may
/// come from anywhere.
///
/// With `communicationOrder` this never deadlocks. Take the first message M of
/// that order that does not complete. Before its call of M, each of its two
/// stages only makes calls of earlier messages, which complete, and runs
/// operations up to M's producer or before M's consumer. Whatever those receive
/// was produced no later than M, hence stands before M and completes too. So
/// both stages come to M, and it completes.
Status verifyCommunication(const Problem &problem, const Schedule &schedule,
                           std::span<const Message> messages);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_SCHEDULE_H
