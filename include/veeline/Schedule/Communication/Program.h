//===- Program.h - who sends what to whom, when -----------------*- C++ -*-===//
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

/// Which message this is. The fields are not packed into one number, so that no
/// two messages collide, whatever the number of edges and microbatches.
struct MessageId {
  int edge = 0;
  Direction direction = Direction::Activation;
  int microbatch = 0;
  /// Of the pipeline, where several run side by side.
  int replica = 0;
  /// The number of this part, from 0 on, of a message that travels in parts;
  /// -1: the whole message.
  int part = -1;

  friend auto operator<=>(const MessageId &, const MessageId &) = default;
};

/// Which gradients an all-reduce adds up: those of a parameter from a chunk.
struct ReductionId {
  int chunk = 0;
  int param = 0;

  /// Of no gradients, but of the norms of all of them.
  static ReductionId ofNorms() { return {-1, -1}; }
  /// Of no gradients, but of the shares of a parameter that ranks have updated:
  /// all wait for all, as in an all-reduce.
  static ReductionId ofShares(int param) { return {-2, param}; }
  bool isOfShares() const { return chunk == -2; }

  friend auto operator<=>(const ReductionId &, const ReductionId &) = default;
};

enum class OpKind : std::uint8_t {
  /// A computation. It always ends.
  Compute,
  /// Waits until the receive of `message`, which this rank sends later, is
  /// posted. A sender does so before it computes straight into the receiver's
  /// memory. Only a transport that shares memory has it.
  Ready,
  Send,
  Receive,
  /// Waits for the operation that made `handle`.
  Wait,
  /// Adds up what all ranks of `communicator` have, in their order.
  AllReduce,
};

/// The stream of computations and waits, and of the transfers that name it.
constexpr int computeStream = 0;
/// The streams that make progress side by side where a device has room for a
/// unit of each (`Model::NcclDuplex`).
constexpr int sendStream = 1, receiveStream = 2;

/// An operation that a rank issues.
struct Op {
  OpKind kind = OpKind::Compute;
  /// Of Ready, Send and Receive.
  MessageId message = {};
  /// Of AllReduce.
  ReductionId reduction = {};
  /// Of Send and Receive: the rank at the other end.
  int peer = -1;
  /// Of a transfer: an index into `Program::types`.
  int type = 0;
  /// Of a transfer.
  int stream = computeStream;
  int communicator = 0;
  /// Of a transfer: consecutive transfers with the same number form a group;
  /// negative: no group.
  int group = -1;
  /// Of a transfer: the handle by which it is waited for, or -1 where the
  /// rank waits for it right there (for those of a group, at its end). Of Wait:
  /// that handle.
  int handle = -1;
  /// Of Compute: a number that means something to whoever made the program.
  int step = -1;

  bool isMessage() const {
    return kind == OpKind::Send || kind == OpKind::Receive;
  }
  /// Units (see `Model`) are made of these.
  bool isTransfer() const { return isMessage() || kind == OpKind::AllReduce; }
  friend bool operator==(const Op &, const Op &) = default;
};

/// The type of a message, as it is printed. A program lists each type once, so
/// types are equal exactly where their indices are.
struct Type {
  std::string name;
  std::int64_t bytes = 0;
};

struct Program {
  std::vector<Type> types;
  /// What each rank issues, in order.
  std::vector<std::vector<Op>> ranks;
  /// The ranks of each communicator; all ranks where the entry is missing or
  /// empty.
  std::vector<std::vector<int>> communicators = {};
};

/// A program whose messages travel in parts.
struct SplitProgram {
  Program program;
  /// By rank and operation, the operation of the original program.
  std::vector<std::vector<int>> origins;
};

/// Splits each message of `program` into as many parts, 1 or more, as `partsOf`
/// says of its Ready, send and receive. Each of these becomes one operation for
/// each part, in order and in the same group, and a Wait becomes one for each
/// part. Handles are renumbered. A correct program stays correct: on both ends
/// the parts of a message directly follow each other.
SplitProgram splitMessages(const Program &program,
                           const std::function<int(const Op &)> &partsOf);

