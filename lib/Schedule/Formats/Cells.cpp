//===- Cells.cpp - operations as cells of a file --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cells.h"

#include "veeline/Base/Text.h"

#include <algorithm>
#include <array>
#include <charconv>

using namespace veeline;
using namespace veeline::schedule;

static constexpr std::string_view overlapSuffix = ")OVERLAP_F_B";

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static char letterOf(const Problem &problem, const Op &op, bool wholeBackward) {
  switch (op.kind) {
  case OpKind::Forward:
    return 'F';
  case OpKind::BackwardInput:
    return 'I';
  case OpKind::BackwardWeight:
    return wholeBackward && !problem.chunks[op.chunk].hasBackwardInput ? 'B'
                                                                       : 'W';
  case OpKind::Backward:
    return 'B';
  case OpKind::Recompute:
    return 'R';
  }
  return '?';
}

std::vector<std::string> veeline::schedule::stageCells(const Problem &problem,
                                                       const Schedule &schedule,
                                                       int stage,
                                                       bool wholeBackward) {
  auto cell = [&](const Op &op) {
    return std::to_string(op.chunk) + letterOf(problem, op, wholeBackward) +
           std::to_string(op.microbatch) + (op.late ? "'" : "");
  };
  const std::vector<Op> &ops = schedule.stages[stage];
  std::vector<int> blocks;
  if (!schedule.overlapped.empty())
    blocks = schedule.overlapped[stage];
  std::vector<std::string> cells;
  auto block = blocks.begin();
  for (int step = 0, e = ops.size(); step < e; ++step) {
    if (block == blocks.end() || *block != step) {
      cells.push_back(cell(ops[step]));
      continue;
    }
    ++block;
    std::string first = cell(ops[step]), second = cell(ops[step + 1]);
    // Readers take the first operation for the forward.
    if (ops[step].kind != OpKind::Forward)
      std::swap(first, second);
    std::string both = "(" + first;
    both.append(";").append(second).append(overlapSuffix);
    cells.push_back(std::move(both));
    ++step;
  }
  return cells;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static Error malformed(std::string_view cell, const std::string &why) {
  return invalid("'" + std::string(cell) + "' " + why +
                 "; expected a cell as 2F0 (chunk, F, R, I, W or B, "
                 "microbatch), 7W3' (of the step before), "
                 "(0F3;7B1)OVERLAP_F_B, or nothing");
}

/// Removes the number at the begin of `text` and returns it. Returns none if
/// there is no number, or if it is not below `bound`.
static std::optional<int> takeNumber(std::string_view &text, int bound) {
  int value;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value >= bound)
    return std::nullopt;
  text.remove_prefix(end - text.data());
  return value;
}

static bool isMessage(std::string_view action) {
  constexpr std::array<std::string_view, 4> actions{"SEND_F", "RECV_F",
                                                    "SEND_B", "RECV_B"};
  return std::find(actions.begin(), actions.end(), action) != actions.end();
}

static bool isCommunication(std::string_view action) {
  return isMessage(action) || action == "UNSHARD" || action == "RESHARD" ||
         action == "REDUCE_GRAD";
}

static std::optional<OpKind> parseKind(std::string_view action) {
  if (action == "F")
    return OpKind::Forward;
  if (action == "I")
    return OpKind::BackwardInput;
  if (action == "W")
    return OpKind::BackwardWeight;
  if (action == "B")
    return OpKind::Backward;
  if (action == "R")
    return OpKind::Recompute;
  return std::nullopt;
}

constexpr int microbatchBound = 1 << 24;

/// Parses a cell that has no blanks and is not a block.
static Expected<std::vector<Op>> parseAction(std::string_view cell) {
  std::string_view rest = cell;
  std::optional<int> chunk = takeNumber(rest, Placement::maxChunks);
  if (!chunk)
    return malformed(cell, "does not begin with a chunk number below " +
                               std::to_string(Placement::maxChunks));
  std::size_t letters = std::min(rest.find_first_of("0123456789"), rest.size());
  std::string_view action = rest.substr(0, letters);
  rest.remove_prefix(letters);
  std::optional<int> microbatch = takeNumber(rest, microbatchBound);
  if (isCommunication(action) && rest.empty())
    return std::vector<Op>();
  std::optional<OpKind> kind = parseKind(action);
  if (!kind)
    return malformed(cell,
                     "has the unknown action '" + std::string(action) + "'");
  bool late = rest == "'";
  if (!microbatch || (!rest.empty() && !late))
    return malformed(cell, "does not end in a microbatch number below " +
                               std::to_string(microbatchBound));
  return std::vector<Op>{{*kind, *chunk, *microbatch, late}};
}

