//===- Diagnostics.h - diagnostics of compile and inspect -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_COMPILER_DIAGNOSTICS_H
#define VEELINE_LIB_COMPILER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "veeline/Compiler/Messages.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/SourceMgr.h"

namespace veeline::compiler {

/// Prints "veeline: error: `message`" to standard error or, if there is a
/// MessageCapture, passes it there. Returns a failure.
mlir::LogicalResult printError(const llvm::Twine &message);
/// Like printError, for a warning and for a remark.
void printWarning(const llvm::Twine &message);
void printRemark(const llvm::Twine &message);

/// Converts a diagnostic. Of its location, the first place in a file is used.
Message toMessage(const mlir::Diagnostic &diagnostic);

/// Prints a diagnostic with its source line to standard error. Of a long line,
/// prints only the part around the place. Of a function, which may have
/// hundreds of arguments, prints only the name. Used as a handler of
/// llvm::SourceMgr.
void printShort(const llvm::SMDiagnostic &diagnostic, void *);

/// Collects remarks during its lifetime, and prints them at the end. A text is
/// printed once, at its first place and with the number of other places. With
/// Mode::Each, it is printed once at each place.
class RepeatedRemarks {
public:
  enum class Mode { Silent, Once, Each };
  RepeatedRemarks(mlir::MLIRContext *context, Mode mode);
  ~RepeatedRemarks();

private:
  struct Remark {
    mlir::Diagnostic first;
    llvm::SetVector<mlir::Location> places;
  };
  void say(Remark &remark) const;

  mlir::MLIRContext *context;
  Mode mode;
  llvm::SmallVector<Remark> remarks;
  llvm::StringMap<size_t> numbers;
  // Removed before remarks are printed, because it would collect them again.
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
};

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_DIAGNOSTICS_H
