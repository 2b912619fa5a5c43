//===- Diagnostics.h - what compile and inspect say -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_COMPILER_DIAGNOSTICS_H
#define VEELINE_LIB_COMPILER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"

namespace veeline::compiler {

/// Prints a diagnostic to the standard error stream, with the source around its
/// place: of a line that is long only the part there, and of a function, which
/// may have hundreds of arguments, only its name. A handler of llvm::SourceMgr.
void printShort(const llvm::SMDiagnostic &diagnostic, void *);

/// While it lives, holds back remarks; then says each text once, at its first
/// place, with the number of the others, or, with Mode::Each, once at each.
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
  // The last member: it goes before remarks are said.
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
};

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_DIAGNOSTICS_H
