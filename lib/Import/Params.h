//===- Params.h - what the arguments of a model are -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_PARAMS_H
#define VEELINE_LIB_IMPORT_PARAMS_H

#include "Names.h"

namespace veeline {

/// What the user says of arguments.
struct ArgumentChoice {
  /// Fails with a diagnostic at `model` that names the wrong entry.
  static mlir::FailureOr<ArgumentChoice>
  parse(mlir::func::FuncOp model, llvm::ArrayRef<std::string> params,
        llvm::ArrayRef<std::string> freeze,
        llvm::ArrayRef<std::string> buffers);

  ArgumentList params, freeze, buffers;
  /// The list of buffers is the whole one, though it may be empty.
  bool areBuffersGiven = false;
};

/// Says of every argument of a model what it is, and what it was decided by. A
/// remark is for each kind of decision or, with `verbose`, at each argument.
mlir::LogicalResult importParams(mlir::func::FuncOp model,
                                 const ArgumentChoice &choice, bool verbose);

/// Whether some parameter changes result `number` of a model that has no other
/// one: what --pipe-import-params would say of a copy of it.
bool isTrainable(mlir::func::FuncOp model, int64_t number,
                 const ArgumentChoice &choice);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_PARAMS_H
