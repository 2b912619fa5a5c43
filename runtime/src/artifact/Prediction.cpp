//===- Prediction.cpp - predicted times of steps --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/prediction.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

using namespace veeline;
using namespace veeline::artifact;

bool veeline::isPredictedWork(const Op &op) {
  return op.predictedEnd >= 0 && !waitsForReduction(op.kind);
}

static double durationOf(const Op &op) {
  return op.predictedEnd - op.predictedBegin;
}

/// The time of a step from an empty pipeline to an empty one. None if nothing
/// is predicted.
static std::optional<double> predictAlone(const Program &program,
                                          int64_t cores) {
  double end = 0;
  /// The times at which ranks begin (+1) and stop (-1) to work.
  std::vector<std::pair<double, int64_t>> changes;
  for (const Rank &rank : program.ranks)
    for (const Op &op : rank.ops) {
      // Copies to the host's memory run in parallel to work.
      bool isCopy = op.kind == OpKind::offload || op.kind == OpKind::reload;
      if (op.chunk >= 0 && op.predictedEnd < 0 && !isCopy)
        return std::nullopt;
      end = std::max(end, op.predictedEnd);
      if (!isPredictedWork(op))
        continue;
      changes.emplace_back(op.predictedBegin, 1);
      changes.emplace_back(op.predictedEnd, -1);
    }
  std::sort(changes.begin(), changes.end());
  // The replicas of a rank work at the same time. `ranks` has those of one
  // replica, unless `places` is set.
  int64_t replicas = program.places.empty() ? program.replicas : 1;
  double lost = 0, last = 0;
  int64_t working = 0;
  for (auto [time, change] : changes) {
    double share = double(working * replicas) / double(cores);
    lost += (time - last) * std::max(0.0, share - 1);
    last = time;
    working += change;
  }
  return end + lost;
}

//===----------------------------------------------------------------------===//
// Steps that follow one another
//===----------------------------------------------------------------------===//

namespace {
/// Simulates the ranks of a program for steps that follow one another, with the
/// predicted times of their work.
class Chain {
public:
  explicit Chain(const Program &program)
      : program(program), ranks(program.ranks.size()),
        sent(program.channels.size()), received(program.channels.size()) {
    for (size_t i = 0; i < ranks.size(); ++i) {
      ranks[i].stage = program.placeOf(i).stage;
      ++members[ranks[i].stage];
      for (const HostCopy &copy : program.ranks[i].hostCopies)
        for (int32_t op : {copy.offload, copy.reload})
          ranks[i].links.copies[static_cast<size_t>(op)] = &copy;
    }
    findLags();
  }

  /// Returns the end of each step's work on all ranks. The last step includes
  /// its late work.
  std::vector<double> run(int steps);

  struct Span {
    double begin = -1, end = -1;
  };
  /// Runs `steps` steps. Returns the times of one turn, by rank and op. They
  /// are negative for ops that do not run.
  std::vector<std::vector<Span>> run(int steps, int turn);

private:
  /// The copies of a rank to the host's memory and back.
  struct Links {
    /// The times until which each of the links is busy.
    double toHost = 0, fromHost = 0;
    /// For each op, the copy that it begins.
    std::map<size_t, const HostCopy *> copies;
    /// For each chunk and microbatch, the time at which its values are back.
    std::map<std::pair<int32_t, int32_t>, double> back;
    /// For each op, the time at which it may begin because values have left.
    std::map<size_t, double> left;
  };
  struct RankState {
    int32_t stage = 0;
    int step = 0;
    size_t op = 0;
    double now = 0;
    Links links;
  };
  /// Identifies a reduction: its stage and its number.
  using Sum = std::pair<int32_t, int32_t>;
  struct Posts {
    /// For each step, the last post of the ranks so far.
    std::vector<double> last;
    std::vector<size_t> count;
  };

  void findLags();
  bool advance(RankState &rank, const Rank &description);
  void runOp(RankState &rank, const Op &op);
  static void beginCopy(RankState &rank, const Op &op);
  static double endOfCopies(RankState &rank, const Op &op);
  std::optional<double> readyAt(const RankState &rank, const Op &op);
  double transferOf(const Channel &channel) const;
  void post(const RankState &rank, const Op &op);

