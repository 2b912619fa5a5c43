//===- Steps.h - the steps from chunks to planned arenas --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes from --pipe-differentiate to --pipe-plan-memory as functions on
// one chunk or one pipeline, for callers that run them several times.
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

/// On a pipeline: for each stage, the limit in bytes on the memory of its
/// chunks in the schedule.
inline constexpr llvm::StringLiteral scheduleLimitsAttrName =
    "pipe.schedule_limits";
/// On a pipeline: how long its schedule may search, in seconds. Overrides the
/// pass's option.
inline constexpr llvm::StringLiteral searchSecondsAttrName =
    "pipe.search_seconds";
/// On a pipeline: for each stage, the limit in bytes on its arena.
inline constexpr llvm::StringLiteral memoryLimitsAttrName =
    "pipe.memory_limits";

/// On a pipeline, a unit attribute: its chunks have only forward functions, and
/// its programs run these and update nothing.
inline constexpr llvm::StringLiteral forwardOnlyAttrName = "pipe.forward_only";
inline bool isForwardOnly(PipelineOp pipeline) {
  return pipeline->hasAttr(forwardOnlyAttrName);
}

/// Makes the forward and the fused backward function of `chunk`, which runs on
/// `target`. The backward recomputes by the policy `recompute`, which is not
/// Auto. `choice`, if given, is set to the choice of values that are kept for
/// the backward; with `follows` it is an input, and the same values are kept.
/// For a forward-only pipeline, this makes only the forward function, which
/// computes the same and keeps nothing.
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
/// `follows` are as above, for the values that B saves for W.
mlir::LogicalResult splitBackward(ChunkOp chunk, mlir::SymbolTable &symbols,
                                  autodiff::PartitionChoice *choice = nullptr,
                                  bool follows = false);

/// Makes the functions of `chunk` take parameters in the narrower types that
/// they compute with, if an op reads these from memory.
mlir::LogicalResult roundParameters(ChunkOp chunk,
                                    mlir::SymbolTableCollection &symbols);

/// The goal of a schedule that has a choice.
struct ScheduleGoal {
  schedule::Objective objective = schedule::Objective::Period;
  /// Whether W may run in the next step.
  bool maySlip = false;
  /// Whether updates are at the end of the step, instead of where gradients are
  /// complete. Needed if each chunk has a compute stream, since other streams
  /// would wait for an earlier update.
  bool updatesAtEnd = false;
  /// How long a schedule may search, in seconds.
  double searchSeconds = schedule::GeneratorOptions().searchSeconds;
  /// The bandwidth of a rank's links to the host's memory and back, in bytes
  /// per nanosecond, if activations may be offloaded (Offload.h); 0: they may
  /// not.
  double offload = 0;
  /// For a schedule "file:PATH": the content of the file. Null: read it.
  const schedule::ImportedSchedule *order = nullptr;
};

/// Writes the programs of `pipeline` in the order of a schedule, and returns
/// its simulation. The schedule is given by name, and made for `goal`, or is
/// from a file. If no order fits the schedule limits of the stages, the error
/// is stored in `outOfMemory` if that is not null, else emitted as a
/// diagnostic.
mlir::FailureOr<schedule::Simulation>
schedulePipeline(PipelineOp pipeline, llvm::StringRef schedule,
                 ScheduleGoal goal, int64_t microbatches,
                 mlir::SymbolTableCollection &symbols,
                 std::optional<schedule::Error> *outOfMemory = nullptr);

/// Turns the values of other stages in the programs of `pipeline` into messages
/// that are correct under the rules of `model`.
mlir::LogicalResult insertCommunication(
    PipelineOp pipeline, schedule::communication::Strategy strategy,
    schedule::communication::Model model, mlir::SymbolTableCollection &symbols);

/// The maximum number of parts of a message.
inline constexpr int64_t maxMessageParts = 1024;

/// Splits each message of the programs of `pipeline` into `parts` parts, or
/// into one for each element if it has fewer elements.
mlir::LogicalResult splitMessages(PipelineOp pipeline, int64_t parts,
                                  mlir::SymbolTableCollection &symbols);

/// Checks that the messages of the programs of `pipeline` are correct under the
/// rules of `model`. Fails with a diagnostic.
mlir::LogicalResult verifyCommunication(PipelineOp pipeline,
                                        schedule::communication::Model model);

/// Gives each chunk of a rank a separate compute stream on a GPU, with the
/// events that order the streams. Does nothing for the schedule `sequential`.
void assignStreams(PipelineOp pipeline);

/// Plans the arenas of the programs of `pipeline`. Its chunk functions have
/// attributes with the sizes of their workspaces. With `ncclSums`, NCCL adds up
/// gradients on a GPU. Does not check limits.
mlir::LogicalResult planMemory(PipelineOp pipeline, llvm::StringRef optimizer,
                               bool errorFeedback, bool ncclSums,
                               KernelTarget target,
                               mlir::SymbolTableCollection &symbols);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_STEPS_H
