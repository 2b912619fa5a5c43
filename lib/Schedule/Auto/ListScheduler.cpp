//===- ListScheduler.cpp - list scheduling on any placement ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ListScheduler.h"

#include "Random.h"

#include <algorithm>
#include <cmath>
#include <queue>

using namespace veeline::schedule;

static constexpr double never = std::numeric_limits<double>::infinity();
static constexpr double unknown = -1;

namespace {
/// What a microbatch holds on its way through a stage, and what it will still
/// need. It passes 2v steps. W is assumed to run right after its B.
struct Passage {
  /// Memory held before step i.
  std::vector<std::int64_t> held;
  /// The maximum that the rest of the microbatch adds to it, from step i on.
  std::vector<std::int64_t> need;
};

struct Owed {
  int kind, microbatch;
  double ready;
};

class ListScheduler {
public:
  ListScheduler(const FlatProblem &flat, const ListOptions &options);
  ListResult run();

private:
  struct Event {
    double time;
    int stage;
    bool operator>(const Event &other) const {
      return time != other.time ? time > other.time : stage > other.stage;
    }
  };
  struct Stage {
    double now = 0;
    /// The time at which the stage acts next; `never` while it sleeps.
    double wake = never;
    std::int64_t memory = 0, owedMemory = 0;
    bool lastForward = false;
    int most = 0, mostLate = 0;
    std::vector<int> placed;
    std::vector<Owed> owed;
    std::size_t owedBegin = 0;
    Passage passage;
  };
  struct Candidate {
    int step = -1;
    double ready = 0, rank = never;
  };

  void act(int stage, double time);
  double readyTime(int stage, int step) const;
  bool isSafeAfter(int stage, int step) const;
  double rankOf(int stage, int step);
  double fillWith(int stage) const;
  bool runWeight(int stage, double time, double nextReady);
  std::size_t firstWeight(const Stage &stage) const;
  /// Whether a step is the first F of its chunk after an update.
  bool opensStep(const Stage &stage, int step) const {
    return options.stepLength > 0 && step < v && stage.placed[step] > 0 &&
           stage.placed[step] % options.stepLength == 0;
  }
  void place(int stage, int step, double ready);
  void placeWeight(int stage, std::size_t which);
  void append(int stage, int kind, int microbatch, double ready);
  void schedule(int stage, double time);
  void plan();
  int weightKind(int backward) const { return backward + 1; }

  const FlatProblem &flat;
  const ListOptions &options;
  int v, m;
  std::vector<Stage> stages;
  std::vector<double> end;
  /// The time at which the plan starts a kind for microbatch 0, and the time
  /// between microbatches in the plan.
  std::vector<double> planned;
  double period = 0;
  ListResult result;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  Xorshift random;
};
} // namespace

static Passage passageOf(const FlatProblem &flat, int stage) {
  std::span<const int> passes = flat.passes(stage);
  std::size_t steps = passes.size();
  Passage result{std::vector<std::int64_t>(steps + 1),
                 std::vector<std::int64_t>(steps + 1)};
  std::vector<std::int64_t> step(steps), peak(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    std::int64_t memory = flat.kind(passes[i]).memory;
    bool backward = i >= steps / 2;
    step[i] = memory + (backward ? flat.kind(passes[i] + 1).memory : 0);
    peak[i] = std::max(memory, step[i]);
    result.held[i + 1] = result.held[i] + step[i];
  }
  for (std::size_t i = steps; i-- > 0;)
    result.need[i] =
        std::max({std::int64_t(0), peak[i], step[i] + result.need[i + 1]});
  return result;
}

std::int64_t veeline::schedule::leastLimit(const FlatProblem &flat, int stage) {
  return passageOf(flat, stage).need[0];
}

bool veeline::schedule::admitsSplit(const FlatProblem &flat) {
  for (int stage = 0; stage < flat.stages(); ++stage)
    if (leastLimit(flat, stage) > flat.limit(stage))
      return false;
  return true;
}

ListScheduler::ListScheduler(const FlatProblem &flat,
                             const ListOptions &options)
    : flat(flat), options(options), v(flat.chunksPerStage()),
      m(flat.microbatches()), stages(flat.stages()), end(flat.nodes(), unknown),
      planned(flat.kinds()), random(options.seed * 0x9E3779B97F4A7C15ull | 1) {
  result.orders.resize(flat.stages());
  result.firstStart.resize(flat.stages());
  for (int s = 0; s < flat.stages(); ++s) {
    Stage &stage = stages[s];
    stage.placed.assign(2 * v, 0);
    stage.passage = passageOf(flat, s);
    double share = flat.stages() > 1 ? double(s) / (flat.stages() - 1) : 0;
    double most = options.mostOnFirst +
                  share * (options.mostOnLast - options.mostOnFirst);
    stage.most =
        options.mostOnFirst > 0 ? std::max(1, int(std::lround(most))) : m;
    double late = options.lateOnFirst +
                  share * (options.lateOnLast - options.lateOnFirst);
    stage.mostLate =
        options.lateOnFirst < 0 ? v * m : std::max(0, int(std::lround(late)));
    result.orders[s].reserve(std::size_t(3) * v * m);
  }
  if (options.first == ListOptions::First::Planned)
    plan();
}