  const Program &program;
  std::vector<RankState> ranks;
  std::map<int32_t, size_t> members; ///< The number of ranks of each stage.
  /// For each channel, the arrival times of its messages.
  std::vector<std::vector<double>> sent;
  /// For each channel, the number of messages so far.
  std::vector<size_t> received;
  std::map<Sum, Posts> posts;
  /// For each reduction, the time from its last post to its end.
  std::map<Sum, double> lags;
  std::vector<double> ends;
  /// The end of each turn, by rank and step.
  std::vector<std::vector<double>> turnEnds;
  int numSteps = 0;
  int keptTurn = -1;
  std::vector<std::vector<Span>> kept;
};
} // namespace

/// Finds the time between the last post of each reduction and its end, as
/// predicted for one step.
void Chain::findLags() {
  std::map<Sum, double> posted;
  for (size_t i = 0; i < ranks.size(); ++i) {
    double now = 0;
    for (const Op &op : program.ranks[i].ops) {
      Sum sum{ranks[i].stage, op.reduction};
      if (postsReduction(op.kind))
        posted[sum] = std::max(posted[sum], now);
      if (waitsForReduction(op.kind))
        lags[sum] = std::max(lags[sum], op.predictedEnd);
      // Updates have no times yet, only durations, and follow a wait.
      now = std::max(now, op.predictedEnd);
    }
  }
  for (auto &[sum, end] : lags)
    end = std::max(0.0, end - posted[sum]);
}

double Chain::transferOf(const Channel &channel) const {
  bool isValue = channel.kind == ChannelKind::activation ||
                 channel.kind == ChannelKind::gradient;
  if (!isValue || static_cast<size_t>(channel.edge) >= program.edges.size())
    return 0;
  const Edge &edge = program.edges[static_cast<size_t>(channel.edge)];
  return channel.kind == ChannelKind::activation ? edge.forwardTransfer
                                                 : edge.backwardTransfer;
}

void Chain::post(const RankState &rank, const Op &op) {
  Posts &all = posts[{rank.stage, op.reduction}];
  auto step = static_cast<size_t>(rank.step);
  all.last.resize(std::max(all.last.size(), step + 1));
  all.count.resize(all.last.size());
  all.last[step] = std::max(all.last[step], rank.now);
  ++all.count[step];
}

/// The time at which the rank can begin `op`. None if other ops have to run
/// first.
std::optional<double> Chain::readyAt(const RankState &rank, const Op &op) {
  if (op.kind == OpKind::recv) {
    auto channel = static_cast<size_t>(op.channel);
    if (received[channel] >= sent[channel].size())
      return std::nullopt;
    return sent[channel][received[channel]++];
  }
  if (op.kind == OpKind::validate) {
    // The step before must have ended on all ranks.
    auto before = static_cast<size_t>(rank.step) - 1;
    double ready = 0;
    for (const std::vector<double> &ofRank : turnEnds) {
      if (ofRank.size() <= before)
        return std::nullopt;
      ready = std::max(ready, ofRank[before]);
    }
    return ready;
  }
  if (waitsForReduction(op.kind)) {
    Sum sum{rank.stage, op.reduction};
    const Posts &all = posts[sum];
    auto step = static_cast<size_t>(rank.step);
    if (step >= all.count.size() || all.count[step] < members[rank.stage])
      return std::nullopt;
    return all.last[step] + lags[sum];
  }
  return 0;
}

/// Runs the next operation of a rank, if possible.
bool Chain::advance(RankState &rank, const Rank &description) {
  const Op &op = description.ops[rank.op];
  // The first step has no late work of a step before it. The late work of the
  // last step follows it.
  bool isRun = op.late ? rank.step > 0 : rank.step < numSteps;
  if (isRun) {
    std::optional<double> ready = readyAt(rank, op);
    if (!ready)
      return false;
    double before = rank.now;
    rank.now = std::max({rank.now, *ready, endOfCopies(rank, op)});
    bool isWait = waitsForReduction(op.kind);
    Span span{isWait ? before : rank.now};
    runOp(rank, op);
    span.end = rank.now;
    if (rank.step == keptTurn)
      kept[static_cast<size_t>(&rank - ranks.data())][rank.op] = span;
  }
  if (++rank.op == description.ops.size()) {
    turnEnds[static_cast<size_t>(&rank - ranks.data())].push_back(rank.now);
    rank.op = 0;
    ++rank.step;
  }
  return true;
}

/// Begins a copy. A link carries one copy after the other.
void Chain::beginCopy(RankState &rank, const Op &op) {
  auto found = rank.links.copies.find(rank.op);
  if (found == rank.links.copies.end())
    return;
  const HostCopy &copy = *found->second;
  bool isOffload = op.kind == OpKind::offload;
  double &link = isOffload ? rank.links.toHost : rank.links.fromHost;
  link = std::max(link, rank.now) + copy.microseconds;
  if (isOffload)
    rank.links.left[static_cast<size_t>(copy.releasedBefore)] = link;
  else
    rank.links.back[{op.chunk, op.microbatch}] = link;
}

