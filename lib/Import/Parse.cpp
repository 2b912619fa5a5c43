//===- Parse.cpp - from a file to a module --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Import/Parse.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "veeline/Import/OldSyntax.h"
#include "veeline/Import/StableHlo.h"
#include "llvm/Support/CrashRecoveryContext.h"

using namespace mlir;
using namespace veeline;

/// Parses text, without regard to other dialects than the context's.
static OwningOpRef<ModuleOp> parse(llvm::SourceMgr &sources, Location place) {
  MLIRContext &context = *place.getContext();
  bool hasError = false;
  ScopedDiagnosticHandler explain(&context, [&](Diagnostic &diagnostic) {
    explainOldSyntax(diagnostic, sources);
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      place = diagnostic.getLocation();
      hasError = true;
    }
    return failure(); // The other handlers print the diagnostic.
  });
  OwningOpRef<ModuleOp> module;
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext guard;
  bool isDone = guard.RunSafely(
      [&] { module = parseSourceFile<ModuleOp>(sources, &context); });
  llvm::CrashRecoveryContext::Disable();
  if (isDone && !module && !hasError)
    emitError(place) << "MLIR's parser refuses this file and does not say "
                        "where; look for an op with attributes in a form that "
                        "is not its own";
  if (isDone)
    return module;
  emitError(place) << "MLIR's parser crashes on this file, at or after this "
                      "place: it is malformed there";
  return nullptr;
}

OwningOpRef<ModuleOp> veeline::parseModel(llvm::SourceMgr &sources,
                                          MLIRContext &context) {
  const llvm::MemoryBuffer &file =
      *sources.getMemoryBuffer(sources.getMainFileID());
  Location place =
      FileLineColLoc::get(&context, file.getBufferIdentifier(), 1, 1);
  std::string program =
      hasStableHlo(file.getBuffer()) ? findStableHloOpt() : "";
  if (program.empty())
    return parse(sources, place);
  std::unique_ptr<llvm::MemoryBuffer> text =
      lowerStableHlo(program, file, place);
  if (!text)
    return nullptr;
  llvm::SourceMgr lowered;
  lowered.AddNewSourceBuffer(std::move(text), {});
  return parse(lowered, place);
}
