//===- ClipKernels.h - clipping by the norm as kernels ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_CLIPKERNELS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_CLIPKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::pipe {

/// What came of the limits: the norm of all gradients, by what they are
/// multiplied, and 1 or 0, for whether the step changes nothing.
enum ClipOutcome { clipNorm, clipFactor, clipSkips, numClipOutcomes };

/// The most norms that one kernel takes: arguments of a kernel have 4 KiB.
inline constexpr int64_t maxGatheredNorms = 128;

/// The function `pipe_add_parts_...`, a kernel of `parts` doubles, which it
/// adds up, and of the sum.
mlir::func::FuncOp getAddPartsKernel(mlir::SymbolTable &symbols, int64_t parts);

/// What all elements are that `params` do not name.
enum class OtherNorms { Zero, Copied, Kept };

/// The function `pipe_gather_norms_...`, a kernel of the norms of `params`, of
/// all norms before if others are copied from there, and of the `count` norms
/// of all parameters, which it writes.
mlir::func::FuncOp getGatherKernel(mlir::SymbolTable &symbols,
                                   llvm::ArrayRef<int64_t> params,
                                   int64_t count, OtherNorms others);

/// The function `pipe_choose_settings_...`, a kernel of what came of the limits
/// in the step before, of two settings of `bytes` bytes (the second ones are
/// for when that step changed nothing) and of those that updates take, which it
/// writes.
mlir::func::FuncOp getChooseKernel(mlir::SymbolTable &symbols, int64_t bytes);

/// The function `pipe_clip_...`, a kernel of the `count` squared norms of all
/// parameters, of the limits (that of the norm, and 1 or 0, for whether a step
/// changes nothing where the norm is not finite) and of what came of the
/// limits, which it writes.
mlir::func::FuncOp getClipKernel(mlir::SymbolTable &symbols, int64_t count);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_CLIPKERNELS_H
