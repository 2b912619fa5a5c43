//===- Program.h - programs of messages, and their verifier -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The communication of one step as each rank issues it, the rules by which a
// transport carries it out, and a verifier of programs under these rules.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_COMMUNICATION_PROGRAM_H
#define VEELINE_SCHEDULE_COMMUNICATION_PROGRAM_H

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace veeline::schedule::communication {

enum class Direction : std::uint8_t {
  /// The value of an edge, from its producer to its consumer.
  Activation,
  /// Its gradient, the other way.
  Gradient,
  /// The shape that the value has for this microbatch, ahead of the value.
  Shape,
};

/// The identity of a message. The fields are not packed into one number, so
/// identities never collide, whatever the number of edges and microbatches.
struct MessageId {
  int edge = 0;
  Direction direction = Direction::Activation;
  int microbatch = 0;
  /// The number of the pipeline, if several run side by side.
  int replica = 0;
  /// The number of this part, from 0 on, if the message is sent in parts; -1:
  /// the whole message.
  int part = -1;

  friend auto operator<=>(const MessageId &, const MessageId &) = default;
};

/// The gradients that an all-reduce adds up: those of a parameter from a chunk.
struct ReductionId {
  int chunk = 0;
  int param = 0;

  /// An all-reduce of the norms of all gradients.
  static ReductionId ofNorms() { return {-1, -1}; }
  /// An all-gather of the shards of a parameter, which ranks have updated. All
  /// ranks wait for all, as in an all-reduce.
  static ReductionId ofShares(int param) { return {-2, param}; }
  bool isOfShares() const { return chunk == -2; }

  friend auto operator<=>(const ReductionId &, const ReductionId &) = default;
};

enum class OpKind : std::uint8_t {
  /// A computation. It always ends.
  Compute,
  /// Waits until the receive of `message` is posted. The sender does so before
  /// it computes directly into the receiver's memory. Only for transports with
  /// shared memory.
  Ready,
  Send,
  Receive,
  /// Waits for the operation that has `handle`.
  Wait,
  /// Adds up the contributions of all ranks of `communicator`, in rank order.
  AllReduce,
};

/// The stream of computations and waits. Transfers may use it, too.
constexpr int computeStream = 0;
/// Streams that make progress side by side, if a device has room for a unit of
/// each (`Model::NcclDuplex`).
constexpr int sendStream = 1, receiveStream = 2;

/// An operation that a rank issues.
struct Op {
  OpKind kind = OpKind::Compute;
  /// For Ready, Send and Receive.
  MessageId message = {};
  /// For AllReduce.
  ReductionId reduction = {};
  /// For Send and Receive: the rank at the other end.
  int peer = -1;
  /// For transfers: an index into `Program::types`.
  int type = 0;
  /// For transfers.
  int stream = computeStream;
  int communicator = 0;
  /// For transfers: consecutive transfers with the same number form a group;
  /// negative: no group.
  int group = -1;
  /// For transfers: the handle by which it is waited for; -1 if the rank waits
  /// for it at once (in a group, at the group's end). For Wait: that handle.
  int handle = -1;
  /// For Compute: a number whose meaning is up to the maker of the program.
  int step = -1;

  bool isMessage() const {
    return kind == OpKind::Send || kind == OpKind::Receive;
  }
  /// Units (see `Model`) consist of transfers.
  bool isTransfer() const { return isMessage() || kind == OpKind::AllReduce; }
  friend bool operator==(const Op &, const Op &) = default;
};

/// The type of a message, as printed. A program lists each type once, so two
/// types are equal if and only if their indices are.
struct Type {
  std::string name;
  std::int64_t bytes = 0;
};

struct Program {
  std::vector<Type> types;
  /// What each rank issues, in order.
  std::vector<std::vector<Op>> ranks;
  /// The ranks of each communicator. A missing or empty entry means all ranks.
  std::vector<std::vector<int>> communicators = {};
};

/// A program whose messages are sent in parts.
struct SplitProgram {
  Program program;
  /// For each rank and operation, the operation of the original program.
  std::vector<std::vector<int>> origins;
};

/// Splits each message of `program` into `partsOf` parts, at least 1. `partsOf`
/// gets the Ready, the send and the receive, and must agree on them. Each of
/// these, and each Wait, becomes one operation for each part, in order and in
/// the same group. Handles are renumbered. A correct program stays correct,
/// because on both ends the parts of a message are consecutive.
SplitProgram splitMessages(const Program &program,
                           const std::function<int(const Op &)> &partsOf);

/// The rules by which messages travel.
///
/// In all models, a message is a send on one rank and a receive on another. A
/// send may block until its receive is posted, so a program that relies on
/// buffers is wrong. All ranks of a communicator issue its all-reduces in one
/// order. The n-th all-reduces of all ranks belong together, and are done when
/// all of them are posted. A *unit* is a group, or a send, receive or
/// all-reduce outside of groups.
enum class Model {
  /// Threads issue operations without ever blocking, and the device executes
  /// them.
  /// 1. Streams: an operation begins when all that was issued on its stream
  ///    before has ended. Computations and waits are on `computeStream`. A unit
  ///    on any stream also begins only when all that was issued on
  ///    `computeStream` before has ended. A wait ends when the unit of its
  ///    handle has ended. A unit with an operation without a handle is waited
  ///    for at once.
  /// 2. Communicators: the units of one communicator on one rank run one after
  ///    the other, in issue order, whatever their streams.
  /// 3. Messages have no tags: the n-th send from rank a to rank b on a
  ///    communicator matches the n-th receive of b from a on it.
  /// 4. Units: the operations of a unit are posted when it begins. Each is done
  ///    when its other end is posted, too, independently of the others. The
  ///    unit ends when all of them are done.
  /// 5. Progress: two units of one device need not make progress side by side.
  ///    Either may block the other, but a computation blocks none. So no rank
  ///    may have two units in progress at once, whatever other ranks do: by
  ///    rules 1 and 2 the second must wait for the first.
  Nccl,
  /// Each rank has one thread, which executes everything in order. It posts a
  /// send or receive when it reaches it, those of a group one after the other.
  /// Operations without a handle (in a group, at its end), waits, and Ready
  /// block until the other end is posted. Posted operations make progress by
  /// themselves. A receive takes the message with its source, communicator and
  /// tag; the tag is the identity. Streams have no meaning.
  Mpi,
  /// As Nccl, for devices known to have room for two units, with a weaker rule
  /// instead of 5:
  /// 5'. A unit on `sendStream` and a unit on `receiveStream` make progress
  ///     side by side. Any other two units of one device need not, as in rule
  ///     5.
  NcclDuplex,
};

/// Whether the model has the rules of NCCL.
constexpr bool isNccl(Model model) { return model != Model::Mpi; }

/// "nccl", "mpi" or "nccl-duplex".
const char *toString(Model model);
/// The model as in a statement about its rules: "nccl, sends and receives side
/// by side".
const char *describe(Model model);
std::optional<Model> parseModel(std::string_view name);

/// An operation of a program.
struct Position {
  int rank;
  int op;

  friend bool operator==(const Position &, const Position &) = default;
};

enum class ErrorKind {
  /// An impossible peer, type or message, or a Ready without its send.
  Malformed,
  /// A group that is interrupted, or that mixes streams or communicators.
  Group,
  /// A handle that is not defined exactly once and then waited for exactly
  /// once.
  Handle,
  /// Two messages of one identity.
  Duplicate,
  /// A send without a receive, a receive without a send, an all-reduce that not
  /// all ranks of its communicator issue.
  Unmatched,
  /// A send and a receive that name different ranks or communicators.
  Mismatch,
  /// The ends of a message, or of an all-reduce, are of different types.
  Type,
  /// A value that is sent or received before the message with its shape.
  Shape,
  /// Messages that are received in another order than sent, although only the
  /// order identifies them; all-reduces in different orders.
  Crossed,
  /// Two units of one rank that may be in progress at once.
  AtOnce,
  /// Ranks that wait for each other in a cycle.
  Deadlock,
};

/// "a deadlock"; for tables.
const char *toString(ErrorKind kind);

/// An error at the operation `at`. Each note is about another operation.
struct Error {
  struct Note {
    Position at;
    std::string text;
  };
  ErrorKind kind;
  Position at;
  std::string message;
  std::vector<Note> notes = {};
};

/// "send of edge 3 activation, microbatch 2, to rank 1".
std::string describe(const Op &op);
/// The error and its notes, one line each, with rank and operation.
std::string toText(const Program &program, const Error &error);

/// Verifies `program` under the rules of `model`. Returns the first error, or
/// nothing. Without an error every execution ends, every message arrives where
/// it belongs, and every handle is waited for once. The message with a value's
/// shape is sent before the value. It arrives before the value is waited for;
/// under the rules of NCCL, before the value's receive is issued, because that
/// states the number of elements. The notes of a deadlock are the cycle, one
/// for each wait in it.
///
/// The time is linear, except for sorting the messages, because one execution
/// represents all. Under rule 5 the units of a rank run one after the other,
/// and so do the operations of an MPI thread; each waits for certain operations
/// of other ranks. Under rule 5' a rank has three such sequences: on
/// `sendStream`, on `receiveStream`, and all else; an operation may also wait
/// for another sequence of its own rank. Every begin or end requires that all
/// events of a fixed set have happened, never one of several. So an event that
/// is possible stays possible after other events, and the final state, in which
/// no event is possible, does not depend on the order of events.
std::optional<Error> verify(const Program &program, Model model);

} // namespace veeline::schedule::communication

#endif // VEELINE_SCHEDULE_COMMUNICATION_PROGRAM_H
