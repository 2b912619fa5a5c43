//===- Trace.h - the waits of an execution ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_EXPLAIN_TRACE_H
#define VEELINE_LIB_SCHEDULE_EXPLAIN_TRACE_H

#include "veeline/Schedule/Execution.h"

#include <vector>

namespace veeline::schedule {

/// Something that takes time: operations of a stage, or a message.
struct Activity {
  /// The stage on which it runs; for a message, its target.
  int stage;
  /// The first step on `stage`; for a message, the step of its producer on
  /// `source`.
  int step;
  /// The number of operations: 2 for an overlapped block, 0 for a message.
  int size;
  double start = 0, end = 0;
  /// The activity that it starts after, which ends when it starts; -1 if it
  /// starts at time 0.
  int cause = -1;
  /// Set for messages.
  int source = -1;
  bool gradient = false;
  /// Whether its link was busy with another message when it was made.
  bool queued = false;

  bool isMessage() const { return size == 0; }
};

/// All activities of a simulated schedule. If several activities end when one
/// starts (up to rounding), the cause is the one of its own stage, or else the
/// first of its inputs.
struct Trace {
  std::vector<Activity> activities;
  /// The activity of each step of each stage.
  std::vector<std::vector<int>> computing;
};

/// Returns the trace of a result of `simulate`. The time is linear in
/// operations and messages; for a rendezvous, `communicationOrder` also sorts.
Expected<Trace> traceOf(const Problem &problem, const Schedule &schedule,
                        const Simulation &simulation);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_EXPLAIN_TRACE_H