static Expected<std::vector<Op>> parseBlock(std::string_view cell) {
  if (!cell.ends_with(overlapSuffix))
    return malformed(cell, "begins with a bracket, but does not end in '" +
                               std::string(overlapSuffix) + "'");
  std::string_view inner =
      cell.substr(1, cell.size() - 1 - overlapSuffix.size());
  std::vector<Op> ops;
  for (std::string_view action : splitAt(inner, ';')) {
    Expected<std::vector<Op>> part = parseAction(strip(action));
    if (!part)
      return part.takeError();
    ops.insert(ops.end(), part->begin(), part->end());
  }
  auto count = [&](OpKind kind) {
    return std::count_if(ops.begin(), ops.end(),
                         [&](const Op &op) { return op.kind == kind; });
  };
  if (ops.size() != 2 || count(OpKind::Forward) != 1 ||
      count(OpKind::Recompute) != 0)
    return malformed(cell, "is not a block of one forward and one backward");
  return ops;
}

static std::string_view withoutQuotes(std::string_view cell) {
  cell = strip(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
    cell = strip(cell.substr(1, cell.size() - 2));
  return cell;
}

std::optional<MessageCell>
veeline::schedule::parseMessageCell(std::string_view cell) {
  std::string_view rest = withoutQuotes(cell);
  std::optional<int> chunk = takeNumber(rest, Placement::maxChunks);
  std::size_t letters = std::min(rest.find_first_of("0123456789"), rest.size());
  std::string_view action = rest.substr(0, letters);
  rest.remove_prefix(letters);
  std::optional<int> microbatch = takeNumber(rest, microbatchBound);
  if (!chunk || !microbatch || !rest.empty() || !isMessage(action))
    return std::nullopt;
  return MessageCell{*chunk, *microbatch, action.starts_with("SEND"),
                     action.ends_with("B")};
}

Expected<std::vector<Op>> veeline::schedule::parseCell(std::string_view cell) {
  cell = withoutQuotes(cell);
  if (cell.empty())
    return std::vector<Op>();
  return cell.front() == '(' ? parseBlock(cell) : parseAction(cell);
}

//===----------------------------------------------------------------------===//
// OrderReader
//===----------------------------------------------------------------------===//

void OrderReader::beginRow() {
  // A row without operations is a stage of its own.
  if (!hasStage)
    widths.push_back(1);
  hasStage = false;
  schedule.stages.emplace_back();
}

void OrderReader::beginStageOf(const Op &first) {
  int before = static_cast<int>(widths.size()) - 1;
  bool isKnown = before >= 0 &&
                 !schedule.stages[schedule.stages.size() - 2].empty() &&
                 first.chunk < static_cast<int>(stageOfChunk.size()) &&
                 stageOfChunk[first.chunk] == before;
  if (isKnown)
    ++widths.back();
  else
    widths.push_back(1);
  hasStage = true;
}

Status OrderReader::addOp(const Op &op) {
  if (!hasStage)
    beginStageOf(op);
  int stage = static_cast<int>(widths.size()) - 1;
  if (op.chunk >= static_cast<int>(stageOfChunk.size()))
    stageOfChunk.resize(op.chunk + 1, -1);
  int &owner = stageOfChunk[op.chunk];
  if (owner < 0)
    owner = stage;
  if (owner != stage)
    return invalid(describe(op) + " stands on stage " + std::to_string(stage) +
                   ", but other operations of this chunk on stage " +
                   std::to_string(owner));
  microbatches = std::max(microbatches, op.microbatch + 1);
  forwards += op.kind == OpKind::Forward;
  schedule.stages.back().push_back(op);
  return Status::success();
}

Status OrderReader::addCell(std::string_view cell) {
  Expected<std::vector<Op>> ops = parseCell(cell);
  if (!ops)
    return ops.takeError();
  if (ops->size() == 2) {
    schedule.overlapped.resize(schedule.stages.size());
    schedule.overlapped.back().push_back(schedule.stages.back().size());
  }
  for (const Op &op : *ops)
    if (Status status = addOp(op); !status)
      return status;
  return Status::success();
}

Expected<ImportedSchedule> OrderReader::finish(std::string name) {
  auto invalid = [&](const std::string &message) {
    return schedule::invalid(file + ": " + message);
  };
  if (stageOfChunk.empty())
    return invalid("has no operations");
  if (!hasStage)
    widths.push_back(1);
  for (std::size_t chunk = 0; chunk < stageOfChunk.size(); ++chunk)
    if (stageOfChunk[chunk] < 0)
      return invalid("chunk " + std::to_string(chunk) +
                     " does not occur, but chunk " +
                     std::to_string(stageOfChunk.size() - 1) + " does");
  // This is checked before memory of this size is allocated.
  std::int64_t wanted =
      static_cast<std::int64_t>(stageOfChunk.size()) * microbatches;
  if (forwards < wanted)
    return invalid("has " + counted(forwards, "forward") + "; " +
                   counted(stageOfChunk.size(), "chunk") + " and " +
                   counted(microbatches, "microbatch") + " (0 to " +
                   std::to_string(microbatches - 1) + ") have " +
                   std::to_string(wanted));
  Expected<Placement> placement =
      Placement::fromList(widths.size(), std::move(stageOfChunk));
  if (!placement)
    return invalid(placement.error().message);
  schedule.name = std::move(name);
  if (!schedule.overlapped.empty())
    schedule.overlapped.resize(schedule.stages.size());
  if (widths.size() == schedule.stages.size())
    widths.clear();
  return ImportedSchedule{std::move(schedule), placement->named(), microbatches,
                          std::move(widths)};
}
