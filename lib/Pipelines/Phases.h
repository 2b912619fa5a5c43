//===- Phases.h - parts of the pipelines ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_PIPELINES_PHASES_H
#define VEELINE_LIB_PIPELINES_PHASES_H

#include "mlir/Pass/Pass.h"
#include "veeline/Pipelines/Pipelines.h"

namespace veeline {

/// From the model function to chunks.
void addPartition(mlir::OpPassManager &passManager,
                  const CompileOptions &options);

/// From there to forward and backward functions.
void addDifferentiation(mlir::OpPassManager &passManager,
                        const CompileOptions &options);

/// Both, within `options.memoryLimits`: chooses what is left open (what to
/// recompute, the schedule limits, cuts) so that every arena fits, with the
/// least predicted time found, and marks the pipeline with the limits.
std::unique_ptr<mlir::Pass> createFitMemoryPass(const CompileOptions &options);

} // namespace veeline

#endif // VEELINE_LIB_PIPELINES_PHASES_H
