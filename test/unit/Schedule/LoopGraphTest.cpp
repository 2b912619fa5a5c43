//===- LoopGraphTest.cpp - the period of an endless loop ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/LoopGraph.h"
#include "TestUtilities.h"

using namespace veeline::schedule;

/// The greatest mean of a circle of gates by Karp's algorithm (1978), from the
/// longest path between each two of them.
static double karp(const std::vector<std::vector<double>> &paths) {
  constexpr double none = -1e300;
  int n = static_cast<int>(paths.size());
  std::vector<std::vector<double>> walk(n + 1, std::vector<double>(n, none));
  walk[0].assign(n, 0);
  for (int length = 1; length <= n; ++length)
    for (int to = 0; to < n; ++to)
      for (int from = 0; from < n; ++from)
        if (paths[from][to] > none / 2 && walk[length - 1][from] > none / 2)
          walk[length][to] = std::max(walk[length][to],
                                      walk[length - 1][from] + paths[from][to]);
  double greatest = 0;
  for (int to = 0; to < n; ++to) {
    if (walk[n][to] < none / 2)
      continue;
    double least = 1e300;
    for (int length = 0; length < n; ++length)
      if (walk[length][to] > none / 2)
        least =
            std::min(least, (walk[n][to] - walk[length][to]) / (n - length));
    greatest = std::max(greatest, least);
  }
  return greatest;
}

TEST(LoopGraph, AgreesWithKarp) {
  Random random = makeRandom();
  for (int round = 0; round < 2000; ++round) {
    int gates = randomInt(random, 1, 6);
    LoopGraph graph(gates);
    std::vector<std::vector<double>> paths(gates,
                                           std::vector<double>(gates, -1e300));
    for (int i = randomInt(random, 1, 12); i > 0; --i) {
      int from = randomInt(random, 0, gates - 1);
      int to = randomInt(random, 0, gates - 1);
      double cost = randomInt(random, 0, 9), delay = randomInt(random, 0, 2);
      int first = graph.add(cost);
      graph.behind(from);
      int second = graph.add(1);
      graph.after(first, delay);
      graph.hold(to, second);
      paths[from][to] = std::max(paths[from][to], cost + delay + 1);
    }
    ASSERT_NEAR(graph.solve().time, karp(paths), 1e-9) << round;
  }
}

/// Sums of a tenth are rounded in another order on each path.
TEST(LoopGraph, RoundingEnds) {
  constexpr int gates = 300;
  LoopGraph graph(gates);
  std::vector<int> first;
  for (int gate = 0; gate < gates; ++gate) {
    first.push_back(graph.add(0.1));
    graph.behind(gate);
  }
  for (int gate = 0; gate < gates; ++gate) {
    int node = graph.add(0.1);
    graph.after(first[(gate + gates - 1) % gates], 0);
    graph.hold(gate, node);
  }
  EXPECT_NEAR(graph.solve().time, 0.2, 1e-9);
}
