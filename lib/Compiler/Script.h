//===- Script.h - compiling with a transform script -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_COMPILER_SCRIPT_H
#define VEELINE_LIB_COMPILER_SCRIPT_H

#include "veeline/Compiler/Options.h"
#include "veeline/Pipelines/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"

namespace veeline::compiler {

/// Removes scripts from the module of a model. It may have one for veeline-opt.
void dropScripts(mlir::ModuleOp module);

/// Runs the script of --script on a model after the passes for the whole model,
/// and returns how far it has come. Stores what the script has decided in
/// `command`. Fails after a message, also if the command line contradicts the
/// script.
mlir::FailureOr<Progress> runScript(mlir::ModuleOp module,
                                    CompileCommand &command);

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_SCRIPT_H
