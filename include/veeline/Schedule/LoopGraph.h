//===- LoopGraph.h - the period of an endless loop --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_LOOPGRAPH_H
#define VEELINE_SCHEDULE_LOOPGRAPH_H

#include <vector>

namespace veeline::schedule {

/// One turn of a loop whose turns follow each other without a barrier, as a
/// graph.
///
/// Nodes are operations, added in a topological order of one turn. *Gates*
/// connect a turn to the next one: a node behind a gate starts only when all
/// nodes that hold the gate have ended in the previous turn. For example, each
/// rank is a gate: its last operation holds it, and its first operation is
/// behind it. A parameter that several ranks use is a gate, too.
class LoopGraph {
public:
  /// Each node must depend on a gate, directly or through other nodes.
  explicit LoopGraph(int gates) : holders(gates) {}

  /// Adds a node that takes `cost`; returns its number.
  int add(double cost);
  /// The node added last starts at least `delay` after the end of `node`.
  void after(int node, double delay) { inputs.push_back({node, delay}); }
  /// The node added last is behind `gate`.
  void behind(int gate) { inputs.push_back({-1 - gate, 0}); }
  /// `node` holds `gate` for the next turn.
  void hold(int gate, int node) { holders[gate].push_back(node); }

  struct Period {
    /// The least time between two turns: the maximum cycle mean over all cycles
    /// of gates, where the length from gate to gate is that of the longest
    /// path.
    double time = 0;
    /// When each gate opens, if it opens `time` later in every turn. The
    /// earliest opens at 0.
    std::vector<double> open;
  };
  /// Computes the period by Howard's policy iteration, which raises a bound
  /// cycle by cycle. O(nodes + inputs) for each round, and at most `gates`
  /// rounds for each cycle that is tried. Few cycles are tried.
  Period solve() const;

private:
  struct Input {
    /// A node if at least 0, else gate -1 - `from`.
    int from;
    double delay;
  };
  struct Pass;
  void run(const std::vector<double> &open, Pass &pass) const;

  std::vector<double> costs;
  /// The inputs of node i begin at `inputs[inputsBegin[i]]` and end where those
  /// of the next node begin.
  std::vector<int> inputsBegin;
  std::vector<Input> inputs;
  std::vector<std::vector<int>> holders;
};

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_LOOPGRAPH_H
