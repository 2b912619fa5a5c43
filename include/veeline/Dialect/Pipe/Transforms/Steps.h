//===- Steps.h - from chunks to planned arenas ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the passes from --pipe-differentiate to --pipe-plan-memory do to one
// chunk or one pipeline, for callers that do it several times.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_STEPS_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_STEPS_H

#include "veeline/Analysis/Recompute.h"
#include "veeline/Autodiff/PartitionChoice.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Schedule/Communication/Plan.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Simulator.h"

namespace veeline::pipe {

/// On a pipeline: for each stage the limit, in bytes, of what its chunks hold
/// in the schedule.
inline constexpr llvm::StringLiteral scheduleLimitsAttrName =
    "pipe.schedule_limits";
/// On a pipeline: how long its schedule may search, in seconds, where that is
/// not what the pass says.
inline constexpr llvm::StringLiteral searchSecondsAttrName =
    "pipe.search_seconds";
/// On a pipeline: for each stage the limit, in bytes, of its arena.
inline constexpr llvm::StringLiteral memoryLimitsAttrName =
    "pipe.memory_limits";

/// On a pipeline, a unit: its chunks have forward functions only, and its
/// programs run these and update nothing.
inline constexpr llvm::StringLiteral forwardOnlyAttrName = "pipe.forward_only";
inline bool isForwardOnly(PipelineOp pipeline) {
  return pipeline->hasAttr(forwardOnlyAttrName);
}

/// Makes the forward and the fused backward function of `chunk`, which runs on
/// `target`. The backward recomputes what `recompute` (anything but Auto) says.
/// `choice`, if any, is set to what is kept for the backward. Where `follows`,
/// it is read instead, and the same is kept. Of a pipeline that is
/// forward-only, it makes the forward function alone, which computes the same
/// and keeps nothing.
mlir::LogicalResult
differentiateChunk(ChunkOp chunk, const Recompute &recompute,
                   KernelTarget target, mlir::SymbolTable &symbols,
                   autodiff::PartitionChoice *choice = nullptr,
                   bool follows = false);

/// Takes the recomputation out of the fused backward function of `chunk`, if
/// there is one that is worth it. `choice` and `follows` are as above.
mlir::LogicalResult
splitRecomputation(ChunkOp chunk, mlir::SymbolTable &symbols,
                   autodiff::PartitionChoice *choice = nullptr,
                   bool follows = false);

/// Splits the fused backward function of `chunk` into B and W. `choice` and
/// `follows` are as above, of what B saves for W.
mlir::LogicalResult splitBackward(ChunkOp chunk, mlir::SymbolTable &symbols,
                                  autodiff::PartitionChoice *choice = nullptr,
                                  bool follows = false);

/// Makes the functions of `chunk` take parameters in the narrower types that
/// they compute with, where something reads these from memory.
mlir::LogicalResult roundParameters(ChunkOp chunk,
                                    mlir::SymbolTableCollection &symbols);

/// What a schedule that has a choice is made for.
struct ScheduleGoal {
  schedule::Objective objective = schedule::Objective::Period;
  /// Whether W may run in the next step.
  bool maySlip = false;
  /// Whether updates stand at the end of the step, and not where parameters are
  /// complete. Where chunks have compute streams of their own, others would
  /// wait for these.
  bool updatesAtEnd = false;
  /// How long a schedule may search, in seconds.
  double searchSeconds = schedule::GeneratorOptions().searchSeconds;
  /// The bandwidth of a rank's link to the host's memory, and of that back, in
  /// bytes a nanosecond, where activations may wait there (Offload.h); 0: they
  /// may not.
  double offload = 0;
  /// Of a schedule "file:PATH": what was read from it. Null: read it.
  const schedule::ImportedSchedule *order = nullptr;
};

/// Writes the programs of `pipeline` in the order of a schedule, by name (made
/// for `goal`) or from a file, and returns its simulation. Where no order
/// fits the schedule limits of the stages, the error is stored in
/// `outOfMemory`, if that is not null, in place of a diagnostic.
mlir::FailureOr<schedule::Simulation>
schedulePipeline(PipelineOp pipeline, llvm::StringRef schedule,
                 ScheduleGoal goal, int64_t microbatches,
                 mlir::SymbolTableCollection &symbols,
                 std::optional<schedule::Error> *outOfMemory = nullptr);

/// Turns the values of other stages in the programs of `pipeline` into
/// messages that are right under the rules of `model`.
mlir::LogicalResult insertCommunication(
    PipelineOp pipeline, schedule::communication::Strategy strategy,
    schedule::communication::Model model, mlir::SymbolTableCollection &symbols);

/// The most parts in which a message travels.
inline constexpr int64_t maxMessageParts = 1024;

/// Splits each message of the programs of `pipeline` into `parts`, or into one
/// for each element where it has fewer.
mlir::LogicalResult splitMessages(PipelineOp pipeline, int64_t parts,
                                  mlir::SymbolTableCollection &symbols);

/// Checks that the messages of the programs of `pipeline` are right under the
/// rules of `model`. Fails with a diagnostic.
mlir::LogicalResult verifyCommunication(PipelineOp pipeline,
                                        schedule::communication::Model model);

/// Gives each chunk of a rank a compute stream of its own on a GPU, with the
/// events that order them; none where the schedule is `sequential`.
void assignStreams(PipelineOp pipeline);

/// Plans the arenas of the programs of `pipeline`, whose chunk functions say
/// how much workspace they take. Does not look at limits.
mlir::LogicalResult planMemory(PipelineOp pipeline, llvm::StringRef optimizer,
                               bool errorFeedback, KernelTarget target,
                               mlir::SymbolTableCollection &symbols);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_STEPS_H
