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

/// A model, its context, and a handler that prints diagnostics to standard
/// error with the lines that they are about, or gives them to the
/// MessageCapture that there is (Messages.h).
class Model {
public:
  /// Upstream's dialects, those of Veeline, and `more`: dialects and interfaces
  /// of the program that embeds Veeline.
  explicit Model(const mlir::DialectRegistry &more = mlir::DialectRegistry());
  /// A copy of a module that somebody has, in its context, to which upstream's
  /// dialects and those of Veeline are added. Only one thread may use that
  /// while the model is made and used.
  explicit Model(mlir::ModuleOp original);
  ~Model();

  /// Fails after a message where the file cannot be read or parsed.
  mlir::LogicalResult load(const std::string &path);
  /// The same of what is in memory, text or bytecode. Its identifier stands for
  /// the name of a file.
  mlir::LogicalResult parse(std::unique_ptr<llvm::MemoryBuffer> text);

  /// Turns a model that does not follow the input contract (no argument says
  /// what it is) into one that does. Says what it decided on standard error,
  /// unless `quiet`. Fails after a message.
  mlir::LogicalResult import(const ImportCommand &command, bool quiet = false);

  mlir::MLIRContext &getContext();
  mlir::ModuleOp getModule() { return *module; }

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Compiles `model` as `command` says. Fails after a message. `record`, if
/// there is one, gets the times of phases.
mlir::FailureOr<artifact::Artifact> compile(Model &model,
                                            const CompileCommand &command,
                                            CompileRecord *record = nullptr);

/// From now on SIGHUP, SIGINT and SIGTERM end the process with exit code 128 +
/// signal, and leave nothing half-written or temporary behind.
void catchInterrupts();

/// The commands: parse, act, print. The exit code of the process. argv[0] is
/// the command's name, and `more` as of Model.
int compileMain(int argc, const char *const *argv,
                const mlir::DialectRegistry &more = mlir::DialectRegistry());
int inspectMain(int argc, const char *const *argv);
int doctorMain(int argc, const char *const *argv);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_COMPILER_H
