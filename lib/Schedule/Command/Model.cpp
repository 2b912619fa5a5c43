//===- Model.cpp - costs of chunks, before a schedule is chosen -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include <algorithm>
#include <iterator>

using namespace veeline::schedule;

/// Merges the neighbours [first, last) of `model` into one chunk.
static Chunk mergedChunk(const Model &model, int first, int last) {
  Chunk sum;
  bool lacksInput = false, needsInput = false;
  for (int i = first; i < last; ++i) {
    const Chunk &chunk = model.chunks[i];
    sum.forward += chunk.forward;
    sum.backwardInput += chunk.backwardInput;
    sum.backwardWeight += chunk.backwardWeight;
    sum.backwardShared += chunk.backwardShared;
    sum.forwardMemory += chunk.forwardMemory;
    sum.backwardInputMemory += chunk.backwardInputMemory;
    sum.backwardWeightMemory += chunk.backwardWeightMemory;
    sum.hasRecompute |= chunk.hasRecompute;
    sum.recompute += chunk.recompute;
    sum.recomputeMemory += chunk.recomputeMemory;
    lacksInput |= !chunk.hasBackwardInput;
  }
  for (const Edge &edge : model.edges)
    needsInput |= edge.carriesGradient && edge.from < first &&
                  edge.to >= first && edge.to < last;
  return lacksInput && !needsInput ? sum.withoutBackwardInput() : sum;
}

void veeline::schedule::joinOverlapping(std::vector<std::vector<int>> &sets) {
  std::vector<std::vector<int>> joined;
  for (std::vector<int> &set : sets) {
    for (bool isGrowing = true; isGrowing;) {
      auto overlaps = [&](const std::vector<int> &other) {
        return std::find_first_of(set.begin(), set.end(), other.begin(),
                                  other.end()) != set.end();
      };
      auto found = std::find_if(joined.begin(), joined.end(), overlaps);
      isGrowing = found != joined.end();
      if (!isGrowing)
        break;
      std::vector<int> both;
      std::set_union(set.begin(), set.end(), found->begin(), found->end(),
                     std::back_inserter(both));
      set = std::move(both);
      joined.erase(found);
    }
    joined.push_back(std::move(set));
  }
  sets = std::move(joined);
}

Model veeline::schedule::merged(const Model &model, int count) {
  int each = static_cast<int>(model.chunks.size()) / count;
  Model result;
  result.unit = model.unit;
  for (int i = 0; i < count; ++i)
    result.chunks.push_back(mergedChunk(model, i * each, (i + 1) * each));
  for (std::size_t i = 0; i < model.edges.size(); ++i) {
    Edge edge = model.edges[i];
    edge.from /= each;
    edge.to /= each;
    if (edge.from == edge.to)
      continue;
    result.edges.push_back(edge);
    if (!model.edgeBytes.empty())
      result.edgeBytes.push_back(model.edgeBytes[i]);
  }
  for (std::vector<int> chunks : model.tied) {
    for (int &chunk : chunks)
      chunk /= each;
    chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
    if (chunks.size() > 1)
      result.tied.push_back(std::move(chunks));
  }
  joinOverlapping(result.tied);
  return result;
}

Expected<Model> veeline::schedule::uniformModel(const ProblemOptions &given,
                                                int count) {
  ProblemOptions options = given;
  options.schedule = "sequential";
  options.chunksPerStage = count / options.stages;
  options.memoryLimit.reset();
  Expected<Problem> problem = makeProblem(options);
  if (!problem)
    return problem.takeError();
  return Model{std::move(problem->chunks),
               std::move(problem->edges),
               {},
               problem->memoryUnit};
}
