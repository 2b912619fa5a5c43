//===- LocalSearch.cpp - annealing over the orders of stages --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalSearch.h"

#include "veeline/Schedule/LoopGraph.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace veeline::schedule;

/// The interval at which the begins of stages are recomputed, in evaluations of
/// each operation.
static constexpr std::int64_t retimingWork = 25;

LocalSearch::LocalSearch(const FlatProblem &flat, Objective objective,
                         std::uint64_t seed)
    : flat(flat), goal(objective),
      random((seed + 1) * 0x9E3779B97F4A7C15ull | 1), exponential(4096),
      kindOf(flat.nodes()), place(flat.nodes()), previous(flat.nodes(), -1),
      next(flat.nodes(), -1), first(flat.stages()), last(flat.stages()),
      end(flat.nodes()), tail(flat.nodes()), memory(flat.nodes()),
      late(flat.nodes()), begin(flat.stages()), carried(flat.stages()),
      offset(flat.stages()), newEnd(flat.nodes()), stamp(flat.nodes()) {
  for (std::size_t i = 0; i < exponential.size(); ++i)
    exponential[i] = -std::log((i + 0.5) / exponential.size());
  for (int node = 0; node < flat.nodes(); ++node)
    kindOf[node] = node / flat.microbatches();
  for (int i = 0; i < 8; ++i)
    random();
}

void LocalSearch::link(const FlatOrders &orders) {
  if (goal == Objective::Period)
    findLate(flat, orders, late, carried);
  for (int stage = 0; stage < flat.stages(); ++stage) {
    int before = -1;
    std::int64_t held = carried[stage];
    for (int node : orders[stage]) {
      held += flat.kind(kindOf[node]).memory;
      memory[node] = held;
      previous[node] = before;
      next[node] = -1;
      if (before >= 0)
        next[before] = node;
      before = node;
    }
    first[stage] = orders[stage].front();
    last[stage] = before;
  }
}

double LocalSearch::startOf(int node, int before) const {
  double start =
      before >= 0 ? end[before] : begin[flat.kind(kindOf[node]).stage];
  forEachInput(node, [&](int input, double transfer) {
    start = std::max(start, end[input] + transfer);
  });
  return start;
}

double LocalSearch::endOf(int node, int before) const {
  return startOf(node, before) + flat.kind(kindOf[node]).cost;
}

/// Rotates the loop of a stage: W at its end become W of the step before at its
/// beginning, or vice versa.
static void turn(const FlatProblem &flat, const std::vector<char> &late,
                 bool toBeginning, std::vector<int> &order) {
  auto slips = [&](int node) {
    int kind = node / flat.microbatches();
    return kind % 3 == static_cast<int>(OpKind::BackwardWeight) &&
           flat.maySlip(kind / 3);
  };
  if (toBeginning) {
    auto first = order.end();
    while (first != order.begin() && slips(*(first - 1)) && !late[*(first - 1)])
      --first;
    std::rotate(order.begin(), first, order.end());
    return;
  }
  auto last = std::find_if(order.begin(), order.end(),
                           [&](int node) { return !late[node]; });
  std::rotate(order.begin(), last, order.end());
}

double LocalSearch::tailOf(int node) const {
  const FlatProblem::Kind &kind = flat.kind(kindOf[node]);
  double longest = next[node] >= 0 ? tail[next[node]] : offset[kind.stage];
  forEachUser(node, [&](int user, double transfer) {
    longest = std::max(longest, transfer + tail[user]);
  });
  return longest + kind.cost;
}

/// Finds a topological sequence and the ends. Returns false if there is none.
bool LocalSearch::sequence() {
  std::size_t total = 0;
  std::vector<int> missing(flat.nodes());
  seq.clear();
  for (int stage = 0; stage < flat.stages(); ++stage)
    for (int node = first[stage]; node >= 0; node = next[node]) {
      ++total;
      missing[node] = previous[node] >= 0;
      forEachInput(node, [&](int, double) { ++missing[node]; });
      if (missing[node] == 0)
        seq.push_back(node);
    }
  for (std::size_t i = 0; i < seq.size(); ++i) {
    int node = seq[i];
    auto release = [&](int user) {
      if (--missing[user] == 0)
        seq.push_back(user);
    };
    if (next[node] >= 0)
      release(next[node]);
    forEachUser(node, [&](int user, double) { release(user); });
  }
  return seq.size() == total;
}

