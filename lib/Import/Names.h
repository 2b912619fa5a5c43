//===- Names.h - names of arguments, and patterns of them -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_NAMES_H
#define VEELINE_LIB_IMPORT_NAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

namespace veeline {

/// Gives every argument of a model a unique name. It is the name that the
/// exporter wrote (an attribute, a named location, a symbol) or else `argN`, or
/// `weightN` for an argument that was a constant.
std::vector<std::string> nameArguments(mlir::func::FuncOp model);

/// A user's list of arguments: positions (3), ranges (2-5) and patterns of
/// names (w*, layer?.bias).
class ArgumentList {
public:
  /// Parses a list. Fails with a diagnostic at `model` that names the wrong
  /// entry.
  static mlir::FailureOr<ArgumentList>
  parse(mlir::func::FuncOp model, llvm::ArrayRef<std::string> entries,
        llvm::StringRef option);

  /// Fails with a diagnostic at `model` if a pattern matches none of `names`.
  mlir::LogicalResult verify(mlir::func::FuncOp model,
                             llvm::ArrayRef<std::string> names) const;

  bool contains(unsigned position, llvm::StringRef name) const;
  bool empty() const { return entries.empty(); }

  /// Fails with a diagnostic at `model` if an entry chooses no parameter. For
  /// any argument that is not a parameter, `getOther` describes what it is
  /// instead, such as "not used"; for a parameter it returns "".
  mlir::LogicalResult verifyParams(
      mlir::func::FuncOp model, llvm::ArrayRef<std::string> names,
      llvm::function_ref<std::string(unsigned argument)> getOther) const;

private:
  struct Entry {
    bool matches(unsigned position, llvm::StringRef name) const;
    std::string text;
    /// None if the entry is a range.
    std::optional<llvm::GlobPattern> pattern;
    unsigned first = 0, last = 0;
  };
  const Entry *
  findUseless(llvm::ArrayRef<std::string> names,
              llvm::function_ref<bool(unsigned argument)> isWanted) const;

  llvm::SmallVector<Entry> entries;
  std::string option;
};

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_NAMES_H
