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

/// The programs of `model`, with communication and in a module of their own, as
/// --pipe-fit-memory makes them within a share of the arenas that they have
/// without a limit and with nothing computed again: the first one of `shares`
/// that is enough. `options` say all but what is computed again. They and their
/// functions are called after `name`. There is no module where no share is
/// enough.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
compileWithinLimits(mlir::ModuleOp model, CompileOptions options,
                    llvm::ArrayRef<double> shares, const llvm::Twine &name);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_LIMITED_H
