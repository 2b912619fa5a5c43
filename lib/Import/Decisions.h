//===- Decisions.h - what the import says of arguments ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_DECISIONS_H
#define VEELINE_LIB_IMPORT_DECISIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace veeline {

/// What is mostly decided of many arguments of a model.
enum class Decision {
  Parameter,
  /// A constant that is a parameter and has values of its own.
  Trained,
  /// One that is the same number everywhere, which it starts from.
  Number,
  /// One whose values the file leaves out, or has one number for.
  Drawn,
  Constant,
  Variance,
  Mean,
  /// Without values: they are 1 and 0.
  MissingVariance,
  MissingMean,
  ZeroBias,
  /// A constant that hides positions from each other.
  Mask,
  Unused
};

/// Collects decisions, to say them in a remark for each kind.
class Decisions {
public:
  /// `description` is that of an argument in a sentence, with its name.
  void add(Decision decision, mlir::Location location, llvm::StringRef name,
           llvm::StringRef description);

  /// A remark at the argument of which something was decided alone, or, of
  /// several, at the model, with their number and the first names. If
  /// `verbose`, at each argument.
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
