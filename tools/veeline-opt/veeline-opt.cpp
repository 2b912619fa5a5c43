//===- veeline-opt.cpp - runs passes on textual IR ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "veeline/Import/Parse.h"
#include "veeline/InitAll.h"
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

int main(int argc, char **argv) {
  veeline::registerEveryPass();
  DialectRegistry registry;
  veeline::registerEveryDialect(registry);
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Veeline: pipeline-parallel training\n", registry);
  LogicalResult result = MlirOptMain(argc, argv, input, output, registry);
  if (failed(result))
    explain(input, registry);
  return asMainReturnCode(result);
}
