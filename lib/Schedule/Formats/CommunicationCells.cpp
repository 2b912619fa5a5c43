//===- CommunicationCells.cpp - messages in schedule files ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Formats/CommunicationCells.h"

#include "Cells.h"
#include "veeline/Base/File.h"
#include "veeline/Base/Text.h"

#include <map>
#include <tuple>

namespace schedule = veeline::schedule;
using namespace veeline::schedule::communication;
using schedule::Expected;
using schedule::ImportedSchedule;
using schedule::Status;

namespace {
/// Reads the rows of a file that `readCsv` has already read.
class CellReader {
public:
  CellReader(const schedule::ImportedSchedule &order, const std::string &file)
      : placement(order.placement), sizes{placement,
                                          order.microbatches,
                                          {},
                                          {}},
        file(file) {
    sizes.widths = order.widths;
    cells.program.types.push_back({"message", 0});
  }

  Status readRow(std::string_view row);
  Cells take() { return std::move(cells); }

private:
  /// The chunk, the microbatch and the direction of a value on a rank.
  using Key = std::tuple<int, int, Direction>;

  Status readCell(std::string_view cell);
  Status addWork(const std::vector<schedule::Op> &ops);
  Status addMessage(const schedule::MessageCell &cell);
  Status waitForInput(const schedule::Op &op);
  void add(const Op &op);
  int rankOf(int chunk, int microbatch) const {
    return sizes.rankOf(chunk, microbatch);
  }
  Status wrong(const std::string &what) const {
    return schedule::errorIn(file, {rank + 1, column}, name + " " + what);
  }

  const schedule::Placement &placement;
  /// A problem of which only the ranks of chunks are known.
  schedule::Problem sizes;
  const std::string &file;
  Cells cells;
  int rank = -1, column = 1;
  std::string name;
  /// The values that this rank has made, and the handles of those that it
  /// receives.
  std::map<Key, bool> made;
  std::map<Key, int> received;
  std::vector<int> sends;
  int handles = 0;
};
} // namespace

void CellReader::add(const Op &op) {
  cells.program.ranks[rank].push_back(op);
  cells.names[rank].push_back(file + ":" + std::to_string(rank + 1) + ":" +
                              std::to_string(column) + ": " + name);
}

/// Waits for the input of an operation. A forward needs the chunk before it, a
/// backward the one after it. An R needs no other chunk, and neither does a W
/// that follows its own B.
Status CellReader::waitForInput(const schedule::Op &op) {
  if (op.kind == schedule::OpKind::Recompute)
    return Status::success();
  bool isForward = op.kind == schedule::OpKind::Forward;
  Direction direction = isForward ? Direction::Activation : Direction::Gradient;
  int neighbour = isForward ? op.chunk - 1 : op.chunk + 1;
  if (neighbour < 0 || neighbour >= placement.chunks() ||
      rankOf(neighbour, op.microbatch) == rank)
    return Status::success();
  bool isSplit = op.kind == schedule::OpKind::BackwardWeight &&
                 made.contains({op.chunk, op.microbatch, Direction::Gradient});
  if (isSplit)
    return Status::success();
  auto it = received.find({op.chunk, op.microbatch, direction});
  if (it == received.end())
    return wrong("needs what chunk " + std::to_string(neighbour) + " on rank " +
                 std::to_string(rankOf(neighbour, op.microbatch)) +
                 " sends; expected " + std::to_string(op.chunk) +
                 (isForward ? "RECV_F" : "RECV_B") +
                 std::to_string(op.microbatch) + " before it");
  if (it->second < 0)
    return Status::success();
  add({.kind = OpKind::Wait, .handle = it->second});
  it->second = -1;
  return Status::success();
}

Status CellReader::addWork(const std::vector<schedule::Op> &ops) {
  for (const schedule::Op &op : ops)
    if (Status status = waitForInput(op); !status)
      return status;
  for (const schedule::Op &op : ops) {
    add(Op());
    if (op.kind == schedule::OpKind::Recompute)
      continue;
    bool isForward = op.kind == schedule::OpKind::Forward;
    made[{op.chunk, op.microbatch,
          isForward ? Direction::Activation : Direction::Gradient}] = true;
  }
  return Status::success();
}

