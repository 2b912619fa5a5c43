//===- Execute.cpp - one execution of a communication program -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of a rank form one or several *lines* of items, each of which
// is done after the one before. An MPI thread is one line, and so are the
// operations that a rank issues under NCCL's rule 5. Under rule 5' a rank has
// three lines: the stream of sends, that of receives, and everything else. The
// last has an item for each unit that is waited for immediately.
//
// An item may have to wait for items of other lines: those of other ranks have
// to be posted, those of its own rank to be done. It waits for all of them,
// never for one of several, so the order in which lines advance does not
// matter.
//
//===----------------------------------------------------------------------===//

#include "Verifier.h"

#include <algorithm>
#include <map>

using namespace veeline::schedule::communication;

namespace {

class Executor {
public:
  Executor(const Program &program, const Matching &matching,
           const Collectives &collectives, Model model);

  Result run();

private:
  struct Line {
    /// The operations of its items. On the line of computations, an operation
    /// of a unit on another line stands for an immediate wait for that
    /// operation.
    std::vector<int> items;
    /// The items before this one are posted.
    int posted = 0;
    /// The next item to be done, within the posted unit (or operation).
    int done = 0;
  };
  /// The place of an operation itself, not of an item that waits for it.
  struct Place {
    int line = 0, item = 0;
  };
  /// What an item waits for: that an operation is posted, or that it is done.
  struct Need {
    Position at;
    bool isDone = false;
  };
  struct LineId {
    int rank, line;

    friend bool operator==(const LineId &, const LineId &) = default;
  };

  void makeLines(int rank);
  void findPredecessors(int rank);
  void findMakers(int rank);
  int lineOf(const Op &op) const;

  void advance(LineId id);
  /// What item `done` of a line still waits for.
  std::optional<Need> blocker(LineId id) const;
  std::optional<Need> blockerOf(Position transfer) const;
  /// What a line still waits for before it posts its next item.
  std::optional<Need> obstacle(LineId id) const;
  std::optional<Need> whatHolds(LineId id) const;
  bool isPosted(Position at) const {
    Place place = places[at.rank][at.op];
    return lines[at.rank][place.line].posted > place.item;
  }
  bool isDone(Position at) const {
    Place place = places[at.rank][at.op];
    return lines[at.rank][place.line].done > place.item;
  }
  std::optional<Need> untilDone(int rank, int op) const {
    return isDone({rank, op}) ? std::nullopt
                              : std::optional(Need{{rank, op}, true});
  }
  int endOfItem(LineId id, int item) const;
  void post(LineId id);
  void wake(int rank);
  Position stuckAt(LineId id) const;
  Error circle(LineId id) const;
  Error::Note noteOn(LineId id) const;

  const Program &program;
  const Matching &matching;
  const Collectives &collectives;
  const Model model;
  /// Whether rule 5' applies.
  const bool isBeside;
  std::vector<std::vector<Line>> lines;
  std::vector<std::vector<Place>> places;
  /// The number of ends of each all-reduce that are not posted.
  std::vector<int> missing;
  /// The operation that made the handle of each Wait.
  std::vector<std::vector<int>> makers;
  /// Under rule 5', for the first operation of a unit: the number of items of
  /// the line of computations before it, and the last operation before it on
  /// its communicator, or -1.
  struct Before {
    int items = 0, onCommunicator = -1;
  };
  std::vector<std::vector<Before>> before;
  std::vector<LineId> worklist;
};

} // namespace

Executor::Executor(const Program &program, const Matching &matching,
                   const Collectives &collectives, Model model)
    : program(program), matching(matching), collectives(collectives),
      model(model), isBeside(model == Model::NcclDuplex),
      lines(program.ranks.size()), places(lines.size()), makers(lines.size()),
      before(lines.size()) {
  for (int i = 0; i < collectives.size(); ++i)
    missing.push_back(static_cast<int>(collectives.ends(i).size()));
  for (int rank = 0; rank < static_cast<int>(lines.size()); ++rank) {
    makeLines(rank);
    if (isBeside)
      findPredecessors(rank);
    if (model != Model::Nccl)
      findMakers(rank);
  }
}

/// Returns the line of an operation. Line 0 is that of computations.
int Executor::lineOf(const Op &op) const {
  if (!isBeside || !op.isTransfer())
    return 0;
  return op.stream == sendStream ? 1 : op.stream == receiveStream ? 2 : 0;
}

