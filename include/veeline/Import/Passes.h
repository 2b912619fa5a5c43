//===- Passes.h - from real files to the input contract ---------*- C++ -*-===//
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

/// Whether some argument says what it is, as the input contract wants.
bool followsContract(mlir::func::FuncOp model);

/// No result was chosen: the first, or the only one that can be.
inline constexpr int64_t anyResult = -1;

struct ImportOptions {
  std::string entry;
  /// Arguments that are parameters; empty: by rule.
  std::vector<std::string> params;
  /// Parameters that are not trained.
  std::vector<std::string> freeze;
  /// Arguments that are the same for all data; empty: by rule.
  std::vector<std::string> buffer;
  /// cross-entropy, mse or sum; empty: the model has one.
  std::string loss;
  /// The result that the loss is made of.
  int64_t result = anyResult;
  /// Samples of a microbatch; more than 1 for a model for one sample only.
  int64_t microbatchSize = 1;
  /// f64: compute in it; empty: in the file's floats.
  std::string retype;
  /// A remark at each argument, not for each kind of them.
  bool verbose = false;
};

/// From a function as others export them to one that follows the input
/// contract. Of one that follows it already, arguments and constants stay; it
/// is inlined, lowered and canonicalized like any other.
void buildImportPipeline(mlir::OpPassManager &passManager,
                         const ImportOptions &options);

/// Registers `pipe-import`.
void registerImportPipeline();

#define GEN_PASS_REGISTRATION
#include "veeline/Import/Passes.h.inc"

} // namespace veeline

#endif // VEELINE_IMPORT_PASSES_H
