//===- veeline-opt.cpp - runs passes on textual IR ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Version.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "veeline/Import/Parse.h"
#include "veeline/Import/StableHlo.h"
#include "veeline/InitAll.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

/// If the parser refuses a file of another project's dialect or of an older
/// MLIR, explains what to do. MLIR's driver has printed the error.
static void explain(llvm::StringRef path, const DialectRegistry &registry) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path);
  if (!file)
    return;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  MLIRContext context(registry);
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
    for (Diagnostic &note : diagnostic.getNotes())
      if (llvm::StringRef(note.str()).starts_with("this looks like"))
        llvm::errs() << "note: " << note << "\n";
  });
  veeline::parseModel(sources, context);
}

/// The model at `path` in linalg, if it is a file in StableHLO whose program is
/// found; null if not. Fails after a message.
static FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
lower(const std::string &path) {
  // A pipe can be read once only.
  if (!llvm::sys::fs::is_regular_file(path))
    return std::unique_ptr<llvm::MemoryBuffer>();
  auto file = llvm::MemoryBuffer::getFile(path);
  std::string program = file && veeline::hasStableHlo((*file)->getBuffer())
                            ? veeline::findStableHloOpt()
                            : "";
  if (program.empty())
    return std::unique_ptr<llvm::MemoryBuffer>();
  MLIRContext context;
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  Location place = FileLineColLoc::get(&context, path, 1, 1);
  std::unique_ptr<llvm::MemoryBuffer> text =
      veeline::lowerStableHlo(program, **file, place);
  if (!text)
    return failure();
  return text;
}

/// Runs the passes on text that is not in a file.
static LogicalResult runOn(std::unique_ptr<llvm::MemoryBuffer> text,
                           llvm::StringRef outputPath,
                           DialectRegistry &registry) {
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(outputPath, &message);
  if (!output) {
    llvm::errs() << message << "\n";
    return failure();
  }
  LogicalResult result = MlirOptMain(output->os(), std::move(text), registry,
                                     MlirOptMainConfig::createFromCLOptions());
  if (succeeded(result))
    output->keep();
  return result;
}

int main(int argc, char **argv) {
  veeline::addVersion();
  veeline::registerEveryPass();
  DialectRegistry registry;
  veeline::registerEveryDialect(registry);
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Veeline: pipeline-parallel training\n", registry);
  FailureOr<std::unique_ptr<llvm::MemoryBuffer>> lowered = lower(input);
  if (failed(lowered))
    return asMainReturnCode(failure());
  if (*lowered)
    return asMainReturnCode(runOn(std::move(*lowered), output, registry));
  LogicalResult result = MlirOptMain(argc, argv, input, output, registry);
  if (failed(result))
    explain(input, registry);
  return asMainReturnCode(result);
}
