//===- MinimumCut.cpp - minimum cuts of networks --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MinimumCut.h"

#include <algorithm>

using namespace veeline::autodiff;

FlowNetwork::Node FlowNetwork::addNode() {
  edgesOf.emplace_back();
  return edgesOf.size() - 1;
}

void FlowNetwork::addEdge(Node from, Node to, int64_t capacity) {
  edgesOf[from].push_back(edges.size());
  edges.push_back({to, capacity});
  edgesOf[to].push_back(edges.size());
  edges.push_back({from, 0});
}

/// Finds the distance of each node from the source, breadth first. Returns
/// false if the sink cannot be reached.
bool FlowNetwork::findLevels() {
  level.assign(edgesOf.size(), -1);
  level[source] = 0;
  std::vector<Node> queue = {source};
  for (size_t i = 0; i != queue.size(); ++i)
    for (unsigned e : edgesOf[queue[i]]) {
      const Edge &edge = edges[e];
      if (edge.capacity == 0 || level[edge.to] >= 0)
        continue;
      level[edge.to] = level[queue[i]] + 1;
      queue.push_back(edge.to);
    }
  return level[sink] >= 0;
}

/// Pushes a flow of up to `limit` from `node` to the sink along one path of
/// rising levels.
int64_t FlowNetwork::augment(Node node, int64_t limit) {
  if (node == sink)
    return limit;
  for (size_t &i = next[node]; i != edgesOf[node].size(); ++i) {
    unsigned e = edgesOf[node][i];
    if (edges[e].capacity == 0 || level[edges[e].to] != level[node] + 1)
      continue;
    int64_t pushed = augment(edges[e].to, std::min(limit, edges[e].capacity));
    if (pushed == 0)
      continue;
    edges[e].capacity -= pushed;
    edges[e ^ 1].capacity += pushed;
    return pushed;
  }
  return 0;
}

std::vector<bool> FlowNetwork::findSinkSide() {
  while (findLevels()) {
    next.assign(edgesOf.size(), 0);
    while (augment(source, unlimited) != 0) {
    }
  }
  // Search from the sink, against the edges that have capacity left.
  std::vector<bool> sinkSide(edgesOf.size(), false);
  sinkSide[sink] = true;
  std::vector<Node> queue = {sink};
  for (size_t i = 0; i != queue.size(); ++i)
    for (unsigned e : edgesOf[queue[i]]) {
      Node from = edges[e].to;
      if (edges[e ^ 1].capacity == 0 || sinkSide[from])
        continue;
      sinkSide[from] = true;
      queue.push_back(from);
    }
  return sinkSide;
}
