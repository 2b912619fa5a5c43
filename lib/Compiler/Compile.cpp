//===- Compile.cpp - veeline compile --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "Script.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "veeline/Analysis/Fingerprint.h"
#include "veeline/Compiler/Compiler.h"
#include "veeline/Compiler/DeviceModule.h"
#include "veeline/Compiler/HostUnits.h"
#include "veeline/Compiler/JobFile.h"
#include "veeline/Compiler/MachineChoice.h"
#include "veeline/Compiler/Metadata.h"
#include "veeline/Compiler/Report.h"
#include "veeline/Conversion/Pipelines.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"
#include "veeline/Pipelines/Pipelines.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/ProblemOptions.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "veeline/Base/File.h"
#include "veeline/Base/ProgressLine.h"

#include "veeline/convolution.h"
#include "veeline/gemm.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

/// The names of the program that only runs forwards, and of the one that
/// computes the weights of microbatches.
static constexpr const char *evaluationName = "evaluation";
static constexpr const char *weightsName = "weights";

/// The scratch memory that this machine's library needs for a product. Returns
/// 0 if the library fails; loading the artifact will fail, too.
static uint64_t getGemmScratch(const GemmDesc &desc) {
  auto bytes = gemmScratchBytes(toArtifact(desc));
  return bytes.ok() ? *bytes : 0;
}

static uint64_t getConvolutionScratch(const ConvolutionDesc &desc) {
  auto bytes = convolutionScratchBytes(toArtifact(desc));
  return bytes.ok() ? *bytes : 0;
}

static uint64_t getDeviceConvolutionScratch(const ConvolutionDesc &desc) {
  return deviceConvolutionScratchBytes(toArtifact(desc));
}

/// Plans the scratch memory of the host's library only if code is for this
/// machine. The needs of the library here say nothing about another CPU, and
/// code for a named CPU has to be the same on every machine. The runtime then
/// allocates the scratch memory.
static void planScratch(CompileOptions &options,
                        const CompileCommand &command) {
  if (command.cpu != "native")
    return;
  options.gemmScratch = getGemmScratch;
  options.convolutionScratch = getConvolutionScratch;
}

static CompileOptions getOptions(const CompileCommand &command) {
  CompileOptions options;
  static_cast<ProgramOptions &>(options) = command;
  options.entry = command.import.entry;
  if (command.machineTable.path != "none")
    options.machineTable = command.machineTable.path;
  options.machineCores = command.machineTable.cores;
  options.communication =
      *schedule::communication::parseStrategy(command.communication);
  options.rules = schedule::communication::parseModel(command.rules);
  options.target =
      command.target == "cuda" ? KernelTarget::Cuda : KernelTarget::Host;
  options.objective = *schedule::parseObjective(objectiveOf(command));
  options.chunkStreams = command.computeStreams == "chunk";
  if (!command.offload.empty())
    options.offload = *schedule::parseBandwidth(command.offload);
  options.recomputeAhead = command.recomputeAhead;
  options.tf32 = command.products == "tf32";
  options.ncclSums = command.sums == "nccl";
  planScratch(options, command);
  if (options.target == KernelTarget::Cuda)
    options.convolutionScratch = getDeviceConvolutionScratch;
  return options;
}

/// The GPUs for which the command asks for code.
static GpuTargetOptions getGpuTarget(const CompileCommand &command) {
  GpuTargetOptions options;
  options.toolkit = command.cudaToolkit;
  options.optimizationLevel = command.optimizationLevel;
  if (command.gpuChips == std::vector<std::string>{"ptx"})
    options.chips.clear();
  else if (!command.gpuChips.empty())
    options.chips = command.gpuChips;
  return options;
}

/// The CPU for which the command asks for code.
static HostTargetOptions getHostTarget(const CompileCommand &command) {
  HostTargetOptions options;
  options.cpu = command.cpu;
  options.optimizationLevel = command.optimizationLevel;
  return options;
}

namespace {

/// Lowers one module after the other, and compiles all of them into one
/// artifact.
class ArtifactBuilder {
public:
  ArtifactBuilder(MLIRContext &context, const CompileCommand &command,
                  CompileRecord *record)
      : context(context), command(command), record(record),
        target(getHostTarget(command)) {
    if (command.target == "cuda")
      device.emplace(context);
  }

  /// Adds the programs of `module`: that of its pipeline, as `name`, and the
  /// sequential program if there is one. The first module also describes the
  /// model. Modules must live until finish() has returned.
  LogicalResult add(ModuleOp module, const CompileOptions &options,
                    StringRef name);