/// Sets the ends, and sorts the sequence by start. Operations that run at about
/// the same time are then close together, and stretches are short. (An end
/// minus its cost may, by rounding, be before the ends that the node waits
/// for.)
void LocalSearch::sortByTime() {
  std::vector<double> start(flat.nodes());
  for (int node : seq) {
    start[node] = startOf(node, previous[node]);
    end[node] = start[node] + flat.kind(kindOf[node]).cost;
  }
  std::stable_sort(seq.begin(), seq.end(),
                   [&](int a, int b) { return start[a] < start[b]; });
  for (std::size_t i = 0; i < seq.size(); ++i)
    place[seq[i]] = static_cast<int>(i);
}

/// Sets the times at which stages begin so that no stage would have to wait in
/// steps that follow each other.
void LocalSearch::setBegins() {
  LoopGraph loop(flat.stages());
  std::vector<int> number(flat.nodes());
  for (int node : seq) {
    const FlatProblem::Kind &kind = flat.kind(kindOf[node]);
    number[node] = loop.add(kind.cost);
    if (previous[node] >= 0)
      loop.after(number[previous[node]], 0);
    else
      loop.behind(kind.stage);
    forEachInput(node, [&](int input, double transfer) {
      loop.after(number[input], transfer);
    });
    if (next[node] < 0)
      loop.hold(kind.stage, number[node]);
  }
  begin = loop.solve().open;
}

double LocalSearch::score() const {
  if (goal == Objective::Period)
    return objective();
  double worst = 0;
  for (int stage = 0; stage < flat.stages(); ++stage) {
    double value = end[last[stage]];
    if (goal == Objective::Span) {
      double busy = flat.busy(stage);
      value -= end[first[stage]] - flat.kind(kindOf[first[stage]]).cost;
      value = busy > 0 ? value / busy : 0;
    }
    worst = std::max(worst, value);
  }
  return worst;
}

/// Sets the offsets for the objective. For spans, the end of a stage counts
/// relative to its start plus the span that the present score allows. The
/// starts hardly change, because a stage starts with the first microbatch's F.
void LocalSearch::setOffsets() {
  if (goal == Objective::Makespan)
    return;
  if (goal == Objective::Period) {
    for (int stage = 0; stage < flat.stages(); ++stage)
      offset[stage] = -begin[stage];
    return;
  }
  double ratio = score();
  for (int stage = 0; stage < flat.stages(); ++stage) {
    double start = end[first[stage]] - flat.kind(kindOf[first[stage]]).cost;
    offset[stage] = -start - ratio * flat.busy(stage);
  }
}

double LocalSearch::objective() const {
  double worst = -std::numeric_limits<double>::infinity();
  for (int stage = 0; stage < flat.stages(); ++stage)
    worst = std::max(worst, end[last[stage]] + offset[stage]);
  return worst;
}

bool LocalSearch::load(const FlatOrders &orders) {
  link(orders);
  if (!sequence())
    return false;
  if (goal == Objective::Period)
    setBegins();
  sortByTime();
  setOffsets();
  for (auto node = seq.rbegin(); node != seq.rend(); ++node)
    tail[*node] = tailOf(*node);
  dirtyEnds.assign(seq.size() / 64 + 1, 0);
  dirtyTails.assign(seq.size() / 64 + 1, 0);
  current = best = objective();
  bestIsKept = false;
  return true;
}

FlatOrders LocalSearch::orders() const {
  FlatOrders result(flat.stages());
  for (int stage = 0; stage < flat.stages(); ++stage)
    for (int node = first[stage]; node >= 0; node = next[node])
      result[stage].push_back(node);
  return result;
}

