//===- ClipKernels.h - clipping by the norm as kernels ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_CLIPKERNELS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_CLIPKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::pipe {

/// The outcome of clipping: the norm of all gradients, the factor for
/// gradients, and 1 if the step changes nothing, else 0.
enum ClipOutcome { clipNorm, clipFactor, clipSkips, numClipOutcomes };

/// The maximal number of norms for one kernel: arguments of a kernel have at
/// most 4 KiB.
inline constexpr int64_t maxGatheredNorms = 128;

/// The kernel `pipe_add_parts_...`. It takes `parts` doubles, and writes their
/// sum.
mlir::func::FuncOp getAddPartsKernel(mlir::SymbolTable &symbols, int64_t parts);

/// The values of norms that are not in `params`.
enum class OtherNorms { Zero, Copied, Kept };

/// The kernel `pipe_gather_norms_...`. It takes the norms of `params`, then, if
/// other norms are copied, all norms before. It writes the `count` norms of all
/// parameters.
mlir::func::FuncOp getGatherKernel(mlir::SymbolTable &symbols,
                                   llvm::ArrayRef<int64_t> params,
                                   int64_t count, OtherNorms others);

/// The kernel `pipe_choose_settings_...`. It takes the outcome of clipping in
/// the step before, and two settings of `bytes` bytes; the second ones are for
/// the case that that step changed nothing. It writes the settings that updates
/// take.
mlir::func::FuncOp getChooseKernel(mlir::SymbolTable &symbols, int64_t bytes);

/// The kernel `pipe_clip_...`. It takes the `count` squared norms of all
/// parameters and the limits: that of the norm, and 1 if a step with a norm
/// that is not finite changes nothing, else 0. It writes the outcome of
/// clipping.
mlir::func::FuncOp getClipKernel(mlir::SymbolTable &symbols, int64_t count);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_CLIPKERNELS_H