  /// Uses `found` to look up machine code, and to store it.
  void use(CodeCache found) { cache.emplace(std::move(found)); }

  /// Compiles the steps of all modules, and the kernels of a GPU.
  LogicalResult finish();

  artifact::Artifact take() { return std::move(artifact); }

  /// The number of pieces of each chunk of the first program.
  std::vector<int64_t> getPieces() const {
    std::vector<int64_t> pieces;
    for (const artifact::Chunk &chunk :
         artifact.metadata.programs.front().chunks)
      pieces.push_back(chunk.pieces);
    return pieces;
  }

private:
  LogicalResult run(ModuleOp module, StringRef phase,
                    llvm::function_ref<void(OpPassManager &)> build);
  LogicalResult dump(ModuleOp module, StringRef phase);
  LogicalResult addKernels(ModuleOp module, size_t firstProgram);
  LogicalResult compileSteps();
  LogicalResult compileKernels();

  MLIRContext &context;
  const CompileCommand &command;
  CompileRecord *record; ///< Null if no record was asked for.
  HostTargetOptions target;
  HostUnits host;
  std::optional<CodeCache> cache;
  int32_t numObjects = 0; ///< The number of objects given to ranks so far.
  /// For a GPU, the kernels of all modules.
  std::optional<DeviceModule> device;
  artifact::Artifact artifact;
  std::string moduleName;
};

} // namespace

/// Removes times of updates that were measured with another optimiser.
static void dropOtherUpdates(pipe::PipelineOp pipeline,
                             const CompileCommand &command) {
  auto measured = pipeline->getAttrOfType<StringAttr>(pipe::updatesOfAttrName);
  std::optional<Optimizer> optimizer = parseOptimizer(command.optimizer);
  if (measured && optimizer &&
      measured.getValue() !=
          describeOptimizer(*optimizer, command.errorFeedback))
    pipeline->removeAttr(pipe::updatesAttrName);
}

LogicalResult ArtifactBuilder::dump(ModuleOp module, StringRef phase) {
  if (command.dumpDirectory.empty())
    return success();
  llvm::SmallString<128> path(command.dumpDirectory);
  std::error_code code = llvm::sys::fs::create_directories(path);
  if (code)
    return printError(path + ": " + code.message());
  llvm::sys::path::append(path, moduleName + "-" + phase + ".mlir");
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  Status status = writeFileAtomically(path.str().str(), text);
  return status.ok() ? success() : printError(status.message());
}

LogicalResult
ArtifactBuilder::run(ModuleOp module, StringRef phase,
                     llvm::function_ref<void(OpPassManager &)> build) {
  PhaseTimer timer(record, moduleName, phase.str());
  if (failed(runPhase(module, build)))
    return failure();
  return dump(module, phase);
}

static RepeatedRemarks::Mode getRemarksMode(const CompileCommand &command,
                                            bool isHeard) {
  using Mode = RepeatedRemarks::Mode;
  if (!isHeard)
    return Mode::Silent;
  return command.import.verbose ? Mode::Each : Mode::Once;
}

LogicalResult ArtifactBuilder::add(ModuleOp module,
                                   const CompileOptions &options,
                                   StringRef name) {
  moduleName = name;
  // Remarks on the model are printed only for the first module.
  bool isHeard = !command.quiet && artifact.metadata.programs.empty();
  RepeatedRemarks remarks(&context, getRemarksMode(command, isHeard));
  if (failed(run(module, "program", [&](OpPassManager &passManager) {
        buildProgramPipeline(passManager, options);
      })))
    return failure();
  artifact::Metadata &metadata = artifact.metadata;
  if (metadata.programs.empty()) {
    auto pipeline = *module.getOps<pipe::PipelineOp>().begin();
    if (failed(describeModel(pipeline, artifact)))
      return failure();
    describeRanges(pipeline, metadata);
    describeTokens(pipeline, metadata);
  }
  if (failed(run(module, "memory", [&](OpPassManager &passManager) {
        buildMemoryPipeline(passManager, options);
      })))
    return failure();
  ConstantSections constants(module, artifact);
  const size_t firstProgram = metadata.programs.size();
  const int32_t firstObject = numObjects;
  for (auto pipeline : module.getOps<pipe::PipelineOp>()) {
    // The version of a pipeline for another length has no programs.
    if (pipe::isVersion(pipeline))
      continue;
    dropOtherUpdates(pipeline, command);
    // The second pipeline of a module is the first one on a single rank.
    auto program = describeProgram(
        pipeline, numObjects == firstObject ? name : "sequential", numObjects,
        constants);
    if (failed(program))
      return failure();
    numObjects += program->ranks.size();
    int32_t microbatches = pipeline.getMicrobatches().value_or(1);
    if (microbatches != metadata.microbatches)
      program->microbatches = microbatches;
    program->weighs = options.weighs;
    metadata.programs.push_back(std::move(*program));
  }
  if (failed(run(module, "runtime", [&](OpPassManager &passManager) {
        buildRuntimePipeline(passManager, options);
      })))
    return failure();
  if (options.target == KernelTarget::Cuda &&
      failed(addKernels(module, firstProgram)))
    return failure();
  std::vector<HostUnits::Step> steps;
  for (const artifact::Program &program :
       llvm::drop_begin(metadata.programs, firstProgram))
    for (const artifact::Rank &rank : program.ranks)
      steps.push_back(rank.stepSymbols());
  host.add(module, steps);
  return success();
}