/// Visits kinds in an order in which their inputs come first.
void ListScheduler::plan() {
  std::vector<int> pass(flat.kinds());
  for (int s = 0; s < flat.stages(); ++s) {
    period = std::max(period, flat.busy(s) / m);
    for (int step = 0; step < 2 * v; ++step)
      pass[flat.passes(s)[step]] = step * std::min(8, 2 * v) / (2 * v);
  }
  auto relax = [&](int kind) {
    double pace = options.paces[pass[kind]];
    for (const FlatProblem::Link &input : flat.inputs(kind))
      planned[kind] =
          std::max(planned[kind],
                   planned[input.kind] +
                       pace * (flat.kind(input.kind).cost + input.transfer));
  };
  int chunks = flat.kinds() / 3;
  for (int chunk = 0; chunk < chunks; ++chunk)
    relax(chunk * 3);
  for (int chunk = chunks - 1; chunk >= 0; --chunk)
    relax(chunk * 3 + 1);
}

/// The time at which the next microbatch of a step can start, as far as it is
/// known. `unknown` if an input, or the previous step on this stage, is not
/// placed yet.
double ListScheduler::readyTime(int s, int step) const {
  const Stage &stage = stages[s];
  int microbatch = stage.placed[step];
  if (step > 0 && stage.placed[step - 1] <= microbatch)
    return unknown;
  if (opensStep(stage, step) && stage.placed[2 * v - 1 - step] < microbatch)
    return unknown;
  int kind = flat.passes(s)[step];
  // A chunk without BackwardInput waits for its gradients with W.
  if (!flat.kind(kind).exists)
    ++kind;
  double ready = 0;
  for (const FlatProblem::Link &input : flat.inputs(kind)) {
    double time = end[flat.node(input.kind, microbatch)];
    if (time == unknown)
      return unknown;
    ready = std::max(ready, time + input.transfer);
  }
  return ready;
}

/// Whether a stage that runs `step` now could then finish all microbatches that
/// it has begun, oldest first. Microbatches at the same step are alike, and
/// each leaves less behind than it found, so only the first of them has to be
/// checked.
bool ListScheduler::isSafeAfter(int s, int step) const {
  const Stage &stage = stages[s];
  const Passage &passage = stage.passage;
  auto placed = [&](int i) { return stage.placed[i] + (i == step); };
  std::int64_t limit = flat.limit(s);
  std::int64_t memory = stage.memory + stage.owedMemory;
  // A B may temporarily hold more than remains after its W.
  if (memory + flat.kind(flat.passes(s)[step]).memory > limit)
    return false;
  memory += passage.held[step + 1] - passage.held[step];
  if (step == 0) {
    int begun = placed(0) - placed(2 * v - 1);
    if (begun > stage.most)
      return false;
    double reserved = options.reserve * (placed(0) - placed(v - 1)) *
                      (passage.held[v] - passage.held[1]);
    if (begun > 1 && memory + reserved > limit)
      return false;
  }
  for (int i = 2 * v - 1; i >= 1; --i) {
    int waiting = placed(i - 1) - placed(i);
    if (waiting > 0 && memory + passage.need[i] > limit)
      return false;
    memory -= waiting * passage.held[i];
  }
  return true;
}

/// Returns the rank of a step; the lowest rank runs first. Ranks are in units
/// of time, because of `noise`.
double ListScheduler::rankOf(int s, int step) {
  const Stage &stage = stages[s];
  bool forward = step < v;
  bool before = false;
  switch (options.first) {
  case ListOptions::First::Backward:
    before = !forward;
    break;
  case ListOptions::First::Forward:
    before = forward;
    break;
  case ListOptions::First::Other:
    before = forward != stage.lastForward;
    break;
  case ListOptions::First::Planned:
    break;
  }
  int kind = flat.passes(s)[step];
  double cost = flat.kind(kind).cost;
  double rank;
  if (options.first == ListOptions::First::Planned)
    rank = stage.placed[step] * period + planned[kind];
  else
    rank = (before ? 0 : 1000 * v) + (options.furtherOn ? -step : step);
  if (options.noise > 0) {
    double unit =
        options.first == ListOptions::First::Planned ? cost : 1000 * v;
    rank += options.noise * unit * random.unit();
  }
  return rank;
}

void ListScheduler::schedule(int s, double time) {
  stages[s].wake = time;
  if (time < never)
    events.push({time, s});
}

