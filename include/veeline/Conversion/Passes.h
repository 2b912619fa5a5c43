//===- Passes.h - passes from chunk functions to native code ----*- C++ -*-===//
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

/// Registers the interfaces that bufferization needs.
void registerBufferization(mlir::DialectRegistry &registry);

/// Gives every output of a structured op inside `root` a separate tensor. An
/// output whose content is not used becomes a tensor.empty, and fills are not
/// shared.
void separateOutputs(mlir::Operation *root);

/// The pass pipe-lower-convolutions. `scratch` returns the bytes of scratch
/// memory that the library wants for a convolution (empty: none).
std::unique_ptr<mlir::Pass>
createLowerConvolutionsPass(KernelTarget target, bool tf32,
                            ConvolutionScratchFn scratch);

/// The pass pipe-lower-gemms. `scratch` returns the bytes of scratch memory
/// that the library wants for a product (empty: none).
std::unique_ptr<mlir::Pass> createLowerGemmsPass(KernelTarget target, bool tf32,
                                                 GemmScratchFn scratch);

#define GEN_PASS_REGISTRATION
#include "veeline/Conversion/Passes.h.inc"

} // namespace veeline

#endif // VEELINE_CONVERSION_PASSES_H
