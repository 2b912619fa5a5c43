//===- CommunicationModel.cpp - the rules of transports, executed ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommunicationModel.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_set>

using namespace veeline;
using namespace veeline::schedule::communication;
using schedule::Random;

using Ops = std::vector<Op>;

//===----------------------------------------------------------------------===//
// What can be seen without running
//===----------------------------------------------------------------------===//

static std::vector<int> ranksOf(const Program &program, int communicator) {
  std::vector<int> all(program.ranks.size());
  std::iota(all.begin(), all.end(), 0);
  auto size = static_cast<int>(program.communicators.size());
  bool isListed = communicator >= 0 && communicator < size &&
                  !program.communicators[communicator].empty();
  return isListed ? program.communicators[communicator] : all;
}

static bool hasBadOp(const Program &program, int rank) {
  int size = program.ranks.size();
  auto isApart = [&](const Op &op, int other) {
    std::vector<int> ranks = ranksOf(program, op.communicator);
    return std::count(ranks.begin(), ranks.end(), other) == 0;
  };
  for (const Op &op : program.ranks[rank]) {
    if (op.isMessage() && (op.peer < 0 || op.peer >= size || op.peer == rank ||
                           isApart(op, op.peer)))
      return true;
    if (op.isTransfer() &&
        (op.type < 0 || op.type >= static_cast<int>(program.types.size()) ||
         op.stream < 0 || op.communicator < 0 || isApart(op, rank)))
      return true;
  }
  return false;
}

/// A Ready whose message this rank does not send later, by its first send of
/// all ranks.
static bool hasBadReady(const Program &program, int rank) {
  const Ops &ops = program.ranks[rank];
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].kind != OpKind::Ready)
      continue;
    bool isSent = false;
    for (std::size_t k = i + 1; k < ops.size(); ++k)
      isSent |= ops[k].kind == OpKind::Send && ops[k].message == ops[i].message;
    if (!isSent)
      return true;
  }
  return false;
}

static bool hasBadGroup(const Ops &ops) {
  std::map<int, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (ops[i].isTransfer() && ops[i].group >= 0)
      groups[ops[i].group].push_back(i);
  for (const auto &[number, members] : groups)
    for (std::size_t i : members)
      if (members.back() - members.front() + 1 != members.size() ||
          ops[i].stream != ops[members[0]].stream ||
          ops[i].communicator != ops[members[0]].communicator)
        return true;
  return false;
}

static bool hasBadHandle(const Ops &ops) {
  std::map<int, int> state;
  for (const Op &op : ops) {
    if (op.kind == OpKind::Wait && ++state[op.handle] != 2)
      return true;
    if (op.isTransfer() && op.handle >= 0 && ++state[op.handle] != 1)
      return true;
  }
  return std::any_of(state.begin(), state.end(),
                     [](auto entry) { return entry.second != 2; });
}

static std::set<Outcome> judgeForm(const Program &program) {
  std::set<Outcome> seen;
  std::set<std::pair<MessageId, OpKind>> ids;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const Ops &ops = program.ranks[rank];
    if (hasBadOp(program, rank) || hasBadReady(program, rank))
      seen.insert(Outcome::Malformed);
    if (hasBadGroup(ops))
      seen.insert(Outcome::Group);
    if (hasBadHandle(ops))
      seen.insert(Outcome::Handle);
    for (const Op &op : ops)
      if (op.isMessage() && !ids.insert({op.message, op.kind}).second)
        seen.insert(Outcome::Duplicate);
  }
  return seen;
}

/// How many all-reduces of a rank on a communicator stand before `op`.
static int placeOf(const Ops &ops, int op) {
  return std::count_if(ops.begin(), ops.begin() + op, [&](const Op &other) {
    return other.kind == OpKind::AllReduce &&
           other.communicator == ops[op].communicator;
  });
}

/// The same all-reduce on each rank of its communicator, as rank and operation;
/// empty where one of them does not issue it.
static std::vector<Position> endsOf(const Program &program, int rank, int op) {
  const Op &one = program.ranks[rank][op];
  int place = placeOf(program.ranks[rank], op);
  std::vector<Position> ends;
  for (int other : ranksOf(program, one.communicator)) {
    const Ops &ops = program.ranks[other];
    for (int i = 0; i < static_cast<int>(ops.size()); ++i)
      if (ops[i].kind == OpKind::AllReduce &&
          ops[i].communicator == one.communicator && placeOf(ops, i) == place)
        ends.push_back({other, i});
  }
  bool isWhole = ends.size() == ranksOf(program, one.communicator).size();
  return isWhole ? ends : std::vector<Position>();
}

