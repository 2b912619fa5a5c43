//===- Runs.cpp - running many problems -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runs.h"

#include "veeline/Schedule/Simulator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace veeline;
using namespace veeline::bench;
using namespace veeline::schedule;

double veeline::bench::clockSeconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Outcome veeline::bench::runOne(const std::string &name, const Problem &problem,
                               const GeneratorOptions &options) {
  Outcome outcome;
  double begin = clockSeconds();
  Expected<Schedule> schedule = generate(name, problem, options);
  outcome.seconds = clockSeconds() - begin;
  if (!schedule)
    return outcome;
  Expected<Simulation> simulation = simulate(problem, *schedule);
  if (!simulation)
    return outcome;
  outcome.valid = true;
  outcome.makespan = simulation->makespan;
  outcome.bubbleMakespan = simulation->bubbleMakespan;
  outcome.bubbleSpan = simulation->bubbleSpan;
  for (const StageStatistics &stage : simulation->stages) {
    outcome.heaviest = std::max(outcome.heaviest, stage.busy);
    outcome.peak = std::max(outcome.peak,
                            double(stage.peakMemory) / problem.memoryUnit.size);
  }
  return outcome;
}

void veeline::bench::forEach(int jobs, std::size_t count,
                             const std::function<void(std::size_t)> &body) {
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++)
      body(i);
  };
  std::vector<std::thread> threads;
  for (int job = 1; job < jobs; ++job)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}
