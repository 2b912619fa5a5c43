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
  /// Where it runs; the target of a message.
  int stage;
  /// The first step on `stage`; of a message, that of its producer on `source`.
  int step;
  /// The number of operations: 2 for an overlapped block, 0 for a message.
  int size;
  double start = 0, end = 0;
  /// The activity that it starts after, which ends when it starts; -1 where it
  /// starts at time 0.
  int cause = -1;
  /// Of messages.
  int source = -1;
  bool gradient = false;
  /// Whether its link was busy with another message when it was made.
  bool queued = false;

  bool isMessage() const { return size == 0; }
};

/// All activities of a simulated schedule. Of several that end when one starts
/// (up to rounding), the cause is the one of its own stage, else the first of
/// its inputs.
struct Trace {
  std::vector<Activity> activities;
  /// The activity of each step of each stage.
  std::vector<std::vector<int>> computing;
};

/// The trace of what `simulate` said. Linear in operations and messages, for a
/// rendezvous plus the sort of `communicationOrder`.
Expected<Trace> traceOf(const Problem &problem, const Schedule &schedule,
                        const Simulation &simulation);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_EXPLAIN_TRACE_H
