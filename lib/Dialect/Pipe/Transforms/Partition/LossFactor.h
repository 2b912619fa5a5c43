//===- LossFactor.h - factors of a loss -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_PARTITION_LOSSFACTOR_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_PARTITION_LOSSFACTOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::pipe {

/// An argument by which the loss is multiplied.
struct LossFactor {
  /// The argument's name, and the attribute that makes it data or a buffer.
  llvm::StringRef name, kindAttrName;
  llvm::StringRef markAttrName;
  /// Texts for errors: "scale" or "weight", and "the loss is ... once".
  llvm::StringRef what, done;
};

/// Whether `type` is a tensor of rank 0 of a type that can be trained.
bool isLossType(mlir::Type type);

/// Adds an argument of the loss's type to the model, and multiplies the loss by
/// it. Fails with a diagnostic if an argument has its name or its attribute.
/// Does nothing to a model that breaks the input contract, which `verifyModel`
/// reports.
llvm::LogicalResult multiplyLoss(mlir::func::FuncOp model,
                                 const LossFactor &factor);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_PARTITION_LOSSFACTOR_H
