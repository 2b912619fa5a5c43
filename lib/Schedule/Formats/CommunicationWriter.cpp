//===- CommunicationWriter.cpp - schedules with their messages ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cells.h"
#include "veeline/Schedule/Communication/Plan.h"
#include "veeline/Schedule/Formats/CommunicationCells.h"

using namespace veeline::schedule::communication;
namespace schedule = veeline::schedule;
using schedule::Expected;
using schedule::Problem;
using schedule::Schedule;
using schedule::Status;

/// Rejects schedules that PyTorch cannot run, because there are no cells for
/// them.
static Status checkExpressible(const Problem &problem,
                               const Schedule &schedule) {
  if (!problem.widths.empty())
    return schedule::invalid(
        "communication cells are of stages with one rank each, and some stages "
        "of this schedule have several (--stage-replicas)");
  for (const std::vector<schedule::Op> &ops : schedule.stages)
    for (const schedule::Op &op : ops)
      if (op.late)
        return schedule::invalid("communication cells are of one step alone, "
                                 "and this schedule has " +
                                 schedule::describe(op) +
                                 "; choose a synchronous schedule");
  for (const schedule::Edge &edge : problem.edges)
    if (edge.to != edge.from + 1)
      return schedule::invalid(
          "communication cells lead from a chunk to the next one, and this "
          "schedule has a value from chunk " +
          std::to_string(edge.from) + " to chunk " + std::to_string(edge.to));
  for (int chunk = 1; chunk < problem.numChunks(); ++chunk)
    if (!problem.chunks[chunk].hasBackwardInput)
      return schedule::invalid(
          "communication cells have a gradient from each chunk to the one "
          "before it, and chunk " +
          std::to_string(chunk) + " computes none for its input");
  return Status::success();
}

/// Returns the problem with the messages that PyTorch expects: a value and its
/// gradient between every two adjacent chunks.
static Problem asChain(const Problem &problem) {
  Problem chain = problem;
  chain.edges = schedule::chainEdges(problem.numChunks(), 0);
  for (const schedule::Edge &edge : problem.edges) {
    schedule::Edge &target = chain.edges[edge.from];
    target.forwardTransfer = edge.forwardTransfer;
    target.backwardTransfer = edge.backwardTransfer;
  }
  return chain;
}

namespace {
/// Writes the row of one rank.
class RowWriter {
public:
  RowWriter(const Problem &problem, const Schedule &schedule, int rank)
      : ops(schedule.stages[rank]),
        cells(schedule::stageCells(problem, schedule, rank,
                                   /*wholeBackward=*/true)),
        lasts(problem.numChunks(), -1) {
    if (!schedule.overlapped.empty())
      blocks = schedule.overlapped[rank];
    for (std::size_t step = 0; step < ops.size(); ++step)
      lasts[ops[step].chunk] = static_cast<int>(step);
  }

  std::string write(const std::vector<Op> &issued);

private:
  void add(const std::string &cell) { row += (row.empty() ? "" : ",") + cell; }
  /// Parameters are gathered (FSDP) before a chunk's first operation. After its
  /// last one, gradients are summed over replicas and scaled, and parameters
  /// are released.
  void addWork(int step);

  const std::vector<schedule::Op> &ops;
  std::vector<std::string> cells;
  std::vector<int> blocks;
  std::vector<int> lasts;
  std::vector<bool> seen = std::vector<bool>(lasts.size());
  std::size_t cell = 0;
  std::string row;
};
} // namespace

void RowWriter::addWork(int step) {
  bool isBlock = std::ranges::find(blocks, step) != blocks.end();
  std::span<const schedule::Op> part(&ops[step], isBlock ? 2 : 1);
  for (const schedule::Op &op : part)
    if (!seen[op.chunk]) {
      seen[op.chunk] = true;
      add(std::to_string(op.chunk) + "UNSHARD");
    }
  std::string name = std::move(cells[cell++]);
  // PyTorch recomputes inside of backwards.
  if (ops[step].kind != schedule::OpKind::Recompute)
    add(name);
  for (const schedule::Op &op : part)
    if (&op - ops.data() == lasts[op.chunk]) {
      add(std::to_string(op.chunk) + "REDUCE_GRAD");
      add(std::to_string(op.chunk) + "RESHARD");
    }
}

static std::string nameOf(const Op &op) {
  bool isGradient = op.message.direction == Direction::Gradient;
  bool isSend = op.kind == OpKind::Send;
  // A gradient goes from the later chunk to the earlier one.
  int chunk = op.message.edge + (isSend == isGradient);
  return std::to_string(chunk) + (isSend ? "SEND_" : "RECV_") +
         (isGradient ? "B" : "F") + std::to_string(op.message.microbatch);
}

std::string RowWriter::write(const std::vector<Op> &issued) {
  int next = 0;
  for (const Op &op : issued) {
    if (op.isMessage())
      add(nameOf(op));
    // The second operation of a block is in the cell of the first.
    bool isWork = op.kind == OpKind::Compute;
    bool isSecond =
        isWork && std::ranges::find(blocks, next - 1) != blocks.end();
    if (isWork && !isSecond)
      addWork(next);
    next += isWork;
  }
  return row + "\n";
}

Expected<std::string>
veeline::schedule::communication::toCommunicationCsv(const Problem &problem,
                                                     const Schedule &schedule) {
  if (Status status = checkExpressible(problem, schedule); !status)
    return status.takeError();
  Expected<Traffic> traffic = trafficOf(asChain(problem), schedule);
  if (!traffic)
    return traffic.takeError();
  Expected<Program> program = plan(*traffic, Strategy::Overlap, Model::Nccl);
  if (!program)
    return program.takeError();
  std::string text;
  for (int rank = 0; rank < problem.ranks(); ++rank)
    text += RowWriter(problem, schedule, rank).write(program->ranks[rank]);
  return text;
}
