//===- Plan.h - strategies of communication ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what has to travel in a step to what each rank issues.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_COMMUNICATION_PLAN_H
#define VEELINE_SCHEDULE_COMMUNICATION_PLAN_H

#include "veeline/Schedule/Communication/Program.h"
#include "veeline/Schedule/Schedule.h"

namespace veeline::schedule::communication {

enum class Strategy {
  /// One send or receive at a time, each waited for. Of two messages that meet
  /// the one goes first whose sender is even (`isEven`).
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
    /// It is there once the source has done so many steps, at least one, and
    /// is needed once the target has done so many.
    int sourceSteps, targetSteps;
    /// Whether the last of these steps computes it straight into the receiver's
    /// memory.
    bool isDirect = false;
  };
  std::vector<Type> types;
  std::vector<std::vector<Step>> ranks;
  std::vector<Message> messages;
  /// The first communicator that is free for messages alone, beside the one of
  /// all ranks and those of the stages; where several are needed.
  int freeCommunicator = 1;
};

/// The messages of a schedule; a rank's steps are its operations. All are of
/// one type. Errors as of `simulate`.
Expected<Traffic> trafficOf(const Problem &problem, const Schedule &schedule);

/// Whether `rank` is even on the path of its messages with `other`: the ranks
/// that are as far from each other as these two. For neighbours that is the
/// parity of the rank, as in Megatron-LM; of two ranks one is always even.
bool isEven(int rank, int other);

/// A colour for each rank, from 0 on, of which no two ranks that exchange
/// messages have the same: in the order of the ranks the first one that is
/// left. A pipeline has two; a ring of an odd number of ranks three.
std::vector<int> colourRanks(const Traffic &traffic);

/// What ranks issue: computations in order, and between them messages, by a
/// strategy and for the rules of a model. A computation's `step` counts the
/// steps of the rank. Error (Deadlock): steps that wait for each other.
///
/// All but `Overlap` are on one stream, with what computes: messages are put
/// into one order that respects the steps, and each rank calls its own in that
/// order, as late as the steps allow. That cannot deadlock (see
/// `verifyCommunication`). *Slot* k of a rank is between its steps k-1 and k.
/// Two messages meet that go opposite ways between the same slots of two ranks:
/// they can change places. Calls that follow each other in one slot may be one
/// group: what begins earlier thereby, or no longer waits, holds up nobody.
///
/// `Overlap` under MPI's rules: a receive is posted before the first step that
/// is not over when its producer begins, and before the waits of that step, so
/// that whoever computes into the receiver's memory never waits for long. Under
/// NCCL's rules that is impossible, since a receive would hold up the sends
/// after it: there messages are issued in the order of the ends of their
/// producers, the receives as early as that permits.
///
/// `Duplex` is that of NCCL's, whatever the model, with sends on `sendStream`
/// and receives on `receiveStream`, each in the order of the ends of their
/// producers. A message is on the communicator of its sender's colour, so that
/// a rank has its sends on one communicator and no receive on it. A receive is
/// posted where `Overlap` has it under MPI's rules, or before, where one behind
/// it is posted earlier; never behind a step that the order has behind the
/// producer. So all that a step or message waits for is before it in one order.
Expected<Program> plan(const Traffic &traffic, Strategy strategy, Model model);

} // namespace veeline::schedule::communication

#endif // VEELINE_SCHEDULE_COMMUNICATION_PLAN_H