void ListScheduler::append(int s, int kind, int microbatch, double ready) {
  Stage &stage = stages[s];
  double start = std::max(stage.now, ready);
  if (result.orders[s].empty())
    result.firstStart[s] = start;
  stage.now = start + flat.kind(kind).cost;
  stage.memory += flat.kind(kind).memory;
  int node = flat.node(kind, microbatch);
  end[node] = stage.now;
  result.orders[s].push_back(node);
  for (const FlatProblem::Link &user : flat.users(kind)) {
    int other = flat.kind(user.kind).stage;
    double time = std::max(stages[other].now, stage.now + user.transfer);
    if (other != s && time < stages[other].wake)
      schedule(other, time);
  }
}

/// Returns the oldest W. If steps follow each other, returns that of the first
/// chunk that has any.
std::size_t ListScheduler::firstWeight(const Stage &stage) const {
  if (options.stepLength == 0)
    return stage.owedBegin;
  auto first = std::min_element(
      stage.owed.begin() + static_cast<std::ptrdiff_t>(stage.owedBegin),
      stage.owed.end(),
      [](const Owed &a, const Owed &b) { return a.kind < b.kind; });
  return first - stage.owed.begin();
}

void ListScheduler::placeWeight(int s, std::size_t which) {
  Stage &stage = stages[s];
  Owed weight = stage.owed[which];
  auto begin =
      stage.owed.begin() + static_cast<std::ptrdiff_t>(stage.owedBegin++);
  std::move_backward(
      begin, stage.owed.begin() + static_cast<std::ptrdiff_t>(which),
      stage.owed.begin() + static_cast<std::ptrdiff_t>(which) + 1);
  stage.owedMemory -= flat.kind(weight.kind).memory;
  append(s, weight.kind, weight.microbatch, weight.ready);
}

void ListScheduler::place(int s, int step, double ready) {
  Stage &stage = stages[s];
  int kind = flat.passes(s)[step];
  if (opensStep(stage, step))
    for (std::size_t i = stage.owedBegin; i < stage.owed.size(); ++i)
      if (flat.group(stage.owed[i].kind / 3) == flat.group(kind / 3))
        placeWeight(s, i);
  if (step == 0 && opensStep(stage, step))
    while (stage.owed.size() - stage.owedBegin >
           static_cast<std::size_t>(stage.mostLate))
      placeWeight(s, firstWeight(stage));
  int microbatch = stage.placed[step]++;
  stage.lastForward = step < v;
  if (flat.kind(kind).exists)
    append(s, kind, microbatch, ready);
  if (step < v)
    return;
  int weight = weightKind(kind);
  stage.owed.push_back(
      {weight, microbatch, flat.kind(kind).exists ? stage.now : ready});
  stage.owedMemory += flat.kind(weight).memory;
}

/// Runs the oldest W, unless it would delay the next operation by too much.
bool ListScheduler::runWeight(int s, double time, double nextReady) {
  Stage &stage = stages[s];
  if (stage.owedBegin == stage.owed.size())
    return false;
  std::size_t which = firstWeight(stage);
  const Owed &weight = stage.owed[which];
  double cost = flat.kind(weight.kind).cost;
  if (std::max(time, weight.ready) + cost > nextReady + options.overrun * cost)
    return false;
  placeWeight(s, which);
  return true;
}

void ListScheduler::act(int s, double time) {
  Stage &stage = stages[s];
  Candidate best, waiting;
  double nextReady = never;
  for (int step = 0; step < 2 * v; ++step) {
    if (stage.placed[step] == m)
      continue;
    double ready = readyTime(s, step);
    if (ready == unknown || !isSafeAfter(s, step))
      continue;
    double rank = rankOf(s, step);
    if (ready > time)
      nextReady = std::min(nextReady, ready);
    Candidate &slot = ready > time ? waiting : best;
    if (rank < slot.rank)
      slot = {step, ready, rank};
  }
  if (best.step >= 0 && waiting.step >= 0 && waiting.rank < best.rank &&
      waiting.ready <=
          time + options.patience * flat.kind(flat.passes(s)[best.step]).cost)
    best.step = -1, nextReady = waiting.ready;
  if (best.step < 0) {
    schedule(s, runWeight(s, time, nextReady) ? stage.now : nextReady);
    return;
  }
  std::int64_t adds = flat.kind(flat.passes(s)[best.step]).memory;
  while (stage.memory + adds > flat.limit(s) &&
         stage.owedBegin < stage.owed.size())
    placeWeight(s, firstWeight(stage));
  place(s, best.step, best.ready);
  schedule(s, stage.now);
}

ListResult ListScheduler::run() {
  for (int s = 0; s < flat.stages(); ++s)
    schedule(s, 0);
  while (!events.empty()) {
    Event event = events.top();
    events.pop();
    if (event.time == stages[event.stage].wake)
      act(event.stage, event.time);
  }
  for (const Stage &stage : stages)
    result.lastEnd.push_back(stage.now);
  return std::move(result);
}

ListResult veeline::schedule::listSchedule(const FlatProblem &flat,
                                           const ListOptions &options) {
  return ListScheduler(flat, options).run();
}
