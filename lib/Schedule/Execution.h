//===- Execution.h - running a schedule in order ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifier, the simulator and the message order share.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_EXECUTION_H
#define VEELINE_LIB_SCHEDULE_EXECUTION_H

#include "Flow.h"
#include "veeline/Schedule/Schedule.h"

#include <vector>

namespace veeline::schedule {

/// Where each operation of a schedule stands.
class OpIndex {
public:
  /// Indexes a schedule. Errors: UnknownOp, WrongStage, Duplicate, Missing.
  static Expected<OpIndex> build(const Problem &problem,
                                 const Schedule &schedule);

  /// The step of an operation on the stage of its chunk. A fused Backward
  /// stands for B and W; -1: there is none.
  int forward(int chunk, int microbatch) const {
    return steps[slot(chunk, microbatch)];
  }
  int backwardInput(int chunk, int microbatch) const {
    return steps[slot(chunk, microbatch) + 1];
  }
  int backwardWeight(int chunk, int microbatch) const {
    return steps[slot(chunk, microbatch) + 2];
  }

private:
  explicit OpIndex(const Problem &problem)
      : microbatches(problem.microbatches),
        steps(static_cast<std::size_t>(problem.numChunks()) *
                  problem.microbatches * 3,
              -1) {}
  std::size_t slot(int chunk, int microbatch) const {
    return (static_cast<std::size_t>(chunk) * microbatches + microbatch) * 3;
  }
  Status add(const Problem &problem, const Schedule &schedule, int stage,
             int step);
  Status checkComplete(const Problem &problem) const;

  int microbatches;
  std::vector<int> steps;
};

/// A position in a schedule.
struct Position {
  int stage;
  int step;
};

/// Times of an execution, and the order it was found in.
struct Execution {
  std::vector<std::vector<double>> start, end;
  /// All operations, each after everything it waits for.
  std::vector<Position> topological;
};

/// Runs every stage in its order. Error (Deadlock): stages that wait in a
/// circle.
Expected<Execution> execute(const Problem &problem, const Flow &flow,
                            const Schedule &schedule, const OpIndex &index);

/// An error about one step: "stage 1, step 3: F of chunk 2, microbatch 0 " and
/// `what`, with the neighbourhood.
Error errorAt(ErrorKind kind, const Problem &problem, const Schedule &schedule,
              int stage, int step, const std::string &what);

/// A table of the steps around some positions, for messages.
std::string neighbourhood(const Problem &problem, const Schedule &schedule,
                          const std::vector<Position> &positions);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_EXECUTION_H