//===----------------------------------------------------------------------===//
// What messages carry
//===----------------------------------------------------------------------===//

namespace {
/// What is sent, or what there is a place for.
struct Payload {
  std::string element;
  std::vector<long> extents;
};

/// A machine has states, the moves from each, and what is seen on the way.
class Machine {
public:
  explicit Machine(const Program &program);
  virtual ~Machine() = default;
  using State = std::string;
  virtual State initial() const = 0;
  /// All states that one move leads to.
  virtual std::vector<State> moves(const State &state) const = 0;
  virtual bool isOver(const State &state) const = 0;

  mutable std::set<Outcome> seen;

protected:
  /// What the receiver, or a rank that adds up, finds in its place.
  void deliver(const Op &from, const Op &to) const;

private:
  std::vector<Payload> payloads;
};
} // namespace

/// Of "tensor<2x4xf32>" the extents 2 and 4, of f32.
static Payload payloadOf(const std::string &type) {
  Payload payload;
  std::size_t begin = type.find('<') + 1, end = type.find('>');
  for (std::size_t x; (x = type.find('x', begin)) < end; begin = x + 1)
    payload.extents.push_back(std::stol(type.substr(begin, x - begin)));
  payload.element = type.substr(begin, end - begin);
  return payload;
}

Machine::Machine(const Program &program) {
  for (const Type &type : program.types)
    payloads.push_back(payloadOf(type.name));
}

void Machine::deliver(const Op &from, const Op &to) const {
  const Payload &sent = payloads[from.type], &place = payloads[to.type];
  if (sent.element != place.element)
    seen.insert(Outcome::WrongElements);
  if (sent.extents != place.extents)
    seen.insert(Outcome::WrongExtents);
}

/// Where a rank has an operation on the message that says the shape of the
/// value of `op`, or of its part, or -1.
static int shapeOf(const Ops &ops, const Op &op) {
  MessageId shape = op.message;
  shape.direction = Direction::Shape;
  shape.part = -1;
  for (int i = 0; i < static_cast<int>(ops.size()); ++i)
    if (op.message.direction == Direction::Activation &&
        ops[i].kind == op.kind && ops[i].message == shape)
      return i;
  return -1;
}

//===----------------------------------------------------------------------===//
// NCCL
//===----------------------------------------------------------------------===//

namespace {
enum Status : char { Idle, UnderWay, Done };

/// The state has one character for each operation of all ranks.
class NcclMachine : public Machine {
public:
  NcclMachine(const Program &program, bool hasRoomForTwo)
      : Machine(program), program(program), hasRoomForTwo(hasRoomForTwo) {
    for (const Ops &ops : program.ranks) {
      begins.push_back(total);
      total += ops.size();
      unitOf.push_back(unitsOf(ops));
    }
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
      waits.push_back(waitsOf(rank));
  }

  State initial() const override { return State(total, Idle); }
  bool isOver(const State &state) const override {
    return state == State(total, Done);
  }
  std::vector<State> moves(const State &state) const override;

  /// Whether another unit of a rank can begin while one is under way, with
  /// other ranks that let everything else end.
  bool hasTwoAtOnce() const;
  /// Has the thread of each rank issue everything: what it tells the device
  /// it has to know.
  void issue() const;

private:
  static std::vector<int> unitsOf(const Ops &ops);
  char status(const State &state, int rank, int op) const {
    return state[begins[rank] + op];
  }
  /// For each operation of a rank, those that are done when it begins.
  std::vector<std::vector<int>> waitsOf(int rank) const;
  bool canBegin(const State &state, int rank, int op) const;
  bool waitsFor(int rank, int later, int earlier) const;
  bool blocksComputations(int rank, int op) const;
  void begin(State &state, int rank, int op) const;
  int nextOf(const State &state, int rank, OpKind kind, int communicator,
             int peer) const;
  void reduce(const State &state, int rank, int op,
              std::vector<State> &result) const;
  bool canBeginBeside(int rank, int held) const;
  bool mayBeBeside(const Op &one, const Op &other) const;

