//===- Forward.cpp - forwards only ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of a pipeline that is evaluated and not trained. p = 2, v = 2,
// interleaved, m = 4:
//
//   stage 0: F0.0 F0.1 F2.0 F2.1 F0.2 F0.3 F2.2 F2.3
//   stage 1:      F1.0 F1.1 F3.0 F3.1 F1.2 F1.3 F3.2 F3.3
//
// This is list scheduling: a free rank runs a forward whose inputs have
// arrived, and prefers the chunk that is furthest in the model. So a rank waits
// only if no inputs have arrived, and few microbatches are in flight.
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Generators.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

using namespace veeline::schedule;

namespace {

/// A forward whose inputs arrive at `arrival`.
struct Arrival {
  double arrival;
  int chunk, microbatch;
};

/// Puts the earliest arrival on top.
struct ArrivesLater {
  bool operator()(const Arrival &a, const Arrival &b) const {
    return std::tuple(a.arrival, a.microbatch, a.chunk) >
           std::tuple(b.arrival, b.microbatch, b.chunk);
  }
};

/// Puts the forward of the furthest chunk on top; of one chunk, the first
/// microbatch.
struct RunsLater {
  bool operator()(const Arrival &a, const Arrival &b) const {
    return std::tuple(-a.chunk, a.microbatch) >
           std::tuple(-b.chunk, b.microbatch);
  }
};

/// The forwards that one rank could run.
struct Rank {
  double freeAt = 0;
  std::priority_queue<Arrival, std::vector<Arrival>, ArrivesLater> coming;
  std::priority_queue<Arrival, std::vector<Arrival>, RunsLater> ready;

  bool isDone() const { return coming.empty() && ready.empty(); }
  /// The time at which it can begin something. Expects that there is something.
  double nextStart() const {
    return ready.empty() ? std::max(freeAt, coming.top().arrival) : freeAt;
  }
  /// Removes and returns the forward that it runs at `start`, the result of
  /// `nextStart`.
  Arrival take(double start) {
    for (; !coming.empty() && coming.top().arrival <= start; coming.pop())
      ready.push(coming.top());
    Arrival next = ready.top();
    ready.pop();
    return next;
  }
};

/// Executes all forwards in the order of time.
class ForwardList {
public:
  explicit ForwardList(const Problem &problem)
      : problem(problem), outgoing(problem.numChunks()),
        inputs(size_t(problem.numChunks()) * problem.microbatches),
        ranks(problem.ranks()) {
    for (const Edge &edge : problem.edges) {
      outgoing[edge.from].push_back(&edge);
      for (int i = 0; i != problem.microbatches; ++i)
        ++inputOf(edge.to, i).missing;
    }
  }

  /// Returns the forwards of each rank, in order.
  std::vector<std::vector<Op>> run();

private:
  struct Input {
    int missing = 0;
    double arrival = 0; ///< Of the inputs that have arrived.
  };
  Input &inputOf(int chunk, int microbatch) {
    return inputs[size_t(chunk) * problem.microbatches + microbatch];
  }
  /// Notes when the rank can begin something.
  void offer(int rank) {
    if (!ranks[rank].isDone())
      starts.emplace(ranks[rank].nextStart(), rank);
  }
  void add(const Arrival &arrival) {
    int rank = problem.rankOf(arrival.chunk, arrival.microbatch);
    ranks[rank].coming.push(arrival);
    offer(rank);
  }
  void finish(const Arrival &done, double end);

  const Problem &problem;
  std::vector<std::vector<const Edge *>> outgoing; ///< By chunk.
  std::vector<Input> inputs;                       ///< By chunk and microbatch.
  std::vector<Rank> ranks;
  /// The times at which ranks can begin something; some entries are out of
  /// date.
  std::priority_queue<std::pair<double, int>,
                      std::vector<std::pair<double, int>>, std::greater<>>
      starts;
};

} // namespace

void ForwardList::finish(const Arrival &done, double end) {
  int rank = problem.rankOf(done.chunk, done.microbatch);
  for (const Edge *edge : outgoing[done.chunk]) {
    bool isHere = problem.rankOf(edge->to, done.microbatch) == rank;
    Input &input = inputOf(edge->to, done.microbatch);
    input.arrival =
        std::max(input.arrival, end + (isHere ? 0 : edge->forwardTransfer));
    if (--input.missing == 0)
      add({input.arrival, edge->to, done.microbatch});
  }
}

std::vector<std::vector<Op>> ForwardList::run() {
  std::vector<std::vector<Op>> orders(ranks.size());
  for (int chunk = 0; chunk != problem.numChunks(); ++chunk)
    for (int i = 0; i != problem.microbatches; ++i)
      if (inputOf(chunk, i).missing == 0)
        add({0, chunk, i});
  while (!starts.empty()) {
    auto [start, number] = starts.top();
    starts.pop();
    Rank &rank = ranks[number];
    if (rank.isDone() || rank.nextStart() != start)
      continue;
    Arrival next = rank.take(start);
    orders[number].push_back({OpKind::Forward, next.chunk, next.microbatch});
    rank.freeAt = start + problem.chunks[next.chunk].forward;
    finish(next, rank.freeAt);
    offer(number);
  }
  return orders;
}

Schedule veeline::schedule::forwardOrder(const Problem &problem) {
  Schedule schedule{forwardOrderName, ForwardList(problem).run()};
  // Adds backwards, which cost nothing and which programs leave out.
  for (std::vector<Op> &ops : schedule.stages) {
    std::vector<Op> backwards(ops);
    std::sort(backwards.begin(), backwards.end(), [](const Op &a, const Op &b) {
      return std::tuple(a.microbatch, -a.chunk) <
             std::tuple(b.microbatch, -b.chunk);
    });
    for (Op &op : backwards)
      op.kind = OpKind::Backward;
    ops.insert(ops.end(), backwards.begin(), backwards.end());
  }
  return schedule;
}