Status CellReader::addMessage(const schedule::MessageCell &cell) {
  // If an activation is sent or a gradient is received, the other end is the
  // next chunk.
  bool isNext = cell.isSend != cell.isGradient;
  int other = isNext ? cell.chunk + 1 : cell.chunk - 1;
  if (other < 0 || other >= placement.chunks())
    return wrong("is about chunk " + std::to_string(other) +
                 ", but there are chunks 0 to " +
                 std::to_string(placement.chunks() - 1));
  if (cell.chunk >= placement.chunks() ||
      rankOf(cell.chunk, cell.microbatch) != rank)
    return wrong((sizes.widths.empty()
                      ? "is about a chunk that is not on rank "
                      : "is about a chunk or microbatch that is not on "
                        "rank ") +
                 std::to_string(rank));
  Op op;
  op.kind = cell.isSend ? OpKind::Send : OpKind::Receive;
  op.message = {isNext ? cell.chunk : other,
                cell.isGradient ? Direction::Gradient : Direction::Activation,
                cell.microbatch};
  op.peer = rankOf(other, cell.microbatch);
  op.stream = 1;
  op.handle = handles++;
  Key key{cell.chunk, cell.microbatch, op.message.direction};
  if (cell.isSend && !made.contains(key))
    return wrong("sends what nothing before it makes; expected the " +
                 std::string(cell.isGradient ? "backward" : "forward") +
                 " of chunk " + std::to_string(cell.chunk) + ", microbatch " +
                 std::to_string(cell.microbatch) + ", before it");
  if (cell.isSend)
    sends.push_back(op.handle);
  else if (!received.try_emplace(key, op.handle).second)
    return wrong("receives what a cell before it has received");
  add(op);
  return Status::success();
}

Status CellReader::readCell(std::string_view cell) {
  name = std::string(cell);
  if (std::optional<schedule::MessageCell> message =
          schedule::parseMessageCell(cell))
    return addMessage(*message);
  Expected<std::vector<schedule::Op>> ops = schedule::parseCell(cell);
  if (!ops)
    return ops.takeError();
  return addWork(*ops);
}

static bool hasMessages(const std::vector<std::string_view> &rows) {
  for (std::string_view row : rows)
    for (std::string_view cell : veeline::splitAt(row, ','))
      if (schedule::parseMessageCell(cell))
        return true;
  return false;
}

Status CellReader::readRow(std::string_view row) {
  ++rank;
  cells.program.ranks.emplace_back();
  cells.names.emplace_back();
  made.clear();
  received.clear();
  sends.clear();
  for (std::string_view cell : veeline::splitAt(row, ',')) {
    column = static_cast<int>(cell.data() - row.data()) + 1;
    if (Status status = readCell(cell); !status)
      return status;
  }
  for (int handle : sends)
    add({.kind = OpKind::Wait, .handle = handle});
  return Status::success();
}

Expected<std::optional<Cells>>
veeline::schedule::communication::readCommunicationCells(
    std::string_view text, const std::string &file) {
  Expected<ImportedSchedule> schedule = schedule::readCsv(text, file);
  if (!schedule)
    return schedule.takeError();
  std::vector<std::string_view> rows = schedule::csvRows(text);
  if (!hasMessages(rows))
    return std::optional<Cells>();
  CellReader reader(*schedule, file);
  for (std::string_view row : rows)
    if (Status status = reader.readRow(row); !status)
      return status.takeError();
  return std::optional<Cells>(reader.take());
}

Expected<std::optional<Cells>>
veeline::schedule::communication::readCommunicationCells(
    const std::string &path) {
  if (!path.ends_with(".csv"))
    return std::optional<Cells>();
  veeline::Expected<veeline::MappedFile> file = veeline::MappedFile::open(path);
  if (!file.ok())
    return schedule::Error{schedule::ErrorKind::InvalidProblem, file.message()};
  return readCommunicationCells(file->bytes(), path);
}

std::string veeline::schedule::communication::toText(const Cells &cells,
                                                     const Error &error) {
  auto name = [&](Position at) { return cells.names[at.rank][at.op] + " "; };
  std::string text = name(error.at) + error.message;
  for (const Error::Note &note : error.notes)
    text += "\n  " + name(note.at) + note.text;
  return text;
}
