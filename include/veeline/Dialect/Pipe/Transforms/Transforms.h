//===- Transforms.h - the passes of pipe as functions -----------*- C++ -*-===//
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

/// The model function of `module`: the one named `entry` or, if `entry` is
/// empty, the only public one with a body. Fails with a diagnostic that lists
/// the candidates.
mlir::FailureOr<mlir::func::FuncOp> findModel(mlir::ModuleOp module,
                                              llvm::StringRef entry);

/// The name of an argument of the model, by which its data or values are found.
std::string getInputName(mlir::func::FuncOp model, unsigned argument);

/// The name of a result of the model: the one that the model gives it, or else
/// "loss" for a first result that is a number, and "metric0", "metric1", ...
std::string getResultName(mlir::func::FuncOp model, unsigned result);

/// Checks that `model` follows the input contract:
/// - one block of pure ops on tensors of static shape;
/// - arguments with an attribute that says what they are, with distinct names,
///   of types that the runtime supports; at least one is a parameter;
/// - scalar results, the loss first. With `forwardOnly` results may be any
///   tensors of data, and there need not be a loss.
/// Fails with a diagnostic at the violation. Linear in the number of ops.
mlir::LogicalResult verifyModel(mlir::func::FuncOp model,
                                bool forwardOnly = false);

/// Warns about used parameters that get no gradient from the loss, with a note
/// where it is lost. The loss is the first result; if that is no scalar, any
/// float result counts. Fails with an error if no used parameter gets a
/// gradient.
mlir::LogicalResult verifyGradients(mlir::func::FuncOp model);

/// The placement named `name`. If `name` is empty, it is `linear`, `v` or
/// `interleaved` by the number of chunks a stage. Fails with a diagnostic at
/// `location` that lists the known names.
mlir::FailureOr<Placement> getPlacement(mlir::Location location,
                                        llvm::StringRef name,
                                        int64_t chunksPerStage);

/// How a model is cut.
struct PartitionOptions {
  /// p, v and the placement of chunks.
  int64_t stages = 1;
  int64_t chunksPerStage = 1;
  Placement placement = Placement::Linear;
  /// The number of pieces of each chunk in model order; empty: chosen by cost.
  llvm::SmallVector<int64_t> pieces;
  /// A file of `veeline train --profile` with the times of the pieces; empty:
  /// times of the cost model.
  std::string profile;
  /// A table of `veeline doctor --calibrate`, for times without a profile;
  /// empty: the default numbers of the cost model.
  std::string machineTable = {};
  /// The number of cores for all ranks together on that machine; 0: that of the
  /// table.
  int64_t machineCores = 0;
  /// The number of pipelines that run there side by side.
  int64_t replicas = 1;
  /// The number of ranks of each stage; empty: one each.
  llvm::SmallVector<int64_t> stageReplicas = {};
  /// How updates depend on the norm of all gradients; none: they do not.
  std::optional<ClipSync> clipSync = {};
  /// Whether the model is only evaluated. Then no gradient needs to reach its
  /// parameters.
  bool forwardOnly = false;
};

/// The ClipSync named `name`; none if that is "none". Fails with a diagnostic
/// at `location` that lists the known names.
mlir::FailureOr<std::optional<ClipSync>> getClipSync(mlir::Location location,
                                                     llvm::StringRef name);

/// Replaces `model` by a pipeline of the same name and one private function for
/// each chunk. On failure it emits a diagnostic and changes nothing. Chunks get
/// their costs later, from the functions that differentiation makes. The
/// profile's data are stored in attributes (ChunkCosts.h, ScheduleProblem.h).
mlir::FailureOr<PipelineOp> partition(mlir::func::FuncOp model,
                                      const PartitionOptions &options);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_TRANSFORMS_H
