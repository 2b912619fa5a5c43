//===- Pipelines.cpp - --pipe-compile, and its parts ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Pipelines/Pipelines.h"

#include "Phases.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "veeline/Base/Check.h"
#include "veeline/Conversion/Attention.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Conversion/Pipelines.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Pipelines/Passes.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Generators.h"

using namespace mlir;
using namespace veeline;

/// The placement that the user asked for or, by default, the schedule's. If the
/// schedule does not exist, --pipe-schedule reports that.
static std::string getPlacement(const CompileOptions &options) {
  if (!options.placement.empty())
    return options.placement;
  if (auto path = schedule::scheduleFilePath(options.schedule)) {
    auto file = schedule::readScheduleFile(*path);
    bool isKnown =
        file && file->placement.kind() != schedule::PlacementKind::List;
    return isKnown ? schedule::toString(file->placement.kind()) : "";
  }
  // Forwards alone run on any placement. By default, chunks go round the
  // stages, as for `sequential`, which runs on any placement, too.
  bool isForward = options.schedule == schedule::forwardOrderName;
  auto placement =
      schedule::placementFor(isForward ? "sequential" : options.schedule,
                             options.stages, options.chunksPerStage);
  return placement ? std::string(schedule::toString(placement->kind())) : "";
}

LogicalResult
veeline::runPhase(ModuleOp module,
                  llvm::function_ref<void(OpPassManager &)> build) {
  PassManager passManager(module.getContext());
  passManager.enableVerifier(checksEnabled);
  build(passManager);
  return failure(failed(passManager.run(module)) || failed(verify(module)));
}

void veeline::addPartition(OpPassManager &passManager,
                           const CompileOptions &options) {
  pipe::PipePartitionOptions partition;
  partition.entry = options.entry;
  partition.stages = options.stages;
  partition.chunksPerStage = options.chunksPerStage;
  partition.placement = getPlacement(options);
  partition.pieces = llvm::to_vector(options.pieces);
  partition.profile = options.profile;
  partition.machineTable = options.machineTable;
  partition.machineCores = options.machineCores;
  partition.replicas = options.replicas;
  partition.stageReplicas = llvm::to_vector(options.stageReplicas);
  partition.clipSync = options.clipSync;
  partition.forwardOnly = options.forwardOnly;
  passManager.addPass(pipe::createPipePartition(partition));
}

void veeline::addDifferentiation(OpPassManager &passManager,
                                 const CompileOptions &options) {
  pipe::PipeDifferentiateOptions differentiate;
  differentiate.recompute = llvm::to_vector(options.recompute);
  differentiate.target = options.target;
  differentiate.forwardOnly = options.forwardOnly;
  if (options.progress < Progress::Functions)
    passManager.addPass(pipe::createPipeDifferentiate(differentiate));
  if (options.progress < Progress::Split && !options.forwardOnly) {
    if (options.recomputeAhead)
      passManager.addPass(pipe::createPipeSplitRecomputation());
    passManager.addPass(pipe::createPipeSplitBackward());
  }
  passManager.addPass(pipe::createPipeRoundParameters());
}

static void addBoundLengths(OpPassManager &passManager,
                            const CompileOptions &options) {
  if (!options.lengthBound)
    return;
  pipe::PipeBindLengthsOptions lengths;
  lengths.entry = options.entry;
  lengths.bound = options.lengthBound;
  lengths.multiple = options.lengthMultiple;
  passManager.addPass(pipe::createPipeBindLengths(lengths));
}

static void addScaledLoss(OpPassManager &passManager,
                          const CompileOptions &options) {
  if (!options.lossScaling)
    return;
  pipe::PipeScaleLossOptions scale;
  scale.entry = options.entry;
  passManager.addPass(pipe::createPipeScaleLoss(scale));
}

static void addWeightedLoss(OpPassManager &passManager,
                            const CompileOptions &options) {
  if (options.lossWeight.empty())
    return;
  pipe::PipeWeightLossOptions weight;
  weight.entry = options.entry;
  weight.weight = options.lossWeight;
  weight.only = options.weighs;
  passManager.addPass(pipe::createPipeWeightLoss(weight));
}

/// Attention has to be recognised first, because a model cannot be cut at its
/// scores.
static void addAttention(OpPassManager &passManager,
                         const CompileOptions &options) {
  if (options.target == KernelTarget::Cuda)
    passManager.addNestedPass<func::FuncOp>(
        pipe::createPipeRecognizeAttention());
}

