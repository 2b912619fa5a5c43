//===- VBuilder.h - a schedule on a V under construction --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a V every stage holds two chunks, and a microbatch passes each stage on a
// leg down (0) and a leg up (1): forward through chunk s, then 2p-1-s; backward
// through chunk 2p-1-s, then s. With legs, forward and backward look alike: leg
// 0 comes from stage s-1, leg 1 from stage s+1.
//
// The builder places operations one after the other at the end of a stage, at
// the time when their inputs are there, and keeps clocks, memory and the queue
// of W that are owed. Strategies decide what comes next.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_VBUILDER_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_VBUILDER_H

#include "../Flow.h"
#include "veeline/Schedule/Schedule.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace veeline::schedule {

enum class Direction : std::uint8_t { Forward, Backward };

/// What the strategies know about a problem on a V: the problem by stage, leg
/// and direction, with a memory limit for every stage.
class VProblem {
public:
  explicit VProblem(const Problem &problem);

  int stages() const { return numStages; }
  int microbatches() const { return numMicrobatches; }

  static int chunkOf(int stages, Direction direction, int stage, int leg) {
    bool first = (direction == Direction::Forward) == (leg == 0);
    return first ? stage : 2 * stages - 1 - stage;
  }
  int chunk(Direction direction, int stage, int leg) const {
    return chunkOf(numStages, direction, stage, leg);
  }

  /// Costs and memory of one leg of a stage. Where the chunk has no
  /// BackwardInput, its backward step costs nothing and only lets W run.
  struct Leg {
    int chunk;
    double cost;
    std::int64_t memory;
    /// Of the W that a backward step owes.
    double weightCost;
    std::int64_t weightMemory;
    bool hasInputGradient;
    std::span<const Link> inputs;
    std::span<const Link> users;
  };
  const Leg &leg(Direction direction, int stage, int leg) const {
    return legs[stage * 4 + static_cast<int>(direction) * 2 + leg];
  }
  int stageOf(int chunk) const {
    return chunk < numStages ? chunk : 2 * numStages - 1 - chunk;
  }
  std::int64_t limit(int stage) const { return limits[stage]; }
  /// The least limit with which a stage can run one microbatch at a time.
  std::int64_t leastLimit(int stage) const;
  /// Some chunk has no BackwardInput.
  bool hasChunkWithoutInputGradient() const { return lacksInputGradient; }

private:
  int numStages, numMicrobatches;
  Flow flow;
  std::vector<Leg> legs;
  std::vector<std::int64_t> limits;
  bool lacksInputGradient = false;
};

/// A schedule under construction; can be reset and used again.
class VBuilder {
public:
  explicit VBuilder(const VProblem &problem);

  /// Forgets everything that was placed.
  void reset();

  const VProblem &getProblem() const { return problem; }
  /// How many microbatches of a leg are placed.
  int placed(Direction direction, int stage, int leg) const {
    return states[stage].placed[index(direction, leg)];
  }
  double now(int stage) const { return states[stage].now; }
  std::int64_t memory(int stage) const { return states[stage].memory; }
  /// Time the stage has waited since its first operation.
  double idle(int stage) const { return states[stage].idle; }
  double maxIdle() const { return greatestIdle; }

  static constexpr double unknown = -1;
  /// When the inputs of the next microbatch of a leg are there; `unknown`
  /// where one, or the step before on the same stage, is not placed yet.
  /// Expects that a microbatch is left.
  double readyTime(Direction direction, int stage, int leg) const;
  bool isPlaced(Direction direction, int stage, int leg, int microbatch) const {
    return placed(direction, stage, leg) > microbatch;
  }

  /// Places the next microbatch of a leg, which must be ready at a known time.
  void place(Direction direction, int stage, int leg);

