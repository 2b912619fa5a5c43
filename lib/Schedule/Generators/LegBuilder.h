//===- LegBuilder.h - a schedule under construction -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A microbatch passes every stage on v *legs* forward, through the local chunks
// 0..v-1, and on v legs backward, through v-1..0. In terms of legs, forward and
// backward have the same form. (On a V, leg 0 comes from stage s-1 and leg 1
// from stage s+1, in both directions.)
//
// The builder appends operations to stages, each at the time when its inputs
// are available. It keeps clocks, memory and the queue of pending W. Strategies
// choose the next operation.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_LEGBUILDER_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_LEGBUILDER_H

#include "veeline/Schedule/Flow.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Schedule.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace veeline::schedule {

enum class Direction : std::uint8_t { Forward, Backward };

/// The problem as the strategies use it: by stage, leg and direction, with a
/// memory limit for every stage.
class LegProblem {
public:
  explicit LegProblem(const Problem &problem);

  int stages() const { return numStages; }
  int legs() const { return numLegs; }
  int microbatches() const { return numMicrobatches; }

  /// The number of a step of a microbatch on a stage, in order: forward on legs
  /// 0..v-1, then backward on legs 0..v-1.
  int code(Direction direction, int leg) const {
    return static_cast<int>(direction) * numLegs + leg;
  }
  int codes() const { return 2 * numLegs; }

  /// The costs and the memory of one leg of a stage. If the chunk has no
  /// BackwardInput, its backward step costs nothing and only enables W.
  struct Leg {
    int chunk;
    double cost;
    std::int64_t memory;
    /// The cost of the W that a backward step owes.
    double weightCost;
    std::int64_t weightMemory;
    bool hasInputGradient;
    std::span<const Link> inputs;
    std::span<const Link> users;
    /// The first input, if there is any. Mostly it is the only one.
    Link input;
  };
  const Leg &leg(int stage, int code) const {
    return legTable[static_cast<std::size_t>(stage) * codes() + code];
  }
  const Leg &leg(Direction direction, int stage, int leg) const {
    return this->leg(stage, code(direction, leg));
  }
  int stageOf(int chunk) const { return stageOfChunk[chunk]; }
  /// The time that the operations of a stage take, and a time before which none
  /// of them can start. No schedule that splits all backwards is shorter than
  /// the sum of the two.
  double work(int stage) const { return workOfStage[stage]; }
  double fill(int stage) const { return fillOfStage[stage]; }

  /// The memory limit of a stage. If the problem has none, it is p times what
  /// one microbatch holds, which is what 1F1B's worst stage would hold.
  std::int64_t limit(int stage) const { return limits[stage]; }
  void setLimit(int stage, std::int64_t limit) { limits[stage] = limit; }
  bool hasGivenLimit(int stage) const { return isGiven[stage]; }
  /// What one microbatch holds on a stage: for each chunk, the maximum that is
  /// kept between its operations.
  std::int64_t held(int stage) const { return heldOfStage[stage]; }
  /// The least limit with which a stage can run one microbatch at a time.
  std::int64_t leastLimit(int stage) const;
  /// Whether some chunk has no BackwardInput.
  bool hasChunkWithoutInputGradient() const { return lacksInputGradient; }

private:
  int numStages, numLegs, numMicrobatches;
  Flow flow;
  std::vector<Leg> legTable;
  std::vector<int> stageOfChunk;
  std::vector<double> workOfStage, fillOfStage;
  std::vector<std::int64_t> limits, heldOfStage;
  std::vector<bool> isGiven;
  bool lacksInputGradient = false;
};

/// The measures of a schedule, the most important one first.
using Key = std::array<double, 3>;

/// What an attempt has to beat to be useful: by makespan, span and memory, or
/// by span, makespan and memory. By default, any attempt is useful.
struct LegGoal {
  static constexpr double never = std::numeric_limits<double>::infinity();
  Key makespan{never, never, never};
  Key span{never, never, never};
  /// An attempt in which each stage waits less than this is useful in any case.
  double idle = 0;
};

