//===- CompiledModel.cpp - costs of chunks from an artifact ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "veeline/artifact.h"

#include <algorithm>
#include <map>
#include <set>

using namespace veeline::schedule;

static Chunk toChunk(const veeline::artifact::Chunk &chunk) {
  return {chunk.forwardCost,          chunk.backwardInputCost,
          chunk.backwardWeightCost,   chunk.hasBackwardInput,
          chunk.forwardMemory,        chunk.backwardInputMemory,
          chunk.backwardWeightMemory, chunk.backwardSharedCost,
          chunk.hasRecomputation,     chunk.recomputationCost,
          chunk.recomputationMemory};
}

/// Returns a unit in which the memory of a microbatch is a readable number.
static MemoryUnit unitFor(const Model &model) {
  std::int64_t most = 0;
  for (const Chunk &chunk : model.chunks)
    most = std::max(most, chunk.forwardMemory);
  if (most >= 10 << 20)
    return {1 << 20, "MiB"};
  if (most >= 10 << 10)
    return {1 << 10, "KiB"};
  return {1, "B"};
}

/// Returns the sets of chunks that have a parameter in common, whose gradients
/// are summed.
static std::vector<std::vector<int>>
findTied(const veeline::artifact::Program &program) {
  std::map<std::int32_t, std::set<int>> users;
  for (const veeline::artifact::Rank &rank : program.ranks)
    for (const veeline::artifact::RankParam &param : rank.params)
      for (const veeline::artifact::Accumulator &gradient : param.gradients)
        users[param.param].insert(gradient.chunk);
  std::vector<std::vector<int>> tied;
  for (const auto &[param, chunks] : users)
    if (chunks.size() > 1)
      tied.emplace_back(chunks.begin(), chunks.end());
  joinOverlapping(tied);
  return tied;
}

Expected<CompiledModel>
veeline::schedule::readCompiledModel(const std::string &path) {
  auto artifact = artifact::readArtifact(path);
  if (!artifact.ok())
    return invalid(artifact.message());
  const artifact::Program *program = artifact->metadata.findProgram("pipeline");
  if (!program || program->chunks.empty())
    return invalid("'" + path +
                   "' says nothing about its chunks; it was not "
                   "written by veeline compile");
  CompiledModel result;
  for (const artifact::Chunk &chunk : program->chunks) {
    result.model.chunks.push_back(toChunk(chunk));
    result.stageOfChunk.push_back(chunk.stage);
  }
  for (const artifact::Edge &edge : program->edges) {
    result.model.edges.push_back({edge.from, edge.to, edge.forwardTransfer,
                                  edge.backwardTransfer, edge.carriesGradient});
    result.model.edgeBytes.push_back(edge.bytes);
  }
  result.model.unit = unitFor(result.model);
  result.model.tied = findTied(*program);
  result.schedule = program->schedule;
  result.stages = program->stages;
  result.widths.assign(program->stageReplicas.begin(),
                       program->stageReplicas.end());
  result.microbatches = artifact->metadata.microbatches;
  for (const artifact::Rank &rank : program->ranks)
    result.isOffloading |= rank.hostBytes > 0;
  for (const auto &[name, value] : artifact->metadata.options)
    if (name == "offload")
      result.offload = value;
  return result;
}
