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
/// Only builds with our own checks verify it after each pass, since that takes
/// as long as the passes.
llvm::LogicalResult
runPhase(mlir::ModuleOp module,
         llvm::function_ref<void(mlir::OpPassManager &)> build);

/// The progress of compiling a model.
enum class Progress {
  Model, ///< Nothing.
  Whole, ///< Passes on the whole model have run; it is not cut yet.
  Chunks,
  Functions, ///< Chunks are differentiated.
  Split,     ///< Backwards are split.
  Programs,
  Messages
};

/// The options of `--pipe-compile`, with the defaults of the passes.
struct CompileOptions : ProgramOptions {
  /// The progress of the module when compiling starts, for example after a
  /// transform script.
  Progress progress = Progress::Model;
  std::string entry;
  /// A table of veeline doctor --calibrate; empty: default numbers.
  std::string machineTable;
  /// The number of cores for all ranks together on that machine; 0: that of the
  /// table.
  int64_t machineCores = 0;
  /// What the schedule minimises, if it has a choice.
  schedule::Objective objective = schedule::Objective::Period;
  /// How messages are sent and received.
  schedule::communication::Strategy communication =
      schedule::communication::Strategy::Overlap;
  /// The rules under which communication is planned and verified. None selects
  /// them by target and strategy (`getRules`). On a GPU they are NCCL's, for
  /// `Duplex` those of NcclDuplex. On the host they are MPI's for strategies
  /// that post receives ahead, because these receives would block sends under
  /// NCCL's rules; for other strategies, which are correct under both, they are
  /// NCCL's.
  std::optional<schedule::communication::Model> rules = {};
  schedule::communication::Model getRules() const {
    using namespace schedule::communication;
    bool isDuplex = communication == Strategy::Duplex;
    bool isAhead = isDuplex || communication == Strategy::Overlap;
    if (target == KernelTarget::Host && isAhead)
      return rules.value_or(Model::Mpi);
    return rules.value_or(isDuplex ? Model::NcclDuplex : Model::Nccl);
  }
  /// The target of programs.
  KernelTarget target = KernelTarget::Host;
  /// Whether W may run in the next step. It may if updates do not wait for the
  /// norm of all gradients, and each rank has one compute stream.
  bool mayWeightsSlip() const { return !chunkStreams && clipSync != "barrier"; }
  /// On a GPU: a compute stream for each chunk of a rank.
  bool chunkStreams = false;
  /// The bandwidth of a rank's links to the host's memory and back, in bytes
  /// per nanosecond, if activations may be offloaded; 0: they may not.
  double offload = 0;
  /// What backwards recompute runs ahead of them, as an operation of its own,
  /// where it is worth one.
  bool recomputeAhead = false;
  /// On a GPU: round the operands of f32 products to tf32.
  bool tf32 = false;
  /// Also make the sequential program, which runs the chunks one after the
  /// other.
  bool sequential = false;
  /// Only run forwards, in an order made for them. Nothing is differentiated,
  /// kept or updated.
  bool forwardOnly = false;
  /// Compute the weights of microbatches instead of their losses.
  bool weighs = false;
  /// The scratch memory that the GEMM library wants (empty function: none).
  GemmScratchFn gemmScratch;
  ConvolutionScratchFn convolutionScratch; ///< The same for convolutions.
};

/// The passes on the model function as a whole, before it is cut.
void buildWholeModelPipeline(mlir::OpPassManager &passManager,
                             const CompileOptions &options);

/// From the model function to a pipeline of chunks. It is cut as the options
/// say, without regard to memory limits.
void buildPartitionPipeline(mlir::OpPassManager &passManager,
                            const CompileOptions &options);

/// From the model function, or from the state `progress`, to programs with
/// communication. Chunk functions are on tensors.
void buildProgramPipeline(mlir::OpPassManager &passManager,
                          const CompileOptions &options);

/// From there to bufferized chunk functions and programs with planned memory.
/// The metadata of an artifact are read from the result.
void buildMemoryPipeline(mlir::OpPassManager &passManager,
                         const CompileOptions &options);

/// From there to functions that call each other and the runtime. Kernels are
/// still structured ops. Functions that no step reaches are removed when their
/// users are.
void buildRuntimePipeline(mlir::OpPassManager &passManager,
                          const CompileOptions &options);

/// On a GPU: from there to kernels in a gpu.module.
void buildKernelPipeline(mlir::OpPassManager &passManager,
                         const CompileOptions &options);

/// From there to functions that launch these kernels.
void buildLaunchPipeline(mlir::OpPassManager &passManager);

/// From there, or on a CPU from the functions that call the runtime, to the
/// LLVM dialect.
void buildHostPipeline(mlir::OpPassManager &passManager);

/// Registers `pipe-compile`, which runs all of the above.
void registerPipelines();

} // namespace veeline

#endif // VEELINE_PIPELINES_PIPELINES_H