/// Moves the kernels of `module` to `device`, and leaves code that launches
/// them. Its programs are those from `firstProgram` on.
LogicalResult ArtifactBuilder::addKernels(ModuleOp module,
                                          size_t firstProgram) {
  device->share(module);
  if (failed(run(module, "kernels",
                 [&](OpPassManager &passManager) {
                   buildKernelPipeline(passManager, getOptions(command));
                 })) ||
      failed(run(module, "launches", buildLaunchPipeline)))
    return failure();
  device->take(module);
  auto programs = std::span(artifact.metadata.programs).subspan(firstProgram);
  for (artifact::Program &program : programs)
    device->describe(module, program);
  return success();
}

LogicalResult ArtifactBuilder::compileSteps() {
  PhaseTimer timer(record, "", "code");
  auto code = host.compile(target, cache ? &*cache : nullptr);
  if (!code) {
    std::string message = toString(code.takeError());
    return message.empty() ? failure() : printError(message);
  }
  artifact.objects = std::move(code->objects);
  artifact.metadata.cpu = std::move(code->cpu);
  artifact.metadata.cpuFeatures = std::move(code->features);
  return success();
}

LogicalResult ArtifactBuilder::compileKernels() {
  moduleName = "device";
  GpuTargetOptions gpu = getGpuTarget(command);
  std::string key;
  if (cache) {
    auto found = device->getKey(*cache, gpu);
    if (!found)
      return printError(toString(found.takeError()));
    key = std::move(*found);
  }
  // If IR has to be dumped, it has to be generated in any case.
  if (cache && command.dumpDirectory.empty()) {
    llvm::Expected<bool> found = device->find(*cache, key, gpu, artifact);
    if (!found)
      return printError(toString(found.takeError()));
    if (*found)
      return success();
  }
  if (failed(run(device->getModule(), "kernels", buildGpuCodePipeline)))
    return failure();
  PhaseTimer timer(record, moduleName, "code");
  if (llvm::Error problem =
          device->compile(gpu, cache ? &*cache : nullptr, key, artifact))
    return printError(toString(std::move(problem)));
  return success();
}

LogicalResult ArtifactBuilder::finish() {
  if (failed(compileSteps()) || (device && failed(compileKernels())))
    return failure();
  if (cache)
    cache->prune();
  return success();
}

static void recordOptions(const CompileCommand &command,
                          artifact::Metadata &metadata) {
  metadata.options = describeOptions(command);
  const MachineTableOption &table = command.machineTable;
  if (table.path.empty())
    return;
  metadata.options.emplace_back("machine-table-date", table.date);
  // The number is recorded because messages are slower if ranks share cores.
  const artifact::Program *program = metadata.findProgram("pipeline");
  int64_t ranks = program ? program->replicas * program->ranks.size() : 0;
  if (ranks > table.cores)
    metadata.options.emplace_back("shared-cores", std::to_string(table.cores));
}

/// The fingerprint of the model before it is cut, which profiles record. If the
/// length varies, the fingerprint of the version for the bound. Fails after a
/// message.
static FailureOr<std::string> getFingerprintOf(Model &model,
                                               const CompileCommand &command) {
  CompileOptions options = getOptions(command);
  options.lengthMultiple = options.lengthBound;
  OwningOpRef<ModuleOp> whole = model.getModule().clone();
  if (failed(runPhase(*whole, [&](OpPassManager &passManager) {
        buildWholeModelPipeline(passManager, options);
      })))
    return failure();
  FailureOr<func::FuncOp> function =
      pipe::findModel(*whole, command.import.entry);
  if (failed(function))
    return failure();
  return getFingerprint(*function);
}