bool LocalSearch::mayNotSwap(int earlier, int later) const {
  int kind = kindOf[earlier], other = kindOf[later];
  return kind == other ||
         (late[earlier] && flat.group(kind / 3) == flat.group(other / 3));
}

/// Moves the node of `move` past up to `distance` earlier neighbours, as far as
/// microbatches of its kind stay in order and memory allows.
bool LocalSearch::reachEarlier(Move &move, int distance) const {
  const FlatProblem::Kind &kind = flat.kind(kindOf[move.node]);
  std::int64_t limit = flat.limit(kind.stage);
  move.target = -1;
  int neighbour = previous[move.node];
  for (int i = 0; i < distance && neighbour >= 0; ++i) {
    if (mayNotSwap(neighbour, move.node) ||
        memory[neighbour] + kind.memory > limit)
      break;
    if (goal == Objective::Span && previous[neighbour] < 0)
      break;
    int before = previous[neighbour];
    std::int64_t held = before < 0 ? carried[kind.stage] : memory[before];
    if (held + kind.memory <= limit)
      move.target = neighbour;
    neighbour = before;
  }
  if (move.target < 0)
    return false;
  move.low = place[move.target];
  move.high = place[move.node];
  return true;
}

bool LocalSearch::reachLater(Move &move, int distance) const {
  const FlatProblem::Kind &kind = flat.kind(kindOf[move.node]);
  std::int64_t limit = flat.limit(kind.stage);
  move.target = -1;
  if (goal == Objective::Span && previous[move.node] < 0)
    return false;
  int neighbour = next[move.node];
  for (int i = 0; i < distance && neighbour >= 0; ++i) {
    if (mayNotSwap(move.node, neighbour) ||
        memory[neighbour] - kind.memory > limit)
      break;
    move.target = neighbour;
    neighbour = next[neighbour];
  }
  if (move.target < 0)
    return false;
  move.low = place[move.node];
  move.high = place[move.target];
  return true;
}

/// Sets `stretch` to its new sequence. Nodes that the node may not pass move
/// with it. If it moves earlier, these are the nodes that it needs, otherwise
/// those that need it; and the nodes that those may not pass. Returns false if
/// one of them is on the node's own stage.
bool LocalSearch::arrange(const Move &move) {
  int stage = flat.kind(kindOf[move.node]).stage;
  int step = move.earlier ? -1 : 1;
  int from = move.earlier ? move.high : move.low;
  int to = move.earlier ? move.low : move.high;
  const std::vector<int> &neighbour = move.earlier ? previous : next;
  ++now;
  auto hold = [&](int other, double = 0) { stamp[other] = now; };
  auto take = [&](int node) {
    move.earlier ? forEachInput(node, hold) : forEachUser(node, hold);
    rest.push_back(node);
  };
  stretch.clear();
  rest.clear();
  take(move.node);
  for (int i = from + step; i != to + step; i += step) {
    int node = seq[i];
    if (stamp[node] != now) {
      stretch.push_back(node);
      continue;
    }
    if (flat.kind(kindOf[node]).stage == stage)
      return false;
    take(node);
    if (neighbour[node] >= 0)
      hold(neighbour[node]);
  }
  stretch.insert(stretch.end(), rest.begin(), rest.end());
  if (move.earlier)
    std::reverse(stretch.begin(), stretch.end());
  return true;
}

int LocalSearch::newPrevious(const Move &move, int node) const {
  if (node == move.node)
    return move.earlier ? previous[move.target] : move.target;
  if (move.earlier && node == move.target)
    return move.node;
  if (!move.earlier && node == next[move.node])
    return previous[move.node];
  return previous[node];
}

