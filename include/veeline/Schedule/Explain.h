//===- Explain.h - why a schedule takes its time ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_EXPLAIN_H
#define VEELINE_SCHEDULE_EXPLAIN_H

#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Simulator.h"

#include <array>
#include <string>
#include <vector>

namespace veeline::schedule {

/// The event that ended a time in which a stage did not compute.
enum class WaitCause {
  /// The stage did not wait.
  None,
  /// The first input of its first operation.
  Fill,
  /// The output of another stage's forward.
  Forward,
  /// A gradient of another stage.
  Gradient,
  /// Such a message, which had waited for its link (contention).
  Link,
  /// A message that the stage itself sent, when its receiver took it
  /// (rendezvous).
  Send,
};

// If stages have several ranks (`Problem::widths`), "stage" means a rank below.

/// One part of the critical path: operations of a stage, or a message.
struct CriticalStep {
  /// The stage of the operations, or the target of the message.
  int stage;
  /// The first step on `stage`; for a message, the step of its producer on
  /// `source`.
  int step;
  /// The number of operations: 2 for an overlapped block, 0 for a message.
  int size;
  double start, end;
  /// For a message: the stage that sends it, and whether it is a gradient.
  int source = -1;
  bool gradient = false;
  /// For operations: how long their stage was idle before them, and why,
  /// according to the path.
  double waited = 0;
  WaitCause cause = WaitCause::None;

  bool isMessage() const { return size == 0; }
};

/// The composition of the critical path. The times add up to its length.
struct PathShares {
  /// By `OpKind`. The time of an overlapped block is divided between its two
  /// operations in proportion to their costs.
  std::array<double, numOpKinds> kinds = {};
  double messages = 0;
};

/// The critical path as seen from `stage`, the stage on which it computes
/// longest. The times add up to its length.
struct PathParts {
  int stage = 0;
  /// Operations of `stage`.
  double work = 0;
  /// Operations of other stages: before the first operation of `stage`, after
  /// its last one, and between them.
  double fill = 0, drain = 0, between = 0;
  double messages = 0;
};

/// The composition of a stage's idle time. The obstacles are removed one after
/// the other, in this order; each part is how much the value (see
/// `Explanation`) falls when its obstacle is removed. So the parts add up to
/// the idle time.
struct BubbleParts {
  /// Messages that wait for their receiver or for other messages, compared with
  /// buffered ones in the same order.
  double blocking = 0;
  /// The time of messages, compared with free ones in the same order.
  double messages = 0;
  /// The order of operations, compared with the lower bound under the same
  /// memory limits.
  double order = 0;
  /// Memory limits: that bound compared with the lower bound without limits.
  /// Bounds assume free messages, and fused backwards if the schedule splits
  /// none.
  double memory = 0;
  /// Fill and drain: that bound compared with the work of the busiest stage.
  double fillAndDrain = 0;
  /// That work compared with the work of the stage.
  double imbalance = 0;
};

/// Idle time of a stage whose memory limit delays a forward although its inputs
/// are available.
struct MemoryWait {
  int stage;
  /// The sum, and the longest interval without a break.
  double time, longest;
  /// For the longest interval: the step of the forward that does not fit, the
  /// step of the first later operation that releases memory (-1: none), and the
  /// memory that the stage holds meanwhile.
  int blocked, release;
  std::int64_t held;
};

/// A change of the problem, and its effect on the step.
struct Change {
  enum class Kind {
    /// One more microbatch.
    Microbatch,
    /// One more activation of a whole stage, on all stages.
    Memory,
    /// Links twice as fast.
    Transfer,
    /// All stages equally heavy.
    Balance,
    /// Buffered messages that do not wait for each other. Only if they wait
    /// now.
    Buffers,
  };
  Kind kind;
  /// "one more microbatch"
  std::string what;
  /// The step with the change.
  double makespan = 0, bubbleMakespan = 0, bubbleSpan = 0;
  /// How much the time of a microbatch falls, as a share of its present time by
  /// the objective; negative if it rises.
  double gain = 0;
  /// Why there is no result: the change was not tried, or no schedule was
  /// found. Empty if there is a result.
  std::string reason = {};
};

/// Why a schedule takes its time.
struct Explanation {
  Objective objective;
  /// The schedule's value of the objective: the makespan, or the longest span.
  double value;
  /// No schedule of the problem takes less (Bounds.h).
  double lowerBound;
  BoundKind boundKind;
  /// (value - lowerBound) / lowerBound.
  double gap;
  /// The stage with the worst bubble of the makespan, or with the longest span;
  /// the time in which it does not compute; and the composition of that time.
  int bubbleStage;
  double bubbleTime;
  BubbleParts bubble;
  /// The critical path, in order. It leads to the last operation of the stage
  /// that determines the value. Each part starts when the previous one ends.
  /// The first part starts at time 0 or, for the span, with the stage's first
  /// operation.
  std::vector<CriticalStep> path;
  PathShares shares;
  PathParts parts;
  /// Waiting for memory, on the stage where it takes most time; none if no
  /// stage waits.
  std::optional<MemoryWait> memory;
  /// All changes: first those that were tried, in descending order of gain,
  /// then the others.
  std::vector<Change> changes;
  /// The name of the schedule that was used to solve the changed problems.
  std::string solver;
};

/// Explains a valid schedule under the transfers of `simulation`. Each changed
/// problem is solved by the generator of the schedule's name, or by `auto` if
/// there is none, in a tenth of the search time. The present order is a
/// candidate, too, if it stays valid. Errors: those of `simulate`;
/// NotApplicable for a cyclic schedule, or the period as objective.
Expected<Explanation> explain(const Problem &problem, const Schedule &schedule,
                              const GeneratorOptions &options = {},
                              const SimulationOptions &simulation = {});

/// Prints the explanation: a table of the critical path with at most `maxRows`
/// rows, a few lines about the path, about memory, about the parts of the
/// bubble and about the changes, and a verdict in one sentence.
std::string toText(const Problem &problem, const Schedule &schedule,
                   const Explanation &explanation, int maxRows = 12);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_EXPLAIN_H
