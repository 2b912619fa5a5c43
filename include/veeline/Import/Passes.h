//===- Passes.h - passes that import models ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_IMPORT_PASSES_H
#define VEELINE_IMPORT_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <string>
#include <vector>

namespace veeline {

#define GEN_PASS_DECL
#include "veeline/Import/Passes.h.inc"

/// Whether any argument has an attribute that says what it is, as the input
/// contract requires.
bool followsContract(mlir::func::FuncOp model);

/// The default of `ImportOptions::result`: the first result, or the only
/// possible one.
inline constexpr int64_t anyResult = -1;

struct ImportOptions {
  std::string entry;
  /// Arguments that are parameters; empty: by rule.
  std::vector<std::string> params;
  /// Parameters that are not trained.
  std::vector<std::string> freeze;
  /// Arguments with the same value for all data; empty: by rule.
  std::vector<std::string> buffer;
  /// cross-entropy, mse or sum; empty: the model has a loss.
  std::string loss;
  /// The number of the result that the loss is computed from.
  int64_t result = anyResult;
  /// The samples of a microbatch. More than 1 is only for a model of one
  /// sample.
  int64_t microbatchSize = 1;
  /// "f64": compute in f64; empty: in the float types of the file.
  std::string retype;
  /// Emit a remark for each argument, instead of one for each kind.
  bool verbose = false;
  /// The model is not trained: without a `loss`, its results stay what they
  /// are.
  bool forwardOnly = false;
};

/// Converts a function exported by another framework to one that follows the
/// input contract. A function that already follows it keeps its arguments and
/// constants, but is inlined, lowered and canonicalized like any other.
void buildImportPipeline(mlir::OpPassManager &passManager,
                         const ImportOptions &options);

/// Registers `pipe-import`.
void registerImportPipeline();

#define GEN_PASS_REGISTRATION
#include "veeline/Import/Passes.h.inc"

} // namespace veeline

#endif // VEELINE_IMPORT_PASSES_H
