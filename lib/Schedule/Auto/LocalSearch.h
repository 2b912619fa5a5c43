//===- LocalSearch.h - annealing over the orders of stages ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scheduling is treated as a job shop with re-entrant jobs: stages are
// machines, and microbatches are jobs. The state is a topological sequence of
// all operations, with the longest path to each operation (its end) and from
// each operation (its tail). A move shifts an operation past some neighbours of
// its stage. It affects only the part of the sequence between the old and the
// new position: operations before it keep their ends, and operations after it
// keep their tails. So the new objective is the longest path through that part.
// Most moves are rejected after evaluating a few dozen operations, however long
// the step is. Only accepted moves update ends and tails outside of that part,
// and only where these change.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_AUTO_LOCALSEARCH_H
#define VEELINE_LIB_SCHEDULE_AUTO_LOCALSEARCH_H

#include "FlatProblem.h"
#include "Random.h"
#include "Work.h"
#include "veeline/Schedule/Generators.h"

namespace veeline::schedule {

struct AnnealOptions {
  /// The temperatures at the beginning and at the end, in units of time.
  double hot, cold;
  /// The number of operations to evaluate.
  std::int64_t work;
};

class LocalSearch {
public:
  LocalSearch(const FlatProblem &flat, Objective objective, std::uint64_t seed);

  /// Starts from these orders, which must fit into memory. Returns false if
  /// they deadlock.
  bool load(const FlatOrders &orders);
  /// Anneals, and ends at the best orders that it has met, which may be those
  /// of the start.
  void anneal(const AnnealOptions &options, Work &work);

  /// The value that is minimised: the makespan, the largest ratio of a stage's
  /// span to its busy time, or the period.
  double score() const;
  FlatOrders orders() const;

private:
  struct Move {
    int node;
    /// The last neighbour that the node passes.
    int target;
    bool earlier;
    /// The affected stretch of the sequence.
    int low, high;
  };

  void link(const FlatOrders &orders);
  bool sequence();
  void sortByTime();
  void setBegins();
  void retime();
  void setOffsets();
  double objective() const;
  double tailOf(int node) const;
  double startOf(int node, int before) const;
  double endOf(int node, int before) const;

  /// Calls `visit` with each node that a node waits for, and with the time of
  /// the transfer.
  template <typename Visitor> void forEachInput(int node, Visitor visit) const {
    // Its backward belongs to the turn before.
    if (late[node])
      return;
    int kind = kindOf[node], microbatch = node - kind * flat.microbatches();
    for (const FlatProblem::Link &input : flat.inputs(kind))
      visit(flat.node(input.kind, microbatch), input.transfer);
  }
  /// Calls `visit` with each node that waits for a node, and with the time of
  /// the transfer.
  template <typename Visitor> void forEachUser(int node, Visitor visit) const {
    int kind = kindOf[node], microbatch = node - kind * flat.microbatches();
    for (const FlatProblem::Link &user : flat.users(kind))
      if (int other = flat.node(user.kind, microbatch); !late[other])
        visit(other, user.transfer);
  }
  /// Whether two neighbours have to keep their order: microbatches of a kind
  /// ascend, and the last W of a step precede the first F of the next one.
  bool mayNotSwap(int earlier, int later) const;

  bool chooseMove(double slack, Move &move);
  bool reachEarlier(Move &move, int distance) const;
  bool reachLater(Move &move, int distance) const;
  bool arrange(const Move &move);
  int newPrevious(const Move &move, int node) const;
  bool evaluate(const Move &move, double threshold, double &worst);
  bool leavesStretch(const Move &move, int node, double end, double threshold,
                     double &worst) const;
  void apply(const Move &move);
  void relink(const Move &move);
  void spreadEnds(const Move &move);
  void spreadTails(const Move &move);
  void mark(std::vector<std::uint64_t> &dirty, int position) {
    std::uint64_t bit = std::uint64_t(1) << (position & 63);
    marked += !(dirty[position >> 6] & bit);
    dirty[position >> 6] |= bit;
  }
  void keepBest();

  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((random() >> 32) * bound) >> 32);
  }

  const FlatProblem &flat;
  Objective goal;
  Xorshift random;
  std::vector<double> exponential;

  std::vector<int> kindOf;
  /// The topological sequence, and the position of each node in it.
  std::vector<int> seq, place;
  /// The neighbours on the stage, or -1.
  std::vector<int> previous, next;
  std::vector<int> first, last;
  std::vector<double> end, tail;
  std::vector<std::int64_t> memory;
  /// For a period: which W belong to the step before, when stages begin, and
  /// what they hold then.
  std::vector<char> late;
  std::vector<double> begin;
  std::vector<std::int64_t> carried;
  /// What is added to the end of a stage's last operation.
  std::vector<double> offset;
  double current = 0, best = 0;
  bool bestIsKept = false;
  FlatOrders bestOrders;

  // Used for the move that is being evaluated.
  std::vector<int> stretch, rest;
  std::vector<double> newEnd;
  std::vector<int> stamp;
  int now = 0;
  std::int64_t looked = 0;
  std::vector<std::uint64_t> dirtyEnds, dirtyTails;
  int marked = 0;
};

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_AUTO_LOCALSEARCH_H
