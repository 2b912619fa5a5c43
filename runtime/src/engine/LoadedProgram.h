//===- LoadedProgram.h - a loaded program of the trainer --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_LOADEDPROGRAM_H
#define VEELINE_RUNTIME_ENGINE_LOADEDPROGRAM_H

#include "Executor.h"
#include "Network.h"
#include "Rank.h"
#include "Timeline.h"

namespace veeline::engine {

/// A loaded program on any target, and the part of it that is in this process.
/// If other processes run the other ranks, the members of Observed refer to the
/// one rank of this process.
class LoadedProgram : public Executor, public Observed {
public:
  /// Whether the rank runs in this process.
  virtual bool isLocal(int32_t rank) const = 0;
  /// The first of the replicas that have ranks in this process.
  virtual int32_t firstReplica() const = 0;
  virtual int32_t numReplicas() const = 0;
  /// Called before the first step: the number of the step before it exceeds the
  /// number of updates so far by `count`.
  virtual void setNumSkipped(int64_t count) = 0;
  /// What a rank of this process did when it saw a fault, and what it waited
  /// for. Empty if the rank has raised the fault itself.
  virtual std::string stoppedAt(int32_t rank) const = 0;
  /// Describes the step, what is known of a fault, and what this process's rank
  /// does and waits for now. Called only if other processes run the other
  /// ranks. May be called by signal handlers.
  virtual void describe(ShortText &text) const = 0;
  /// The step in which a rank of this process has raised a fault; without one,
  /// the step that the first rank of this process is in.
  virtual int64_t currentStep() const = 0;
  /// Whether the oldest step that is under way may have ended in this process.
  /// False only if it certainly has not.
  virtual bool mayHaveEnded() const = 0;
  /// The step that a failure of `finish` is about.
  virtual int64_t failedStep() const = 0;
  /// Ends steps that are under way with a fault, whose reason is `why`.
  virtual void abandonSteps(const std::string &) {}
  /// The events of the last steps of each rank of this process; empty without a
  /// timeline.
  virtual std::vector<std::vector<Event>> timeline(int32_t steps) const = 0;
};

/// The functions of a step if some of its work is late: the first step, and the
/// late work alone.
struct LateFunctions {
  veeline_step_fn firstStep = nullptr, late = nullptr;
};

/// The inputs of a step that a rank uses.
struct RankInputs {
  /// One pointer for each batch argument, to the first microbatch of the rank's
  /// replica, then one for each buffer.
  std::vector<const void *> pointers;
  /// The lengths of the microbatches of the replica; null if they do not vary.
  const int64_t *lengths = nullptr;
};

/// Sets `inputs` to the inputs of a step that `rank` of `loaded` uses. `all`
/// are those of Executor::begin.
void selectInputs(const LoadedProgram &loaded,
                  const artifact::Metadata &metadata, const void *const *all,
                  const veeline_rank &rank, RankInputs &inputs);

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_LOADEDPROGRAM_H
