//===- JointExtraction.h - chunks out of a joint function -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_PARTITION_JOINTEXTRACTION_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_PARTITION_JOINTEXTRACTION_H

#include "Partition/ChunkExtraction.h"
#include "mlir/IR/OwningOpRef.h"
#include "veeline/Autodiff/Joint.h"

namespace veeline::pipe {

/// Cuts the joint function of a model at the cuts of the model.
class JointExtraction {
public:
  /// Cuts `joint` as `plan` cuts `model`. Adds operands that only a chunk's
  /// backward uses to the chunks of the plan. Fails with an error if the model
  /// is no longer the forward of `joint`, or if `joint` cannot be cut in this
  /// way.
  static mlir::FailureOr<JointExtraction> make(mlir::func::FuncOp model,
                                               mlir::func::FuncOp joint,
                                               ExtractionPlan &plan);

  /// Adds a joint function for the primal function of each chunk of `pipeline`.
  void build(PipelineOp pipeline, mlir::SymbolTable &symbols);

private:
  JointExtraction(mlir::func::FuncOp model, mlir::func::FuncOp joint)
      : model(model), copy(joint.clone()) {}

  mlir::LogicalResult mapForward();
  llvm::SmallVector<autodiff::JointChunk>
  describeChunks(const ExtractionPlan &plan);
  mlir::FailureOr<llvm::SmallVector<autodiff::JointGradient>> findGradients();
  /// Whether `other` of the joint function corresponds to `value` of the model.
  bool isSame(mlir::Value value, mlir::Value other) const;
  mlir::LogicalResult emitChanged(mlir::Operation *op, mlir::Operation *other);
  llvm::SmallVector<mlir::Value> mapAll(mlir::ValueRange values) const {
    return llvm::map_to_vector(
        values, [&](mlir::Value value) { return inJoint.lookup(value); });
  }

  mlir::func::FuncOp model;
  /// A copy of the joint function, without marks.
  mlir::OwningOpRef<mlir::func::FuncOp> copy;
  /// For each value and op of the model, that of the copy.
  llvm::DenseMap<mlir::Value, mlir::Value> inJoint;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> opInJoint;
  /// The operands of each chunk.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> operands;
  std::optional<autodiff::JointCut> cut;
};

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_PARTITION_JOINTEXTRACTION_H