  const Program &program;
  /// Of a device: streams 1 and 2 run side by side.
  const bool hasRoomForTwo;
  std::vector<int> begins;
  int total = 0;
  /// The number of the unit of each operation that is in one.
  std::vector<std::vector<int>> unitOf;
  std::vector<std::vector<std::vector<int>>> waits;
};
} // namespace

std::vector<int> NcclMachine::unitsOf(const Ops &ops) {
  std::vector<int> units(ops.size(), -1);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!ops[i].isTransfer())
      continue;
    bool isSame = i > 0 && ops[i - 1].isTransfer() && ops[i].group >= 0 &&
                  ops[i - 1].group == ops[i].group;
    units[i] = isSame ? units[i - 1] : static_cast<int>(i);
  }
  return units;
}

/// Whether a unit is waited for right where it stands.
bool NcclMachine::blocksComputations(int rank, int op) const {
  const Ops &ops = program.ranks[rank];
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (unitOf[rank][op] >= 0 && unitOf[rank][i] == unitOf[rank][op] &&
        ops[i].handle < 0)
      return true;
  return false;
}

bool NcclMachine::waitsFor(int rank, int later, int earlier) const {
  const Op &a = program.ranks[rank][earlier], &b = program.ranks[rank][later];
  if (unitOf[rank][later] >= 0 && unitOf[rank][later] == unitOf[rank][earlier])
    return false;
  // Everything begins after what is on the stream of computations before it.
  if (!a.isTransfer() || a.stream == computeStream ||
      blocksComputations(rank, earlier))
    return true;
  return b.isTransfer() &&
         (a.stream == b.stream || a.communicator == b.communicator);
}

/// A unit has ended when all of its operations are done; it is waited for as a
/// whole.
std::vector<std::vector<int>> NcclMachine::waitsOf(int rank) const {
  const Ops &ops = program.ranks[rank];
  int size = ops.size();
  std::vector<std::vector<int>> result(size);
  for (int op = 0; op < size; ++op)
    for (int earlier = 0; earlier < op; ++earlier) {
      bool isMaker = ops[op].kind == OpKind::Wait &&
                     ops[earlier].isTransfer() &&
                     ops[earlier].handle == ops[op].handle;
      if (!isMaker && !waitsFor(rank, op, earlier))
        continue;
      for (int i = 0; i < size; ++i)
        if (i == earlier ||
            (unitOf[rank][i] >= 0 && unitOf[rank][i] == unitOf[rank][earlier]))
          result[op].push_back(i);
    }
  return result;
}

bool NcclMachine::canBegin(const State &state, int rank, int op) const {
  if (status(state, rank, op) != Idle)
    return false;
  for (int other : waits[rank][op])
    if (status(state, rank, other) != Done)
      return false;
  return true;
}

/// What is no message ends at once; a unit begins as a whole.
void NcclMachine::begin(State &state, int rank, int op) const {
  const std::vector<int> &units = unitOf[rank];
  if (units[op] < 0)
    state[begins[rank] + op] = Done;
  else
    for (std::size_t i = 0; i < units.size(); ++i)
      if (units[i] == units[op])
        state[begins[rank] + i] = UnderWay;
}

/// The first send to (receive from) `peer` that is not done, if it is under
/// way.
int NcclMachine::nextOf(const State &state, int rank, OpKind kind,
                        int communicator, int peer) const {
  const Ops &ops = program.ranks[rank];
  for (int i = 0; i < static_cast<int>(ops.size()); ++i)
    if (ops[i].kind == kind && ops[i].communicator == communicator &&
        ops[i].peer == peer && status(state, rank, i) != Done)
      return status(state, rank, i) == UnderWay ? i : -1;
  return -1;
}

/// An all-reduce that is under way on all its ranks is done on all of them.
void NcclMachine::reduce(const State &state, int rank, int op,
                         std::vector<State> &result) const {
  const Op &one = program.ranks[rank][op];
  std::vector<Position> ends = endsOf(program, rank, op);
  for (Position end : ends)
    if (status(state, end.rank, end.op) != UnderWay)
      return;
  if (ends.empty())
    return;
  State &met = result.emplace_back(state);
  for (Position end : ends) {
    const Op &other = program.ranks[end.rank][end.op];
    if (other.reduction != one.reduction)
      seen.insert(Outcome::WrongDelivery);
    else
      deliver(other, one);
    met[begins[end.rank] + end.op] = Done;
  }
}