void veeline::buildWholeModelPipeline(OpPassManager &passManager,
                                      const CompileOptions &options) {
  pipe::PipeSeparateJointOptions joint;
  joint.entry = options.entry;
  passManager.addPass(pipe::createPipeSeparateJoint(joint));
  addAttention(passManager, options);
  // These come before there is a version of the model for each length. A scale
  // is exact, so it comes last.
  addWeightedLoss(passManager, options);
  addScaledLoss(passManager, options);
  addBoundLengths(passManager, options);
}

void veeline::buildPartitionPipeline(OpPassManager &passManager,
                                     const CompileOptions &options) {
  buildWholeModelPipeline(passManager, options);
  addPartition(passManager, options);
}

static void addSchedule(OpPassManager &passManager,
                        const CompileOptions &options) {
  pipe::PipeScheduleOptions schedule;
  schedule.schedule = options.schedule;
  schedule.objective = options.objective;
  schedule.slip = options.mayWeightsSlip();
  schedule.updatesAtEnd = options.chunkStreams;
  schedule.offload = options.offload;
  schedule.microbatches = options.microbatches;
  schedule.replicas = options.replicas;
  schedule.shardOptimizer = options.shardOptimizer;
  schedule.sequential = options.sequential;
  passManager.addPass(pipe::createPipeSchedule(schedule));
}

static void addCommunication(OpPassManager &passManager,
                             const CompileOptions &options) {
  pipe::PipeInsertCommunicationOptions communication;
  communication.strategy = options.communication;
  communication.model = options.getRules();
  communication.splitMessages = options.splitMessages;
  passManager.addPass(pipe::createPipeInsertCommunication(communication));
}

void veeline::buildProgramPipeline(OpPassManager &passManager,
                                   const CompileOptions &options) {
  if (options.progress < Progress::Whole)
    buildWholeModelPipeline(passManager, options);
  if (!options.memoryLimits.empty()) {
    passManager.addPass(createFitMemoryPass(options));
  } else if (options.progress < Progress::Programs) {
    if (options.progress < Progress::Chunks)
      addPartition(passManager, options);
    addDifferentiation(passManager, options);
  }
  if (options.progress < Progress::Programs)
    addSchedule(passManager, options);
  if (options.progress < Progress::Messages)
    addCommunication(passManager, options);
  pipe::PipeVerifyCommunicationOptions verification;
  verification.model = options.getRules();
  passManager.addPass(pipe::createPipeVerifyCommunication(verification));
}

void veeline::addBufferization(OpPassManager &passManager,
                               const CompileOptions &options) {
  BufferizeChunksOptions bufferize;
  bufferize.target = options.target;
  bufferize.tf32 = options.tf32;
  bufferize.deterministic = options.deterministic;
  bufferize.epilogues = options.epilogues;
  bufferize.wholeGradients = !options.stageReplicas.empty();
  bufferize.gemmScratch = options.gemmScratch;
  bufferize.convolutionScratch = options.convolutionScratch;
  buildBufferizeChunksPipeline(passManager, bufferize);
}

void veeline::buildMemoryPipeline(OpPassManager &passManager,
                                  const CompileOptions &options) {
  addBufferization(passManager, options);
  if (options.chunkStreams)
    passManager.addPass(pipe::createPipeAssignStreams());
  pipe::PipePlanMemoryOptions memory;
  memory.optimizer = options.optimizer;
  memory.errorFeedback = options.errorFeedback;
  memory.ncclSums = options.ncclSums;
  memory.target = options.target;
  passManager.addPass(pipe::createPipePlanMemory(memory));
}

void veeline::buildRuntimePipeline(OpPassManager &passManager,
                                   const CompileOptions &options) {
  pipe::PipeLowerToRuntimeOptions runtime;
  runtime.target = options.target;
  passManager.addPass(pipe::createPipeLowerToRuntime(runtime));
}

void veeline::buildKernelPipeline(OpPassManager &passManager,
                                  const CompileOptions &options) {
  // Functions that nobody calls need no kernels.
  passManager.addPass(createSymbolDCEPass());
  passManager.addPass(createPipeMergeStepLaunches());
  PipeGpuKernelsOptions kernels;
  kernels.deterministic = options.deterministic;
  kernels.tf32 = options.tf32;
  passManager.addPass(createPipeGpuKernels(kernels));
}

void veeline::buildLaunchPipeline(OpPassManager &passManager) {
  passManager.addPass(createPipeLaunchKernels());
}

void veeline::buildHostPipeline(OpPassManager &passManager) {
  passManager.addPass(createSymbolDCEPass());
  buildHostCodePipeline(passManager);
}

namespace {

/// Refuses targets that do not exist before anything is compiled.
struct TargetParser : llvm::cl::parser<std::string> {
  using llvm::cl::parser<std::string>::parser;