/// The rules by which messages travel.
///
/// In all models, a message is a send on one rank and a receive on another. A
/// send may block until its receive is posted, so a program that relies on
/// buffers is wrong. All ranks of a communicator issue its all-reduces in one
/// order. The n-th of each rank belong together and are done once all of them
/// are posted. A *unit* is a group, or a send, receive or all-reduce outside of
/// groups.
enum class Model {
  /// Threads issue without ever blocking; the device carries out.
  /// 1. Streams: what is issued on a stream begins when all that was issued
  ///    on it before has ended. Computations and waits are on `computeStream`.
  ///    A unit also begins no earlier than what was issued on `computeStream`
  ///    before it has ended. A wait ends when the unit of its handle has; a
  ///    unit with an operation that has no handle is waited for right away.
  /// 2. Communicators: the units of one communicator on one rank run one after
  ///    the other as issued, whatever their streams.
  /// 3. Messages have no tags: the n-th send from rank a to rank b on a
  ///    communicator meets the n-th receive of b from a on it.
  /// 4. Units: the operations of a unit are posted when it begins; each one is
  ///    done when the other end is posted too, independently of the others; the
  ///    unit ends as a whole, when all are done.
  /// 5. Streams promise no progress side by side: of two units of one device
  ///    either may keep the other from running, though never a computation.
  ///    So no rank may have two units in progress at once, whatever the others
  ///    do: of two that it issues, the second must wait for the first by rules
  ///    1 and 2.
  Nccl,
  /// One thread a rank does everything in order. A send or receive is posted
  /// when the thread comes to it, those of a group one after the other. What
  /// has no handle blocks (in a group, at the group's end), a wait blocks, and
  /// Ready blocks, until the other end is posted. What is posted makes progress
  /// by itself. A receive takes the message of its source, communicator and
  /// tag, and the tag is the identity. Streams mean nothing.
  Mpi,
  /// As Nccl, for devices that are known to have room for two units, with a
  /// weaker rule in place of 5:
  /// 5'. A unit on `sendStream` and a unit on `receiveStream` make progress
  ///     side by side. Of any other two units of one device either may keep
  ///     the other from running, as by rule 5.
  NcclDuplex,
};

/// Whether these are rules of NCCL.
constexpr bool isNccl(Model model) { return model != Model::Mpi; }

/// "nccl", "mpi" or "nccl-duplex".
const char *toString(Model model);
/// The model in a statement about its rules: "nccl, sends and receives side by
/// side".
const char *describe(Model model);
std::optional<Model> parseModel(std::string_view name);

/// An operation of a program.
struct Position {
  int rank;
  int op;

  friend bool operator==(const Position &, const Position &) = default;
};

enum class ErrorKind {
  /// A peer, type or message that cannot be, or a Ready without its send.
  Malformed,
  /// A group that is interrupted, or that mixes streams or communicators.
  Group,
  /// A handle that is not made exactly once and then waited for exactly once.
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
  /// A value that comes before the message that says its shape.
  Shape,
  /// Messages that are received in another order than sent, where only the
  /// order says which is which; all-reduces in different orders.
  Crossed,
  /// Two units of one rank that may be in progress at once.
  AtOnce,
  /// Ranks that wait for each other in a cycle.
  Deadlock,
};

/// "a deadlock"; for tables.
const char *toString(ErrorKind kind);

/// What is wrong with the operation at `at`; the notes say the rest, each about
/// another operation.
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
/// The error and its notes on a line each, with rank and operation.
std::string toText(const Program &program, const Error &error);

/// The first error of `program` under the rules of `model`, or nothing. Without
/// an error every execution ends, every message arrives where it belongs, and
/// every handle is waited for once. A message that says the shape of a value is
/// then sent before the value, and has arrived before the value is waited for
/// (under the rules of NCCL, before its receive is issued, which says how many
/// elements it takes). For a deadlock the notes are the cycle, one for each
/// wait in it.
///
/// Linear but for sorting the messages, since one execution stands for all.
/// Under rule 5 the units of a rank run one after the other, and so do the
/// operations of an MPI thread; each waits for certain operations of other
/// ranks. Under rule 5' a rank has three such sequences: on `sendStream`, on
/// `receiveStream`, and all else. There an operation may wait for another
/// sequence of its own rank, too. Every beginning or end needs all of certain
/// others to have happened, never one or the other. So what can go on still can
/// after others have gone on first, and the state in which nothing can go on is
/// the same whatever the order of events.
std::optional<Error> verify(const Program &program, Model model);

} // namespace veeline::schedule::communication

#endif // VEELINE_SCHEDULE_COMMUNICATION_PROGRAM_H
