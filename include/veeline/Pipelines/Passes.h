//===- Passes.h - passes across several phases ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_PIPELINES_PASSES_H
#define VEELINE_PIPELINES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "veeline/Pipelines/Pipelines.h"

namespace veeline {

#define GEN_PASS_DECL
#include "veeline/Pipelines/Passes.h.inc"

/// Creates pipe-fit-memory. `options` also has values that the pass's own
/// options do not have: `tf32`, `deterministic`, `epilogues`, and the functions
/// that ask libraries for scratch memory.
std::unique_ptr<mlir::Pass> createFitMemoryPass(const CompileOptions &options);

#define GEN_PASS_REGISTRATION
#include "veeline/Pipelines/Passes.h.inc"

} // namespace veeline

#endif // VEELINE_PIPELINES_PASSES_H