  // It hides the base's as every parser of LLVM's does: options call it on the
  // parser's own type.
  // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method)
  bool parse(llvm::cl::Option &option, StringRef /*name*/, StringRef text,
             std::string &value) {
    value = text.str();
    return text != "host" && text != "cuda" &&
           option.error("unknown target '" + text + "'; targets: host, cuda");
  }
};

struct CompilePipelineOptions : PassPipelineOptions<CompilePipelineOptions> {
  Option<std::string> entry{*this, "entry",
                            llvm::cl::desc("The model function")};
  Option<int64_t> stages{*this, "stages", llvm::cl::desc("Stages p"),
                         llvm::cl::init(1)};
  Option<int64_t> chunksPerStage{*this, "chunks-per-stage",
                                 llvm::cl::desc("Chunks of each stage v"),
                                 llvm::cl::init(1)};
  Option<int64_t> microbatches{*this, "microbatches",
                               llvm::cl::desc("Microbatches m"),
                               llvm::cl::init(1)};
  Option<int64_t> replicas{*this, "replicas",
                           llvm::cl::desc("Pipelines side by side d"),
                           llvm::cl::init(1)};
  ListOption<int64_t> stageReplicas{
      *this, "stage-replicas",
      llvm::cl::desc("Ranks of each stage (default: one each)")};
  Option<std::string> clipSync{
      *this, "clip-sync",
      llvm::cl::desc("Whether updates depend on the norm of all gradients: "
                     "none, barrier or optimistic"),
      llvm::cl::init("none")};
  Option<bool> lossScaling{
      *this, "loss-scaling",
      llvm::cl::desc("Multiply the loss by a number that the runtime chooses"),
      llvm::cl::init(false)};
  Option<std::string> lossWeight{
      *this, "loss-weight",
      llvm::cl::desc("The result that says how much a microbatch counts, as "
                     "metric1 (default: all count alike)")};
  Option<int64_t> lengthBound{
      *this, "length-bound",
      llvm::cl::desc("The greatest length of a microbatch, of a model whose "
                     "length varies (0: it is static)"),
      llvm::cl::init(0)};
  Option<int64_t> lengthMultiple{
      *this, "length-multiple",
      llvm::cl::desc("What every length is a multiple of"), llvm::cl::init(1)};
  Option<std::string> schedule{
      *this, "schedule", llvm::cl::desc("Name of the schedule, or file:PATH"),
      llvm::cl::init("1f1b")};
  Option<schedule::Objective> objective{
      *this, "objective",
      llvm::cl::desc("What a schedule that has a choice makes short"),
      llvm::cl::init(schedule::Objective::Period),
      llvm::cl::values(clEnumValN(schedule::Objective::Period, "period",
                                  "the time from one step to the next"),
                       clEnumValN(schedule::Objective::Makespan, "makespan",
                                  "a step alone, of all ranks"),
                       clEnumValN(schedule::Objective::Span, "span",
                                  "a step alone, of the slowest rank"))};
  Option<std::string> placement{*this, "placement",
                                llvm::cl::desc("Placement of the chunks")};
  ListOption<int64_t> pieces{*this, "pieces",
                             llvm::cl::desc("Pieces of each chunk")};
  Option<std::string> profile{
      *this, "profile", llvm::cl::desc("File of veeline train --profile")};
  Option<std::string> machineTable{
      *this, "machine-table",
      llvm::cl::desc("File of veeline doctor --calibrate")};
  Option<int64_t> machineCores{
      *this, "machine-cores",
      llvm::cl::desc("Cores that the ranks have there, all of them (default: "
                     "those that the table says)"),
      llvm::cl::init(0)};
  Option<std::string> optimizer{
      *this, "optimizer",
      llvm::cl::desc("Name of the optimiser, as of veeline compile"),
      llvm::cl::init("adamw")};
  Option<bool> errorFeedback{
      *this, "error-feedback",
      llvm::cl::desc("Updates know the one before, and correct by it"),
      llvm::cl::init(false)};
  Option<bool> shardOptimizer{
      *this, "shard-optimizer",
      llvm::cl::desc("Ranks that add up gradients share out updates"),
      llvm::cl::init(false)};
  Option<bool> ncclSums{
      *this, "nccl-sums",
      llvm::cl::desc("On a GPU: NCCL adds up gradients between processes"),
      llvm::cl::init(false)};
  Option<schedule::communication::Strategy> communication{
      *this, "communication", llvm::cl::desc("How messages travel"),
      llvm::cl::init(schedule::communication::Strategy::Overlap),
      llvm::cl::values(
          clEnumValN(schedule::communication::Strategy::PointToPoint, "p2p",
                     "one message at a time"),
          clEnumValN(schedule::communication::Strategy::Batched, "batched",
                     "a send and a receive at a time"),
          clEnumValN(schedule::communication::Strategy::Ring, "ring",
                     "both neighbours at a time"),
          clEnumValN(schedule::communication::Strategy::Overlap, "overlap",
                     "receives posted ahead"),
          clEnumValN(schedule::communication::Strategy::Duplex, "duplex",
                     "sends and receives side by side"))};
  Option<int64_t> splitMessages{
      *this, "split-messages",
      llvm::cl::desc("Parts in which a message travels"), llvm::cl::init(1)};
  ListOption<std::string> recompute{
      *this, "recompute",
      llvm::cl::desc("What backwards compute again: none, balanced, cheap, "
                     "full, a ratio or a rate; one for all or one a chunk")};
  ListOption<std::string> memoryLimits{
      *this, "memory-limit",
      llvm::cl::desc("Bytes that the arena of a rank may have, as 2GiB; one "
                     "for all or one a stage")};
  Option<std::string, TargetParser> target{
      *this, "target",
      llvm::cl::desc("What programs are lowered to: host or cuda"),
      llvm::cl::init("host")};
  Option<double> offload{
      *this, "offload",
      llvm::cl::desc("Activations may wait in the host's memory, over links of "
                     "so many gigabytes a second"),
      llvm::cl::init(0)};
  Option<bool> recomputeAhead{
      *this, "recompute-ahead",
      llvm::cl::desc("What backwards compute again runs ahead of them"),
      llvm::cl::init(false)};
  Option<bool> chunkStreams{
      *this, "chunk-streams",
      llvm::cl::desc("A compute stream for each chunk of a rank, on a GPU"),
      llvm::cl::init(false)};
  Option<bool> forwardOnly{
      *this, "forward-only",
      llvm::cl::desc("Run forwards alone: differentiate and update nothing"),
      llvm::cl::init(false)};
  Option<bool> tf32{*this, "tf32",
                    llvm::cl::desc("Multiply f32 in tf32, on a GPU"),
                    llvm::cl::init(false)};
  Option<bool> deterministic{
      *this, "deterministic",
      llvm::cl::desc("Take only what gives the same bits in every run, on a "
                     "GPU"),
      llvm::cl::init(true)};
  Option<bool> epilogues{
      *this, "epilogues",
      llvm::cl::desc("Have the library of a GPU do what happens to products"),
      llvm::cl::init(true)};
};

} // namespace

