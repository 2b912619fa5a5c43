//===- Passes.h - from chunk functions to native code -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVERSION_PASSES_H
#define VEELINE_CONVERSION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/Pass.h"
#include "veeline/Conversion/Convolution.h"
#include "veeline/Conversion/Gemm.h"
#include "veeline/Conversion/Pipelines.h"

namespace veeline {

#define GEN_PASS_DECL
#include "veeline/Conversion/Passes.h.inc"

/// Registers what bufferization needs.
void registerBufferization(mlir::DialectRegistry &registry);

/// Brings every structured op below `root` into the form that
/// pipe-normalize-ops makes for `target`. Fails with a diagnostic at an op that
/// has no such form.
mlir::LogicalResult normalizeStructuredOps(mlir::Operation *root,
                                           KernelTarget target);

/// Gives every output of a structured op below `root` a tensor of its own. One
/// whose content is not used becomes empty, and a fill is not shared.
void separateOutputs(mlir::Operation *root);

/// Turns the convolutions of every bufferized chunk function of `module` into
/// calls of `target`'s library. `scratch` gives the bytes of scratch memory for
/// one (empty: none). `tf32` rounds operands of f32 to tf32, on a GPU.
void lowerConvolutions(mlir::ModuleOp module, KernelTarget target, bool tf32,
                       ConvolutionScratchFn scratch);

/// The pass pipe-lower-convolutions with a library to ask for `scratch`.
std::unique_ptr<mlir::Pass>
createLowerConvolutionsPass(KernelTarget target, bool tf32,
                            ConvolutionScratchFn scratch);

/// Turns the matrix products of every bufferized chunk function of `module`
/// into calls of `target`'s library. `scratch` gives the bytes of scratch
/// memory for one (empty: none). `tf32` rounds operands of f32 to tf32, on a
/// GPU.
mlir::LogicalResult lowerGemms(mlir::ModuleOp module, KernelTarget target,
                               bool tf32, GemmScratchFn scratch);

/// The pass pipe-lower-gemms with a library to ask for `scratch`.
std::unique_ptr<mlir::Pass> createLowerGemmsPass(KernelTarget target, bool tf32,
                                                 GemmScratchFn scratch);

/// Replaces a structured op on memrefs of static shape by loops over vectors.
/// Fails with a diagnostic at the op.
mlir::LogicalResult lowerToLoops(mlir::RewriterBase &rewriter,
                                 mlir::linalg::LinalgOp op);

#define GEN_PASS_REGISTRATION
#include "veeline/Conversion/Passes.h.inc"

} // namespace veeline

#endif // VEELINE_CONVERSION_PASSES_H