void Executor::makeLines(int rank) {
  const Ops &ops = program.ranks[rank];
  std::vector<Line> &own = lines[rank];
  own.resize(isBeside ? 3 : 1);
  auto add = [&](int line, int op) {
    own[line].items.push_back(op);
    return Place{line, static_cast<int>(own[line].items.size()) - 1};
  };
  for (int i = 0; i < sizeOf(ops);) {
    int line = lineOf(ops[i]);
    int end = ops[i].isTransfer() ? endOfUnit(ops, i) : i + 1;
    bool isWaitedFor = false;
    for (; i < end; ++i) {
      places[rank].push_back(add(line, i));
      isWaitedFor |= ops[i].handle < 0;
    }
    if (line != 0 && isWaitedFor)
      add(0, end - 1);
  }
}

void Executor::findPredecessors(int rank) {
  const Ops &ops = program.ranks[rank];
  std::map<int, int> onCommunicator;
  before[rank].resize(ops.size());
  for (int i = 0, items = 0; i < sizeOf(ops);) {
    const std::vector<int> &computed = lines[rank][0].items;
    while (items < static_cast<int>(computed.size()) && computed[items] < i)
      ++items;
    if (!ops[i].isTransfer()) {
      ++i;
      continue;
    }
    auto [last, isFirst] = onCommunicator.try_emplace(ops[i].communicator, -1);
    before[rank][i] = {items, last->second};
    i = endOfUnit(ops, i);
    last->second = i - 1;
  }
}

void Executor::findMakers(int rank) {
  const Ops &ops = program.ranks[rank];
  std::vector<std::pair<int, int>> made;
  for (int i = 0; i < sizeOf(ops); ++i)
    if (ops[i].isTransfer() && ops[i].handle >= 0)
      made.push_back({ops[i].handle, i});
  std::sort(made.begin(), made.end());
  makers[rank].resize(ops.size(), -1);
  for (int i = 0; i < sizeOf(ops); ++i)
    if (ops[i].kind == OpKind::Wait)
      makers[rank][i] = std::lower_bound(made.begin(), made.end(),
                                         std::pair(ops[i].handle, 0))
                            ->second;
}

/// Returns the first other end of a transfer, or of a Ready, that is not
/// posted.
std::optional<Executor::Need> Executor::blockerOf(Position transfer) const {
  const Op &op = program.ranks[transfer.rank][transfer.op];
  if (op.kind != OpKind::AllReduce) {
    Position other = matching[transfer];
    return isPosted(other) ? std::nullopt : std::optional(Need{other});
  }
  int number = collectives[transfer];
  if (missing[number] > 0)
    for (Position end : collectives.ends(number))
      if (!isPosted(end))
        return Need{end};
  return std::nullopt;
}

/// Under NCCL's rules, a unit blocks the next one of its line until it has
/// ended, whether or not anything waits for it. Computations always end, so
/// they block nothing. If all units are on one line, the unit of a Wait is
/// already done.
std::optional<Executor::Need> Executor::blocker(LineId id) const {
  const Line &line = lines[id.rank][id.line];
  int i = line.items[line.done];
  const Op &op = program.ranks[id.rank][i];
  // A group is done once its last operation is.
  if (isBeside && op.kind == OpKind::Wait) {
    const Ops &ops = program.ranks[id.rank];
    return untilDone(id.rank, endOfUnit(ops, makers[id.rank][i]) - 1);
  }
  if (isBeside && id.line != places[id.rank][i].line)
    return untilDone(id.rank, i);
  if (op.isTransfer() && (isNccl(model) || op.handle < 0))
    return blockerOf({id.rank, i});
  if (op.kind == OpKind::Wait && model == Model::Mpi)
    return blockerOf({id.rank, makers[id.rank][i]});
  if (op.kind == OpKind::Ready && model == Model::Mpi)
    return blockerOf({id.rank, i});
  return std::nullopt;
}

/// A unit begins once the earlier operations on the stream of computations and
/// on its communicator are done.
std::optional<Executor::Need> Executor::obstacle(LineId id) const {
  const Line &line = lines[id.rank][id.line];
  int i = line.items[line.posted];
  if (!isBeside || !program.ranks[id.rank][i].isTransfer() ||
      places[id.rank][i].line != id.line)
    return std::nullopt;
  const Before &own = before[id.rank][i];
  const Line &computed = lines[id.rank][0];
  if (id.line != 0 && computed.done < own.items)
    return Need{{id.rank, computed.items[computed.done]}, true};
  return own.onCommunicator < 0 ? std::nullopt
                                : untilDone(id.rank, own.onCommunicator);
}