/// A schedule under construction. It can be reset and used again.
class LegBuilder {
public:
  explicit LegBuilder(const LegProblem &problem);

  /// Forgets everything that was placed.
  void reset();

  /// From now on, `isHopeless` compares with this goal.
  void setGoal(const LegGoal &newGoal) {
    goal = newGoal;
    hopeless = false;
  }
  /// Whether the schedule will certainly miss the goal, because a stage cannot
  /// make up for waiting. Strategies may then give up.
  bool isHopeless() const { return hopeless; }

  const LegProblem &getProblem() const { return problem; }
  /// The number of microbatches of a leg that are placed.
  int placed(int stage, int code) const { return counts[slot(stage, code)]; }
  int placed(Direction direction, int stage, int leg) const {
    return placed(stage, problem.code(direction, leg));
  }
  double now(int stage) const { return states[stage].now; }
  std::int64_t memory(int stage) const { return states[stage].memory; }
  /// The time that the stage has waited since its first operation.
  double idle(int stage) const { return states[stage].idle; }
  double maxIdle() const { return greatestIdle; }

  static constexpr double unknown = -1;
  /// The time when the inputs of the next microbatch of a leg are available.
  /// `unknown` if an input, or the previous step on the same stage, is not
  /// placed yet. Expects that a microbatch is left.
  double readyTime(int stage, int code) const;
  double readyTime(Direction direction, int stage, int leg) const {
    return readyTime(stage, problem.code(direction, leg));
  }
  bool isPlaced(Direction direction, int stage, int leg, int microbatch) const {
    return placed(direction, stage, leg) > microbatch;
  }

  /// Places the next microbatch of a leg, which must be ready at a known time.
  void place(int stage, int code) {
    place(stage, code, readyTime(stage, code));
  }
  /// Places the next microbatch of a leg, whose time is already known.
  void place(int stage, int code, double ready);
  void place(Direction direction, int stage, int leg) {
    place(stage, problem.code(direction, leg));
  }

  bool owesWeight(int stage) const {
    return states[stage].owedBegin != states[stage].owedEnd;
  }
  int numOwed(int stage) const {
    return states[stage].owedEnd - states[stage].owedBegin;
  }
  struct Owed {
    /// The time when its inputs are available; 0 if the stage has already run
    /// its B.
    double ready;
    double cost;
    std::int64_t memory;
    /// The leg of the backward step that owes it.
    int leg;
  };
  /// The W that is owed longest.
  Owed oldestOwed(int stage) const;
  void placeWeight(int stage);

  /// The time from 0 to the last end of all stages.
  double makespan() const;
  /// The longest time of a stage from its first start to its last end.
  double span() const;
  /// The measures for an objective: the objective, then the other one, then
  /// memory.
  Key key(Objective objective) const;

  /// The peak memory of the worst stage.
  std::int64_t peakMemory() const { return greatestPeak; }

  /// The placed operations in a compact form: codes of steps, and for the W of
  /// backward leg l the code 2v + l.
  using Orders = std::vector<std::vector<std::int32_t>>;
  const Orders &orders() const { return placedCodes; }
  /// Exchanges the orders for others, of which only the storage is reused.
  void swapOrders(Orders &others) { placedCodes.swap(others); }
  /// Returns the schedule of these orders. Backward steps of chunks without
  /// BackwardInput are not operations.
  static Schedule decode(const Orders &orders, const Problem &problem);

private:
  std::size_t slot(int stage, int code) const {
    return static_cast<std::size_t>(stage) * problem.codes() + code;
  }
  /// The position in `ends` at which those of a microbatch begin, in the
  /// direction of a step.
  std::size_t row(int microbatch, int code) const {
    return (std::size_t(2) * microbatch + (code >= problem.legs())) * chunks;
  }
  std::uint16_t *owedOf(int stage) { return &owed[stage * owedStride]; }
  const std::uint16_t *owedOf(int stage) const {
    return &owed[stage * owedStride];
  }
  /// The time when the inputs of a step from other steps are available.
  double inputsReady(const LegProblem::Leg &info, int code,
                     int microbatch) const;
  /// Appends one operation to a stage, and returns its end.
  double append(int stage, double ready, double cost, std::int64_t memory,
                std::int32_t code);
  /// Updates `hopeless` after a stage has waited or held more.
  void judge(int stage);

