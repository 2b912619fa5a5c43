//===- Model.cpp - a model file and its context ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "veeline/Compiler/Compiler.h"
#include "veeline/Import/Parse.h"
#include "veeline/Import/Passes.h"
#include "veeline/InitAll.h"
#include "veeline/artifact.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

static DialectRegistry createRegistry() {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  veeline::registerAllDialects(registry);
  return registry;
}

struct Model::Implementation {
  Implementation()
      : context(createRegistry()), handler(sourceManager, &context) {
    // The place in the user's file says more than a page of our own IR.
    context.printOpOnDiagnostic(false);
  }

  MLIRContext context;
  llvm::SourceMgr sourceManager;
  SourceMgrDiagnosticHandler handler;
};

Model::Model() : implementation(std::make_unique<Implementation>()) {}
Model::~Model() { module = nullptr; }

MLIRContext &Model::getContext() { return implementation->context; }

LogicalResult Model::load(const std::string &path) {
  if (artifact::isArtifact(path)) {
    llvm::WithColor::error(llvm::errs(), "veeline")
        << "'" << path
        << "' is no model but an artifact, compiled already: train it with "
           "veeline train, or look into it with veeline inspect\n";
    return failure();
  }
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &message);
  if (!file) {
    llvm::WithColor::error(llvm::errs(), "veeline") << message << '\n';
    return failure();
  }
  implementation->sourceManager.AddNewSourceBuffer(std::move(file), {});
  module = parseModel(implementation->sourceManager, implementation->context);
  if (!module)
    return failure();
  // What is wrong with a file as a whole is said at its first line.
  Operation *root = module->getOperation();
  auto place = dyn_cast<FileLineColLoc>(root->getLoc());
  if (place && place.getLine() == 0)
    root->setLoc(FileLineColLoc::get(place.getFilename(), 1, 1));
  return success();
}

/// Whether an argument of some function says what it is.
static bool hasContract(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (followsContract(function))
      return true;
  return false;
}

LogicalResult Model::import(const ImportCommand &command, bool quiet) {
  if (hasContract(*module)) {
    if (command.params.empty() && command.freeze.empty() &&
        command.loss.empty() && command.result == 0 &&
        command.microbatchSize == 1 && command.retype.empty())
      return success();
    llvm::WithColor::error(llvm::errs(), "veeline")
        << "--params, --freeze, --loss, --result, --microbatch-size and "
           "--retype are for models whose arguments do not say what they are, "
           "and those of this one do\n";
    return failure();
  }
  // A line for each argument; the lines of a generated file say nothing more.
  ScopedDiagnosticHandler remarks(&getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
      return failure();
    if (!quiet)
      llvm::WithColor::remark(llvm::errs(), "veeline")
          << diagnostic.str() << '\n';
    return success();
  });
  PassManager passManager(&getContext());
  buildImportPipeline(
      passManager, {command.entry, command.params, command.freeze, command.loss,
                    command.result, command.microbatchSize, command.retype});
  return passManager.run(*module);
}