/// Adds a program that only runs forwards. It is cut like the program for
/// training, so that each rank has the same parameters in both. Limits of
/// memory apply only to training.
static LogicalResult addEvaluation(ArtifactBuilder &builder, ModuleOp module,
                                   Progress progress,
                                   const CompileCommand &command) {
  CompileOptions options = getOptions(command);
  options.progress = progress;
  options.forwardOnly = true;
  options.pieces = builder.getPieces();
  options.profile.clear();
  options.recompute.clear();
  options.memoryLimits.clear();
  options.clipSync = "none";
  options.chunkStreams = false;
  options.offload = 0;
  options.recomputeAhead = false;
  options.shardOptimizer = false;
  ScopedDiagnosticHandler once(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
  });
  return builder.add(module, options, evaluationName);
}

/// Adds the program that computes the weights of a step's microbatches before
/// the step begins. Each process runs it by itself on the host, for all
/// replicas.
static LogicalResult addWeights(ArtifactBuilder &builder, ModuleOp module,
                                const CompileCommand &command) {
  CompileOptions options;
  options.entry = command.import.entry;
  options.microbatches = command.microbatches;
  options.lossWeight = command.lossWeight;
  options.lossScaling = command.lossScaling;
  options.lengthBound = command.lengthBound;
  options.lengthMultiple = command.lengthMultiple;
  options.schedule = schedule::forwardOrderName;
  options.forwardOnly = options.weighs = true;
  planScratch(options, command);
  ScopedDiagnosticHandler once(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
  });
  return builder.add(module, options, weightsName);
}

/// The number of the result that weights the loss, or 0 if there is none.
static int32_t findLossWeight(const CompileCommand &command,
                              const artifact::Metadata &metadata) {
  auto found = std::ranges::find(metadata.results, command.lossWeight,
                                 &artifact::Result::name);
  return found == metadata.results.end()
             ? 0
             : int32_t(found - metadata.results.begin());
}

/// Adds the model without cuts, for --verify.
static LogicalResult addReference(ArtifactBuilder &builder, ModuleOp module,
                                  const CompileCommand &command) {
  CompileOptions whole = getOptions(command);
  whole.stages = whole.chunksPerStage = whole.replicas = 1;
  whole.stageReplicas.clear();
  whole.shardOptimizer = false;
  whole.schedule = "sequential";
  whole.placement = "linear";
  whole.pieces.clear();
  whole.profile.clear();
  whole.machineTable.clear();
  // Recomputation does not change the bits of gradients, with one exception: on
  // a GPU, GELU is computed either by the library or by a kernel.
  bool isOne = whole.recompute.size() == 1 && whole.recompute[0] != "auto";
  if (!isOne || command.target != "cuda")
    whole.recompute.clear();
  whole.memoryLimits.clear();
  whole.offload = 0;
  whole.recomputeAhead = false;
  // The model is the same, so its warnings have been printed.
  ScopedDiagnosticHandler once(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
  });
  return builder.add(module, whole, "reference");
}

/// Checks that this machine can compile for the targets of the command. Fails
/// after a message.
static LogicalResult checkTargets(const CompileCommand &command) {
  llvm::Error problem = checkHostTarget(getHostTarget(command));
  if (!problem && command.target == "cuda")
    problem = checkGpuTarget(getGpuTarget(command));
  return problem ? printError(toString(std::move(problem))) : success();
}

/// Runs the script, if there is one. See runScript.
static FailureOr<Progress> applyScript(ModuleOp module, CompileCommand &command,
                                       CompileRecord *record) {
  if (command.script.empty())
    return Progress::Model;
  PhaseTimer timer(record, "", "script");
  RepeatedRemarks remarks(module.getContext(),
                          getRemarksMode(command, !command.quiet));
  if (failed(runPhase(module, [&](OpPassManager &passManager) {
        buildWholeModelPipeline(passManager, getOptions(command));
      })))
    return failure();
  return runScript(module, command);
}

/// Adds all programs of the model. A script may override some of `command`.
static LogicalResult addPrograms(ArtifactBuilder &builder, ModuleOp model,
                                 CompileCommand &command,
                                 CompileRecord *record) {
  auto cloneIf = [&](bool isNeeded) {
    return isNeeded ? OwningOpRef<ModuleOp>(model.clone())
                    : OwningOpRef<ModuleOp>();
  };
  bool trains = !command.forwardOnly;
  auto unpartitioned = cloneIf(command.reference && trains);
  auto weighed = cloneIf(!command.lossWeight.empty() && trains);
  FailureOr<Progress> progress = applyScript(model, command, record);
  if (failed(progress))
    return failure();
  auto evaluated = cloneIf(command.evaluation);
  CompileOptions options = getOptions(command);
  options.progress = *progress;
  options.sequential = trains;
  options.forwardOnly = command.forwardOnly;
  if (failed(
          builder.add(model, options, trains ? "pipeline" : evaluationName)) ||
      (evaluated &&
       failed(addEvaluation(builder, *evaluated, *progress, command))) ||
      (weighed && failed(addWeights(builder, *weighed, command))) ||
      (unpartitioned && failed(addReference(builder, *unpartitioned, command))))
    return failure();
  // The modules must live until all steps are compiled.
  return builder.finish();
}

