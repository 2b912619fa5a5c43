//===- OldSyntax.h - explanations of outdated syntax ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_IMPORT_OLDSYNTAX_H
#define VEELINE_IMPORT_OLDSYNTAX_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace veeline {

/// A construct of an older version of MLIR, or of a dialect of another project.
struct OldSyntax {
  /// A pattern that matches the line of the error.
  llvm::StringLiteral pattern;
  llvm::StringLiteral construct;
  /// How to write it now, or how to convert it to a dialect that is supported
  /// here.
  llvm::StringLiteral modern;
  /// A pattern that matches lines with the modern form, in which the error has
  /// another cause.
  llvm::StringLiteral unless = "";
  /// A part of the error message, if the line alone is ambiguous.
  llvm::StringLiteral message = "";
};

llvm::ArrayRef<OldSyntax> getOldSyntax();

/// Attaches a note to a parser error at a line with old syntax.
void explainOldSyntax(mlir::Diagnostic &diagnostic,
                      const llvm::SourceMgr &sources);

} // namespace veeline

#endif // VEELINE_IMPORT_OLDSYNTAX_H
