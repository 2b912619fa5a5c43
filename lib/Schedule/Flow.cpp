//===- Flow.cpp - data flow between chunks, indexed -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Flow.h"

using namespace veeline::schedule;

/// Sorts `(owner, link)` pairs into lists by owner. The sort is stable.
static void fill(std::vector<int> &begin, std::vector<Link> &links,
                 const std::vector<std::pair<int, Link>> &pairs) {
  for (const auto &[owner, link] : pairs)
    ++begin[owner + 1];
  for (std::size_t i = 1; i < begin.size(); ++i)
    begin[i] += begin[i - 1];
  links.resize(pairs.size());
  std::vector<int> next(begin.begin(), begin.end() - 1);
  for (const auto &[owner, link] : pairs)
    links[next[owner]++] = link;
}

Flow::Flow(const Problem &problem)
    : forwardInputs(problem.numChunks()), forwardUsers(problem.numChunks()),
      backwardInputs(problem.numChunks()), backwardUsers(problem.numChunks()),
      edges(problem.edges.size()), microbatches(problem.microbatches) {
  std::vector<std::pair<int, Link>> forwardIn, forwardOut, backwardIn,
      backwardOut;
  for (std::size_t i = 0; i < problem.edges.size(); ++i) {
    const Edge &edge = problem.edges[i];
    int id = static_cast<int>(i);
    bool far = problem.placement.stageOf(edge.from) !=
               problem.placement.stageOf(edge.to);
    double forward = far ? edge.forwardTransfer : 0;
    double backward = far ? edge.backwardTransfer : 0;
    forwardIn.push_back({edge.to, {edge.from, id, forward}});
    forwardOut.push_back({edge.from, {edge.to, id, forward}});
    if (!edge.carriesGradient)
      continue;
    backwardIn.push_back({edge.from, {edge.to, id, backward}});
    backwardOut.push_back({edge.to, {edge.from, id, backward}});
  }
  fill(forwardInputs.begin, forwardInputs.links, forwardIn);
  fill(forwardUsers.begin, forwardUsers.links, forwardOut);
  fill(backwardInputs.begin, backwardInputs.links, backwardIn);
  fill(backwardUsers.begin, backwardUsers.links, backwardOut);
}
