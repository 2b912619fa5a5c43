//===- Plan.h - communication strategies ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the messages of a step into the operations that each rank issues, by
// one of several strategies.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_COMMUNICATION_PLAN_H
#define VEELINE_SCHEDULE_COMMUNICATION_PLAN_H

#include "veeline/Schedule/Communication/Program.h"
#include "veeline/Schedule/Schedule.h"

namespace veeline::schedule::communication {

enum class Strategy {
  /// One send or receive at a time, each waited for. If two messages meet (see
  /// `plan`), the one with the even sender goes first (`isEven`).
  PointToPoint,
  /// As PointToPoint, but a send and a receive that follow each other form a
  /// group.
  Batched,
  /// As PointToPoint, but all messages of a rank between two of its
  /// computations form a group.
  Ring,
  /// Receives are posted ahead, and waited for where their values are used.
  Overlap,
  /// As Overlap, for NCCL: sends and receives have separate streams and
  /// communicators, and make progress side by side (`Model::NcclDuplex`).
  Duplex,
};

/// "p2p", "batched", "ring", "overlap" or "duplex".
const char *toString(Strategy strategy);
std::optional<Strategy> parseStrategy(std::string_view name);

/// The computations of each rank in a step, and the messages between ranks.
struct Traffic {
  /// A computation of a rank, with its predicted times.
  struct Step {
    double begin, end;
  };
  struct Message {
    MessageId id;
    int type;
    int source, target;
    /// The message is available when the source has done `sourceSteps` steps,
    /// at least one. It is needed when the target has done `targetSteps`.
    int sourceSteps, targetSteps;
    /// Whether the last of these source steps computes it directly into the
    /// receiver's memory.
    bool isDirect = false;
  };
  std::vector<Type> types;
  std::vector<std::vector<Step>> ranks;
  std::vector<Message> messages;
  /// The first free number of a communicator, after those of all ranks and of
  /// the stages. Strategies that need several communicators for messages number
  /// them from here.
  int freeCommunicator = 1;
};

/// The messages of a schedule, all of one type. A rank's steps are its
/// operations. Errors: those of `simulate`.
Expected<Traffic> trafficOf(const Problem &problem, const Schedule &schedule);

/// Whether `rank` divided by its distance from `other`, rounded down, is even.
/// For neighbours it is the parity of the rank, as in Megatron-LM. Exactly one
/// of two ranks is even.
bool isEven(int rank, int other);

/// A colour for each rank, from 0 on, so that two ranks that exchange messages
/// have different colours. Greedy: each rank in turn gets the least free
/// colour. A pipeline needs two colours, a ring of an odd number of ranks
/// three.
std::vector<int> colourRanks(const Traffic &traffic);

/// Makes the program that ranks issue: their computations in order, and the
/// messages between them by a strategy and under the rules of a model. A
/// computation's `step` is its number among the steps of the rank. Error
/// (Deadlock): steps wait for each other.
///
/// `PointToPoint`, `Batched` and `Ring` use one stream, that of the
/// computations. All messages get one total order that respects the steps. Each
/// rank calls its messages in that order, as late as the steps allow, which
/// cannot deadlock (see `verifyCommunication`). *Slot* k of a rank is between
/// its steps k-1 and k. Two messages *meet* if they have opposite directions
/// between the same slots of two ranks; their order may be swapped. Consecutive
/// calls of one slot may form a group: it makes calls begin earlier or end
/// unawaited, and neither delays other ranks.
///
/// `Overlap` under MPI's rules posts a receive before the first step that has
/// not ended when the producer begins, and before the waits of that step. So a
/// sender that computes into the receiver's memory never waits for long. Under
/// NCCL's rules such a receive would block the sends after it. There messages
/// are issued in the order in which their producers end, and receives as early
/// as that order permits.
///
/// `Duplex` is for `Model::NcclDuplex`, whatever `model` is. Sends are on
/// `sendStream` and receives on `receiveStream`, each in the order in which
/// their producers end. A message is on the communicator of its sender's
/// colour, so a rank's sends share one communicator, which has none of its
/// receives. A receive is posted where `Overlap` posts it under MPI's rules,
/// with two exceptions: it follows all earlier receives, and it precedes every
/// step that the order has after the producer. So all that a step or message
/// waits for is before it in one order.
Expected<Program> plan(const Traffic &traffic, Strategy strategy, Model model);

} // namespace veeline::schedule::communication

#endif // VEELINE_SCHEDULE_COMMUNICATION_PLAN_H
