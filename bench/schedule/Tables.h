//===- Tables.h - what bench-schedule prints --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BENCH_SCHEDULE_TABLES_H
#define VEELINE_BENCH_SCHEDULE_TABLES_H

#include "Cases.h"

namespace veeline::bench {

struct Settings {
  /// The folder with published.csv and schedules.csv; empty: none.
  std::string peers;
  /// The search time of `auto`.
  double seconds = 1;
  /// Threads, each with one problem at a time.
  int jobs = 1;
  /// Problems of the sweep.
  int problems = 200000;
  /// Only cases with at most so many stages.
  int mostStages = 1024;
};

/// Rows of published tables beside our bubbles; marks those that differ in the
/// fourth digit.
void printPublished(const Settings &settings);
/// Our schedule of each peer's name beside the peer's.
void printSameName(const Settings &settings);
/// `auto` beside the best peer with the same placement and no more memory.
void printAuto(const Settings &settings);
/// `auto` beside the reference's order where chunks are uneven.
void printUneven(const Settings &settings);
/// Single cases: what search gains, and memory as a dial.
void printTargets(const Settings &settings);
/// How long generating, verifying and simulating take.
void printTimes(const Settings &settings);
/// Every schedule on random problems.
void printSweep(const Settings &settings);

} // namespace veeline::bench

#endif // VEELINE_BENCH_SCHEDULE_TABLES_H