std::vector<Machine::State> NcclMachine::moves(const State &state) const {
  std::vector<State> result;
  for (int rank = 0; rank < static_cast<int>(program.ranks.size()); ++rank) {
    const Ops &ops = program.ranks[rank];
    for (int i = 0; i < static_cast<int>(ops.size()); ++i) {
      bool isFirst = unitOf[rank][i] < 0 || unitOf[rank][i] == i;
      if (isFirst && canBegin(state, rank, i))
        begin(result.emplace_back(state), rank, i);
      if (ops[i].kind == OpKind::AllReduce &&
          status(state, rank, i) == UnderWay)
        reduce(state, rank, i, result);
      if (ops[i].kind != OpKind::Send || status(state, rank, i) != UnderWay)
        continue;
      const Op &send = ops[i];
      if (nextOf(state, rank, OpKind::Send, send.communicator, send.peer) != i)
        continue;
      int other =
          nextOf(state, send.peer, OpKind::Receive, send.communicator, rank);
      if (other < 0)
        continue;
      const Op &receive = program.ranks[send.peer][other];
      if (receive.message != send.message)
        seen.insert(Outcome::WrongDelivery);
      else
        deliver(send, receive);
      State &met = result.emplace_back(state);
      met[begins[rank] + i] = met[begins[send.peer] + other] = Done;
    }
  }
  return result;
}

bool NcclMachine::mayBeBeside(const Op &one, const Op &other) const {
  return hasRoomForTwo && one.stream + other.stream == 3 &&
         one.stream * other.stream == 2;
}

bool NcclMachine::canBeginBeside(int rank, int held) const {
  State state = initial();
  const Ops &ops = program.ranks[rank];
  for (bool moved = true; moved;) {
    moved = false;
    for (int i = 0; i < static_cast<int>(ops.size()); ++i) {
      int unit = unitOf[rank][i];
      if (status(state, rank, i) == UnderWay && unit != held) {
        state[begins[rank] + i] = Done;
        moved = true;
      }
      if ((unit >= 0 && unit != i) || !canBegin(state, rank, i))
        continue;
      begin(state, rank, i);
      moved = true;
      if (unit >= 0 && unit != held && status(state, rank, held) == UnderWay &&
          !mayBeBeside(ops[unit], ops[held]))
        return true;
    }
  }
  return false;
}

bool NcclMachine::hasTwoAtOnce() const {
  for (int rank = 0; rank < static_cast<int>(program.ranks.size()); ++rank)
    for (int i = 0; i < static_cast<int>(program.ranks[rank].size()); ++i)
      if (unitOf[rank][i] == i && canBeginBeside(rank, i))
        return true;
  return false;
}

/// A receive says how many elements it takes, so the shape has arrived and been
/// waited for; a receiver finds out only if it was sent the shape first.
void NcclMachine::issue() const {
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const Ops &ops = program.ranks[rank];
    std::vector<bool> isIssued(ops.size()), isThere(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      bool beginsUnit = i == 0 || unitOf[rank][i] != unitOf[rank][i - 1];
      for (std::size_t k = 0; k < i; ++k)
        if ((beginsUnit && isIssued[k] && ops[k].handle < 0) ||
            (ops[i].kind == OpKind::Wait && ops[k].isTransfer() &&
             ops[k].handle == ops[i].handle))
          isThere[k] = true;
      isIssued[i] = true;
      int shape = ops[i].isMessage() ? shapeOf(ops, ops[i]) : -1;
      if (shape >= 0 &&
          !(ops[i].kind == OpKind::Send ? isIssued : isThere)[shape])
        seen.insert(Outcome::UnknownShape);
    }
  }
}

//===----------------------------------------------------------------------===//
// MPI
//===----------------------------------------------------------------------===//

namespace {
/// Each thread posts operations and waits until the other end of one is posted.
/// The state has one character for each rank: how far it is.
class MpiMachine : public Machine {
public:
  explicit MpiMachine(const Program &program)
      : Machine(program), program(program) {
    for (const Ops &ops : program.ranks)
      threads.push_back(threadOf(ops));
    for (std::size_t rank = 0; rank < threads.size(); ++rank)
      for (Step &step : threads[rank])
        if (!step.posts)
          findOther(rank, step);
  }

