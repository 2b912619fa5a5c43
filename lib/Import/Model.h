//===- Model.h - shared code of the import's passes -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_MODEL_H
#define VEELINE_LIB_IMPORT_MODEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace veeline {

/// The function that --pipe-import-entry chose: the only public one with a
/// body. Fails with a diagnostic if there is none.
mlir::FailureOr<mlir::func::FuncOp> getChosenModel(mlir::ModuleOp module);

/// Whether `type` is a tensor of floats with a static shape and at least
/// `least` elements.
bool isFloatTensor(mlir::Type type, int64_t least = 1);

/// Updates the type of the function from its block and its return op.
void updateType(mlir::func::FuncOp model);

/// Appends an argument to the function.
mlir::BlockArgument addArgument(mlir::func::FuncOp model, mlir::Type type,
                                mlir::StringAttr attributeName,
                                mlir::Attribute attribute,
                                mlir::Location location);

/// Replaces the results for which `goes` returns true by empty tensors, so that
/// other results keep their numbers. Removes the ops that only they needed.
void dropResults(mlir::func::FuncOp model,
                 llvm::function_ref<bool(int64_t number)> goes);
bool isDropped(mlir::Value result);

/// Emits the error if several results could be the loss.
mlir::InFlightDiagnostic refuseSeveral(mlir::func::FuncOp model,
                                       llvm::ArrayRef<int64_t> candidates);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_MODEL_H
