//===- Limited.h - a model within less memory -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_LIMITED_H
#define VEELINE_TEST_FUZZ_LIMITED_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "veeline/Pipelines/Pipelines.h"

namespace veeline::fuzz {

/// Compiles `model` within memory limits, as --pipe-fit-memory does. The limit
/// of each stage is a share of the arena that it has without a limit and
/// without recomputation; the first one of `shares` that is enough is taken.
/// `options` say everything except what is recomputed.
///
/// Returns a module of its own with the programs, with communication; there is
/// no module if no share is enough. The programs and their functions are named
/// after `name`.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
compileWithinLimits(mlir::ModuleOp model, CompileOptions options,
                    llvm::ArrayRef<double> shares, const llvm::Twine &name);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_LIMITED_H