  State initial() const override { return State(2 * threads.size(), '\0'); }
  bool isOver(const State &state) const override {
    for (std::size_t rank = 0; rank < threads.size(); ++rank)
      if (at(state, rank) != threads[rank].size())
        return false;
    return true;
  }
  std::vector<State> moves(const State &state) const override;

private:
  /// Posts an operation, or waits for its other end.
  struct Step {
    bool posts;
    int op;
    /// At which operation the thread stands.
    int at;
    /// Where the other ends are posted, as rank and step; of a message there is
    /// one. Empty: nowhere.
    std::vector<std::pair<int, std::size_t>> others = {};
  };
  static std::vector<Step> threadOf(const Ops &ops);
  static std::size_t at(const State &state, int rank) {
    return static_cast<unsigned char>(state[2 * rank]) * 256u +
           static_cast<unsigned char>(state[2 * rank + 1]);
  }
  static void go(State &state, int rank) {
    std::size_t next = at(state, rank) + 1;
    state[2 * rank] = static_cast<char>(next / 256);
    state[2 * rank + 1] = static_cast<char>(next % 256);
  }
  void findOther(int rank, Step &step) const;
  void findEnds(int rank, Step &step) const;
  bool isShapeKnown(int rank, const Step &step) const;
  void meet(int rank, const Step &step) const;
  const Op &opOf(int rank, std::size_t step) const {
    return program.ranks[rank][threads[rank][step].op];
  }

  const Program &program;
  std::vector<std::vector<Step>> threads;
};
} // namespace

std::vector<MpiMachine::Step> MpiMachine::threadOf(const Ops &ops) {
  std::vector<Step> steps;
  int size = ops.size();
  for (int i = 0; i < size; ++i) {
    if (ops[i].kind == OpKind::Ready)
      steps.push_back({false, i, i});
    if (ops[i].kind == OpKind::Wait)
      for (int maker = 0; maker < i; ++maker)
        if (ops[maker].isTransfer() && ops[maker].handle == ops[i].handle)
          steps.push_back({false, maker, i});
    if (!ops[i].isTransfer())
      continue;
    int end = i + 1;
    while (ops[i].group >= 0 && end < size && ops[end].isTransfer() &&
           ops[end].group == ops[i].group)
      ++end;
    for (int k = i; k < end; ++k)
      steps.push_back({true, k, k});
    for (int k = i; k < end; ++k)
      if (ops[k].handle < 0)
        steps.push_back({false, k, end - 1});
    i = end - 1;
  }
  return steps;
}

void MpiMachine::findEnds(int rank, Step &step) const {
  for (Position end : endsOf(program, rank, step.op))
    for (std::size_t i = 0; i < threads[end.rank].size(); ++i)
      if (threads[end.rank][i].posts && threads[end.rank][i].op == end.op)
        step.others.push_back({end.rank, i});
}

/// Identities are tags, and no two messages have the same here.
void MpiMachine::findOther(int rank, Step &step) const {
  const Op &op = program.ranks[rank][step.op];
  if (op.kind == OpKind::AllReduce)
    return findEnds(rank, step);
  for (int other = 0; other < static_cast<int>(threads.size()); ++other)
    for (std::size_t i = 0; i < threads[other].size(); ++i) {
      const Op &end = program.ranks[other][threads[other][i].op];
      if (!threads[other][i].posts || !end.isMessage() ||
          end.message != op.message || end.peer != rank)
        continue;
      bool isOther = op.kind == OpKind::Ready
                         ? end.kind == OpKind::Receive
                         : end.kind != op.kind && op.peer == other &&
                               end.communicator == op.communicator;
      if (isOther)
        step.others = {{other, i}};
    }
}

/// A sender has posted the shape before the value, a receiver has waited for it
/// before it waits for the value.
bool MpiMachine::isShapeKnown(int rank, const Step &step) const {
  const Ops &ops = program.ranks[rank];
  if (!ops[step.op].isMessage() ||
      step.posts != (ops[step.op].kind == OpKind::Send))
    return true;
  int shape = shapeOf(ops, ops[step.op]);
  return shape < 0 || std::any_of(threads[rank].begin(), threads[rank].end(),
                                  [&](const Step &other) {
                                    return other.op == shape &&
                                           other.posts == step.posts &&
                                           other.at < step.at;
                                  });
}

