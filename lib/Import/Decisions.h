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

/// Kinds of decisions that usually concern many arguments of a model.
enum class Decision {
  Parameter,
  /// A constant with values of its own becomes a parameter.
  Trained,
  /// A constant with one number for all elements becomes a parameter that
  /// starts from it.
  Number,
  /// A constant becomes a parameter that is not trained.
  Frozen,
  /// A parameter is drawn at random: the file leaves out its values, or has one
  /// number for all of them.
  Drawn,
  Constant,
  Variance,
  Mean,
  /// Statistics without values become 1 (variance) or 0 (mean).
  MissingVariance,
  MissingMean,
  ZeroBias,
  /// A constant is a mask that hides positions from each other.
  Mask,
  Unused
};

/// Collects decisions, and reports each kind of them in one remark.
class Decisions {
public:
  /// `description` describes the argument as part of a sentence.
  void add(Decision decision, mlir::Location location, llvm::StringRef name,
           llvm::StringRef description);

  /// Emits the remarks. If a kind concerns one argument, the remark is at that
  /// argument. If it concerns several, the remark is at the model, with their
  /// number and the first names. If `verbose`, each argument has its own
  /// remark.
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
