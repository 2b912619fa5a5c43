//===- TestUtilities.h - problems and tables for the tests ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_SCHEDULE_TESTUTILITIES_H
#define VEELINE_TEST_UNIT_SCHEDULE_TESTUTILITIES_H

#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Simulator.h"
#include "veeline/Schedule/Text.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

namespace veeline::schedule {

/// A chunk of one v-th of a stage, which holds one v-th of an activation unit
/// until W.
inline Chunk makeChunk(int v, double f, double b, double w) {
  Chunk chunk;
  chunk.forward = f;
  chunk.backwardInput = b;
  chunk.backwardWeight = w;
  chunk.forwardMemory = activationUnit / v;
  chunk.backwardWeightMemory = -activationUnit / v;
  return chunk;
}

/// The problem of a named schedule with equal chunks.
inline Problem makeProblem(std::string_view name, int p, int v, int m,
                           double f = 1, double b = 1, double w = 1,
                           double transfer = 0) {
  Expected<Placement> placement = placementFor(name, p, v);
  EXPECT_TRUE(placement) << placement.error().message;
  Problem problem =
      uniformProblem(*placement, m, makeChunk(v, f, b, w), transfer);
  problem.memoryUnit = {activationUnit, "activations"};
  return problem;
}

inline void limitMemory(Problem &problem, double activations) {
  problem.memoryLimits.assign(
      problem.stages(),
      static_cast<std::int64_t>(activations * activationUnit));
}

/// Makes B release half of an activation, as in the zero-bubble paper.
inline void releaseHalfWithB(Problem &problem) {
  for (Chunk &chunk : problem.chunks) {
    chunk.backwardInputMemory = -chunk.forwardMemory / 2;
    chunk.backwardWeightMemory =
        -chunk.forwardMemory - chunk.backwardInputMemory;
  }
}

using Lines = std::vector<std::string>;

/// The order of each stage as one line, such as "F0 F1 BW0 BW1".
inline Lines orderLines(const Problem &problem, const Schedule &schedule) {
  Lines lines;
  for (const std::vector<Op> &ops : schedule.stages) {
    std::string line;
    for (const Op &op : ops)
      line += (line.empty() ? "" : " ") + cellName(problem, op);
    lines.push_back(line);
  }
  return lines;
}

/// The order of schedule `name`.
inline Lines orderOf(std::string_view name, const Problem &problem) {
  Expected<Schedule> schedule = generate(name, problem);
  EXPECT_TRUE(schedule) << schedule.error().str();
  return schedule ? orderLines(problem, *schedule) : Lines();
}

inline Lines orderOf(std::string_view name, int p, int v, int m) {
  return orderOf(name, makeProblem(name, p, v, m));
}

/// The result of simulating schedule `name`.
inline Simulation simulated(std::string_view name, const Problem &problem,
                            Objective objective = Objective::Makespan) {
  Expected<Schedule> schedule = generate(name, problem, {objective});
  if (schedule)
    return *simulate(problem, *schedule);
  ADD_FAILURE() << name << " p=" << problem.stages()
                << " v=" << problem.chunksPerStage()
                << " m=" << problem.microbatches << ": "
                << schedule.error().str();
  return Simulation();
}

/// The maximum over stages of the memory that a stage holds.
inline std::int64_t peakOf(const Simulation &result) {
  std::int64_t peak = 0;
  for (const StageStatistics &stage : result.stages)
    peak = std::max(peak, stage.peakMemory);
  return peak;
}

inline double peakActivations(const Simulation &result) {
  return static_cast<double>(peakOf(result)) / activationUnit;
}

/// The maximum over stages of the time from the stage's first start to its last
/// end.
inline double longestSpan(const Simulation &result) {
  double longest = 0;
  for (const StageStatistics &stage : result.stages)
    longest = std::max(longest, stage.lastEnd - stage.firstStart);
  return longest;
}

using Random = std::mt19937;
/// The random numbers are the same in every run, except with
/// --gtest_random_seed=N. (For a flag of 0, GoogleTest itself would choose a
/// new seed in each run.)
inline Random makeRandom() { return Random(GTEST_FLAG_GET(random_seed)); }
inline int randomInt(Random &random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

/// Whether searches make less progress than usual in their time.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool searchesAreSlow = true;
#else
inline constexpr bool searchesAreSlow = false;
#endif

/// Options for tests with many problems, in which `auto` hardly searches.
inline GeneratorOptions quickly() { return {.searchSeconds = 0.0005}; }

/// Random costs, edges, memory and limits for schedule `name` on p stages.
/// Sometimes, the limits cannot be met.
Problem randomProblem(Random &random, std::string_view name, int p, int m);

/// The most memory that one microbatch holds in all chunks of `stage`.
std::int64_t memoryOfMicrobatch(const Problem &problem, int stage);

} // namespace veeline::schedule

#endif // VEELINE_TEST_UNIT_SCHEDULE_TESTUTILITIES_H
