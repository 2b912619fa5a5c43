//===- veeline-opt.cpp - runs passes on textual IR ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "veeline/Import/Parse.h"
#include "veeline/Import/StableHlo.h"
#include "veeline/InitAll.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"

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

/// Lowers a model in StableHLO, if its program is found, to a file at
/// `lowered`. Returns the path of the file to read: `path`, or `lowered`. Fails
/// after a message.
static FailureOr<std::string> lower(const std::string &path,
                                    SmallVectorImpl<char> &lowered) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (path == "-" || !file || !veeline::hasStableHlo((*file)->getBuffer()))
    return path;
  std::string program = veeline::findStableHloOpt();
  if (program.empty())
    return path;
  MLIRContext context;
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  Location place = FileLineColLoc::get(&context, path, 1, 1);
  std::unique_ptr<llvm::MemoryBuffer> text =
      veeline::lowerStableHlo(program, **file, place);
  if (!text)
    return failure();
  int descriptor;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(
          "veeline-opt", "mlir", descriptor, lowered)) {
    emitError(place) << "cannot make a temporary file: " << error.message();
    return failure();
  }
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << text->getBuffer();
  return std::string(lowered.begin(), lowered.end());
}

int main(int argc, char **argv) {
  veeline::registerEveryPass();
  DialectRegistry registry;
  veeline::registerEveryDialect(registry);
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Veeline: pipeline-parallel training\n", registry);
  SmallString<128> lowered;
  FailureOr<std::string> model = lower(input, lowered);
  if (failed(model))
    return asMainReturnCode(failure());
  llvm::FileRemover remover(lowered, /*DeleteIt=*/!lowered.empty());
  LogicalResult result = MlirOptMain(argc, argv, *model, output, registry);
  if (failed(result))
    explain(*model, registry);
  return asMainReturnCode(result);
}
