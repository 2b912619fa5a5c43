//===- LossFactor.h - factors of a loss -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_PARTITION_LOSSFACTOR_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_PARTITION_LOSSFACTOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::pipe {

/// An argument that the loss is multiplied by.
struct LossFactor {
  /// The argument's name, and the attribute that says it is data or a buffer.
  llvm::StringRef name, kindAttrName;
  llvm::StringRef markAttrName;
  /// "scale" or "weight", and "the loss is ... once".
  llvm::StringRef what, done;
};

/// Whether `type` is a tensor of rank 0 of a type that is trained.
bool isLossType(mlir::Type type);

/// Gives the model an argument of the loss's type, and multiplies the loss by
/// it. Fails with a diagnostic where an argument has its name or its mark. Does
/// nothing to a model that breaks the contract, which `verifyModel` tells of.
llvm::LogicalResult multiplyLoss(mlir::func::FuncOp model,
                                 const LossFactor &factor);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_PARTITION_LOSSFACTOR_H
