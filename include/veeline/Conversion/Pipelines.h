//===- Pipelines.h - the passes of host code in order -----------*- C++ -*-===//
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
  /// pass over memory. Bits do not depend on it.
  bool fuse = true;
  /// Round the operands of products of f32 to tf32, on a GPU.
  bool tf32 = false;
  /// Use only what gives the same bits in every run, on a GPU.
  bool deterministic = true;
  /// Fuse ops on a product's result into the call of a GPU's library.
  bool epilogues = true;
  /// Add each gradient to its accumulator as one number, on a GPU, too: where
  /// several ranks of a stage share its microbatches, each microbatch is added
  /// up by itself to verify them.
  bool wholeGradients = false;
  /// Keep attention as loops that store no scores, rather than turn it into
  /// products and a softmax.
  bool keepAttention = false;
  /// The scratch memory that the library wants for a product (empty: none).
  GemmScratchFn gemmScratch;
  /// The same for a convolution.
  ConvolutionScratchFn convolutionScratch;
};

/// `pipe-bufferize-chunks`: chunk functions on tensors become functions on
/// memrefs with out-parameters and one workspace, in which matrix products,
/// convolutions and attention are calls of the runtime.
void buildBufferizeChunksPipeline(mlir::OpPassManager &passManager,
                                  const BufferizeChunksOptions &options);

/// `pipe-host-code`: everything from there to the LLVM dialect.
void buildHostCodePipeline(mlir::OpPassManager &passManager);

/// `pipe-gpu-code`: the kernels of GPU modules to the NVVM dialect.
void buildGpuCodePipeline(mlir::OpPassManager &passManager);

/// Registers all under these names.
void registerConversionPipelines();

} // namespace veeline

#endif // VEELINE_CONVERSION_PIPELINES_H
