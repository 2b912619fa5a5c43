//===- MinimumCutTest.cpp - the cheapest cut against all cuts -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Autodiff/MinimumCut.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using veeline::autodiff::FlowNetwork;

namespace {

struct Edge {
  unsigned from, to;
  int64_t capacity;
};

int64_t getCut(const std::vector<Edge> &edges,
               const std::vector<bool> &sinkSide) {
  int64_t sum = 0;
  for (const Edge &edge : edges)
    if (!sinkSide[edge.from] && sinkSide[edge.to])
      sum += edge.capacity;
  return sum;
}

/// Compares with all cuts of random networks of up to 8 nodes: the cut found is
/// as cheap as the cheapest and, of those, has the fewest nodes at the sink.
TEST(MinimumCut, IsTheCheapestAndNearestToTheSink) {
  std::mt19937 generator(1);
  for (int round = 0; round != 2000; ++round) {
    unsigned nodes = 3 + generator() % 6;
    std::vector<Edge> edges(generator() % 20);
    for (Edge &edge : edges)
      edge = {unsigned(generator() % nodes), unsigned(generator() % nodes),
              int64_t(generator() % 5)};
    FlowNetwork network;
    for (unsigned i = 2; i != nodes; ++i)
      network.addNode();
    for (const Edge &edge : edges)
      network.addEdge(edge.from, edge.to, edge.capacity);
    std::vector<bool> found = network.findSinkSide();
    ASSERT_FALSE(found[FlowNetwork::source]);
    ASSERT_TRUE(found[FlowNetwork::sink]);
    int64_t least = FlowNetwork::unlimited;
    unsigned fewest = nodes;
    for (unsigned mask = 0; mask != 1u << (nodes - 2); ++mask) {
      std::vector<bool> side(nodes, false);
      side[FlowNetwork::sink] = true;
      for (unsigned i = 2; i != nodes; ++i)
        side[i] = (mask >> (i - 2)) & 1;
      int64_t cut = getCut(edges, side);
      unsigned count = std::count(side.begin(), side.end(), true);
      if (cut < least || (cut == least && count < fewest)) {
        least = cut;
        fewest = count;
      }
    }
    ASSERT_EQ(getCut(edges, found), least) << "round " << round;
    ASSERT_EQ(std::count(found.begin(), found.end(), true), fewest)
        << "round " << round;
  }
}

} // namespace
