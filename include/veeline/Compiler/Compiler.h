//===- Compiler.h - from a model file to an artifact ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_COMPILER_H
#define VEELINE_COMPILER_COMPILER_H

#include "veeline/Compiler/Options.h"
#include "veeline/Compiler/Record.h"
#include "veeline/MlirVersion.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

#include "veeline/artifact.h"

#include <memory>

namespace veeline::compiler {

/// A model with its context, and a handler of diagnostics. The handler prints
/// diagnostics to standard error with the lines that they are about, or passes
/// them to the current MessageCapture (Messages.h).
class Model {
public:
  /// Registers upstream's dialects, those of Veeline, and `more`: dialects and
  /// interfaces of the program that embeds Veeline.
  explicit Model(const mlir::DialectRegistry &more = mlir::DialectRegistry());
  /// Copies the module `original` in its own context. Upstream's dialects and
  /// those of Veeline are added to that context. Only one thread may use the
  /// context while the model is made and used.
  explicit Model(mlir::ModuleOp original);
  ~Model();

  /// Reads and parses a file. Fails after a message.
  mlir::LogicalResult load(const std::string &path);
  /// Parses text or bytecode in memory. The buffer's identifier is used as the
  /// name of the file.
  mlir::LogicalResult parse(std::unique_ptr<llvm::MemoryBuffer> text);

  /// Converts a model that does not follow the input contract, because no
  /// argument has an attribute that says what it is, into one that does.
  /// Reports its decisions on standard error unless `quiet`. Fails after a
  /// message.
  mlir::LogicalResult import(const ImportCommand &command, bool quiet = false,
                             bool forwardOnly = false);

  mlir::MLIRContext &getContext();
  mlir::ModuleOp getModule() { return *module; }

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Compiles `model` as `command` says. Fails after a message. Adds the times of
/// phases to `record` if it is given.
mlir::FailureOr<artifact::Artifact> compile(Model &model,
                                            const CompileCommand &command,
                                            CompileRecord *record = nullptr);

/// Installs handlers with which SIGHUP, SIGINT and SIGTERM end the process with
/// exit code 128 + signal, and leave no partial or temporary files behind.
void catchInterrupts();

/// The commands of `veeline`. Each parses its arguments, runs, prints, and
/// returns the exit code of the process. argv[0] is the command's name. `more`
/// is as for Model.
int compileMain(int argc, const char *const *argv,
                const mlir::DialectRegistry &more = mlir::DialectRegistry());
int inspectMain(int argc, const char *const *argv);
int doctorMain(int argc, const char *const *argv);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_COMPILER_H
