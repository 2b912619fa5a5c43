//===- Widths.cpp - stages of several ranks -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Widths.h"

#include <algorithm>

using namespace veeline::schedule;

namespace {
/// A problem, and the same with a stage for each rank.
class Widening {
public:
  Widening(const Problem &problem, Placement placement)
      : problem(problem), wide{std::move(placement),
                               problem.microbatches,
                               {},
                               {}} {
    wide.memoryUnit = problem.memoryUnit;
    wide.overlap = problem.overlap;
    addChunks();
    addEdges();
  }

  const Problem &get() const { return wide; }
  Schedule narrow(const Schedule &schedule) const;

private:
  struct Range {
    int first, last;
  };

  Range partsOf(int chunk) const;
  void addChunks();
  void addEdges();

  const Problem &problem;
  Problem wide;
};
} // namespace

/// The parts of a chunk, which follow each other: up or down its stages.
Widening::Range Widening::partsOf(int chunk) const {
  const Placement &placement = problem.placement;
  int stage = placement.stageOf(chunk), local = placement.localChunk(chunk);
  int first = problem.firstRankOf(stage);
  int a = wide.placement.globalChunk(first, local);
  int b = wide.placement.globalChunk(first + problem.width(stage) - 1, local);
  return {std::min(a, b), std::max(a, b)};
}

/// A w-th of what a chunk costs and holds.
static Chunk shareOf(const Chunk &chunk, int w) {
  auto up = [&](std::int64_t amount) { return (amount + w - 1) / w; };
  Chunk part;
  part.forward = chunk.forward / w;
  part.backwardInput = chunk.backwardInput / w;
  part.backwardWeight = chunk.backwardWeight / w;
  part.backwardShared = chunk.backwardShared / w;
  std::int64_t left = up(chunk.forwardMemory + chunk.backwardInputMemory);
  part.forwardMemory = up(chunk.forwardMemory);
  part.backwardInputMemory = left - part.forwardMemory;
  part.backwardWeightMemory = -left;
  return part;
}

void Widening::addChunks() {
  wide.chunks.resize(wide.numChunks());
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk) {
    int width = problem.width(problem.placement.stageOf(chunk));
    Chunk part = shareOf(problem.chunks[chunk], width);
    auto [first, last] = partsOf(chunk);
    std::fill(wide.chunks.begin() + first, wide.chunks.begin() + last + 1,
              part);
    // The other parts pass gradients on to the first.
    wide.chunks[first].hasBackwardInput =
        problem.chunks[chunk].hasBackwardInput;
  }
}

void Widening::addEdges() {
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    for (auto [part, last] = partsOf(chunk); part < last; ++part)
      wide.edges.push_back({part, part + 1});
  for (Edge edge : problem.edges) {
    edge.from = partsOf(edge.from).last;
    edge.to = partsOf(edge.to).first;
    wide.edges.push_back(edge);
  }
}

/// The orders of the stages that are the first ones of a stage of the problem.
Schedule Widening::narrow(const Schedule &schedule) const {
  Schedule result{schedule.name, {}};
  result.warnings = schedule.warnings;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    std::vector<Op> &ops = result.stages.emplace_back();
    for (Op op : schedule.stages[problem.firstRankOf(stage)]) {
      op.chunk = problem.placement.globalChunk(
          stage, wide.placement.localChunk(op.chunk));
      if (op.kind != OpKind::BackwardInput ||
          problem.chunks[op.chunk].hasBackwardInput)
        ops.push_back(op);
    }
  }
  return spreadOverRanks(problem, result);
}

Schedule veeline::schedule::spreadOverRanks(const Problem &problem,
                                            const Schedule &schedule) {
  if (problem.widths.empty())
    return schedule;
  Schedule result{schedule.name, {}};
  result.warnings = schedule.warnings;
  result.stages.resize(problem.ranks());
  for (const std::vector<Op> &ops : schedule.stages)
    for (const Op &op : ops)
      result.stages[problem.rankOf(op.chunk, op.microbatch)].push_back(op);
  return result;
}

Expected<Schedule>
veeline::schedule::generateForWidths(std::string_view name,
                                     const Problem &problem,
                                     const GeneratorOptions &options) {
  const Placement &placement = problem.placement;
  if (placement.kind() == PlacementKind::List)
    return Error{
        ErrorKind::NotApplicable,
        "stages of several ranks need a placement by rule, not a list"};
  Expected<Placement> wide = Placement::get(placement.kind(), problem.ranks(),
                                            placement.chunksPerStage());
  if (!wide)
    return wide.takeError();
  Widening widening(problem, std::move(*wide));
  Expected<Schedule> schedule = generate(name, widening.get(), options);
  if (schedule)
    return widening.narrow(*schedule);
  Error error = schedule.takeError();
  error.message += " (stages of several ranks count as so many stages, here " +
                   std::to_string(problem.ranks()) + ")";
  return error;
}
