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

/// The function that pipe-import-entry chose: the only public one with a body.
/// Fails with a diagnostic where there is no such function.
mlir::FailureOr<mlir::func::FuncOp> getChosenModel(mlir::ModuleOp module);

/// A tensor of floats of static shape with at least `least` elements.
bool isFloatTensor(mlir::Type type, int64_t least = 1);

/// Updates the type of the function to that of its block and its return op.
void updateType(mlir::func::FuncOp model);

/// Appends an argument.
mlir::BlockArgument addArgument(mlir::func::FuncOp model, mlir::Type type,
                                mlir::StringAttr attributeName,
                                mlir::Attribute attribute,
                                mlir::Location location);

/// Replaces results for which `goes` holds by empty tensors, so that others
/// keep their numbers, and removes what only they used.
void dropResults(mlir::func::FuncOp model,
                 llvm::function_ref<bool(int64_t number)> goes);
bool isDropped(mlir::Value result);

/// The error where a loss can be made of several results.
mlir::InFlightDiagnostic refuseSeveral(mlir::func::FuncOp model,
                                       llvm::ArrayRef<int64_t> candidates);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_MODEL_H
