//===- Limited.cpp - a model within less memory ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Limited.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace veeline;
using namespace veeline::fuzz;

/// The largest arena of each stage.
static FailureOr<std::vector<int64_t>>
getArenas(ModuleOp model, const CompileOptions &options) {
  OwningOpRef<ModuleOp> module = model.clone();
  if (failed(runPhase(*module, [&](OpPassManager &passManager) {
        buildProgramPipeline(passManager, options);
        buildMemoryPipeline(passManager, options);
      })))
    return failure();
  std::vector<int64_t> arenas(options.stages);
  for (auto program : module->getOps<pipe::ProgramOp>()) {
    FailureOr<pipe::MemoryPlan> plan = pipe::MemoryPlan::get(program);
    if (failed(plan))
      return failure();
    int64_t &arena = arenas[program.getStage()];
    arena = std::max(arena, plan->arenaBytes);
  }
  return arenas;
}

/// Compiles within the limits of `options`. Returns no module if
/// --pipe-fit-memory finds the limits too low, which nobody knows beforehand.
/// Every other failure is one: what the pass has promised has to hold.
static FailureOr<OwningOpRef<ModuleOp>>
tryToFit(ModuleOp model, const CompileOptions &options, const Twine &name) {
  OwningOpRef<ModuleOp> module = model.clone();
  FailureOr<func::FuncOp> function = pipe::findModel(*module, "");
  if (failed(function))
    return failure();
  function->setSymName(name.str());
  bool isTooLittle = false;
  ScopedDiagnosticHandler handler(
      model.getContext(), [&](Diagnostic &diagnostic) {
        std::string text = diagnostic.str();
        isTooLittle |= StringRef(text).contains("needs an arena of at least") ||
                       StringRef(text).contains("memory limits of all stages");
        return success(isTooLittle);
      });
  LogicalResult fitted = runPhase(*module, [&](OpPassManager &passManager) {
    buildProgramPipeline(passManager, options);
  });
  if (succeeded(fitted))
    return module;
  if (isTooLittle)
    return OwningOpRef<ModuleOp>();
  return failure();
}

FailureOr<OwningOpRef<ModuleOp>>
veeline::fuzz::compileWithinLimits(ModuleOp model, CompileOptions options,
                                   ArrayRef<double> shares, const Twine &name) {
  options.recompute = {"none"};
  FailureOr<std::vector<int64_t>> arenas = getArenas(model, options);
  if (failed(arenas))
    return failure();
  options.recompute = {"auto"};
  for (double share : shares) {
    options.memoryLimits.clear();
    for (int64_t arena : *arenas)
      options.memoryLimits.push_back(
          std::to_string(std::llround(static_cast<double>(arena) * share)));
    auto fitted = tryToFit(model, options, name);
    if (failed(fitted) || *fitted)
      return fitted;
  }
  return OwningOpRef<ModuleOp>();
}
