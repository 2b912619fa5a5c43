//===- Plan.h - strategies of communication ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the messages of a step into what each rank issues.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_COMMUNICATION_PLAN_H
#define VEELINE_SCHEDULE_COMMUNICATION_PLAN_H

#include "veeline/Schedule/Communication/Program.h"
#include "veeline/Schedule/Schedule.h"

namespace veeline::schedule::communication {

enum class Strategy {
  /// One send or receive at a time, each waited for. Of two messages that meet
  /// (see `plan`), the one with the even sender goes first (`isEven`).
  PointToPoint,
  /// The same, but a send and a receive that follow each other are one group.
  Batched,
  /// The same, but all that a rank sends and receives between two of its
  /// computations is one group.
  Ring,
  /// Receives are posted ahead, and waited for where they are used.
  Overlap,
  /// The same for NCCL, with sends and receives on streams and communicators
  /// of their own, side by side (`Model::NcclDuplex`).
  Duplex,
};

/// "p2p", "batched", "ring", "overlap" or "duplex".
const char *toString(Strategy strategy);
std::optional<Strategy> parseStrategy(std::string_view name);

/// What each rank does in a step, and what travels between the ranks.
struct Traffic {
  /// Something that a rank does, with predicted times.
  struct Step {
    double begin, end;
  };
  struct Message {
    MessageId id;
    int type;
    int source, target;
    /// The message is there once the source has done `sourceSteps` steps, at
    /// least one, and is needed once the target has done `targetSteps`.
    int sourceSteps, targetSteps;
    /// Whether the last of the source's steps computes it straight into the
    /// receiver's memory.
    bool isDirect = false;
  };
  std::vector<Type> types;
  std::vector<std::vector<Step>> ranks;
  std::vector<Message> messages;
  /// The first communicator after those of all ranks and of the stages.
  /// Strategies that need several for messages number theirs from here on.
  int freeCommunicator = 1;
};

/// The messages of a schedule; a rank's steps are its operations. All are of
/// one type. Errors as of `simulate`.
Expected<Traffic> trafficOf(const Problem &problem, const Schedule &schedule);

/// Whether `rank` divided by its distance from `other`, rounded down, is even.
/// For neighbours that is the parity of the rank, as in Megatron-LM. Of two
/// ranks exactly one is even.
bool isEven(int rank, int other);

/// A colour for each rank, from 0 on, so that no two ranks that exchange
/// messages have the same one. Greedy: each rank in turn gets the least colour
/// that is free. A pipeline has two; a ring of an odd number of ranks three.
std::vector<int> colourRanks(const Traffic &traffic);

/// What ranks issue: their computations in order and the messages between them,
/// by a strategy and under the rules of a model. A computation's `step` counts
/// the steps of the rank. Error (Deadlock): steps that wait for each other.
///
/// `PointToPoint`, `Batched` and `Ring` use one stream, that of the
/// computations. All messages are put into one order that respects the steps,
/// and each rank calls its own in that order, as late as the steps allow. That
/// cannot deadlock (see `verifyCommunication`). *Slot* k of a rank is between
/// its steps k-1 and k. Two messages *meet* if they go opposite ways between
/// the same slots of two ranks; they can change places. Calls that follow each
/// other in one slot may be one group: a call that thereby begins earlier, or
/// is no longer waited for, holds up nobody.
///
/// `Overlap` under MPI's rules posts a receive before the first step that is
/// not over when the producer begins, and before the waits of that step. So a
/// sender that computes into the receiver's memory never waits for long. Under
/// NCCL's rules such a receive would hold up the sends after it. There messages
/// are issued in the order in which their producers end, and receives as early
/// as that permits.
///
/// `Duplex` is for `Model::NcclDuplex`, whatever `model` is. Sends are on
/// `sendStream` and receives on `receiveStream`, each in the order in which
/// their producers end. A message is on the communicator of its sender's
/// colour, so that a rank has its sends on one communicator and no receive on
/// it. A receive is posted where `Overlap` has it under MPI's rules, but not
/// before earlier receives, and never behind a step that the order has behind
/// the producer. So all that a step or message waits for is before it in one
/// order.
Expected<Program> plan(const Traffic &traffic, Strategy strategy, Model model);

} // namespace veeline::schedule::communication

#endif // VEELINE_SCHEDULE_COMMUNICATION_PLAN_H
