//===- Pipelines.h - pipelines of code generation ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVERSION_PIPELINES_H
#define VEELINE_CONVERSION_PIPELINES_H

#include "veeline/Conversion/Convolution.h"
#include "veeline/Conversion/Gemm.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace veeline {

struct BufferizeChunksOptions {
  KernelTarget target = KernelTarget::Host;
  /// Fuse elementwise ops into their users, and ops on the same rows into one
  /// pass over memory. Results have the same bits either way.
  bool fuse = true;
  /// On a GPU: round the operands of f32 products to tf32.
  bool tf32 = false;
  /// On a GPU: use only kernels and library calls that give the same bits in
  /// every run.
  bool deterministic = true;
  /// On a GPU: fuse ops on a product's result into the library call.
  bool epilogues = true;
  /// Add each gradient to its accumulator as a whole, also on a GPU. This is
  /// for stages of several ranks: to verify them, the gradients of each
  /// microbatch are added up separately.
  bool wholeGradients = false;
  /// Keep attention as loops that store no scores, instead of decomposing it
  /// into products and a softmax.
  bool keepAttention = false;
  /// The scratch memory that the library wants for a product (empty function:
  /// none).
  GemmScratchFn gemmScratch;
  /// The same for convolutions.
  ConvolutionScratchFn convolutionScratch;
};

/// `pipe-bufferize-chunks`: turns chunk functions on tensors into functions on
/// memrefs with out-parameters and one workspace. Matrix products, convolutions
/// and attention become calls of the runtime.
void buildBufferizeChunksPipeline(mlir::OpPassManager &passManager,
                                  const BufferizeChunksOptions &options);

/// `pipe-host-code`: lowers bufferized functions to the LLVM dialect.
void buildHostCodePipeline(mlir::OpPassManager &passManager);

/// `pipe-gpu-code`: lowers the kernels of GPU modules to the NVVM dialect.
void buildGpuCodePipeline(mlir::OpPassManager &passManager);

/// Registers all of them under these names.
void registerConversionPipelines();

} // namespace veeline

#endif // VEELINE_CONVERSION_PIPELINES_H
