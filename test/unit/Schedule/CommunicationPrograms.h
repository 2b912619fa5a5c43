//===- CommunicationPrograms.h - random programs, right and damaged -------===//
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

/// The messages of a step of a pipeline.
struct Pipeline {
  Traffic traffic;
  /// The number of ranks of each stage. If empty, each stage has one. Ranks are
  /// numbered by stage.
  std::vector<int> widths;
  /// Whether two stages share a parameter. Each rank then has three steps after
  /// those of the schedule, in which gradients are read, parameters are
  /// updated, and parameters are received.
  bool hasParams = false;
};

/// The pipeline of a schedule by name, or of a random order, with skip edges
/// and any placement. It has at most `maxRanks` ranks and `maxMicrobatches`
/// microbatches. Some messages are computed directly in the receiver's memory.
/// In a third of the pipelines, shapes are sent ahead of values. In a third,
/// stages have several ranks; in half of these, two stages share a parameter.
Pipeline randomPipeline(Random &random, int maxRanks, int maxMicrobatches);

Strategy randomStrategy(Random &random);

/// Splits the messages of some edges into up to three parts. A right program
/// stays right.
void splitSome(Random &random, Program &program);

/// Makes `replicas` of a program for `pipeline`. The ranks of a stage in all
/// replicas sum some gradients, and all ranks sum some at the end. A program
/// that is right by the rules of `model` stays right.
void replicate(Random &random, Program &program, const Pipeline &pipeline,
               int replicas, Model model);

/// Ways to damage a program.
enum class Damage {
  /// Two operations of one rank change places: adjacent ones, or any two.
  SwapNeighbours,
  Swap,
  /// Two sends or two receives of one rank exchange their messages.
  Exchange,
  /// One operation is removed, or both ends of a message and the waits for it.
  Drop,
  DropMessage,
  Duplicate,
  /// Adjacent operations become a group, or a group is dissolved.
  Regroup,
  /// One operation moves, or all messages between two ranks, or in one
  /// direction.
  MoveToStream,
  MoveToCommunicator,
  MoveMessages,
  /// Sums change their order, on the same communicator or on another.
  SwapReductions,
  /// A sum is issued earlier, possibly at a place where other ranks do not
  /// issue it.
  AdvanceReduction,
  /// A communicator gets other ranks.
  ChangeMembers,
  ChangeType,
  ChangePeer,
  ChangeIdentity,
  /// A handle becomes that of another operation, or none.
  ChangeHandle,
};

/// A random kind of damage. Kinds that keep both ends of messages are more
/// likely.
Damage randomDamage(Random &random);

/// Damages `program` if that is possible. It may still be right.
void damage(Random &random, Program &program, Damage how);

} // namespace veeline::schedule::communication

#endif // VEELINE_TEST_UNIT_SCHEDULE_COMMUNICATIONPROGRAMS_H