/// Raises `worst` to the longest path that leaves the stretch at `node`.
/// Returns false if it exceeds the threshold.
bool LocalSearch::leavesStretch(const Move &move, int node, double nodeEnd,
                                double threshold, double &worst) const {
  int after = next[node];
  if (node == (move.earlier ? previous[move.node] : move.node))
    after = next[move.earlier ? move.node : move.target];
  double longest = -std::numeric_limits<double>::infinity();
  if (after < 0)
    longest = offset[flat.kind(kindOf[node]).stage];
  else if (place[after] > move.high)
    longest = tail[after];
  forEachUser(node, [&](int user, double transfer) {
    if (place[user] > move.high)
      longest = std::max(longest, transfer + tail[user]);
  });
  worst = std::max(worst, nodeEnd + longest);
  return worst <= threshold;
}

/// Computes the new ends in the stretch. `worst` is the longest path through
/// the nodes that changed. Returns false if it exceeds the threshold.
bool LocalSearch::evaluate(const Move &move, double threshold, double &worst) {
  int lastOfStage = move.earlier ? previous[move.node] : move.node;
  ++now;
  worst = -std::numeric_limits<double>::infinity();
  for (int node : stretch) {
    const FlatProblem::Kind &kind = flat.kind(kindOf[node]);
    auto endNow = [&](int other) {
      return stamp[other] == now ? newEnd[other] : end[other];
    };
    int before = newPrevious(move, node);
    double start = before < 0 ? begin[kind.stage] : endNow(before);
    forEachInput(node, [&](int input, double transfer) {
      start = std::max(start, endNow(input) + transfer);
    });
    stamp[node] = now;
    newEnd[node] = start + kind.cost;
    if ((newEnd[node] > end[node] || node == lastOfStage) &&
        !leavesStretch(move, node, newEnd[node], threshold, worst))
      return false;
  }
  return true;
}

void LocalSearch::relink(const Move &move) {
  int node = move.node, stage = flat.kind(kindOf[node]).stage;
  std::int64_t held = flat.kind(kindOf[node]).memory;
  if (move.earlier)
    for (int i = previous[node]; i != previous[move.target]; i = previous[i])
      memory[i] += held;
  else
    for (int i = next[node]; i != next[move.target]; i = next[i])
      memory[i] -= held;

  int before = previous[node], after = next[node];
  (before >= 0 ? next[before] : first[stage]) = after;
  (after >= 0 ? previous[after] : last[stage]) = before;
  before = move.earlier ? previous[move.target] : move.target;
  after = move.earlier ? move.target : next[move.target];
  previous[node] = before;
  next[node] = after;
  (before >= 0 ? next[before] : first[stage]) = node;
  (after >= 0 ? previous[after] : last[stage]) = node;
  memory[node] = (before >= 0 ? memory[before] : carried[stage]) + held;
}

void LocalSearch::spreadEnds(const Move &move) {
  auto touch = [&](int node) {
    if (next[node] >= 0 && place[next[node]] > move.high)
      mark(dirtyEnds, place[next[node]]);
    forEachUser(node, [&](int user, double) {
      if (place[user] > move.high)
        mark(dirtyEnds, place[user]);
    });
  };
  marked = 0;
  int stage = flat.kind(kindOf[move.node]).stage;
  for (int node : stretch)
    if (newEnd[node] != end[node] || flat.kind(kindOf[node]).stage == stage) {
      end[node] = newEnd[node];
      touch(node);
    }
  for (std::size_t word = move.high >> 6; marked > 0; ++word)
    while (dirtyEnds[word] != 0) {
      int bit = std::countr_zero(dirtyEnds[word]);
      dirtyEnds[word] &= dirtyEnds[word] - 1;
      --marked;
      ++looked;
      int node = seq[word * 64 + bit];
      double value = endOf(node, previous[node]);
      if (value == end[node])
        continue;
      end[node] = value;
      touch(node);
    }
}

