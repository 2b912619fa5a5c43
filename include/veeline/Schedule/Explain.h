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

/// What ended the time in which a stage did not compute.
enum class WaitCause {
  /// The stage did not wait.
  None,
  /// The first input of its first operation.
  Fill,
  /// The output of a forward, and a gradient, of another stage.
  Forward,
  Gradient,
  /// Such a message after it waited for its link (contention).
  Link,
  /// A message of its own that its receiver took (rendezvous).
  Send,
};

// Where stages have several ranks (`Problem::widths`), what is said of a stage
// below is said of a rank.

/// One part of the critical path: operations of a stage, or a message.
struct CriticalStep {
  /// Where it runs; the target of a message.
  int stage;
  /// The first step on `stage`; of a message, that of its producer on `source`.
  int step;
  /// The number of operations: 2 for an overlapped block, 0 for a message.
  int size;
  double start, end;
  /// Of a message: the stage that sends it, and what.
  int source = -1;
  bool gradient = false;
  /// Of operations: how long their stage was idle before them, and why,
  /// according to the path.
  double waited = 0;
  WaitCause cause = WaitCause::None;

  bool isMessage() const { return size == 0; }
};

/// What the time of the critical path is made of. All add up to its length.
struct PathShares {
  /// By `OpKind`. The time of an overlapped block is shared by its two
  /// operations in proportion to their costs.
  std::array<double, numOpKinds> kinds = {};
  double messages = 0;
};

/// Where the critical path is, seen from the stage that it computes on longest.
/// The times add up to its length.
struct PathParts {
  int stage = 0;
  /// Of `stage` itself.
  double work = 0;
  /// Of other stages: before the first and after the last operation of `stage`,
  /// and between them.
  double fill = 0, drain = 0, between = 0;
  double messages = 0;
};

/// What the idle time of a stage is made of. Each part is by how much the value
/// (see `Explanation`) falls with one more obstacle removed, in this order, so
/// that the parts add up to the idle time.
struct BubbleParts {
  /// Messages that wait for their receiver or for other messages: against
  /// buffered ones, in the same order.
  double blocking = 0;
  /// The time of messages: against free ones, in the same order.
  double messages = 0;
  /// The order of operations: against the lower bound with these limits.
  double order = 0;
  /// Memory limits: against the lower bound without them. (Bounds are with
  /// free messages, and with fused backwards where the schedule splits none.)
  double memory = 0;
  /// Fill and drain: that bound against the work of the busiest stage.
  double fillAndDrain = 0;
  /// That work against the work of the stage.
  double imbalance = 0;
};

/// Idle time of a stage whose memory limit holds back a forward although its
/// inputs are there.
struct MemoryWait {
  int stage;
  /// All of it, and the longest time without a break.
  double time, longest;
  /// For the longest one: the step of the forward that does not fit, that of
  /// the first later operation that releases memory (-1: none), and what the
  /// stage holds meanwhile.
  int blocked, release;
  std::int64_t held;
};

/// A change of the problem, and what the step becomes with it.
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
    /// Buffered messages that do not wait for each other, where they do.
    Buffers,
  };
  Kind kind;
  /// "one more microbatch"
  std::string what;
  /// Of the step with the change.
  double makespan = 0, bubbleMakespan = 0, bubbleSpan = 0;
  /// By how much the time of a microbatch falls, as a share of its time now by
  /// the objective; negative where it rises.
  double gain = 0;
  /// Why there is no result: the change was not tried, or no schedule was
  /// found. Empty where there is one.
  std::string reason = {};
};

/// Why a schedule takes the time that it takes.
struct Explanation {
  Objective objective;
  /// What the schedule reaches: the makespan, or the longest span.
  double value;
  /// No schedule of the problem takes less (Bounds.h).
  double lowerBound;
  BoundKind boundKind;
  /// (value - lowerBound) / lowerBound.
  double gap;
  /// The stage with the worst bubble of the makespan, or with the longest span,
  /// the time in which it does not compute, and what that is made of.
  int bubbleStage;
  double bubbleTime;
  BubbleParts bubble;
  /// The critical path to the end of the last operation of the stage that
  /// decides, in order. Each part starts when the one before it ends. The first
  /// starts at time 0, or, for the span, with the stage's first operation.
  std::vector<CriticalStep> path;
  PathShares shares;
  PathParts parts;
  /// Of the stage where it takes most time, if any.
  std::optional<MemoryWait> memory;
  /// All changes. Those that were tried come first, by how much they shorten
  /// the step, most first.
  std::vector<Change> changes;
  /// The name of the schedule that solved the changed problems.
  std::string solver;
};

/// Explains a valid schedule under the transfers of `simulation`. Each change
/// is solved by the generator of the schedule's name, or by `auto` where the
/// name has none, in a tenth of the search time. The present order competes
/// where it stays valid. Errors: those of `simulate`, and (NotApplicable) a
/// cyclic schedule, or the period as objective.
Expected<Explanation> explain(const Problem &problem, const Schedule &schedule,
                              const GeneratorOptions &options = {},
                              const SimulationOptions &simulation = {});

/// The critical path in a table of at most `maxRows` rows and a few lines about
/// it, about memory, the parts of the bubble, the changes, and a verdict in one
/// sentence.
std::string toText(const Problem &problem, const Schedule &schedule,
                   const Explanation &explanation, int maxRows = 12);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_EXPLAIN_H
