//===- MinimumCut.h - minimum cuts of networks ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_MINIMUMCUT_H
#define VEELINE_LIB_AUTODIFF_MINIMUMCUT_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace veeline::autodiff {

/// A directed network with a source and a sink, whose minimum cut is found with
/// Dinic's algorithm (Y. Dinitz, "Algorithm for solution of a problem of
/// maximum flow in a network with power estimation", 1970). O(nodes^2 edges) at
/// worst, near linear on the shallow networks that programs make.
class FlowNetwork {
public:
  using Node = unsigned;
  static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max() / 4;

  /// The source is node 0, the sink node 1.
  FlowNetwork() : edgesOf(2) {}
  static constexpr Node source = 0, sink = 1;

  Node addNode();
  void addEdge(Node from, Node to, int64_t capacity);

  /// Returns, for each node, whether it is on the sink's side of a minimum cut.
  /// Of all minimum cuts, this is the one nearest to the sink. Call it only
  /// once.
  std::vector<bool> findSinkSide();

private:
  struct Edge {
    Node to;
    /// The residual capacity.
    int64_t capacity;
  };
  bool findLevels();
  int64_t augment(Node node, int64_t limit);

  /// Edge 2i and 2i+1 are an edge and its reverse.
  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> edgesOf;
  std::vector<int> level;
  std::vector<std::size_t> next;
};

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_MINIMUMCUT_H