void LocalSearch::spreadTails(const Move &move) {
  auto touch = [&](int node) {
    if (previous[node] >= 0 && place[previous[node]] < move.low)
      mark(dirtyTails, place[previous[node]]);
    forEachInput(node, [&](int input, double) {
      if (place[input] < move.low)
        mark(dirtyTails, place[input]);
    });
  };
  marked = 0;
  for (auto node = stretch.rbegin(); node != stretch.rend(); ++node) {
    tail[*node] = tailOf(*node);
    touch(*node);
  }
  for (int word = move.low >> 6; marked > 0; --word)
    while (dirtyTails[word] != 0) {
      int bit = 63 - std::countl_zero(dirtyTails[word]);
      dirtyTails[word] &= ~(std::uint64_t(1) << bit);
      --marked;
      ++looked;
      int node = seq[word * 64 + bit];
      double value = tailOf(node);
      if (value == tail[node])
        continue;
      tail[node] = value;
      touch(node);
    }
}

void LocalSearch::apply(const Move &move) {
  relink(move);
  for (std::size_t i = 0; i < stretch.size(); ++i) {
    seq[move.low + i] = stretch[i];
    place[stretch[i]] = move.low + static_cast<int>(i);
  }
  looked += 2 * stretch.size();
  spreadEnds(move);
  spreadTails(move);
  current = objective();
}

/// Chooses a move of an operation on a path that is at most `slack` shorter
/// than the longest one, and sometimes of any operation. Only moves of critical
/// operations shorten the step, but the others make room for them.
bool LocalSearch::chooseMove(double slack, Move &move) {
  std::uint64_t bits = random();
  move.node = seq[((bits >> 32) * seq.size()) >> 32];
  int kind = kindOf[move.node];
  double path = end[move.node] - flat.kind(kind).cost + tail[move.node];
  if (path < current - slack && (bits & 15) != 0)
    return false;
  move.earlier = bits & 16;
  bits >>= 5;
  int distance = 1;
  if ((bits & 1) != 0)
    distance += static_cast<int>(bits >> 1 & 3);
  if ((bits & 0x38) == 0)
    distance += static_cast<int>(bits >> 6 & 15);
  return move.earlier ? reachEarlier(move, distance)
                      : reachLater(move, distance);
}

void LocalSearch::keepBest() {
  if (bestIsKept)
    return;
  bestOrders = orders();
  bestIsKept = true;
}

/// Moves the begins of stages to the times at which the present orders have the
/// shortest period. Moves W between the end of a step and the beginning of the
/// next one, which is equivalent if steps follow each other.
void LocalSearch::retime() {
  FlatOrders turned = orders();
  for (std::vector<int> &order : turned)
    turn(flat, late, below(2) == 0, order);
  double kept = best;
  bool wasKept = bestIsKept;
  load(turned);
  if (!wasKept || kept >= current)
    return;
  best = kept;
  bestIsKept = true;
}

void LocalSearch::anneal(const AnnealOptions &options, Work &work) {
  double temperature = options.hot;
  // A change of the order of a sum causes a smaller difference than this.
  double epsilon = 1e-6 * options.cold;
  looked = 0;
  std::int64_t counted = 0, nextRetiming = 0;
  for (int round = 0; looked < options.work; ++round) {
    if ((round & 255) == 0) {
      work.spend(looked - counted);
      counted = looked;
      if (work.isSpent())
        break;
      double done = static_cast<double>(looked) / options.work;
      temperature = options.hot * std::pow(options.cold / options.hot, done);
      if (goal == Objective::Period && looked >= nextRetiming) {
        retime();
        looked += 20 * std::int64_t(seq.size());
        nextRetiming = looked + retimingWork * seq.size();
      }
    }
    ++looked;
    Move move;
    if (!chooseMove(temperature, move))
      continue;
    looked += 4 + move.high - move.low;
    if (!arrange(move))
      continue;
    double threshold =
        current + temperature * exponential[random() & 4095] + epsilon;
    double worst;
    if (!evaluate(move, threshold, worst))
      continue;
    // The best orders are kept before a worse move is taken. Until then, only
    // rounding may have made them slightly worse.
    if (worst > current)
      keepBest();
    apply(move);
    if (current < best - epsilon) {
      best = current;
      bestIsKept = false;
    } else if (!bestIsKept) {
      best = current;
    }
  }
  work.spend(looked - counted);
  load(bestIsKept && current > best ? FlatOrders(bestOrders) : orders());
}
