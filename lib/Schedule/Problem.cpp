//===- Problem.cpp - the scheduling problem -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Problem.h"

#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Memory.h"

#include <algorithm>
#include <numeric>

using namespace veeline;
using namespace veeline::schedule;

double Chunk::cost(OpKind kind) const {
  switch (kind) {
  case OpKind::Forward:
    return forward;
  case OpKind::BackwardInput:
    return backwardInput;
  case OpKind::BackwardWeight:
    return backwardWeight;
  case OpKind::Backward:
    return backwardInput + backwardWeight - backwardShared;
  case OpKind::Recompute:
    return recompute;
  }
  return 0;
}

std::int64_t Chunk::memory(OpKind kind) const {
  switch (kind) {
  case OpKind::Forward:
    return forwardMemory;
  case OpKind::BackwardInput:
    return backwardInputMemory;
  case OpKind::BackwardWeight:
    return backwardWeightMemory;
  case OpKind::Backward:
    return backwardInputMemory + backwardWeightMemory;
  case OpKind::Recompute:
    return recomputeMemory;
  }
  return 0;
}

int Problem::ranks() const {
  return widths.empty() ? stages()
                        : std::accumulate(widths.begin(), widths.end(), 0);
}

int Problem::firstRankOf(int stage) const {
  return widths.empty()
             ? stage
             : std::accumulate(widths.begin(), widths.begin() + stage, 0);
}

int Problem::stageOfRank(int rank) const {
  if (widths.empty())
    return rank;
  int stage = 0;
  while (rank >= widths[stage])
    rank -= widths[stage++];
  return stage;
}

std::string Problem::nameOfRank(int rank) const {
  std::string stage = "stage " + std::to_string(stageOfRank(rank));
  return widths.empty()
             ? stage
             : "rank " + std::to_string(rank) + " (of " + stage + ")";
}

std::string Problem::labelOfRank(int rank) const {
  return (widths.empty() ? "stage " : "rank ") + std::to_string(rank);
}

int Problem::microbatchesOf(int rank) const {
  if (widths.empty())
    return microbatches;
  int stage = stageOfRank(rank), turn = rank - firstRankOf(stage);
  return (microbatches - turn + widths[stage] - 1) / widths[stage];
}

Chunk Chunk::withoutBackwardInput() const {
  Chunk chunk = *this;
  chunk.hasBackwardInput = false;
  chunk.backwardWeight = cost(OpKind::Backward);
  chunk.backwardShared = 0;
  chunk.backwardWeightMemory += chunk.backwardInputMemory;
  chunk.backwardInput = 0;
  chunk.backwardInputMemory = 0;
  return chunk;
}

Chunk Chunk::withRecomputeInside() const {
  Chunk chunk = *this;
  (hasBackwardInput ? chunk.backwardInput : chunk.backwardWeight) += recompute;
  (hasBackwardInput ? chunk.backwardInputMemory : chunk.backwardWeightMemory) +=
      recomputeMemory;
  chunk.hasRecompute = false;
  chunk.recompute = 0;
  chunk.recomputeMemory = 0;
  return chunk;
}

std::vector<Edge> veeline::schedule::chainEdges(int chunks, double transfer) {
  std::vector<Edge> edges;
  edges.reserve(chunks);
  for (int chunk = 0; chunk + 1 < chunks; ++chunk)
    edges.push_back({chunk, chunk + 1, transfer, transfer});
  return edges;
}

Problem veeline::schedule::uniformProblem(Placement placement, int microbatches,
                                          const Chunk &chunk, double transfer) {
  int chunks = placement.chunks();
  return Problem{std::move(placement), microbatches,
                 std::vector<Chunk>(chunks, chunk),
                 chainEdges(chunks, transfer)};
}

static constexpr std::int64_t maxOps = std::int64_t(1) << 26;

static Status checkLimit(const Problem &problem, int stage) {
  std::int64_t limit = problem.memoryLimit(stage).value_or(0);
  std::string what = "the memory limit of stage " + std::to_string(stage);
  if (limit < 0)
    return invalid(what + " is negative: " + formatMemory(problem, limit));
  if (limit > maxMemory)
    return invalid(what + " is more than " + formatMemory(problem, maxMemory) +
                   ", the most that there may be");
  return Status::success();
}

