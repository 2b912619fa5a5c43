//===- Verify.cpp - the verifier of communication programs ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verifier.h"

#include <algorithm>
#include <array>
#include <map>

using namespace veeline::schedule::communication;

//===----------------------------------------------------------------------===//
// Each operation by itself, groups, handles
//===----------------------------------------------------------------------===//

/// Whether a communicator contains a rank.
static bool hasRank(const Program &program, int communicator, int rank) {
  if (communicator >= static_cast<int>(program.communicators.size()))
    return true;
  const std::vector<int> &ranks = program.communicators[communicator];
  return ranks.empty() ||
         std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

static Result checkOp(const Program &program, Position at) {
  const Op &op = program.ranks[at.rank][at.op];
  auto malformed = [&](std::string message) {
    return Error{ErrorKind::Malformed, at, std::move(message)};
  };
  if (op.kind == OpKind::Compute || op.kind == OpKind::Wait)
    return std::nullopt;
  if (op.kind != OpKind::AllReduce &&
      (op.message.edge < 0 || op.message.microbatch < 0 ||
       op.message.part < -1))
    return malformed("names a negative edge, microbatch or part");
  if (op.kind == OpKind::Ready)
    return std::nullopt;
  if (op.type < 0 || op.type >= static_cast<int>(program.types.size()))
    return malformed("has a type that the program does not list");
  if (op.stream < 0 || op.communicator < 0)
    return malformed("is on a negative stream or communicator");
  for (int rank : {at.rank, op.isMessage() ? op.peer : at.rank})
    if (!hasRank(program, op.communicator, rank))
      return malformed("is on communicator " + std::to_string(op.communicator) +
                       ", to which " + rankName(rank) + " does not belong");
  if (op.kind == OpKind::AllReduce)
    return std::nullopt;
  if (op.peer < 0 || op.peer >= static_cast<int>(program.ranks.size()))
    return malformed("names " + rankName(op.peer) + ", but there are " +
                     std::to_string(program.ranks.size()));
  if (op.peer == at.rank)
    return malformed("names its own rank; a value that stays needs no message");
  return std::nullopt;
}

/// Checks that a group is one contiguous run of operations, on one stream and
/// one communicator.
static Result checkGroups(const Program &program, int rank) {
  const Ops &ops = program.ranks[rank];
  // The begin of each run, by group.
  std::vector<std::pair<int, int>> runs;
  for (int i = 0; i < sizeOf(ops);) {
    if (!ops[i].isTransfer() || ops[i].group < 0) {
      ++i;
      continue;
    }
    int end = endOfUnit(ops, i);
    for (int k = i + 1; k < end; ++k)
      if (ops[k].stream != ops[i].stream ||
          ops[k].communicator != ops[i].communicator)
        return Error{ErrorKind::Group,
                     {rank, k},
                     "is on another stream or communicator than its group",
                     {{{rank, i}, "begins the group"}}};
    runs.push_back({ops[i].group, i});
    i = end;
  }
  std::sort(runs.begin(), runs.end());
  for (std::size_t i = 1; i < runs.size(); ++i)
    if (runs[i].first == runs[i - 1].first)
      return Error{ErrorKind::Group,
                   {rank, runs[i].second},
                   "goes on with a group that has ended; a group is begun and "
                   "ended once",
                   {{{rank, runs[i - 1].second}, "began the group"}}};
  return std::nullopt;
}

/// Checks that every handle is made once, and later waited for once.
static Result checkHandles(const Program &program, int rank) {
  const Ops &ops = program.ranks[rank];
  struct Event {
    int handle, op;
    auto operator<=>(const Event &) const = default;
  };
  std::vector<Event> events;
  for (int i = 0; i < sizeOf(ops); ++i)
    if (ops[i].kind == OpKind::Wait ||
        (ops[i].isTransfer() && ops[i].handle >= 0))
      events.push_back({ops[i].handle, i});
  std::sort(events.begin(), events.end());
  auto wrong = [&](int op, std::string message) {
    return Error{ErrorKind::Handle, {rank, op}, std::move(message)};
  };
  for (std::size_t i = 0; i < events.size();) {
    int maker = events[i].op;
    std::size_t end = i;
    while (end < events.size() && events[end].handle == events[i].handle)
      ++end;
    if (ops[maker].kind == OpKind::Wait)
      return wrong(maker, "waits for a handle that nothing before it makes");
    if (end == i + 1)
      return wrong(maker, "makes a handle that nothing waits for");
    for (std::size_t k = i + 1; k < end; ++k) {
      int op = events[k].op;
      if (ops[op].kind == OpKind::Wait && k == i + 1)
        continue;
      Error error = wrong(op, ops[op].kind == OpKind::Wait
                                  ? "waits for a handle a second time"
                                  : "makes a handle that is made already");
      error.notes.push_back({{rank, events[k - 1].op}, "was the first"});
      return error;
    }
    i = end;
  }
  return std::nullopt;
}

static Result checkRank(const Program &program, int rank) {
  for (int i = 0; i < sizeOf(program.ranks[rank]); ++i)
    if (Result error = checkOp(program, {rank, i}))
      return error;
  if (Result error = checkGroups(program, rank))
    return error;
  return checkHandles(program, rank);
}

//===----------------------------------------------------------------------===//
// Both ends of each message
//===----------------------------------------------------------------------===//

Result Matching::matchEnds(Position send, Position receive) {
  const Op &sent = opAt(send), &received = opAt(receive);
  auto wrong = [&](ErrorKind kind, std::string message) {
    return Error{
        kind, send, std::move(message), {{receive, "is the other end"}}};
  };
  if (sent.peer != receive.rank || received.peer != send.rank)
    return wrong(ErrorKind::Mismatch, "goes from " + rankName(send.rank) +
                                          " to " + rankName(sent.peer) +
                                          ", but is received by " +
                                          rankName(receive.rank) + " from " +
                                          rankName(received.peer));
  if (sent.communicator != received.communicator)
    return wrong(ErrorKind::Mismatch,
                 "is on communicator " + std::to_string(sent.communicator) +
                     ", but is received on communicator " +
                     std::to_string(received.communicator));
  if (sent.type != received.type) {
    auto name = [&](int type) {
      return program.types[type].name + " (" +
             std::to_string(program.types[type].bytes) + " bytes)";
    };
    return wrong(ErrorKind::Type, "is of type " + name(sent.type) +
                                      ", but is received as " +
                                      name(received.type));
  }
  others[send.rank][send.op] = receive;
  others[receive.rank][receive.op] = send;
  return std::nullopt;
}

/// Checks that each message has at most one send and one receive, and that each
/// Ready precedes the send of its message on its rank.
Result Matching::checkIdentity(const Ends &ends) {
  for (auto [first, last] :
       {std::pair(ends.sends, ends.receives), {ends.receives, ends.end}})
    if (last - first > 1)
      return Error{ErrorKind::Duplicate,
                   first[1].at,
                   "has the identity of another message; edge, direction and "
                   "microbatch say which message it is",
                   {{first[0].at, "is the other one"}}};
  bool hasSend = ends.sends != ends.receives;
  for (const End *ready = ends.begin; ready != ends.sends; ++ready) {
    bool isBefore = hasSend && ends.sends->at.rank == ready->at.rank &&
                    ends.sends->at.op > ready->at.op;
    if (!isBefore)
      return Error{ErrorKind::Malformed, ready->at,
                   "stands before no send of this message on its rank"};
  }
  return std::nullopt;
}

Result Matching::matchMessage(const Ends &ends) {
  if (ends.sends == ends.receives)
    return Error{ErrorKind::Unmatched, ends.receives->at,
                 "has no send: nothing ever arrives"};
  if (ends.receives == ends.end)
    return Error{ErrorKind::Unmatched, ends.sends->at,
                 "has no receive: it may wait for ever"};
  Position send = ends.sends->at, receive = ends.receives->at;
  for (const End *ready = ends.begin; ready != ends.sends; ++ready)
    others[ready->at.rank][ready->at.op] = receive;
  return matchEnds(send, receive);
}

std::vector<Matching::End> Matching::collect() const {
  std::vector<End> all;
  for (int rank = 0; rank < static_cast<int>(program.ranks.size()); ++rank) {
    const Ops &ops = program.ranks[rank];
    for (int i = 0; i < sizeOf(ops); ++i)
      if (ops[i].isMessage() || ops[i].kind == OpKind::Ready)
        all.push_back({ops[i].message, ops[i].kind, {rank, i}});
  }
  // The operations are already sorted by position.
  std::stable_sort(all.begin(), all.end(), [](const End &a, const End &b) {
    return a.id != b.id ? a.id < b.id : a.kind < b.kind;
  });
  return all;
}

Result Matching::match() {
  std::vector<End> all = collect();
  auto visit = [&](auto member) -> Result {
    const End *last = all.data() + all.size();
    for (const End *begin = all.data(); begin != last;) {
      auto until = [&](const End *from, OpKind kind) {
        while (from != last && from->id == begin->id && from->kind <= kind)
          ++from;
        return from;
      };
      Ends ends{begin, until(begin, OpKind::Ready), until(begin, OpKind::Send),
                until(begin, OpKind::Receive)};
      if (Result error = (this->*member)(ends))
        return error;
      begin = ends.end;
    }
    return std::nullopt;
  };
  if (Result error = visit(&Matching::checkIdentity))
    return error;
  return visit(&Matching::matchMessage);
}

namespace {
/// Counts the messages of one rank with each other rank on each communicator.
class Counters {
public:
  int next(int communicator, int peer) {
    for (Counter &counter : counters)
      if (counter.communicator == communicator && counter.peer == peer)
        return counter.count++;
    counters.push_back({communicator, peer, 1});
    return 0;
  }

private:
  struct Counter {
    int communicator, peer, count;
  };
  std::vector<Counter> counters;
};
} // namespace

/// Checks that messages from one rank to another on one communicator are
/// received in the order in which they are sent, because there are no tags.
static Result checkOrder(const Program &program, const Matching &matching) {
  std::vector<std::vector<int>> numbers;
  for (const Ops &ops : program.ranks) {
    Counters sends, receives;
    std::vector<int> &row = numbers.emplace_back(ops.size(), -1);
    for (int i = 0; i < sizeOf(ops); ++i)
      if (ops[i].isMessage())
        row[i] = (ops[i].kind == OpKind::Send ? sends : receives)
                     .next(ops[i].communicator, ops[i].peer);
  }
  for (int rank = 0; rank < static_cast<int>(program.ranks.size()); ++rank)
    for (int i = 0; i < sizeOf(program.ranks[rank]); ++i) {
      const Op &op = program.ranks[rank][i];
      if (op.kind != OpKind::Receive)
        continue;
      Position send = matching[{rank, i}];
      int sent = numbers[send.rank][send.op], received = numbers[rank][i];
      if (sent == received)
        continue;
      auto ordinal = [](int n) { return "number " + std::to_string(n); };
      return Error{ErrorKind::Crossed,
                   {rank, i},
                   "is " + ordinal(received) + " of the receives from " +
                       rankName(op.peer) + " on communicator " +
                       std::to_string(op.communicator) +
                       ", which without tags takes message " +
                       ordinal(received) + ", not its own",
                   {{send, "is " + ordinal(sent) + " of the sends"}}};
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// All-reduces
//===----------------------------------------------------------------------===//

Result Collectives::matchEnd(Position first, Position other, int place) {
  const Op &a = opAt(first), &b = opAt(other);
  if (a.reduction != b.reduction)
    return Error{ErrorKind::Crossed,
                 other,
                 "is number " + std::to_string(place) +
                     " of its rank's on that communicator, which goes with "
                     "number " +
                     std::to_string(place) + " of the other ranks'",
                 {{first, "is that of " + rankName(first.rank)}}};
  if (a.type != b.type)
    return Error{ErrorKind::Type,
                 other,
                 "is of type " + program.types[b.type].name + ", but of type " +
                     program.types[a.type].name + " on " + rankName(first.rank),
                 {{first, "is the one there"}}};
  return std::nullopt;
}

Result Collectives::matchCommunicator(int communicator,
                                      const Sequences &sequences) {
  std::size_t longest = 0;
  for (const std::vector<int> &sequence : sequences)
    longest = std::max(longest, sequence.size());
  for (std::size_t place = 0; place < longest; ++place) {
    std::vector<Position> &ends = all.emplace_back();
    int missing = -1;
    for (int rank = 0; rank < static_cast<int>(sequences.size()); ++rank)
      if (place < sequences[rank].size())
        ends.push_back({rank, sequences[rank][place]});
      else if (missing < 0 && hasRank(program, communicator, rank))
        missing = rank;
    if (missing >= 0)
      return Error{ErrorKind::Unmatched, ends[0],
                   "waits for ever for " + rankName(missing) +
                       ", which issues " +
                       std::to_string(sequences[missing].size()) +
                       " on that communicator"};
    for (Position end : ends) {
      numbers[end.rank][end.op] = size() - 1;
      if (Result error = matchEnd(ends[0], end, static_cast<int>(place)))
        return error;
    }
  }
  return std::nullopt;
}

Result Collectives::match() {
  std::map<int, Sequences> byCommunicator;
  for (int rank = 0; rank < static_cast<int>(program.ranks.size()); ++rank)
    for (int i = 0; i < sizeOf(program.ranks[rank]); ++i) {
      const Op &op = program.ranks[rank][i];
      if (op.kind != OpKind::AllReduce)
        continue;
      Sequences &sequences = byCommunicator[op.communicator];
      sequences.resize(program.ranks.size());
      sequences[rank].push_back(i);
    }
  for (const auto &[communicator, sequences] : byCommunicator)
    if (Result error = matchCommunicator(communicator, sequences))
      return error;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {
/// The send and the receive of a message on one rank, and the place where it
/// waits for what it receives.
struct RankEnds {
  int send = -1, receive = -1, wait = -1;
};
} // namespace

static std::map<MessageId, RankEnds> findEnds(const Ops &ops) {
  std::map<MessageId, RankEnds> ends;
  std::map<int, RankEnds *> receives;
  for (int i = 0; i < sizeOf(ops); ++i) {
    if (ops[i].kind == OpKind::Wait) {
      if (auto it = receives.find(ops[i].handle); it != receives.end())
        it->second->wait = i;
      continue;
    }
    if (!ops[i].isMessage())
      continue;
    RankEnds &found = ends[ops[i].message];
    if (ops[i].kind == OpKind::Send) {
      found.send = i;
      continue;
    }
    found.receive = i;
    // An operation without a handle is waited for immediately, at the end of
    // its group.
    found.wait = endOfUnit(ops, i) - 1;
    if (ops[i].handle >= 0)
      receives[ops[i].handle] = &found;
  }
  return ends;
}

static Result checkShape(int rank, const RankEnds &shape, const RankEnds &value,
                         Model model) {
  if (shape.send >= 0 && value.send >= 0 && value.send < shape.send)
    return Error{ErrorKind::Shape,
                 {rank, value.send},
                 "is sent before its shape; the receiver has to know the "
                 "shape first",
                 {{{rank, shape.send}, "comes later"}}};
  int needed = isNccl(model) ? value.receive : value.wait;
  if (shape.receive >= 0 && value.receive >= 0 && needed <= shape.wait)
    return Error{ErrorKind::Shape,
                 {rank, value.receive},
                 isNccl(model)
                     ? "is received before its shape is known, which says "
                       "how many elements to receive"
                     : "is waited for before its shape is known",
                 {{{rank, shape.receive}, "says the shape"}}};
  return std::nullopt;
}

/// Checks that the shape of a value is known wherever the value is sent or
/// received.
static Result checkShapes(const Program &program, int rank, Model model) {
  const Ops &ops = program.ranks[rank];
  if (std::none_of(ops.begin(), ops.end(), [](const Op &op) {
        return op.isMessage() && op.message.direction == Direction::Shape;
      }))
    return std::nullopt;
  std::map<MessageId, RankEnds> all = findEnds(ops);
  for (const auto &[id, shape] : all) {
    if (id.direction != Direction::Shape)
      continue;
    MessageId valueId = id;
    valueId.direction = Direction::Activation;
    valueId.part = -1;
    // Visits the value, or all of its parts.
    for (auto it = all.lower_bound(valueId); it != all.end(); ++it) {
      MessageId whole = it->first;
      whole.part = -1;
      if (whole != valueId)
        break;
      if (Result error = checkShape(rank, shape, it->second, model))
        return error;
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Units of one rank
//===----------------------------------------------------------------------===//

namespace {

/// Tracks the units that a rank knows to be over, as a number of units of each
/// class. Two units of one class never make progress in parallel, whatever the
/// rules, so the accepted units of a class run in order.
class UnitOrder {
public:
  UnitOrder(const Ops &ops, Model model) : ops(ops), model(model) {}

  /// The first unit that may be in progress together with an earlier one, as
  /// (earlier, later); none if there is none.
  std::optional<std::pair<int, int>> findTwoAtOnce();

private:
  static constexpr int numClasses = 3;
  using Knowledge = std::array<int, numClasses>;

  /// Under rule 5, all units are of one class.
  int classOf(const Op &op) const {
    if (model != Model::NcclDuplex)
      return 0;
    return op.stream == sendStream ? 1 : op.stream == receiveStream ? 2 : 0;
  }
  static void include(Knowledge &known, const Knowledge &other) {
    for (int i = 0; i < numClasses; ++i)
      known[i] = std::max(known[i], other[i]);
  }
  std::optional<int> addUnit(int begin, int end);

  const Ops &ops;
  const Model model;
  /// The number of units of each class so far, and the last unit.
  Knowledge counts = {};
  std::array<int, numClasses> last = {};
  /// The units that are over once everything is over that was issued so far on
  /// the stream of computations, on another stream, or on a communicator; and
  /// those that are over once a handle is waited for.
  Knowledge computed = {};
  std::map<int, Knowledge> byStream, byCommunicator, byHandle;
};

} // namespace

/// Adds a unit, or returns an earlier one that it has to wait for and does not.
/// A unit of class 0 has to wait for all units before it. Any other unit has to
/// wait for all except those of the class that makes progress in parallel to
/// its own.
std::optional<int> UnitOrder::addUnit(int begin, int end) {
  const Op &op = ops[begin];
  int own = classOf(op);
  Knowledge known = computed;
  include(known, byStream[op.stream]);
  include(known, byCommunicator[op.communicator]);
  for (int other = 0; other < numClasses; ++other)
    if ((own == 0 || other == 0 || other == own) &&
        known[other] < counts[other])
      return last[other];
  known[own] = ++counts[own];
  last[own] = begin;
  byStream[op.stream] = byCommunicator[op.communicator] = known;
  bool isWaitedFor = op.stream == computeStream;
  for (int i = begin; i < end; ++i) {
    isWaitedFor |= ops[i].handle < 0;
    if (ops[i].handle >= 0)
      byHandle[ops[i].handle] = known;
  }
  if (isWaitedFor)
    include(computed, known);
  return std::nullopt;
}

std::optional<std::pair<int, int>> UnitOrder::findTwoAtOnce() {
  for (int i = 0; i < sizeOf(ops);) {
    if (ops[i].kind == OpKind::Wait)
      include(computed, byHandle[ops[i].handle]);
    if (!ops[i].isTransfer()) {
      ++i;
      continue;
    }
    int end = endOfUnit(ops, i);
    if (std::optional<int> first = addUnit(i, end))
      return std::pair(*first, i);
    i = end;
  }
  return std::nullopt;
}

/// Checks that no two units may be in progress at once, unless the rules say
/// that both make progress.
static Result checkUnits(const Program &program, int rank, Model model) {
  const Ops &ops = program.ranks[rank];
  auto found = UnitOrder(ops, model).findTwoAtOnce();
  if (!found)
    return std::nullopt;
  const Op &first = ops[found->first], &second = ops[found->second];
  bool areBeside =
      (first.stream == sendStream && second.stream == receiveStream) ||
      (first.stream == receiveStream && second.stream == sendStream);
  std::string message =
      "may be under way at once with another operation, on stream " +
      std::to_string(first.stream) + " and communicator " +
      std::to_string(first.communicator) + ", while it is on stream " +
      std::to_string(second.stream) + " and communicator " +
      std::to_string(second.communicator) +
      "; either may keep the other from running, so put them on one stream or "
      "communicator, or wait for the first in between";
  if (areBeside)
    message += "; the rules of nccl-duplex, for devices that have room for "
               "both, let streams " +
               std::to_string(sendStream) + " and " +
               std::to_string(receiveStream) + " run side by side";
  return Error{ErrorKind::AtOnce,
               {rank, found->second},
               std::move(message),
               {{{rank, found->first}, "is the other one"}}};
}

//===----------------------------------------------------------------------===//
// verify
//===----------------------------------------------------------------------===//

Result veeline::schedule::communication::verify(const Program &program,
                                                Model model) {
  int ranks = static_cast<int>(program.ranks.size());
  for (int rank = 0; rank < ranks; ++rank)
    if (Result error = checkRank(program, rank))
      return error;
  Matching matching(program);
  if (Result error = matching.match())
    return error;
  Collectives collectives(program);
  if (Result error = collectives.match())
    return error;
  for (int rank = 0; rank < ranks; ++rank)
    if (Result error = checkShapes(program, rank, model))
      return error;
  if (isNccl(model)) {
    if (Result error = checkOrder(program, matching))
      return error;
    for (int rank = 0; rank < ranks; ++rank)
      if (Result error = checkUnits(program, rank, model))
        return error;
  }
  return execute(program, matching, collectives, model);
}
