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

/// Adds the passes from the model function to chunks.
void addPartition(mlir::OpPassManager &passManager,
                  const CompileOptions &options);

/// Adds the passes from chunks to forward and backward functions.
void addDifferentiation(mlir::OpPassManager &passManager,
                        const CompileOptions &options);

/// Adds the passes from chunk functions on tensors to functions on memrefs with
/// one workspace.
void addBufferization(mlir::OpPassManager &passManager,
                      const CompileOptions &options);

} // namespace veeline

#endif // VEELINE_LIB_PIPELINES_PHASES_H