static Status checkWidths(const Problem &problem) {
  if (problem.widths.empty())
    return Status::success();
  if (problem.widths.size() != static_cast<std::size_t>(problem.stages()))
    return invalid("numbers of ranks are given for " +
                   counted(problem.widths.size(), "stage") +
                   ", but there are " + std::to_string(problem.stages()));
  for (int stage = 0; stage < problem.stages(); ++stage) {
    int width = problem.widths[stage];
    std::string what =
        "stage " + std::to_string(stage) + " has " + counted(width, "rank");
    if (width < 1)
      return invalid(what + "; a stage has at least 1");
    if (width > problem.microbatches)
      return invalid(what + " for " +
                     counted(problem.microbatches, "microbatch") +
                     ", so that some would have nothing to do; take more "
                     "microbatches or fewer ranks");
  }
  return Status::success();
}

static Status checkSizes(const Problem &problem) {
  if (problem.microbatches < 1)
    return invalid("a step needs at least 1 microbatch, not " +
                   std::to_string(problem.microbatches));
  if (problem.microbatches > maxMicrobatches)
    return invalid(std::to_string(problem.microbatches) +
                   " microbatches are more than " +
                   std::to_string(maxMicrobatches));
  if (std::int64_t(3) * problem.numChunks() * problem.microbatches > maxOps)
    return invalid(std::to_string(problem.numChunks()) + " chunks and " +
                   std::to_string(problem.microbatches) +
                   " microbatches make more than " + std::to_string(maxOps) +
                   " operations");
  if (problem.chunks.size() != static_cast<std::size_t>(problem.numChunks()))
    return invalid(
        "costs are given for " + counted(problem.chunks.size(), "chunk") +
        ", but the placement has " + std::to_string(problem.numChunks()));
  if (!problem.memoryLimits.empty() &&
      problem.memoryLimits.size() != static_cast<std::size_t>(problem.stages()))
    return invalid("memory limits are given for " +
                   counted(problem.memoryLimits.size(), "stage") +
                   ", but there are " + std::to_string(problem.stages()));
  if (Status status = checkWidths(problem); !status)
    return status;
  if (problem.memoryUnit.size < 1)
    return invalid("the memory unit must be at least 1, not " +
                   std::to_string(problem.memoryUnit.size));
  for (int stage = 0; stage < problem.stages(); ++stage)
    if (Status status = checkLimit(problem, stage); !status)
      return status;
  if (!(problem.overlap >= 0 && problem.overlap <= 1))
    return invalid("the overlap of a block must be a share from 0 to 1, not " +
                   shortNumber(problem.overlap));
  return Status::success();
}

static Status checkTime(const std::string &what, double time) {
  if (time >= 0 && time <= maxTime)
    return Status::success();
  return invalid(what + " must be a number from 0 to " + shortNumber(maxTime) +
                 ", not " + shortNumber(time));
}

static constexpr OpKind ownKinds[] = {OpKind::Forward, OpKind::Recompute,
                                      OpKind::BackwardInput,
                                      OpKind::BackwardWeight};

static Status checkMemory(const Problem &problem, const std::string &where,
                          const Chunk &chunk) {
  std::int64_t bound = maxMemory / (std::int64_t(4) * problem.numChunks() *
                                    problem.microbatches);
  for (OpKind kind : ownKinds)
    if (chunk.memory(kind) > bound || chunk.memory(kind) < -bound)
      return invalid(where + ": the memory of " + toString(kind) +
                     " is too large to be summed over a step: " +
                     formatMemory(problem, chunk.memory(kind)) +
                     "; the most for this size is " +
                     formatMemory(problem, bound));
  auto format = [&](std::int64_t amount) {
    return formatMemoryNumber(problem, amount);
  };
  std::string recomputed =
      chunk.hasRecompute ? ", R " + format(chunk.recomputeMemory) : "";
  std::int64_t before = chunk.forwardMemory + chunk.recomputeMemory;
  std::int64_t kept = before + chunk.backwardInputMemory;
  if (chunk.forwardMemory < 0 || before < 0 || kept < 0)
    return invalid(where + ": F adds " + format(chunk.forwardMemory) +
                   recomputed + " and B " + format(chunk.backwardInputMemory) +
                   ", which releases memory that was never held");
  std::int64_t rest = kept + chunk.backwardWeightMemory;
  if (rest != 0)
    return invalid(where + ": F adds " + format(chunk.forwardMemory) +
                   recomputed + ", B " + format(chunk.backwardInputMemory) +
                   ", W " + format(chunk.backwardWeightMemory) + ", which " +
                   (rest > 0 ? "leaves " : "releases too much by ") +
                   format(rest > 0 ? rest : -rest) +
                   " after each microbatch; the sum must be 0");
  return Status::success();
}

