//===- Params.h - kinds of a model's arguments ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_PARAMS_H
#define VEELINE_LIB_IMPORT_PARAMS_H

#include "Names.h"

namespace veeline {

/// The user's lists of arguments.
struct ArgumentChoice {
  /// Parses the lists. Fails with a diagnostic at `model` that names the wrong
  /// entry.
  static mlir::FailureOr<ArgumentChoice>
  parse(mlir::func::FuncOp model, llvm::ArrayRef<std::string> params,
        llvm::ArrayRef<std::string> freeze,
        llvm::ArrayRef<std::string> buffers);

  ArgumentList params, freeze, buffers;
  /// Whether --buffer was given, even as "none". No other argument is then a
  /// buffer.
  bool areBuffersGiven = false;
};

/// Decides what each argument of a model is. A remark for each kind of decision
/// or, if `verbose`, at each argument says why.
mlir::LogicalResult importParams(mlir::func::FuncOp model,
                                 const ArgumentChoice &choice, bool verbose);

/// Whether some parameter changes result `number`. To find out, runs the
/// decisions of --pipe-import-params on a copy of the model without its other
/// results.
bool isTrainable(mlir::func::FuncOp model, int64_t number,
                 const ArgumentChoice &choice);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_PARAMS_H