/// Returns the end of the items that are posted together with `item`.
int Executor::endOfItem(LineId id, int item) const {
  const std::vector<int> &items = lines[id.rank][id.line].items;
  const Ops &ops = program.ranks[id.rank];
  int op = items[item];
  bool isUnit = ops[op].isTransfer() && places[id.rank][op].line == id.line;
  return isUnit ? item + endOfUnit(ops, op) - op : item + 1;
}

void Executor::wake(int rank) {
  for (int line = 0; line < static_cast<int>(lines[rank].size()); ++line)
    worklist.push_back({rank, line});
}

/// Posts the next unit or operation, and wakes the lines that it blocked.
void Executor::post(LineId id) {
  Line &line = lines[id.rank][id.line];
  const Ops &ops = program.ranks[id.rank];
  int begin = line.posted, end = endOfItem(id, begin);
  line.posted = end;
  for (int item = begin; item < end; ++item) {
    int i = line.items[item];
    if (places[id.rank][i].line != id.line)
      continue;
    if (ops[i].isMessage())
      wake(ops[i].peer);
    if (ops[i].kind == OpKind::AllReduce &&
        --missing[collectives[{id.rank, i}]] == 0)
      for (Position other : collectives.ends(collectives[{id.rank, i}]))
        wake(other.rank);
  }
}

void Executor::advance(LineId id) {
  Line &line = lines[id.rank][id.line];
  int doneBefore = line.done;
  while (true) {
    while (line.done < line.posted && !blocker(id))
      ++line.done;
    if (line.done < line.posted ||
        line.posted == static_cast<int>(line.items.size()) || obstacle(id))
      break;
    post(id);
  }
  // The other lines of the rank may wait for what is done now.
  if (isBeside && line.done > doneBefore)
    wake(id.rank);
}

std::optional<Executor::Need> Executor::whatHolds(LineId id) const {
  const Line &line = lines[id.rank][id.line];
  return line.done < line.posted ? blocker(id) : obstacle(id);
}

Position Executor::stuckAt(LineId id) const {
  const Line &line = lines[id.rank][id.line];
  return {id.rank, line.items[line.done]};
}

Error::Note Executor::noteOn(LineId id) const {
  Need need = *whatHolds(id);
  if (need.at == stuckAt(id))
    return {need.at, "is waited for right there"};
  std::string what = "the " + describe(program.ranks[need.at.rank][need.at.op]);
  std::string op = " (op " + std::to_string(need.at.op) + " of ";
  std::string rank = rankName(need.at.rank);
  if (need.isDone)
    return {stuckAt(id), "waits for " + what + op + "its own rank) to be over"};
  return {stuckAt(id), "waits for " + what + op + rank +
                           "), which comes after what " + rank + " is at"};
}

/// Every line that is stuck is blocked by another one that is stuck, so
/// following them ends in a cycle.
Error Executor::circle(LineId id) const {
  std::vector<LineId> path;
  while (std::find(path.begin(), path.end(), id) == path.end()) {
    path.push_back(id);
    Position other = whatHolds(id)->at;
    id = {other.rank, places[other.rank][other.op].line};
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), id));
  std::vector<int> ranks;
  for (LineId each : path)
    if (std::find(ranks.begin(), ranks.end(), each.rank) == ranks.end())
      ranks.push_back(each.rank);
  Error error{ErrorKind::Deadlock, stuckAt(path[0]),
              "can wait for ever: " + std::to_string(ranks.size()) +
                  " ranks wait for each other in a circle"};
  for (LineId each : path)
    error.notes.push_back(noteOn(each));
  return error;
}

Result Executor::run() {
  for (int rank = static_cast<int>(lines.size()); rank-- > 0;)
    wake(rank);
  while (!worklist.empty()) {
    LineId id = worklist.back();
    worklist.pop_back();
    advance(id);
  }
  for (int rank = 0; rank < static_cast<int>(lines.size()); ++rank)
    for (int line = 0; line < static_cast<int>(lines[rank].size()); ++line)
      if (lines[rank][line].done <
          static_cast<int>(lines[rank][line].items.size()))
        return circle({rank, line});
  return std::nullopt;
}

Result veeline::schedule::communication::execute(const Program &program,
                                                 const Matching &matching,
                                                 const Collectives &collectives,
                                                 Model model) {
  return Executor(program, matching, collectives, model).run();
}
