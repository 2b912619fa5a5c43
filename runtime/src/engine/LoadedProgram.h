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

/// A loaded program on any target, and which part of it is in this process. If
/// other processes run the other ranks, Observed is about the one rank here.
class LoadedProgram : public Executor, public Observed {
public:
  /// Whether the rank runs in this process.
  virtual bool isLocal(int32_t rank) const = 0;
  /// The replicas of which some rank runs in this process.
  virtual int32_t firstReplica() const = 0;
  virtual int32_t numReplicas() const = 0;
  /// Before the first step: by how much the number of the step before it
  /// exceeds that of updates so far.
  virtual void setNumSkipped(int64_t count) = 0;
  /// After a fault: what a rank of this process did when it saw it, and what it
  /// waited for; empty if the fault is its own.
  virtual std::string stoppedAt(int32_t rank) const = 0;
  /// Describes the step, what is known of a fault, and what this process's rank
  /// does and waits for now. Only if other processes run the other ranks. May
  /// be called by signal handlers.
  virtual void describe(ShortText &text) const = 0;
  /// The step in which a rank of this process has raised a fault, else the one
  /// that the first rank of this process is in.
  virtual int64_t currentStep() const = 0;
  /// Whether the oldest step that is under way may have ended in this process;
  /// false only if it surely has not.
  virtual bool mayHaveEnded() const = 0;
  /// After `finish` has failed: the step that this is about.
  virtual int64_t failedStep() const = 0;
  /// Ends steps that are under way with a fault, for `why`.
  virtual void abandonSteps(const std::string &) {}
  /// The last steps of each rank of this process; empty without a timeline.
  virtual std::vector<std::vector<Event>> timeline(int32_t steps) const = 0;
};

/// Where some work is late: the first step, and what is late alone.
struct LateFunctions {
  veeline_step_fn firstStep = nullptr, late = nullptr;
};

/// What a rank uses of the inputs of a step.
struct RankInputs {
  /// One per batch argument, from the first microbatch of the rank's replica
  /// on, then one per buffer.
  std::vector<const void *> pointers;
  /// Of the microbatches of the replica; null if they do not vary.
  const int64_t *lengths = nullptr;
};

/// Sets `inputs` to those that `rank` of `loaded` uses, of `all` inputs of a
/// step, as Executor::begin takes them.
void selectInputs(const LoadedProgram &loaded,
                  const artifact::Metadata &metadata, const void *const *all,
                  const veeline_rank &rank, RankInputs &inputs);

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_LOADEDPROGRAM_H
