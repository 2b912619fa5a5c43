//===- Decisions.h - remarks on decisions of the import ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_DECISIONS_H
#define VEELINE_LIB_IMPORT_DECISIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace veeline {

/// Decisions of which a model usually has many.
enum class Decision {
  Parameter,
  /// A constant that is a parameter and has values of its own.
  Trained,
  /// A constant that is one number everywhere; the parameter starts from it.
  Number,
  /// A constant that is a parameter, and is not trained.
  Frozen,
  /// A parameter whose values the file leaves out, or has one number for.
  Drawn,
  Constant,
  Variance,
  Mean,
  /// Statistics without values: they are 1 and 0.
  MissingVariance,
  MissingMean,
  ZeroBias,
  /// A constant that hides positions from each other.
  Mask,
  Unused
};

/// Collects decisions, to report them in a remark for each kind.
class Decisions {
public:
  /// `description` names the argument as part of a sentence.
  void add(Decision decision, mlir::Location location, llvm::StringRef name,
           llvm::StringRef description);

  /// Emits the remarks. A kind with one argument has its remark there. A kind
  /// with several has it at the model, with their number and the first names.
  /// If `verbose`, each argument has one.
  void say(mlir::func::FuncOp model, bool verbose) const;

private:
  struct Argument {
    mlir::Location location;
    std::string name, description;
  };
  llvm::MapVector<Decision, llvm::SmallVector<Argument>> arguments;
};

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_DECISIONS_H