FailureOr<artifact::Artifact>
veeline::compiler::compile(Model &model, const CompileCommand &given,
                           CompileRecord *record) {
  CompileCommand command = given;
  std::optional<Optimizer> optimizer = parseOptimizer(command.optimizer);
  if (!optimizer)
    return printError("unknown optimizer '" + command.optimizer +
                      "'; expected " + listOptimizers());
  if (failed(checkTargets(command)))
    return failure();
  ArtifactBuilder builder(model.getContext(), command, record);
  if (!command.cacheDirectory.empty()) {
    auto cache = CodeCache::open(command.cacheDirectory);
    if (!cache)
      return printError(toString(cache.takeError()));
    builder.use(std::move(*cache));
  }
  if (!command.script.empty())
    dropScripts(model.getModule());
  FailureOr<std::string> fingerprint = getFingerprintOf(model, command);
  if (failed(fingerprint) ||
      failed(addPrograms(builder, model.getModule(), command, record)))
    return failure();
  artifact::Artifact artifact = builder.take();
  artifact.metadata.optimizer = *optimizer;
  artifact.metadata.errorFeedback = command.errorFeedback;
  artifact.metadata.fingerprint = std::move(*fingerprint);
  artifact.metadata.lossWeight = findLossWeight(command, artifact.metadata);
  recordOptions(command, artifact.metadata);
  return artifact;
}

/// The text of the first error of partitioning, or an empty string.
static std::string findError(ModuleOp module, const CompileOptions &options) {
  std::string message;
  ScopedDiagnosticHandler capture(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (message.empty() &&
            diagnostic.getSeverity() == DiagnosticSeverity::Error)
          message = diagnostic.str();
        return success();
      });
  (void)runPhase(module, [&](OpPassManager &passManager) {
    buildPartitionPipeline(passManager, options);
  });
  return message;
}

extern "C" __attribute__((visibility("default"))) bool
veeline_check_partition(int argc, const char *const *argv, std::string &error) {
  Parsed<CompileCommand> parsed = parseCompile(argc, argv);
  if (!parsed.command)
    return false;
  Model model;
  if (failed(model.load(parsed.command->model)) ||
      failed(model.import(parsed.command->import, /*quiet=*/true,
                          parsed.command->forwardOnly)))
    return false;
  error = findError(model.getModule(), getOptions(*parsed.command));
  return true;
}

static LogicalResult load(Model &model, CompileCommand &command,
                          CompileRecord &record) {
  PhaseTimer timer(&record, "", "load");
  return success(succeeded(chooseMachineTable(command)) &&
                 succeeded(model.load(command.model)) &&
                 succeeded(model.import(command.import, command.quiet,
                                        command.forwardOnly)));
}

int veeline::compiler::compileMain(int argc, const char *const *argv,
                                   const DialectRegistry &more) {
  Parsed<CompileCommand> parsed = parseCompile(argc, argv);
  if (!parsed.command)
    return parsed.exitCode;
  CompileCommand &command = *parsed.command;
  catchInterrupts();
  auto begin = std::chrono::steady_clock::now();
  std::optional<ProgressLine> progress(std::in_place, !command.quiet);
  CompileRecord record;
  MessageCapture capture(
      [&](const Message &message) { record.messages.push_back(message); },
      /*passes=*/true);
  Model model(more);
  if (failed(load(model, command, record)))
    return 1;
  auto artifact = compile(model, command, &record);
  if (failed(artifact))
    return 1;
  Status status = artifact::writeArtifact(command.output, *artifact);
  if (!status.ok())
    return failed(printError(status.message()));
  progress.reset();
  if (command.json) {
    uint64_t bytes = 0;
    if (std::error_code code = llvm::sys::fs::file_size(command.output, bytes))
      return failed(printError(command.output + ": " + code.message()));
    record.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    llvm::outs() << toJson(record, command.output, bytes, artifact->metadata);
  } else if (!command.quiet) {
    printSummary(llvm::outs(), command.output, artifact->metadata);
  }
  // The process may be replaced by another command after this.
  llvm::outs().flush();
  return 0;
}
