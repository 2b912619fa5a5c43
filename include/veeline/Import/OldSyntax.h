//===- OldSyntax.h - what the parser no longer takes ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_IMPORT_OLDSYNTAX_H
#define VEELINE_IMPORT_OLDSYNTAX_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace veeline {

/// What older versions of MLIR, or dialects of other projects, write.
struct OldSyntax {
  /// Matches the line of the error.
  llvm::StringLiteral pattern;
  llvm::StringLiteral construct;
  /// How it is written now, or how it gets into a dialect that is known here.
  llvm::StringLiteral modern;
  /// Matches lines that have the modern form, so that the error is another one.
  llvm::StringLiteral unless = "";
  /// Part of the error, where the line alone does not tell.
  llvm::StringLiteral message = "";
};

llvm::ArrayRef<OldSyntax> getOldSyntax();

/// Attaches a note to an error of the parser about a line that has old syntax.
void explainOldSyntax(mlir::Diagnostic &diagnostic,
                      const llvm::SourceMgr &sources);

} // namespace veeline

#endif // VEELINE_IMPORT_OLDSYNTAX_H
