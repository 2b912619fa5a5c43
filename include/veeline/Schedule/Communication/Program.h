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

/// Which message this is. The fields stay fields: no two messages can meet in
/// one number, whatever the number of edges and microbatches.
struct MessageId {
  int edge = 0;
  Direction direction = Direction::Activation;
  int microbatch = 0;
  /// Of the pipeline, where there are several beside each other.
  int replica = 0;
  /// Of a message that travels in several, from 0 on; -1: it is whole.
  int part = -1;

  friend auto operator<=>(const MessageId &, const MessageId &) = default;
};

/// Which gradients an all-reduce adds up: those that a chunk has of a
/// parameter.
struct ReductionId {
  int chunk = 0;
  int param = 0;

  friend auto operator<=>(const ReductionId &, const ReductionId &) = default;
};

enum class OpKind : std::uint8_t {
  /// A computation. It always ends.
  Compute,
  /// Waits until the receive of `message` is posted, which this rank sends
  /// later: what a sender does that computes straight into the receiver's
  /// memory. Only a transport that shares memory has it.
  Ready,
  Send,
  Receive,
  /// Waits for the operation that made `handle`.
  Wait,
  /// Adds up what all ranks of `communicator` have, in their order.
  AllReduce,
};

/// The stream of computations, of waits, and of what is said to be on it.
constexpr int computeStream = 0;
/// Those that make progress beside each other where a device has room for a
/// unit of each (`Model::NcclDuplex`).
constexpr int sendStream = 1, receiveStream = 2;

/// What a rank issues.
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
  /// Of a transfer: neighbours with the same number that is not negative
  /// are one group.
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
  /// What units are made of.
  bool isTransfer() const { return isMessage() || kind == OpKind::AllReduce; }
  friend bool operator==(const Op &, const Op &) = default;
};

/// The type of a message, as it is printed. It has its number in a program
/// once, so equal numbers and equal types are the same.
struct Type {
  std::string name;
  std::int64_t bytes = 0;
};

struct Program {
  std::vector<Type> types;
  /// What each rank issues, in order.
  std::vector<std::vector<Op>> ranks;
  /// The ranks of each communicator; all of them where it has no entry here, or
  /// an empty one.
  std::vector<std::vector<int>> communicators = {};
};

/// A program whose messages travel in parts.
struct SplitProgram {
  Program program;
  /// Of each operation, by rank, the one that it was before.
  std::vector<std::vector<int>> origins;
};

/// Has each message of `program` travel in as many parts as `partsOf` says of
/// its Ready, send and receive, 1 and more: each becomes one for each part, in
/// order and in the same group, and a Wait for a receive waits for all parts.
/// Numbers of handles change. What was right stays so: on both ends the parts
/// of a message follow each other as one.
SplitProgram splitMessages(const Program &program,
                           const std::function<int(const Op &)> &partsOf);

/// By which rules messages travel.
///
/// Of both: a message is a send on one rank and a receive on another. A send
/// may block until its receive is posted, so a program that relies on buffers
/// is wrong. All ranks of a communicator issue its all-reduces in one order;
/// the n-th of each are one, and done once all of them are posted. A *unit* is
/// a group, or a send, receive or all-reduce outside of groups.
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
  /// 5. Streams promise no progress beside each other: of two units of one
  ///    device either may keep the other from running, though never a
  ///    computation. So no rank may have two units under way at once,
  ///    whatever the others do: of two that it issues, the second must wait
  ///    for the first by rules 1 and 2.
  Nccl,
  /// One thread a rank does everything in order. A send or receive is posted
  /// when the thread comes to it, those of a group one after the other. What
  /// has no handle blocks (in a group, at the group's end), a wait blocks, and
  /// Ready blocks, until the other end is posted. What is posted makes progress
  /// by itself. A receive takes the message of its source, communicator and
  /// tag, and the tag is the identity. Streams mean nothing.
  Mpi,
  /// As Nccl, for who knows that the device has room for two units, with a
  /// weaker rule in the place of 5:
  /// 5'. A unit on `sendStream` and a unit on `receiveStream` make progress
  ///     beside each other. Of any other two units of one device either may
  ///     keep the other from running, as by rule 5.
  NcclDuplex,
};

/// Whether these are rules of NCCL.
constexpr bool isNccl(Model model) { return model != Model::Mpi; }

/// "nccl", "mpi" or "nccl-duplex".
const char *toString(Model model);
/// As one says by whose rules something is right: "nccl, sends and receives
/// side by side".
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
  /// A handle that is made, waited for or not, in any way but once each.
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
  /// Two units of one rank that nothing keeps apart.
  AtOnce,
  /// Ranks that wait for each other in a circle.
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

/// The first thing that keeps `program` from being right under the rules of
/// `model`, or nothing: then every execution ends, every message arrives where
/// it belongs, and every handle is waited for once. A message that says the
/// shape of a value is sent before the value, and has arrived before the value
/// is waited for (under the rules of NCCL, before its receive is issued, which
/// says how many elements it takes). Of a deadlock the notes
/// are the circle, one for each rank in it.
///
/// Linear but for sorting the messages. Why that is enough: under rule 5 the
/// units of a rank run one after the other, and so do the steps of an MPI
/// thread; what one waits for are certain operations of other ranks. Under
/// rule 5' a rank has three such sequences, of what is on `sendStream`, on
/// `receiveStream` and elsewhere, and what one waits for may be of another
/// sequence of its rank, too. Whatever begins or ends does so once certain
/// things have begun or ended, all of them, never one or the other; so what
/// can go on still can when others have gone on first. The first state in which
/// nobody can is the same whatever the order of events, and one execution finds
/// it.
std::optional<Error> verify(const Program &program, Model model);

} // namespace veeline::schedule::communication

#endif // VEELINE_SCHEDULE_COMMUNICATION_PROGRAM_H