/// What a rank finds where it waits for an operation whose other ends are
/// posted.
void MpiMachine::meet(int rank, const Step &step) const {
  const Op &op = program.ranks[rank][step.op];
  for (auto [other, place] : step.others) {
    if (op.isTransfer())
      deliver(opOf(other, place), op);
    if (op.kind == OpKind::AllReduce &&
        op.reduction != opOf(other, place).reduction)
      seen.insert(Outcome::WrongDelivery);
  }
}

std::vector<Machine::State> MpiMachine::moves(const State &state) const {
  std::vector<State> result;
  for (int rank = 0; rank < static_cast<int>(threads.size()); ++rank) {
    if (at(state, rank) == threads[rank].size())
      continue;
    const Step &step = threads[rank][at(state, rank)];
    if (!step.posts) {
      bool isPosted = !step.others.empty();
      for (auto [other, place] : step.others)
        isPosted &= at(state, other) > place;
      if (!isPosted)
        continue;
      meet(rank, step);
    }
    if (!isShapeKnown(rank, step))
      seen.insert(Outcome::UnknownShape);
    go(result.emplace_back(state), rank);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// All states that can be reached; false if there are too many.
static bool runAll(const Machine &machine, std::size_t maxStates) {
  std::unordered_set<std::string> known{machine.initial()};
  std::vector<std::string> worklist{machine.initial()};
  while (!worklist.empty()) {
    std::string state = std::move(worklist.back());
    worklist.pop_back();
    std::vector<std::string> next = machine.moves(state);
    if (next.empty() && !machine.isOver(state))
      machine.seen.insert(Outcome::Stuck);
    for (std::string &other : next)
      if (known.insert(other).second)
        worklist.push_back(std::move(other));
    if (known.size() > maxStates)
      return false;
  }
  return true;
}

static void runOnce(const Machine &machine, Random &random) {
  std::string state = machine.initial();
  while (!machine.isOver(state)) {
    std::vector<std::string> next = machine.moves(state);
    if (next.empty()) {
      machine.seen.insert(Outcome::Stuck);
      return;
    }
    state = next[schedule::randomInt(random, 0, next.size() - 1)];
  }
}

Judgement veeline::schedule::communication::judge(const Program &program,
                                                  Model model, Random &random,
                                                  std::size_t maxStates) {
  Judgement judgement{judgeForm(program)};
  if (!judgement.seen.empty())
    return judgement;
  auto run = [&](const Machine &machine) {
    judgement.isExhaustive = maxStates > 0 && runAll(machine, maxStates);
    for (int i = 0; i < 3 && !judgement.isExhaustive; ++i)
      runOnce(machine, random);
    judgement.seen = machine.seen;
  };
  if (model == Model::Mpi) {
    run(MpiMachine(program));
    return judgement;
  }
  NcclMachine machine(program, model == Model::NcclDuplex);
  // What may run at once has no order in which to look for more.
  if (machine.hasTwoAtOnce())
    machine.seen.insert(Outcome::AtOnce);
  machine.issue();
  run(machine);
  return judgement;
}

bool veeline::schedule::communication::isSeen(ErrorKind kind,
                                              const Judgement &judgement) {
  auto has = [&](Outcome outcome) { return judgement.seen.contains(outcome); };
  switch (kind) {
  case ErrorKind::Malformed:
    return has(Outcome::Malformed);
  case ErrorKind::Group:
    return has(Outcome::Group);
  case ErrorKind::Handle:
    return has(Outcome::Handle);
  case ErrorKind::Duplicate:
    return has(Outcome::Duplicate);
  case ErrorKind::AtOnce:
    return has(Outcome::AtOnce);
  case ErrorKind::Deadlock:
    return has(Outcome::Stuck);
  // A program that is stuck before the two ends meet shows no more than that;
  // without tags another message may take the place of one that is wrong.
  case ErrorKind::Type:
    return has(Outcome::WrongElements) || has(Outcome::WrongExtents) ||
           has(Outcome::WrongDelivery) || has(Outcome::Stuck);
  case ErrorKind::Shape:
    return has(Outcome::UnknownShape) || has(Outcome::Stuck);
  case ErrorKind::Unmatched:
  case ErrorKind::Mismatch:
  case ErrorKind::Crossed:
    return has(Outcome::WrongDelivery) || has(Outcome::Stuck);
  }
  return false;
}
