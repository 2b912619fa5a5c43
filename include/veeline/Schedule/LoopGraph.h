//===- LoopGraph.h - the period of an endless loop --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_LOOPGRAPH_H
#define VEELINE_SCHEDULE_LOOPGRAPH_H

#include <vector>

namespace veeline::schedule {

/// One turn of a loop whose turns follow each other without a barrier.
///
/// Nodes are what runs, added in a topological order of one turn. *Gates* join
/// a turn to the next one: a node that is behind a gate starts only once all
/// nodes of the turn before that hold it have ended. A rank is a gate that its
/// last operation holds and its first one is behind; a parameter that several
/// ranks use is one, too.
class LoopGraph {
public:
  /// Each node has to depend on a gate, through others or by itself.
  explicit LoopGraph(int gates) : holders(gates) {}

  /// Adds a node that takes `cost`; returns its number.
  int add(double cost);
  /// The node added last starts `delay` or more after the end of `node`.
  void after(int node, double delay) { inputs.push_back({node, delay}); }
  /// The node added last is behind a gate.
  void behind(int gate) { inputs.push_back({-1 - gate, 0}); }
  /// `node` holds a gate of the next turn.
  void hold(int gate, int node) { holders[gate].push_back(node); }

  struct Period {
    /// The least time between two turns: the greatest mean, over all circles of
    /// gates, of the longest paths between them.
    double time = 0;
    /// When each gate opens in a turn whose gates open at these times in every
    /// turn, `time` later each. The first of them is at 0.
    std::vector<double> open;
  };
  /// Raises a bound on the period circle by circle, as Howard's policy
  /// iteration does, from the gates of the last call's times. O(nodes + inputs)
  /// for each round, at most `gates` rounds for each circle that is tried, of
  /// which there are few.
  Period solve() const;

private:
  struct Input {
    /// A node; below 0, gate -1 - `from`.
    int from;
    double delay;
  };
  struct Pass;
  void run(const std::vector<double> &open, Pass &pass) const;

  std::vector<double> costs;
  /// The inputs of node i are `inputs` from `inputsBegin[i]` on, up to those of
  /// the next node.
  std::vector<int> inputsBegin;
  std::vector<Input> inputs;
  std::vector<std::vector<int>> holders;
};

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_LOOPGRAPH_H
