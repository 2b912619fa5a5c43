//===- VGreedy.cpp - list scheduling on a V under a memory limit ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VGreedy.h"

#include <limits>
#include <queue>

using namespace veeline::schedule;

static constexpr Direction Forward = Direction::Forward;
static constexpr Direction Backward = Direction::Backward;
static constexpr double never = std::numeric_limits<double>::infinity();

namespace {
/// What a microbatch on its way through a stage holds and will still need. A
/// microbatch passes the steps F leg 0, F leg 1, B leg 0, B leg 1; W is counted
/// as done right after its B.
struct Stops {
  /// Memory held before step i.
  std::int64_t held[5];
  /// The most that the rest of the microbatch adds to it, from step i on.
  std::int64_t need[5];
};

class Greedy {
public:
  Greedy(VBuilder &builder, const VGreedyOptions &options);
  void run();

private:
  struct Event {
    double time;
    int stage;
    bool operator>(const Event &other) const {
      return time != other.time ? time > other.time : stage > other.stage;
    }
  };

  void act(int stage, double time);
  bool tryOne(int stage, double time, int code, double &nextReady);
  bool isSafeAfter(int stage, int code) const;
  bool makeRoom(int stage, std::int64_t amount);
  void schedule(int stage, double time);
  void wakeUsers(int stage, Direction direction, int leg);

  VBuilder &builder;
  const VProblem &problem;
  const VGreedyOptions &options;
  int m;
  std::vector<Stops> stops;
  /// Memory of the W that a stage owes (not above 0).
  std::vector<std::int64_t> owedMemory;
  /// The time at which a stage looks again; `never` while it sleeps.
  std::vector<double> wakeTime;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  int priority[4];
};
} // namespace

static Stops stopsOf(const VProblem &problem, int stage) {
  std::int64_t step[4], peak[4];
  for (int code = 0; code < 4; ++code) {
    Direction direction = code < 2 ? Forward : Backward;
    const VProblem::Leg &leg = problem.leg(direction, stage, code % 2);
    step[code] = leg.memory + leg.weightMemory;
    peak[code] = std::max<std::int64_t>(leg.memory, step[code]);
  }
  Stops stops;
  stops.held[0] = 0;
  for (int code = 0; code < 4; ++code)
    stops.held[code + 1] = stops.held[code] + step[code];
  stops.need[4] = 0;
  for (int code = 3; code >= 0; --code)
    stops.need[code] = std::max(
        {std::int64_t(0), peak[code], step[code] + stops.need[code + 1]});
  return stops;
}

Greedy::Greedy(VBuilder &builder, const VGreedyOptions &options)
    : builder(builder), problem(builder.getProblem()), options(options),
      m(problem.microbatches()), owedMemory(problem.stages()),
      wakeTime(problem.stages(), never) {
  for (int stage = 0; stage < problem.stages(); ++stage)
    stops.push_back(stopsOf(problem, stage));
  int first = static_cast<int>(options.first), leg = options.firstLeg;
  int order[4] = {first * 2 + leg, first * 2 + 1 - leg, (1 - first) * 2 + leg,
                  (1 - first) * 2 + 1 - leg};
  std::copy(std::begin(order), std::end(order), priority);
}

/// Whether a stage that runs the next step `code` now could then finish all
/// microbatches that it has begun, oldest first. Those at one step are alike
/// and each leaves less behind than it found, so the first of each decides.
bool Greedy::isSafeAfter(int stage, int code) const {
  const Stops &stop = stops[stage];
  int placed[5] = {m, 0, 0, 0, 0};
  for (int i = 0; i < 4; ++i)
    placed[i + 1] =
        builder.placed(i < 2 ? Forward : Backward, stage, i % 2) + (i == code);
  std::int64_t memory = builder.memory(stage) + owedMemory[stage] +
                        stop.held[code + 1] - stop.held[code];
  if (code == 0) {
    double reserved = options.reserve * (placed[1] - placed[2]) *
                      problem.leg(Forward, stage, 1).memory;
    if (placed[1] > placed[4] + 1 && memory + reserved > problem.limit(stage))
      return false;
  }
  for (int step = 3; step >= 1; --step) {
    int waiting = placed[step] - placed[step + 1];
    if (waiting > 0 && memory + stop.need[step] > problem.limit(stage))
      return false;
    memory -= waiting * stop.held[step];
  }
  return true;
}

bool Greedy::makeRoom(int stage, std::int64_t amount) {
  while (builder.memory(stage) + amount > problem.limit(stage)) {
    if (!builder.owesWeight(stage))
      return false;
    owedMemory[stage] -= builder.oldestOwed(stage).memory;
    builder.placeWeight(stage);
  }
  return true;
}

void Greedy::schedule(int stage, double time) {
  wakeTime[stage] = time;
  if (time < never)
    events.push({time, stage});
}

void Greedy::wakeUsers(int stage, Direction direction, int leg) {
  for (const Link &user : problem.leg(direction, stage, leg).users) {
    int other = problem.stageOf(user.chunk);
    double time =
        std::max(builder.now(other), builder.now(stage) + user.transfer);
    if (other != stage && time < wakeTime[other])
      schedule(other, time);
  }
}

/// Runs the next microbatch of one direction and leg if it is ready and safe.
/// If it only has to wait, lowers `nextReady` to that time.
bool Greedy::tryOne(int stage, double time, int code, double &nextReady) {
  Direction direction = code < 2 ? Forward : Backward;
  int leg = code % 2;
  if (builder.placed(direction, stage, leg) == m)
    return false;
  double ready = builder.readyTime(direction, stage, leg);
  if (ready == VBuilder::unknown || !isSafeAfter(stage, code))
    return false;
  if (ready > time) {
    nextReady = std::min(nextReady, ready);
    return false;
  }
  const VProblem::Leg &info = problem.leg(direction, stage, leg);
  if (!makeRoom(stage, info.memory))
    return false;
  builder.place(direction, stage, leg);
  owedMemory[stage] += info.weightMemory;
  schedule(stage, builder.now(stage));
  if (info.hasInputGradient)
    wakeUsers(stage, direction, leg);
  return true;
}

void Greedy::act(int stage, double time) {
  double nextReady = never;
  for (int code : priority)
    if (tryOne(stage, time, code, nextReady))
      return;
  if (builder.owesWeight(stage)) {
    const VBuilder::Owed &weight = builder.oldestOwed(stage);
    double end = std::max(time, weight.ready) + weight.cost;
    if (end <= nextReady + options.overrun * weight.cost) {
      owedMemory[stage] -= weight.memory;
      builder.placeWeight(stage);
      schedule(stage, builder.now(stage));
      return;
    }
  }
  schedule(stage, nextReady);
}

void Greedy::run() {
  for (int stage = 0; stage < problem.stages(); ++stage)
    schedule(stage, 0);
  while (!events.empty()) {
    Event event = events.top();
    events.pop();
    if (event.time == wakeTime[event.stage])
      act(event.stage, event.time);
  }
}

void veeline::schedule::buildVGreedy(VBuilder &builder,
                                     const VGreedyOptions &options) {
  builder.reset();
  Greedy(builder, options).run();
}
