//===- RandomProblems.cpp - problems at random ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtilities.h"

#include <algorithm>

using namespace veeline::schedule;

/// Mostly small integers, so that events coincide often; sometimes 0.
static double randomTime(Random &random, bool integral) {
  if (integral)
    return randomInt(random, 0, 4);
  return std::uniform_real_distribution<double>(0.1, 3)(random);
}

static Chunk randomChunk(Random &random, bool integral) {
  Chunk chunk;
  chunk.forward = randomTime(random, integral);
  chunk.backwardInput = randomTime(random, integral);
  chunk.backwardWeight = randomTime(random, integral);
  chunk.forwardMemory = randomInt(random, 0, 6);
  chunk.backwardInputMemory =
      randomInt(random, -static_cast<int>(chunk.forwardMemory), 2);
  chunk.backwardWeightMemory = -chunk.forwardMemory - chunk.backwardInputMemory;
  return chunk;
}

/// Chain edges, most of them, and skip edges.
static std::vector<Edge> randomEdges(Random &random, int chunks,
                                     bool integral) {
  std::vector<Edge> edges;
  bool wholeChain = randomInt(random, 0, 3) > 0;
  for (int from = 0; from < chunks; ++from)
    for (int to = from + 1; to < chunks; ++to) {
      bool wanted = to == from + 1 ? wholeChain || randomInt(random, 0, 2) > 0
                                   : randomInt(random, 0, 2 * chunks) == 0;
      if (wanted)
        edges.push_back({from, to, randomTime(random, integral) / 2,
                         randomTime(random, integral) / 2,
                         randomInt(random, 0, 9) > 0});
    }
  return edges;
}

std::int64_t veeline::schedule::memoryOfMicrobatch(const Problem &problem,
                                                   int stage) {
  std::int64_t held = 0;
  for (int local = 0; local < problem.chunksPerStage(); ++local) {
    const Chunk &chunk =
        problem.chunks[problem.placement.globalChunk(stage, local)];
    held += std::max(chunk.forwardMemory,
                     chunk.forwardMemory + chunk.backwardInputMemory);
  }
  return held;
}

/// Limits from just below the least possible to plenty.
static void randomLimits(Random &random, Problem &problem) {
  if (randomInt(random, 0, 2) == 0)
    return;
  int microbatches = randomInt(random, 1, problem.stages() + 1);
  for (int stage = 0; stage < problem.stages(); ++stage) {
    std::int64_t limit = memoryOfMicrobatch(problem, stage) * microbatches +
                         randomInt(random, -1, 3);
    problem.memoryLimits.push_back(std::max<std::int64_t>(limit, 0));
  }
}

Problem veeline::schedule::randomProblem(Random &random, std::string_view name,
                                         int p, int m) {
  const Generator &generator = **findGenerator(name);
  int v = generator.minChunksPerStage;
  if (generator.maxChunksPerStage == 0)
    v += randomInt(random, 0, 2);
  Problem problem{*placementFor(name, p, v), m, {}, {}};
  bool integral = randomInt(random, 0, 1) == 0;
  Chunk shared = randomChunk(random, integral);
  bool uniform = randomInt(random, 0, 3) == 0;
  for (int chunk = 0; chunk < p * v; ++chunk)
    problem.chunks.push_back(uniform ? shared : randomChunk(random, integral));
  problem.edges = randomEdges(random, p * v, integral);
  if (randomInt(random, 0, 1) == 0)
    problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
  randomLimits(random, problem);
  return problem;
}
