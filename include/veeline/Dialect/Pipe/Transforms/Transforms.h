//===- Transforms.h - what the passes of pipe do, as functions --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_TRANSFORMS_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_TRANSFORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// The model function of `module`: the one named `entry`, or the only public
/// one with a body where `entry` is empty. Fails with a diagnostic that lists
/// the candidates.
mlir::FailureOr<mlir::func::FuncOp> findModel(mlir::ModuleOp module,
                                              llvm::StringRef entry);

/// The name by which data or values are found for an argument of the model.
std::string getInputName(mlir::func::FuncOp model, unsigned argument);

/// The name of a result of the model: "loss" of the first; of others the one
/// that the model gives it, else "metric1", "metric2", ...
std::string getResultName(mlir::func::FuncOp model, unsigned result);

/// Checks that `model` follows the input contract: one block of pure ops on
/// tensors of static shape; arguments that say what they are, under distinct
/// names, of types that the runtime has; at least one parameter; scalar
/// results, the loss first. With `forwardOnly` those after the loss may be any
/// tensors of data. Fails with a diagnostic at what breaks it. Linear in the
/// number of ops.
mlir::LogicalResult verifyModel(mlir::func::FuncOp model,
                                bool forwardOnly = false);

/// Warns of used parameters that get no gradient from the loss, with a note
/// where it is lost. The loss is the first result; where that is no scalar, any
/// float result will do. Fails with an error where no used parameter gets a
/// gradient.
mlir::LogicalResult verifyGradients(mlir::func::FuncOp model);

/// The placement named `name`; `linear`, `v` or `interleaved` by the number of
/// chunks a stage where `name` is empty. Fails with a diagnostic at `location`
/// that lists the known names.
mlir::FailureOr<Placement> getPlacement(mlir::Location location,
                                        llvm::StringRef name,
                                        int64_t chunksPerStage);

/// How a model is cut.
struct PartitionOptions {
  /// p, v and where chunks live.
  int64_t stages = 1;
  int64_t chunksPerStage = 1;
  Placement placement = Placement::Linear;
  /// Pieces of each chunk in model order; chosen by cost where empty.
  llvm::SmallVector<int64_t> pieces;
  /// A file of `veeline train --profile` with the times of the pieces; those of
  /// the cost model where empty.
  std::string profile;
  /// A table of `veeline doctor --calibrate`, for times without a profile; the
  /// default numbers of the cost model where empty.
  std::string machineTable = {};
  /// Cores that the ranks have there, all of them; 0: those that the table
  /// says.
  int64_t machineCores = 0;
  /// Pipelines that run there side by side.
  int64_t replicas = 1;
  /// How many ranks each stage has; one each where empty.
  llvm::SmallVector<int64_t> stageReplicas = {};
  /// Where updates depend on the norm of all gradients: how.
  std::optional<ClipSync> clipSync = {};
  /// Whether the model is not trained, so that no gradient has to reach its
  /// parameters.
  bool forwardOnly = false;
};

/// The way named `name`, none where that is "none". Fails with a diagnostic at
/// `location` that lists the known names.
mlir::FailureOr<std::optional<ClipSync>> getClipSync(mlir::Location location,
                                                     llvm::StringRef name);

/// Replaces `model` by a pipeline of its name and one private function per
/// chunk. On failure a diagnostic says why, and nothing has changed. Chunks get
/// their costs later, from the functions that differentiation makes. What a
/// profile says is in attributes (ChunkCosts.h, ScheduleProblem.h).
mlir::FailureOr<PipelineOp> partition(mlir::func::FuncOp model,
                                      const PartitionOptions &options);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_TRANSFORMS_H
