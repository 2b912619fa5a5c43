//===- Runs.h - running many problems ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BENCH_SCHEDULE_RUNS_H
#define VEELINE_BENCH_SCHEDULE_RUNS_H

#include "veeline/Schedule/Generators.h"

#include <cstddef>
#include <functional>

namespace veeline::bench {

/// What a schedule reaches. Bubbles are 1 if there is none.
struct Outcome {
  bool valid = false;
  double makespan = 0, heaviest = 0;
  double bubbleMakespan = 1, bubbleSpan = 1;
  /// Of the worst stage, in activations.
  double peak = 0;
  double seconds = 0;
};

Outcome runOne(const std::string &name, const schedule::Problem &problem,
               const schedule::GeneratorOptions &options);

/// Calls `body` with 0..count-1 on several threads.
void forEach(int jobs, std::size_t count,
             const std::function<void(std::size_t)> &body);

/// Seconds since some fixed time.
double clockSeconds();

} // namespace veeline::bench

#endif // VEELINE_BENCH_SCHEDULE_RUNS_H
