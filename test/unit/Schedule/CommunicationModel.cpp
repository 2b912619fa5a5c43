//===- CommunicationModel.cpp - the rules of transports, executed ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommunicationMachine.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_set>

using namespace veeline;
using namespace veeline::schedule::communication;
using schedule::Random;

//===----------------------------------------------------------------------===//
// What can be seen without running
//===----------------------------------------------------------------------===//

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

/// Whether the rank has a Ready whose message it does not send later.
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
  /// Has the thread of each rank issue everything. It has to know what it tells
  /// the device.
  void issue() const;

private:
  static std::vector<int> unitsOf(const Ops &ops);
  char status(const State &state, int rank, int op) const {
    return state[begins[rank] + op];
  }
  /// For each operation of a rank, those that have to be done before it begins.
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
  /// Whether a device runs streams 1 and 2 side by side.
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

/// Begins an operation. What is no message ends at once; a unit begins as a
/// whole.
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

/// A receive says how many elements it takes, so that its rank must have waited
/// for the shape. A sender must have issued the shape before.
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
// Running
//===----------------------------------------------------------------------===//

/// Visits all states that can be reached; false if there are too many.
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
    run(*makeMpiMachine(program));
    return judgement;
  }
  NcclMachine machine(program, model == Model::NcclDuplex);
  // Units that may run at once have no order, so that running does not find
  // them.
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