  bool owesWeight(int stage) const {
    return states[stage].owedBegin != states[stage].owedEnd;
  }
  struct Owed {
    double ready;
    double cost;
    std::int64_t memory;
    int leg;
  };
  /// The W that is owed longest.
  const Owed &oldestOwed(int stage) const {
    return owed[offset(stage) + states[stage].owedBegin];
  }
  void placeWeight(int stage);

  /// From time 0 to the last end of all stages.
  double makespan() const;
  /// The longest time of a stage from its first start to its last end.
  double span() const;

  /// The most memory that a stage has held, of the worst stage.
  std::int64_t peakMemory() const;

  /// What was placed, compactly.
  using Orders = std::vector<std::vector<std::uint8_t>>;
  const Orders &orders() const { return codes; }
  static Schedule decode(const Orders &orders, int stages);

private:
  static int index(Direction direction, int leg) {
    return static_cast<int>(direction) * 2 + leg;
  }
  std::size_t offset(int stage) const {
    return std::size_t(2) * stage * problem.microbatches();
  }
  /// Puts one operation at the end of a stage; returns its end.
  double append(int stage, double ready, double cost, std::int64_t memory,
                std::uint8_t code);

  struct State {
    double now, firstStart, idle;
    std::int64_t memory, peak;
    int placed[4];
    int owedBegin, owedEnd;
  };

  const VProblem &problem;
  std::vector<State> states;
  /// End of (direction, chunk, microbatch).
  std::vector<double> ends;
  std::vector<Owed> owed;
  Orders codes;
  double greatestIdle = 0;
};

inline double VBuilder::readyTime(Direction direction, int stage,
                                  int leg) const {
  const VProblem::Leg &info = problem.leg(direction, stage, leg);
  std::size_t m = problem.microbatches();
  int microbatch = placed(direction, stage, leg);
  // The step before it on this stage: the other leg, or the turn of the V.
  // Only where chunks do not form a chain is this more than the inputs say.
  if (leg == 1 ? !isPlaced(direction, stage, 0, microbatch)
               : direction == Direction::Backward &&
                     !isPlaced(Direction::Forward, stage, 1, microbatch))
    return unknown;
  const double *end =
      ends.data() +
      static_cast<std::size_t>(direction) * 2 * problem.stages() * m +
      microbatch;
  double ready = 0;
  for (const Link &link : info.inputs) {
    double inputEnd = end[link.chunk * m];
    if (inputEnd < 0)
      return unknown;
    ready = std::max(ready, inputEnd + link.transfer);
  }
  return ready;
}

inline double VBuilder::append(int stage, double ready, double cost,
                               std::int64_t memory, std::uint8_t code) {
  State &state = states[stage];
  double start = std::max(state.now, ready);
  if (state.firstStart < 0) {
    state.firstStart = start;
  } else {
    state.idle += start - state.now;
    greatestIdle = std::max(greatestIdle, state.idle);
  }
  state.now = start + cost;
  state.memory += memory;
  state.peak = std::max(state.peak, state.memory);
  codes[stage].push_back(code);
  return state.now;
}

inline void VBuilder::place(Direction direction, int stage, int leg) {
  const VProblem::Leg &info = problem.leg(direction, stage, leg);
  double ready = readyTime(direction, stage, leg);
  int which = index(direction, leg);
  int microbatch = states[stage].placed[which]++;
  if (direction == Direction::Backward)
    owed[offset(stage) + states[stage].owedEnd++] = {ready, info.weightCost,
                                                     info.weightMemory, leg};
  if (!info.hasInputGradient)
    return;
  ends[(static_cast<std::size_t>(direction) * 2 * problem.stages() +
        info.chunk) *
           problem.microbatches() +
       microbatch] = append(stage, ready, info.cost, info.memory,
                            static_cast<std::uint8_t>(which));
}

inline void VBuilder::placeWeight(int stage) {
  State &state = states[stage];
  const Owed &weight = owed[offset(stage) + state.owedBegin++];
  append(stage, weight.ready, weight.cost, weight.memory,
         static_cast<std::uint8_t>(4 + weight.leg));
}

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_VBUILDER_H