static Status checkChunk(const Problem &problem, int number) {
  const Chunk &chunk = problem.chunks[number];
  std::string where = "chunk " + std::to_string(number);
  for (OpKind kind : ownKinds)
    if (Status status = checkTime(where + ": the cost of " + toString(kind),
                                  chunk.cost(kind));
        !status)
      return status;
  if (!(chunk.backwardShared >= 0 &&
        chunk.backwardShared <= chunk.backwardInput &&
        chunk.backwardShared <= chunk.backwardWeight))
    return invalid(
        where +
        ": what B and W share must be a time from 0 to the "
        "lesser of their costs, " +
        shortNumber(std::min(chunk.backwardInput, chunk.backwardWeight)) +
        ", not " + shortNumber(chunk.backwardShared));
  if (!chunk.hasBackwardInput &&
      (chunk.backwardInput != 0 || chunk.backwardInputMemory != 0))
    return invalid(where + " has no backward_input, but a cost or memory for "
                           "it; they belong to its W");
  if (!chunk.hasRecompute &&
      (chunk.recompute != 0 || chunk.recomputeMemory != 0))
    return invalid(where + " has no R, but a cost or memory for it");
  if (Status status =
          checkTime(where + ": the time to offload", chunk.offloadTime);
      !status)
    return status;
  if (Status status = checkMemory(problem, where, chunk); !status)
    return status;
  if (chunk.offloadMemory >= 0 && chunk.offloadMemory <= chunk.forwardMemory)
    return Status::success();
  return invalid(where +
                 ": what can be offloaded must be from 0 to what F "
                 "adds, " +
                 formatMemory(problem, chunk.forwardMemory) + ", not " +
                 formatMemory(problem, chunk.offloadMemory));
}

static Status checkEdge(const Problem &problem, const Edge &edge) {
  std::string name =
      "edge " + std::to_string(edge.from) + " -> " + std::to_string(edge.to);
  if (edge.from < 0 || edge.to >= problem.numChunks() || edge.from >= edge.to)
    return invalid(name + " does not lead from a chunk to a later one of " +
                   std::to_string(problem.numChunks()) + " chunks");
  for (double transfer : {edge.forwardTransfer, edge.backwardTransfer})
    if (Status status = checkTime(name + ": the transfer", transfer); !status)
      return status;
  if (edge.carriesGradient && !problem.chunks[edge.to].hasBackwardInput)
    return invalid(name + " carries a gradient, but chunk " +
                   std::to_string(edge.to) +
                   " has no backward_input to compute it");
  return Status::success();
}

static Status checkEdges(const Problem &problem) {
  for (const Edge &edge : problem.edges)
    if (Status status = checkEdge(problem, edge); !status)
      return status;
  return Status::success();
}

static Status checkTied(const Problem &problem) {
  std::vector<bool> seen(problem.numChunks());
  auto fail = [](const std::string &message) {
    return Error{ErrorKind::InvalidProblem, "tied chunks: " + message};
  };
  for (const std::vector<int> &chunks : problem.tied) {
    if (chunks.size() < 2)
      return fail("a set has at least two chunks");
    for (int chunk : chunks) {
      if (chunk < 0 || chunk >= problem.numChunks())
        return fail("there is no chunk " + std::to_string(chunk));
      if (seen[chunk])
        return fail("chunk " + std::to_string(chunk) + " is named twice");
      seen[chunk] = true;
    }
  }
  return Status::success();
}

Status veeline::schedule::check(const Problem &problem) {
  if (Status status = checkSizes(problem); !status)
    return status;
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
    if (Status status = checkChunk(problem, chunk); !status)
      return status;
  if (Status status = checkTied(problem); !status)
    return status;
  return checkEdges(problem);
}
