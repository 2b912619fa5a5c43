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

/// Takes scripts out of the module of a model, which may have one for
/// veeline-opt.
void dropScripts(mlir::ModuleOp module);

/// Runs the script of --script on a model, of which the passes on the whole
/// have run, and says how far it has come. `command` then has what the script
/// has decided. Fails after a message, also where the command line says
/// something of what the script does.
mlir::FailureOr<Progress> runScript(mlir::ModuleOp module,
                                    CompileCommand &command);

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_SCRIPT_H
