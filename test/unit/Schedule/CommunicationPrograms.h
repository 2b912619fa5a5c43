//===- CommunicationPrograms.h - right programs and damaged ones *- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_SCHEDULE_COMMUNICATIONPROGRAMS_H
#define VEELINE_TEST_UNIT_SCHEDULE_COMMUNICATIONPROGRAMS_H

#include "TestUtilities.h"
#include "veeline/Schedule/Communication/Plan.h"

namespace veeline::schedule::communication {

/// A message of microbatch 0, or the wait for one.
inline Op message(OpKind kind, int edge, int peer, int handle = -1) {
  Op op;
  op.kind = kind;
  op.message.edge = edge;
  op.peer = peer;
  op.handle = handle;
  return op;
}
inline Op wait(int handle) { return message(OpKind::Wait, 0, 0, handle); }

inline void expectRight(const Program &program, Model model) {
  std::optional<Error> error = verify(program, model);
  EXPECT_FALSE(error) << toText(program, *error);
}

inline void expectError(const Program &program, Model model, ErrorKind kind,
                        const std::string &text) {
  std::optional<Error> error = verify(program, model);
  ASSERT_TRUE(error) << text;
  EXPECT_EQ(error->kind, kind) << toText(program, *error);
  EXPECT_NE(toText(program, *error).find(text), std::string::npos)
      << toText(program, *error);
}

/// What travels in a step of a pipeline.
struct Pipeline {
  Traffic traffic;
  /// The ranks of each stage; empty: one each. They are numbered by stage.
  std::vector<int> widths;
  /// Whether two stages share a parameter. Then each rank has three steps after
  /// those of the schedule, in which gradients are read, parameters are
  /// updated, and parameters are taken.
  bool hasParams = false;
};

/// The pipeline of a schedule by name or of a random order, with skip edges and
/// any placement. At most `maxRanks` ranks and `maxMicrobatches` microbatches.
/// Some messages go straight into the receiver's memory. In a third of the
/// results, values have their shapes sent ahead. In a third, stages have
/// several ranks; in half of these, two stages share a parameter.
Pipeline randomPipeline(Random &random, int maxRanks, int maxMicrobatches);

Strategy randomStrategy(Random &random);

/// Splits the messages of some edges into up to three parts. A right program
/// stays right.
void splitSome(Random &random, Program &program);

/// Makes `replicas` of a program for `pipeline`. The ranks of a stage in all
/// replicas add up some gradients, and all ranks add up some at the end. A
/// program that is right by the rules of `model` stays right.
void replicate(Random &random, Program &program, const Pipeline &pipeline,
               int replicas, Model model);

/// How a program is damaged.
enum class Damage {
  /// Operations of one rank change places: neighbours, or any two.
  SwapNeighbours,
  Swap,
  /// Two sends or two receives of one rank exchange what they carry.
  Exchange,
  /// One operation, or both ends of a message and what waits for it.
  Drop,
  DropMessage,
  Duplicate,
  /// Neighbours become a group, or a group falls apart.
  Regroup,
  /// One operation, or all messages between two ranks or one way.
  MoveToStream,
  MoveToCommunicator,
  MoveMessages,
  /// Sums in another order, on the same communicator or another.
  SwapReductions,
  /// A sum is issued earlier, where other ranks may not be.
  AdvanceReduction,
  /// Other ranks on a communicator.
  ChangeMembers,
  ChangeType,
  ChangePeer,
  ChangeIdentity,
  /// A handle that others have, or none.
  ChangeHandle,
};

/// A random kind. Kinds that leave both ends of messages are likelier.
Damage randomDamage(Random &random);

/// Damages `program` where it has something to damage. It may still be right.
void damage(Random &random, Program &program, Damage how);

} // namespace veeline::schedule::communication

#endif // VEELINE_TEST_UNIT_SCHEDULE_COMMUNICATIONPROGRAMS_H
