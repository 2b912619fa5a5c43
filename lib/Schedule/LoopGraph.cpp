//===- LoopGraph.cpp - the period of an endless loop ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/LoopGraph.h"

#include <algorithm>
#include <limits>

using namespace veeline::schedule;

/// The result of one turn for the times at which its gates open.
struct LoopGraph::Pass {
  /// By node.
  std::vector<double> end;
  /// The gate at which the longest path to a node starts.
  std::vector<int> origin;
  /// The times at which the gates of the next turn open, and the gate of this
  /// turn that determines each.
  std::vector<double> opened;
  std::vector<int> openedBy;
};

int LoopGraph::add(double cost) {
  costs.push_back(cost);
  inputsBegin.push_back(static_cast<int>(inputs.size()));
  return static_cast<int>(costs.size()) - 1;
}

void LoopGraph::run(const std::vector<double> &open, Pass &pass) const {
  constexpr double never = -std::numeric_limits<double>::infinity();
  int nodes = static_cast<int>(costs.size());
  pass.end.resize(nodes);
  pass.origin.resize(nodes);
  for (int node = 0; node < nodes; ++node) {
    int last = node + 1 < nodes ? inputsBegin[node + 1]
                                : static_cast<int>(inputs.size());
    double start = never;
    int origin = -1;
    for (int i = inputsBegin[node]; i < last; ++i) {
      const Input &input = inputs[i];
      bool isGate = input.from < 0;
      double ready =
          isGate ? open[-1 - input.from] : pass.end[input.from] + input.delay;
      if (ready <= start)
        continue;
      start = ready;
      origin = isGate ? -1 - input.from : pass.origin[input.from];
    }
    pass.end[node] = start + costs[node];
    pass.origin[node] = origin;
  }
  pass.opened.assign(holders.size(), never);
  pass.openedBy.assign(holders.size(), -1);
  for (std::size_t gate = 0; gate < holders.size(); ++gate)
    for (int node : holders[gate])
      if (pass.end[node] > pass.opened[gate]) {
        pass.opened[gate] = pass.end[node];
        pass.openedBy[gate] = pass.origin[node];
      }
}

namespace {
/// The last path that moved each gate.
struct Paths {
  /// The gate at which it starts; -1: none yet.
  std::vector<int> from;
  std::vector<double> length;
};
} // namespace

/// Returns the greatest mean length of a cycle of paths; 0 if there is none.
static double greatestMean(const Paths &paths) {
  double greatest = 0;
  int gates = static_cast<int>(paths.from.size());
  // The walk in which a gate was reached first.
  std::vector<int> seen(gates, -1);
  for (int walk = 0; walk < gates; ++walk) {
    int gate = walk;
    while (gate >= 0 && seen[gate] < 0) {
      seen[gate] = walk;
      gate = paths.from[gate];
    }
    if (gate < 0 || seen[gate] != walk)
      continue;
    double length = 0;
    int count = 0, first = gate;
    do {
      length += paths.length[gate];
      ++count;
      gate = paths.from[gate];
    } while (gate != first);
    greatest = std::max(greatest, length / count);
  }
  return greatest;
}

/// Bellman and Ford. If a cycle takes longer than the period, the paths that
/// moved the gates last close one within as many rounds as there are gates.
/// Only then is the period raised, to the time of that cycle.
LoopGraph::Period LoopGraph::solve() const {
  int gates = static_cast<int>(holders.size());
  Period period;
  period.open.assign(gates, 0);
  Pass pass;
  Paths paths{std::vector<int>(gates, -1), std::vector<double>(gates)};
  // Moves that continue for longer than any path without a cycle are caused
  // only by rounding.
  bool moved = true;
  for (int rounds = 0; moved && rounds <= gates; ++rounds) {
    run(period.open, pass);
    moved = false;
    for (int gate = 0; gate < gates; ++gate) {
      int from = pass.openedBy[gate];
      double time = pass.opened[gate] - period.time;
      if (from < 0 || time <= period.open[gate] + 1e-12 * period.time)
        continue;
      paths.from[gate] = from;
      paths.length[gate] = pass.opened[gate] - period.open[from];
      moved = true;
    }
    double mean = greatestMean(paths);
    // The same cycle may be rounded differently.
    if (mean > period.time * (1 + 1e-12)) {
      period.time = mean;
      paths.from.assign(gates, -1);
      rounds = -1;
      continue;
    }
    for (int gate = 0; gate < gates; ++gate)
      period.open[gate] =
          std::max(period.open[gate], pass.opened[gate] - period.time);
  }
  double first = *std::min_element(period.open.begin(), period.open.end());
  for (double &time : period.open)
    time -= first;
  return period;
}
