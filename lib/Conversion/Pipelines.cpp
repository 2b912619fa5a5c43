//===- Pipelines.cpp - pipelines of code generation -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/Pipelines.h"

#include "Host/Bf16.h"
#include "veeline/Conversion/HostTarget.h"
#include "veeline/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace veeline;

static void addCleanup(OpPassManager &passManager) {
  OpPassManager &functions = passManager.nest<func::FuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}

void veeline::buildBufferizeChunksPipeline(
    OpPassManager &passManager, const BufferizeChunksOptions &options) {
  PipeDecomposeAttentionOptions attention;
  attention.target = options.target;
  if (!options.keepAttention)
    passManager.addNestedPass<func::FuncOp>(
        createPipeDecomposeAttention(attention));
  if (options.target == KernelTarget::Cuda)
    passManager.addNestedPass<func::FuncOp>(createPipePairAttention());
  PipeNormalizeOpsOptions normalize;
  normalize.target = options.target;
  passManager.addPass(createPipeNormalizeOps(normalize));
  PipeResultsToArgumentsOptions results;
  // On a host, each gradient is added as a whole.
  results.target = options.wholeGradients ? KernelTarget::Host : options.target;
  passManager.addNestedPass<func::FuncOp>(
      createPipeResultsToArguments(results));
  if (options.fuse)
    passManager.addPass(createPipeFuseElementwise());
  if (options.target == KernelTarget::Cuda)
    passManager.addPass(createPipeSplitReductions());
  addCleanup(passManager);
  passManager.addPass(createPipeBufferizeBodies());
  addCleanup(passManager);
  if (options.target == KernelTarget::Cuda) {
    PipeCallAttentionOptions calls;
    calls.deterministic = options.deterministic;
    passManager.addPass(createPipeAttentionViews());
    passManager.addPass(createPipeCallAttention(calls));
  }
  passManager.addPass(createLowerConvolutionsPass(options.target, options.tf32,
                                                  options.convolutionScratch));
  passManager.addPass(
      createLowerGemmsPass(options.target, options.tf32, options.gemmScratch));
  passManager.addPass(createPipeVerifyLibraryCalls());
  if (options.target == KernelTarget::Cuda && options.epilogues) {
    passManager.addPass(createPipeFuseGemmEpilogues());
    passManager.addPass(createPipeVerifyLibraryCalls());
    passManager.addPass(createPipeEpilogueFallbacks());
  }
  addCleanup(passManager);
  PipeOutlineKernelsOptions outline;
  outline.fuse = options.fuse;
  outline.target = options.target;
  passManager.addPass(createPipeOutlineKernels(outline));
  addCleanup(passManager);
  if (options.fuse && options.target == KernelTarget::Cuda)
    passManager.addPass(createPipeMergeLaunches());
  PipePlanWorkspaceOptions workspace;
  workspace.target = options.target;
  passManager.addNestedPass<func::FuncOp>(createPipePlanWorkspace(workspace));
}

void veeline::buildHostCodePipeline(OpPassManager &passManager) {
  passManager.addNestedPass<func::FuncOp>(createForallToForLoopPass());
  passManager.addPass(createPipeLowerKernels());
  passManager.addPass(createPipeExpandMath());
  addBf16Arithmetic(passManager);
  passManager.addNestedPass<func::FuncOp>(createPipeStripAttributes());
  buildLowerToLLVMPipeline(passManager);
  addBf16Moves(passManager);
}

namespace {

struct BufferizeChunksPipelineOptions
    : PassPipelineOptions<BufferizeChunksPipelineOptions> {
  Option<bool> fuse{*this, "fuse",
                    llvm::cl::desc("Fuse elementwise ops and rows"),
                    llvm::cl::init(true)};
  Option<bool> keepAttention{
      *this, "keep-attention",
      llvm::cl::desc("Leave attention to loops that store no scores"),
      llvm::cl::init(false)};
  Option<KernelTarget> target{
      *this, "target", llvm::cl::desc("Where kernels run"),
      llvm::cl::init(KernelTarget::Host),
      llvm::cl::values(clEnumValN(KernelTarget::Host, "host", "On a CPU"),
                       clEnumValN(KernelTarget::Cuda, "cuda", "On a GPU"))};
};

} // namespace

void veeline::registerConversionPipelines() {
  PassPipelineRegistration<BufferizeChunksPipelineOptions>(
      "pipe-bufferize-chunks",
      "Turn chunk functions on tensors into functions on memrefs with one "
      "workspace",
      [](OpPassManager &passManager,
         const BufferizeChunksPipelineOptions &given) {
        BufferizeChunksOptions options;
        options.fuse = given.fuse;
        options.keepAttention = given.keepAttention;
        options.target = given.target;
        buildBufferizeChunksPipeline(passManager, options);
      });
  PassPipelineRegistration<>(
      "pipe-host-code",
      "Lower bufferized functions, kernels and their callers to the LLVM "
      "dialect",
      buildHostCodePipeline);
  PassPipelineRegistration<>("pipe-gpu-code",
                             "Lower the kernels of GPU modules to the NVVM "
                             "dialect",
                             buildGpuCodePipeline);
}
