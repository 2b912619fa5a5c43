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

/// "veeline: error: `message`" to standard error, or to the MessageCapture that
/// there is. Returns a failure.
mlir::LogicalResult printError(const llvm::Twine &message);
/// The same of a warning, and of a remark.
void printWarning(const llvm::Twine &message);
void printRemark(const llvm::Twine &message);

/// With the first place in a file that its location has.
Message toMessage(const mlir::Diagnostic &diagnostic);

/// Prints a diagnostic to standard error, with the source line: of a long line
/// only the part around the place, and of a function, which may have hundreds
/// of arguments, only its name. A handler of llvm::SourceMgr.
void printShort(const llvm::SMDiagnostic &diagnostic, void *);

/// Holds back remarks while it lives. Then each text is printed once, at its
/// first place and with the number of other places, or, with Mode::Each, once
/// at each place.
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
  // Removed before remarks are printed, since it would hold them back.
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
};

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_DIAGNOSTICS_H