void veeline::registerPipelines() {
  PassPipelineRegistration<CompilePipelineOptions>(
      "pipe-compile", "From a model function to native code of every rank",
      [](OpPassManager &passManager, const CompilePipelineOptions &given) {
        CompileOptions options;
        options.entry = given.entry;
        options.stages = given.stages;
        options.chunksPerStage = given.chunksPerStage;
        options.microbatches = given.microbatches;
        options.replicas = given.replicas;
        options.stageReplicas.assign(given.stageReplicas.begin(),
                                     given.stageReplicas.end());
        options.clipSync = given.clipSync;
        options.lossScaling = given.lossScaling;
        options.lossWeight = given.lossWeight;
        options.lengthBound = given.lengthBound;
        options.lengthMultiple = given.lengthMultiple;
        options.schedule = given.schedule;
        options.objective = given.objective;
        options.placement = given.placement;
        options.pieces.assign(given.pieces.begin(), given.pieces.end());
        options.profile = given.profile;
        options.machineTable = given.machineTable;
        options.machineCores = given.machineCores;
        options.optimizer = given.optimizer;
        options.errorFeedback = given.errorFeedback;
        options.shardOptimizer = given.shardOptimizer;
        options.ncclSums = given.ncclSums;
        options.communication = given.communication;
        options.splitMessages = given.splitMessages;
        options.recompute.assign(given.recompute.begin(),
                                 given.recompute.end());
        options.memoryLimits.assign(given.memoryLimits.begin(),
                                    given.memoryLimits.end());
        options.target =
            given.target == "cuda" ? KernelTarget::Cuda : KernelTarget::Host;
        options.chunkStreams = given.chunkStreams;
        options.offload = given.offload;
        options.recomputeAhead = given.recomputeAhead;
        options.forwardOnly = given.forwardOnly;
        options.tf32 = given.tf32;
        options.deterministic = given.deterministic;
        options.epilogues = given.epilogues;
        buildProgramPipeline(passManager, options);
        buildMemoryPipeline(passManager, options);
        buildRuntimePipeline(passManager, options);
        if (options.target == KernelTarget::Cuda) {
          buildKernelPipeline(passManager, options);
          buildLaunchPipeline(passManager);
          buildGpuCodePipeline(passManager);
        }
        buildHostPipeline(passManager);
      });
}