/// The time at which the copies that an op waits for have ended, to the host's
/// memory or back.
double Chain::endOfCopies(RankState &rank, const Op &op) {
  double end = 0;
  if (auto left = rank.links.left.extract(rank.op))
    end = left.mapped();
  // The first of these ops takes the values that have come back.
  bool isReader =
      op.kind == OpKind::recomputation || op.kind == OpKind::backward ||
      op.kind == OpKind::backwardInput || op.kind == OpKind::backwardWeight;
  if (isReader && !op.late)
    if (auto back = rank.links.back.extract({op.chunk, op.microbatch}))
      end = std::max(end, back.mapped());
  return end;
}

void Chain::runOp(RankState &rank, const Op &op) {
  beginCopy(rank, op);
  bool isWork = isPredictedWork(op);
  if (isWork)
    rank.now += durationOf(op);
  if (op.kind == OpKind::send) {
    const Channel &channel = program.channels[static_cast<size_t>(op.channel)];
    sent[static_cast<size_t>(op.channel)].push_back(rank.now +
                                                    transferOf(channel));
  }
  if (postsReduction(op.kind))
    post(rank, op);
  auto step = static_cast<size_t>(std::min(rank.step, numSteps - 1));
  if (isWork || waitsForReduction(op.kind))
    ends[step] = std::max(ends[step], rank.now);
}

std::vector<double> Chain::run(int steps) {
  ends.assign(static_cast<size_t>(steps), 0);
  turnEnds.assign(ranks.size(), {});
  numSteps = steps;
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (size_t i = 0; i < ranks.size(); ++i)
      while (!program.ranks[i].ops.empty() && ranks[i].step <= steps &&
             advance(ranks[i], program.ranks[i]))
        isMoving = true;
  }
  return ends;
}

std::vector<std::vector<Chain::Span>> Chain::run(int steps, int turn) {
  keptTurn = turn;
  for (const Rank &rank : program.ranks)
    kept.emplace_back(rank.ops.size());
  run(steps);
  return std::move(kept);
}

/// The time that the cores need at least for the work of a step.
static double workOf(const Program &program, int64_t cores) {
  double work = 0;
  for (const Rank &rank : program.ranks)
    for (const Op &op : rank.ops)
      if (isPredictedWork(op))
        work += durationOf(op);
  int64_t replicas = program.places.empty() ? program.replicas : 1;
  return work * double(replicas) / double(cores);
}

void veeline::settleTimes(Program &program) {
  bool isPredicted = predictAlone(program, INT64_MAX).has_value();
  if (!isPredicted) {
    for (Rank &rank : program.ranks)
      for (Op &op : rank.ops)
        if (op.chunk < 0)
          op.predictedBegin = op.predictedEnd = -1;
    return;
  }
  int turn = program.hasLate() ? 1 : 0;
  auto spans = Chain(program).run(/*steps=*/2 * turn + 1, turn);
  double first = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < program.ranks.size(); ++i)
    for (size_t j = 0; j < spans[i].size(); ++j)
      if (program.ranks[i].ops[j].predictedEnd >= 0)
        first = std::min(first, spans[i][j].begin);
  for (size_t i = 0; i < program.ranks.size(); ++i)
    for (size_t j = 0; j < spans[i].size(); ++j)
      if (Op &op = program.ranks[i].ops[j]; op.predictedEnd >= 0) {
        op.predictedBegin = spans[i][j].begin - first;
        op.predictedEnd = spans[i][j].end - first;
      }
}

std::optional<double> veeline::predictStep(const Program &program,
                                           int64_t cores) {
  std::optional<double> alone = predictAlone(program, cores);
  // If the order is cyclic, predicted times are those of a step between others.
  if (!alone || !program.hasLate())
    return alone;
  return std::max(Chain(program).run(1).front(), workOf(program, cores));
}

std::optional<double> veeline::predictPeriod(const Program &program,
                                             int64_t cores) {
  if (!predictStep(program))
    return std::nullopt;
  // The first steps differ from later ones.
  constexpr int numFirst = 4, numSteps = 8;
  std::vector<double> ends = Chain(program).run(numFirst + numSteps);
  // The last step includes its late work, so it is not counted.
  constexpr int numCounted = numSteps - 1;
  return std::max((ends[numFirst + numCounted - 1] - ends[numFirst - 1]) /
                      numCounted,
                  workOf(program, cores));
}
