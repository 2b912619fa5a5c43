//===- Pipelines.h - --pipe-compile, and its parts --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_PIPELINES_PIPELINES_H
#define VEELINE_PIPELINES_PIPELINES_H

#include "veeline/Conversion/Convolution.h"
#include "veeline/Conversion/Gemm.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"
#include "veeline/Pipelines/ProgramOptions.h"
#include "veeline/Schedule/Communication/Plan.h"
#include "veeline/Schedule/Simulator.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace mlir {
class ModuleOp;
class OpPassManager;
} // namespace mlir

namespace veeline {

/// Runs the passes that `build` adds. `module` is verified once, at the end.
/// Only builds with our own checks verify it after each pass, which takes as
/// long as the passes do.
llvm::LogicalResult
runPhase(mlir::ModuleOp module,
         llvm::function_ref<void(mlir::OpPassManager &)> build);

/// What has been done to a model, before its programs have messages.
enum class Progress {
  Model, ///< Nothing.
  Whole, ///< What is done before it is cut.
  Chunks,
  Functions, ///< It is differentiated.
  Split,     ///< Backwards are split.
  Programs,
  Messages
};

/// What `--pipe-compile` takes; the defaults of the passes.
struct CompileOptions : ProgramOptions {
  /// Of the module that is compiled: by somebody else, such as a script.
  Progress progress = Progress::Model;
  std::string entry;
  /// A table of veeline doctor --calibrate; empty: default numbers.
  std::string machineTable;
  /// Cores that the ranks have there, all of them; 0: those that the table
  /// says.
  int64_t machineCores = 0;
  /// What the schedule makes short, where it has a choice.
  schedule::Objective objective = schedule::Objective::Period;
  /// How messages are sent and received.
  schedule::communication::Strategy communication =
      schedule::communication::Strategy::Overlap;
  /// The rules under which that is planned and proved. None: on a GPU NCCL's,
  /// for `Duplex` with room for two operations. On the host, MPI's for
  /// strategies that post receives ahead, because these receives would hold up
  /// sends under NCCL's; NCCL's for the others, which are right under both.
  std::optional<schedule::communication::Model> rules = {};
  schedule::communication::Model getRules() const {
    using namespace schedule::communication;
    bool isDuplex = communication == Strategy::Duplex;
    bool isAhead = isDuplex || communication == Strategy::Overlap;
    if (target == KernelTarget::Host && isAhead)
      return rules.value_or(Model::Mpi);
    return rules.value_or(isDuplex ? Model::NcclDuplex : Model::Nccl);
  }
  /// What programs are lowered to.
  KernelTarget target = KernelTarget::Host;
  /// Whether W may run in the next step: where updates do not wait for the norm
  /// of all gradients, and a rank has one compute stream.
  bool mayWeightsSlip() const { return !chunkStreams && clipSync != "barrier"; }
  /// A compute stream for each chunk of a rank, on a GPU.
  bool chunkStreams = false;
  /// The bandwidth of a rank's links to the host's memory and back, in bytes a
  /// nanosecond, where activations may wait there; 0: they may not.
  double offload = 0;
  /// What backwards compute again runs ahead of them, as an operation of its
  /// own, where it is worth one.
  bool recomputeAhead = false;
  /// Round the operands of products of f32 to tf32, on a GPU.
  bool tf32 = false;
  /// Also make the program that runs the chunks one after the other.
  bool sequential = false;
  /// Run forwards alone, in their own order: nothing is differentiated, kept or
  /// updated.
  bool forwardOnly = false;
  /// Compute the weights of microbatches, and not their losses.
  bool weighs = false;
  /// What scratch memory the GEMM library wants (empty: none).
  GemmScratchFn gemmScratch;
  ConvolutionScratchFn convolutionScratch; ///< The same for convolutions.
};

/// What is done to the model function as a whole, before it is cut.
void buildWholeModelPipeline(mlir::OpPassManager &passManager,
                             const CompileOptions &options);

/// From the model function to a pipeline of chunks, cut as the options say
/// whatever limits of memory there are.
void buildPartitionPipeline(mlir::OpPassManager &passManager,
                            const CompileOptions &options);

/// From the model function, or from where `progress` says, to programs with
/// communication; chunk functions are on tensors.
void buildProgramPipeline(mlir::OpPassManager &passManager,
                          const CompileOptions &options);

/// From there to bufferized chunk functions and programs with planned memory:
/// everything that the metadata of an artifact is read from.
void buildMemoryPipeline(mlir::OpPassManager &passManager,
                         const CompileOptions &options);

/// From there to functions that call each other and the runtime; kernels are
/// still structured ops. What is not reachable from a step is gone once its
/// users are.
void buildRuntimePipeline(mlir::OpPassManager &passManager,
                          const CompileOptions &options);

/// On a GPU, from there to kernels in a gpu.module.
void buildKernelPipeline(mlir::OpPassManager &passManager,
                         const CompileOptions &options);

/// From there to functions that launch them.
void buildLaunchPipeline(mlir::OpPassManager &passManager);

/// From there, or on a CPU from what calls the runtime, to the LLVM dialect.
void buildHostPipeline(mlir::OpPassManager &passManager);

/// Registers `pipe-compile`, all of the above.
void registerPipelines();

} // namespace veeline

#endif // VEELINE_PIPELINES_PIPELINES_H
