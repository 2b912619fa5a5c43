//===- LocalSearch.cpp - annealing over the orders of stages --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalSearch.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace veeline::schedule;

LocalSearch::LocalSearch(const FlatProblem &flat, Objective objective,
                         std::uint64_t seed)
    : flat(flat), goal(objective),
      random((seed + 1) * 0x9E3779B97F4A7C15ull | 1), exponential(4096),
      kindOf(flat.nodes()), place(flat.nodes()), previous(flat.nodes(), -1),
      next(flat.nodes(), -1), first(flat.stages()), last(flat.stages()),
      end(flat.nodes()), tail(flat.nodes()), memory(flat.nodes()),
      offset(flat.stages()), newEnd(flat.nodes()), stamp(flat.nodes()) {
  for (std::size_t i = 0; i < exponential.size(); ++i)
    exponential[i] = -std::log((i + 0.5) / exponential.size());
  for (int node = 0; node < flat.nodes(); ++node)
    kindOf[node] = node / flat.microbatches();
  for (int i = 0; i < 8; ++i)
    random();
}

void LocalSearch::link(const FlatOrders &orders) {
  for (int stage = 0; stage < flat.stages(); ++stage) {
    int before = -1;
    std::int64_t held = 0;
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
  int kind = kindOf[node];
  int microbatch = node - kind * flat.microbatches();
  double start = before >= 0 ? end[before] : 0;
  for (const FlatProblem::Link &input : flat.inputs(kind))
    start = std::max(start,
                     end[flat.node(input.kind, microbatch)] + input.transfer);
  return start;
}

double LocalSearch::endOf(int node, int before) const {
  return startOf(node, before) + flat.kind(kindOf[node]).cost;
}

double LocalSearch::tailOf(int node) const {
  int kind = kindOf[node];
  int microbatch = node - kind * flat.microbatches();
  double longest =
      next[node] >= 0 ? tail[next[node]] : offset[flat.kind(kind).stage];
  for (const FlatProblem::Link &user : flat.users(kind))
    longest = std::max(longest,
                       user.transfer + tail[flat.node(user.kind, microbatch)]);
  return longest + flat.kind(kind).cost;
}

/// Finds a topological sequence and the ends. False where there is none.
bool LocalSearch::sequence() {
  std::size_t total = 0;
  std::vector<int> missing(flat.nodes());
  std::vector<double> start(flat.nodes());
  seq.clear();
  for (int stage = 0; stage < flat.stages(); ++stage)
    for (int node = first[stage]; node >= 0; node = next[node]) {
      ++total;
      missing[node] = static_cast<int>(flat.inputs(kindOf[node]).size()) +
                      (previous[node] >= 0);
      if (missing[node] == 0)
        seq.push_back(node);
    }
  for (std::size_t i = 0; i < seq.size(); ++i) {
    int node = seq[i], kind = kindOf[node];
    start[node] = startOf(node, previous[node]);
    end[node] = start[node] + flat.kind(kind).cost;
    auto release = [&](int user) {
      if (--missing[user] == 0)
        seq.push_back(user);
    };
    if (next[node] >= 0)
      release(next[node]);
    for (const FlatProblem::Link &user : flat.users(kind))
      release(flat.node(user.kind, node - kind * flat.microbatches()));
  }
  if (seq.size() != total)
    return false;
  // In the order of time, what runs at about the same time stands together,
  // and stretches are short. (An end less its cost may, rounded, lie before the
  // ends that the node waits for.)
  std::stable_sort(seq.begin(), seq.end(),
                   [&](int a, int b) { return start[a] < start[b]; });
  for (std::size_t i = 0; i < total; ++i)
    place[seq[i]] = static_cast<int>(i);
  return true;
}

double LocalSearch::score() const {
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

/// For spans, the end of a stage counts against its start plus the span that
/// the present score allows. The starts hardly change: a stage starts with the
/// first microbatch's F.
void LocalSearch::setOffsets() {
  if (goal == Objective::Makespan)
    return;
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

/// Takes the node of `move` past up to `distance` earlier neighbours: as far
/// as microbatches of its kind stay in order and memory allows.
bool LocalSearch::reachEarlier(Move &move, int distance) const {
  const FlatProblem::Kind &kind = flat.kind(kindOf[move.node]);
  std::int64_t limit = flat.limit(kind.stage);
  move.target = -1;
  int neighbour = previous[move.node];
  for (int i = 0; i < distance && neighbour >= 0; ++i) {
    if (kindOf[neighbour] == kindOf[move.node] ||
        memory[neighbour] + kind.memory > limit)
      break;
    if (goal == Objective::Span && previous[neighbour] < 0)
      break;
    int before = previous[neighbour];
    if ((before < 0 ? 0 : memory[before]) + kind.memory <= limit)
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
    if (kindOf[neighbour] == kindOf[move.node] ||
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

/// Sets `stretch` to its new sequence: what the node needs, the node, then the
/// rest. False where the node needs what it is to go past.
bool LocalSearch::arrangeEarlier(const Move &move) {
  int stage = flat.kind(kindOf[move.node]).stage, m = flat.microbatches();
  ++now;
  auto need = [&](int node) {
    for (const FlatProblem::Link &input : flat.inputs(kindOf[node]))
      stamp[flat.node(input.kind, node - kindOf[node] * m)] = now;
  };
  stretch.clear();
  rest.clear();
  need(move.node);
  rest.push_back(move.node);
  for (int i = move.high - 1; i >= move.low; --i) {
    int node = seq[i];
    if (stamp[node] != now) {
      stretch.push_back(node);
      continue;
    }
    if (flat.kind(kindOf[node]).stage == stage)
      return false;
    need(node);
    if (previous[node] >= 0)
      stamp[previous[node]] = now;
    rest.push_back(node);
  }
  stretch.insert(stretch.end(), rest.begin(), rest.end());
  std::reverse(stretch.begin(), stretch.end());
  return true;
}

bool LocalSearch::arrangeLater(const Move &move) {
  int stage = flat.kind(kindOf[move.node]).stage, m = flat.microbatches();
  ++now;
  auto release = [&](int node) {
    for (const FlatProblem::Link &user : flat.users(kindOf[node]))
      stamp[flat.node(user.kind, node - kindOf[node] * m)] = now;
  };
  stretch.clear();
  rest.clear();
  release(move.node);
  rest.push_back(move.node);
  for (int i = move.low + 1; i <= move.high; ++i) {
    int node = seq[i];
    if (stamp[node] != now) {
      stretch.push_back(node);
      continue;
    }
    if (flat.kind(kindOf[node]).stage == stage)
      return false;
    release(node);
    if (next[node] >= 0)
      stamp[next[node]] = now;
    rest.push_back(node);
  }
  stretch.insert(stretch.end(), rest.begin(), rest.end());
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

/// Raises `worst` to the longest path that leaves the stretch at `node`. False
/// where that is above the threshold.
bool LocalSearch::leavesStretch(const Move &move, int node, double nodeEnd,
                                double threshold, double &worst) const {
  int kind = kindOf[node], after = next[node];
  if (node == (move.earlier ? previous[move.node] : move.node))
    after = next[move.earlier ? move.node : move.target];
  double longest = -std::numeric_limits<double>::infinity();
  if (after < 0)
    longest = offset[flat.kind(kind).stage];
  else if (place[after] > move.high)
    longest = tail[after];
  int microbatch = node - kind * flat.microbatches();
  for (const FlatProblem::Link &user : flat.users(kind)) {
    int other = flat.node(user.kind, microbatch);
    if (place[other] > move.high)
      longest = std::max(longest, user.transfer + tail[other]);
  }
  worst = std::max(worst, nodeEnd + longest);
  return worst <= threshold;
}

/// Computes the new ends in the stretch; `worst` is the longest path over what
/// changed there. False where that is above the threshold.
bool LocalSearch::evaluate(const Move &move, double threshold, double &worst) {
  int m = flat.microbatches();
  int lastOfStage = move.earlier ? previous[move.node] : move.node;
  ++now;
  worst = -std::numeric_limits<double>::infinity();
  for (int node : stretch) {
    int kind = kindOf[node], microbatch = node - kind * m;
    int before = newPrevious(move, node);
    double start = before < 0             ? 0
                   : stamp[before] == now ? newEnd[before]
                                          : end[before];
    for (const FlatProblem::Link &input : flat.inputs(kind)) {
      int other = flat.node(input.kind, microbatch);
      start =
          std::max(start, (stamp[other] == now ? newEnd[other] : end[other]) +
                              input.transfer);
    }
    stamp[node] = now;
    newEnd[node] = start + flat.kind(kind).cost;
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
  memory[node] = (before >= 0 ? memory[before] : 0) + held;
}

void LocalSearch::spreadEnds(const Move &move) {
  auto touch = [&](int node) {
    int kind = kindOf[node];
    if (next[node] >= 0 && place[next[node]] > move.high)
      mark(dirtyEnds, place[next[node]]);
    for (const FlatProblem::Link &user : flat.users(kind)) {
      int other = flat.node(user.kind, node - kind * flat.microbatches());
      if (place[other] > move.high)
        mark(dirtyEnds, place[other]);
    }
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
    int kind = kindOf[node];
    if (previous[node] >= 0 && place[previous[node]] < move.low)
      mark(dirtyTails, place[previous[node]]);
    for (const FlatProblem::Link &input : flat.inputs(kind)) {
      int other = flat.node(input.kind, node - kind * flat.microbatches());
      if (place[other] < move.low)
        mark(dirtyTails, place[other]);
    }
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

/// A move of an operation that is on a path at most `slack` shorter than the
/// longest, or sometimes of any: only moves of critical operations shorten the
/// step, and the others make room for them.
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

void LocalSearch::anneal(const AnnealOptions &options, Work &work) {
  double temperature = options.hot;
  // Sums of the same costs in another order differ by less.
  double epsilon = 1e-6 * options.cold;
  looked = 0;
  std::int64_t counted = 0;
  for (int round = 0; looked < options.work; ++round) {
    if ((round & 255) == 0) {
      work.spend(looked - counted);
      counted = looked;
      if (work.isSpent())
        break;
      double done = static_cast<double>(looked) / options.work;
      temperature = options.hot * std::pow(options.cold / options.hot, done);
    }
    ++looked;
    Move move;
    if (!chooseMove(temperature, move))
      continue;
    looked += 4 + move.high - move.low;
    if (!(move.earlier ? arrangeEarlier(move) : arrangeLater(move)))
      continue;
    double threshold =
        current + temperature * exponential[random() & 4095] + epsilon;
    double worst;
    if (!evaluate(move, threshold, worst))
      continue;
    // The best is kept before anything worse is taken; until then only rounding
    // may have raised it a little.
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