  struct State {
    double now, firstStart, idle;
    std::int64_t memory;
    int owedBegin, owedEnd;
  };

  const LegProblem &problem;
  std::vector<State> states;
  /// By stage and code.
  std::vector<int> counts;
  /// The W that have run, by stage and leg.
  std::vector<int> weightCounts;
  /// The ends by (microbatch, direction, chunk), so that what neighbours do at
  /// about the same time is adjacent in memory.
  std::vector<double> ends;
  std::size_t chunks;
  /// By stage: the legs of the B, in order. The stride gives stages different
  /// positions in the cache.
  std::size_t owedStride;
  std::vector<std::uint16_t> owed;
  Orders placedCodes;
  double greatestIdle = 0;
  /// Lower limits for the makespan, the span and the peak memory of the result.
  double leastMakespan = 0, leastSpan = 0;
  std::int64_t greatestPeak = 0;
  LegGoal goal;
  bool hopeless = false;
};

inline double LegBuilder::inputsReady(const LegProblem::Leg &info, int code,
                                      int microbatch) const {
  if (info.inputs.empty())
    return 0;
  const double *end = ends.data() + row(microbatch, code);
  double inputEnd = end[info.input.chunk];
  if (inputEnd < 0)
    return unknown;
  double ready = inputEnd + info.input.transfer;
  for (const Link &link : info.inputs.subspan(1)) {
    inputEnd = end[link.chunk];
    if (inputEnd < 0)
      return unknown;
    ready = std::max(ready, inputEnd + link.transfer);
  }
  return ready;
}

inline double LegBuilder::readyTime(int stage, int code) const {
  int microbatch = placed(stage, code);
  // The previous step on this stage. It matters beyond the inputs only if
  // chunks do not form a chain.
  if (code > 0 && placed(stage, code - 1) <= microbatch)
    return unknown;
  return inputsReady(problem.leg(stage, code), code, microbatch);
}

inline LegBuilder::Owed LegBuilder::oldestOwed(int stage) const {
  int leg = owedOf(stage)[states[stage].owedBegin];
  int code = problem.code(Direction::Backward, leg);
  const LegProblem::Leg &info = problem.leg(stage, code);
  double ready = 0;
  if (!info.hasInputGradient)
    ready = inputsReady(
        info, code, weightCounts[std::size_t(stage) * problem.legs() + leg]);
  return {ready, info.weightCost, info.weightMemory, leg};
}

inline double LegBuilder::append(int stage, double ready, double cost,
                                 std::int64_t memory, std::int32_t code) {
  State &state = states[stage];
  double start = std::max(state.now, ready);
  state.memory += memory;
  if (start > state.now || state.memory > greatestPeak ||
      state.firstStart < 0) {
    if (state.firstStart < 0)
      state.firstStart = start;
    else
      state.idle += start - state.now;
    judge(stage);
  }
  state.now = start + cost;
  placedCodes[stage].push_back(code);
  return state.now;
}

inline void LegBuilder::place(int stage, int code, double ready) {
  const LegProblem::Leg &info = problem.leg(stage, code);
  int microbatch = counts[slot(stage, code)]++;
  if (code >= problem.legs())
    owedOf(stage)[states[stage].owedEnd++] =
        static_cast<std::uint16_t>(code - problem.legs());
  if (!info.hasInputGradient) {
    placedCodes[stage].push_back(code);
    return;
  }
  ends[row(microbatch, code) + info.chunk] =
      append(stage, ready, info.cost, info.memory, code);
}

inline void LegBuilder::placeWeight(int stage) {
  Owed weight = oldestOwed(stage);
  ++states[stage].owedBegin;
  ++weightCounts[std::size_t(stage) * problem.legs() + weight.leg];
  append(stage, weight.ready, weight.cost, weight.memory,
         2 * problem.legs() + weight.leg);
}

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_LEGBUILDER_H
