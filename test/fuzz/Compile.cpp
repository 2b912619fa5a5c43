//===- Compile.cpp - one model, all its schedules -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile.h"

#include "Limited.h"
#include "Random.h"
#include "Slip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "veeline/Analysis/Pieces.h"
#include "veeline/Autodiff/Loops.h"
#include "veeline/Compiler/HostUnits.h"
#include "veeline/Compiler/Metadata.h"
#include "veeline/Conversion/HostTarget.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"
#include "veeline/InitAll.h"
#include "veeline/Pipelines/Pipelines.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Generators.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

#include "veeline/convolution.h"
#include "veeline/gemm.h"

#include <numeric>

using namespace mlir;
using namespace veeline;
using namespace veeline::fuzz;

struct Compiler::Implementation {
  explicit Implementation(Fault fault)
      : context(MLIRContext::Threading::DISABLED), fault(fault) {
    DialectRegistry registry;
    veeline::registerAllDialects(registry);
    registry
        .insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                math::MathDialect, tensor::TensorDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  MLIRContext context;
  Fault fault;
};

Compiler::Compiler(Fault fault)
    : implementation(std::make_unique<Implementation>(fault)) {}
Compiler::~Compiler() = default;

namespace {

/// A way to run the chunks of a model.
struct Variant {
  std::string schedule;
  int64_t stages, chunksPerStage;
  pipe::Placement placement;
  /// With some W of the schedule in the next step, at random places.
  bool slips = false;
};

/// The compilation of one model.
class Compilation {
public:
  Compilation(const Task &task, Fault fault, MLIRContext &context)
      : task(task), fault(fault), context(context) {
    if (!isThorough())
      target.optimizationLevel = 0;
  }

  LogicalResult run();
  FailureOr<int64_t> countPieces();
  artifact::Artifact artifact;

private:
  /// Every fourth random model is optimised, and verified after each pass. For
  /// all of them, both would take longer than the rest of the compilation.
  bool isThorough() const { return !task.chunks && task.seed % 4 == 3; }
  /// Another fourth has an object for each step, as `veeline compile` makes
  /// them; the others have one with all steps, which is linked once.
  bool hasUnits() const { return task.seed % 4 == 1; }
  /// Yet another fourth also has a program within memory limits.
  bool hasLimits() const { return !task.chunks && task.seed % 4 == 2; }
  /// A third of the random models has a program of forwards alone.
  bool hasForwards() const { return !task.chunks && task.seed % 3 == 0; }
  /// Half of the random models clip gradients.
  std::string clipSync() const {
    if (task.chunks)
      return "none";
    return task.seed % 4 == 1   ? "barrier"
           : task.seed % 4 == 2 ? "optimistic"
                                : "none";
  }
  /// A third of them multiplies the loss by a number that the runtime gives.
  bool scalesLoss() const { return !task.chunks && task.seed % 3 == 1; }
  int64_t replicas() const;
  bool sharesUpdates(StringRef schedule) const;
  double chooseOffload(StringRef schedule) const;
  bool recomputesAhead() const;
  std::string chooseOptimizer() const;
  CompileOptions getOptions() const;
  LogicalResult apply(llvm::function_ref<void(OpPassManager &)> build);
  LogicalResult prepare();
  LogicalResult partition();
  LogicalResult partitionJoint(const pipe::PartitionOptions &options);
  LogicalResult differentiate();
  LogicalResult differentiate(std::vector<std::string> recompute,
                              bool recomputeAhead);
  LogicalResult schedule();
  LogicalResult schedulePipeline(StringRef name, int64_t microbatches = 0);
  std::string findAsynchronous(pipe::PipelineOp pipeline) const;
  LogicalResult addSingle(pipe::PipelineOp sequential);
  LogicalResult scheduleSlipped(pipe::PipelineOp pipeline, StringRef name);
  LogicalResult addLimited();
  LogicalResult addForwards();
  LogicalResult addCommunication();
  LogicalResult describe();
  LogicalResult lower();
  LogicalResult lowerUnits(ArrayRef<compiler::HostUnits::Step> steps);
  LogicalResult lowerTogether(const std::vector<std::string> &steps);

  const Task &task;
  Fault fault;
  HostTargetOptions target;
  MLIRContext &context;
  OwningOpRef<ModuleOp> module;
  /// Before it was cut.
  OwningOpRef<ModuleOp> model;
  /// The number of pieces of each chunk.
  std::vector<int64_t> pieces;
};

} // namespace

LogicalResult
Compilation::apply(llvm::function_ref<void(OpPassManager &)> build) {
  if (!isThorough())
    return runPhase(*module, build);
  PassManager passManager(&context);
  build(passManager);
  return passManager.run(*module);
}

LogicalResult Compilation::prepare() {
  module = parseSourceString<ModuleOp>(task.text, &context, "model");
  if (!module)
    return failure();
  if (scalesLoss() && failed(apply([](OpPassManager &passManager) {
        passManager.addPass(pipe::createPipeScaleLoss());
      })))
    return failure();
  FailureOr<func::FuncOp> function = pipe::findModel(*module, "");
  if (failed(function) || failed(autodiff::prepareModel(*function)) ||
      failed(pipe::verifyModel(*function)))
    return failure();
  model = module->clone();
  return success();
}

FailureOr<int64_t> Compilation::countPieces() {
  if (failed(prepare()))
    return failure();
  FailureOr<func::FuncOp> function = pipe::findModel(*module, "");
  if (failed(function))
    return failure();
  return static_cast<int64_t>(findPieces(*function).size());
}

/// Cuts into a number of chunks that some schedule can have, on one stage.
LogicalResult Compilation::partition() {
  FailureOr<func::FuncOp> function = pipe::findModel(*module, "");
  if (failed(function))
    return failure();
  // The choice depends on the seed alone, so that a model that shrinks keeps
  // its cuts as long as it has that many pieces.
  Random random(task.seed ^ 0xC075);
  int64_t numPieces = findPieces(*function).size();
  std::vector<int64_t> counts = {1, 2, 2, 3, 4, 4, 4, 5, 6, 8};
  int64_t numChunks = std::min(random.oneOf(counts), numPieces);
  if (task.chunks)
    numChunks = task.chunks;
  if (numChunks > numPieces)
    return function->emitError() << "the model has " << numPieces
                                 << " pieces, expected one for each of the "
                                 << numChunks << " chunks";
  pipe::PartitionOptions options;
  options.chunksPerStage = numChunks;
  options.placement =
      numChunks == 1 ? pipe::Placement::Linear : pipe::Placement::Interleaved;
  options.pieces.assign(numChunks, 1);
  for (int64_t i = numChunks; i < numPieces; ++i)
    ++options.pieces[random.below(numChunks)];
  pieces.assign(options.pieces.begin(), options.pieces.end());
  if (failed(pipe::partition(*function, options)))
    return failure();
  return success(!task.joint || succeeded(partitionJoint(options)));
}

/// Adds a pipeline of the same chunks whose derivative is that of the whole
/// model, written as a joint graph and cut.
LogicalResult
Compilation::partitionJoint(const pipe::PartitionOptions &options) {
  OwningOpRef<ModuleOp> joint = model->clone();
  FailureOr<func::FuncOp> function = pipe::findModel(*joint, "");
  if (failed(function))
    return failure();
  function->setSymName("joint");
  if (failed(runPhase(*joint,
                      [&](OpPassManager &passManager) {
                        passManager.addPass(pipe::createPipeJointGraph());
                        // Other compilers share ops of the two and fold them.
                        if (task.seed % 2) {
                          passManager.addPass(createCSEPass());
                          passManager.addPass(createCanonicalizerPass());
                        }
                        passManager.addPass(pipe::createPipeSeparateJoint());
                      })) ||
      failed(pipe::partition(*function, options)))
    return failure();
  // A parameter that the loss does not depend on is not part of the graph's
  // forward.
  auto countParams = [](ModuleOp from) {
    auto pipeline = *from.getOps<pipe::PipelineOp>().begin();
    return llvm::range_size(pipeline.getOps<pipe::ParamOp>());
  };
  if (countParams(*joint) != countParams(*module))
    return module->emitError("the joint graph has other parameters; ")
           << notComparable;
  Block *body = module->getBody();
  body->getOperations().splice(body->end(), joint->getBody()->getOperations());
  return success();
}

LogicalResult Compilation::differentiate(std::vector<std::string> recompute,
                                         bool recomputeAhead) {
  return apply([&](OpPassManager &passManager) {
    pipe::PipeDifferentiateOptions options;
    options.recompute = llvm::to_vector(recompute);
    passManager.addPass(pipe::createPipeDifferentiate(options));
    if (recomputeAhead)
      passManager.addPass(pipe::createPipeSplitRecomputation());
    passManager.addPass(pipe::createPipeSplitBackward());
  });
}

/// Differentiates the pipeline twice: for the sequential program, which
/// recomputes nothing, and for the others, where the seed chooses what each
/// chunk recomputes, and whether ahead of the backward. The derivative of the
/// others may be a joint graph's.
LogicalResult Compilation::differentiate() {
  Random random(task.seed ^ 0x9EC0);
  std::vector<std::string> choices = {"none", "balanced", "cheap", "full",
                                      "0.3",  "0.7",      "1B/ns", "0B/ns"};
  auto pipeline = *module->getOps<pipe::PipelineOp>().begin();
  std::vector<std::string> recompute;
  for (int64_t i = 0; i != pipeline.getNumChunks(); ++i)
    recompute.push_back(random.oneOf(choices));
  pipe::PipelineOp sequential = pipeline.clone();
  if (task.joint) {
    pipeline.erase();
    pipeline = *module->getOps<pipe::PipelineOp>().begin();
  }
  if (failed(differentiate(recompute, recomputesAhead())))
    return failure();
  // The pass takes every pipeline that it finds, so that the module has only
  // one of them at a time.
  pipeline->remove();
  module->push_back(sequential);
  LogicalResult result = differentiate({"none"}, /*recomputeAhead=*/false);
  sequential.setSymName("sequential");
  module->push_back(pipeline);
  return result;
}

static std::string getName(const Variant &variant) {
  return "p" + std::to_string(variant.stages) + "_" + variant.schedule +
         (variant.slips ? "_slipped" : "");
}

/// The schedules that there are for `chunks` chunks.
static std::vector<Variant> findVariants(int64_t chunks, int64_t microbatches) {
  using pipe::Placement;
  std::vector<Variant> variants = {{"gpipe", chunks, 1, Placement::Linear},
                                   {"1f1b", chunks, 1, Placement::Linear}};
  for (int64_t v = 2; v <= chunks; ++v)
    if (chunks % v == 0 && microbatches % (chunks / v) == 0)
      variants.push_back(
          {"interleaved-1f1b", chunks / v, v, Placement::Interleaved});
  if (chunks % 2 != 0)
    variants.push_back({"zb-h1", chunks, 1, Placement::Linear, true});
  else
    for (bool slips : {false, true})
      variants.push_back({"zb-v", chunks / 2, 2, Placement::V, slips});
  return variants;
}

LogicalResult Compilation::scheduleSlipped(pipe::PipelineOp pipeline,
                                           StringRef name) {
  SymbolTableCollection symbols;
  auto problem = pipe::buildProblem(pipeline, task.microbatches, symbols);
  if (failed(problem))
    return failure();
  auto order = schedule::generate(name.str(), *problem);
  if (!order)
    return pipeline.emitError() << order.error().str();
  Random random(task.seed ^ 0x5119);
  slip(*problem, *order, random);
  llvm::SmallString<128> path;
  int descriptor = -1;
  if (llvm::sys::fs::createTemporaryFile("slipped", "csv", descriptor, path))
    return pipeline.emitError("cannot write an order");
  llvm::FileRemover remover(path);
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true)
      << schedule::toCsv(*problem, *order);
  return schedulePipeline(("file:" + path).str());
}

/// Every fifth model has replicas.
int64_t Compilation::replicas() const {
  return task.seed % 5 == 2 ? 2 + int64_t(task.seed / 5 % 2) : 1;
}

/// Of some models with replicas, those update shares of parameters: the program
/// of the sequential schedule, which has one rank, updates whole ones.
bool Compilation::sharesUpdates(StringRef schedule) const {
  std::optional<Optimizer> optimizer = parseOptimizer(chooseOptimizer());
  return optimizer && isElementwise(*optimizer) && schedule != "pipedream" &&
         Random(task.seed ^ 0x5A4D).chance(0.6);
}

/// The pass takes the pipelines that have no programs yet.
/// For a third of the programs of random models, how fast what chunks keep
/// leaves and returns: at once, or so slowly that some of it stays.
double Compilation::chooseOffload(StringRef schedule) const {
  uint64_t sum = std::accumulate(schedule.begin(), schedule.end(), uint64_t(0));
  Random random(task.seed ^ (0x0FF10AD + 131 * sum));
  if (task.chunks || !random.chance(1.0 / 3))
    return 0;
  return random.oneOf(std::vector<double>{0.1, 1, 10, 1000});
}

/// Whether what backwards recompute runs ahead of them.
bool Compilation::recomputesAhead() const {
  return Random(task.seed ^ 0xA4EAD).chance(1.0 / 3);
}

LogicalResult Compilation::schedulePipeline(StringRef name,
                                            int64_t microbatches) {
  return apply([&](OpPassManager &passManager) {
    pipe::PipeScheduleOptions options;
    options.replicas = name == "sequential" ? 1 : replicas();
    options.shardOptimizer = options.replicas > 1 && sharesUpdates(name);
    options.schedule = name.str();
    options.microbatches = microbatches ? microbatches : task.microbatches;
    if (name != "sequential")
      options.offload = chooseOffload(name);
    passManager.addPass(pipe::createPipeSchedule(options));
  });
}

/// Whether several chunks use a parameter.
static bool hasTies(pipe::PipelineOp pipeline) {
  return llvm::any_of(pipeline.getOps<pipe::ParamOp>(), [](pipe::ParamOp op) {
    SmallPtrSet<Operation *, 4> users(op->user_begin(), op->user_end());
    return users.size() > 1;
  });
}

/// The schedule whose updates no step waits for, empty where none is possible.
std::string Compilation::findAsynchronous(pipe::PipelineOp pipeline) const {
  if (static_cast<int64_t>(pipeline.getNumChunks()) > task.microbatches ||
      clipSync() != "none")
    return "";
  bool isStashed = Random(task.seed ^ 0xA57C).chance(0.5) && !hasTies(pipeline);
  return isStashed ? "pipedream" : "pipedream-2bw";
}

/// A program that runs one microbatch in a step, beside the sequential one.
LogicalResult Compilation::addSingle(pipe::PipelineOp sequential) {
  pipe::PipelineOp copy = sequential.clone();
  copy.setSymName("single");
  module->push_back(copy);
  return schedulePipeline("sequential", /*microbatches=*/1);
}

/// Every schedule gets a copy of the pipeline on stages of its own; all of them
/// call the same functions.
LogicalResult Compilation::schedule() {
  auto pipelines = llvm::to_vector(module->getOps<pipe::PipelineOp>());
  pipe::PipelineOp first = pipelines[0];
  for (pipe::PipelineOp pipeline : pipelines)
    pipeline.setClipSync(pipe::symbolizeClipSync(clipSync()));
  OwningOpRef<pipe::PipelineOp> original = pipelines[1].clone();
  pipelines[1]->erase();
  // Late backwards have nothing that runs ahead of them.
  std::string asynchronous =
      recomputesAhead() ? "" : findAsynchronous(*original);
  OwningOpRef<pipe::PipelineOp> sequential = first.clone();
  if (failed(schedulePipeline("sequential")) ||
      (asynchronous == "pipedream" && failed(addSingle(*sequential))))
    return failure();
  int64_t chunks = original->getNumChunks();
  std::vector<Variant> variants = findVariants(chunks, task.microbatches);
  if (!asynchronous.empty())
    variants.push_back({asynchronous, chunks, 1, pipe::Placement::Linear});
  for (const Variant &variant : variants) {
    if (variant.slips && clipSync() == "barrier")
      continue;
    pipe::PipelineOp copy = original->clone();
    copy.setSymName(getName(variant));
    copy.setStages(variant.stages);
    copy.setChunksPerStage(variant.chunksPerStage);
    copy.setPlacement(variant.placement);
    module->insert(first, copy);
    if (failed(variant.slips ? scheduleSlipped(copy, variant.schedule)
                             : schedulePipeline(variant.schedule)))
      return failure();
  }
  return success();
}

static uint64_t getGemmScratch(const GemmDesc &desc) {
  auto bytes = gemmScratchBytes(compiler::toArtifact(desc));
  return bytes.ok() ? *bytes : 0;
}

static uint64_t getConvolutionScratch(const ConvolutionDesc &desc) {
  auto bytes = convolutionScratchBytes(compiler::toArtifact(desc));
  return bytes.ok() ? *bytes : 0;
}

LogicalResult Compilation::describe() {
  compiler::ConstantSections constants(*module, artifact);
  int32_t numObjects = 0;
  for (auto pipeline : module->getOps<pipe::PipelineOp>()) {
    auto program = compiler::describeProgram(pipeline, pipeline.getSymName(),
                                             numObjects, constants);
    if (failed(program))
      return failure();
    numObjects += program->ranks.size();
    int64_t microbatches = pipeline.getMicrobatches().value_or(1);
    if (microbatches != task.microbatches)
      program->microbatches = static_cast<int32_t>(microbatches);
    if (!hasUnits())
      for (artifact::Rank &rank : program->ranks)
        rank.object = 0;
    artifact.metadata.programs.push_back(std::move(*program));
  }
  return success();
}

LogicalResult Compilation::lower() {
  if (failed(apply([](OpPassManager &passManager) {
        buildRuntimePipeline(passManager, CompileOptions());
      })))
    return failure();
  std::vector<compiler::HostUnits::Step> steps;
  std::vector<std::string> names;
  for (const artifact::Program &program : artifact.metadata.programs)
    for (const artifact::Rank &rank : program.ranks) {
      steps.push_back(rank.stepSymbols());
      llvm::append_range(names, steps.back());
    }
  return hasUnits() ? lowerUnits(steps) : lowerTogether(names);
}

/// An object for each step.
LogicalResult
Compilation::lowerUnits(ArrayRef<compiler::HostUnits::Step> steps) {
  compiler::HostUnits units;
  units.add(*module, steps);
  auto code = units.compile(target);
  if (!code)
    return module->emitError() << toString(code.takeError());
  artifact.objects = std::move(code->objects);
  return success();
}

/// One object with the steps of all programs.
LogicalResult
Compilation::lowerTogether(const std::vector<std::string> &names) {
  llvm::StringSet<> steps;
  steps.insert_range(names);
  for (auto function : module->getOps<func::FuncOp>())
    if (!steps.contains(function.getSymName()))
      function.setPrivate();
  if (failed(apply(buildHostPipeline)))
    return failure();
  auto object = compileToObject(*module, target);
  if (!object)
    return module->emitError() << toString(object.takeError());
  auto linked = linkSharedObject(&*object, target);
  if (!linked)
    return module->emitError() << toString(linked.takeError());
  artifact.objects.emplace_back(linked->begin(), linked->end());
  return success();
}

/// Muon updates matrices, and a model without any is not for it.
std::string Compilation::chooseOptimizer() const {
  std::vector<std::string> optimizers = {
      "sgd",   "sgd-momentum", "sgd-nesterov", "adam",      "adamw",
      "adamw", "nadamw",       "lion",         "adafactor", "muon"};
  std::string optimizer = Random(task.seed ^ 0x0971).oneOf(optimizers);
  bool hasMatrices = false;
  for (auto pipeline : module.get().getOps<pipe::PipelineOp>())
    for (auto param : pipeline.getOps<pipe::ParamOp>())
      hasMatrices |= cast<ShapedType>(param.getType()).getRank() == 2;
  return optimizer == "muon" && !hasMatrices ? "adamw" : optimizer;
}

/// The seed chooses the communication strategy, how messages are split, and the
/// optimiser.
CompileOptions Compilation::getOptions() const {
  namespace comm = veeline::schedule::communication;
  Random random(task.seed ^ 0xC033);
  std::vector<comm::Strategy> choices = {
      comm::Strategy::PointToPoint, comm::Strategy::Batched,
      comm::Strategy::Ring, comm::Strategy::Overlap, comm::Strategy::Duplex};
  CompileOptions options;
  options.communication = random.oneOf(choices);
  options.splitMessages = random.oneOf(std::vector<int64_t>{1, 1, 2, 3, 10});
  if (options.communication == comm::Strategy::Duplex)
    options.rules = comm::Model::NcclDuplex;
  options.microbatches = task.microbatches;
  options.optimizer = chooseOptimizer();
  options.errorFeedback = Random(task.seed ^ 0xEFB0).chance(0.3);
  options.gemmScratch = getGemmScratch;
  options.convolutionScratch = getConvolutionScratch;
  return options;
}

LogicalResult Compilation::addCommunication() {
  CompileOptions options = getOptions();
  return apply([&](OpPassManager &passManager) {
    pipe::PipeInsertCommunicationOptions communication;
    communication.strategy = options.communication;
    communication.splitMessages = options.splitMessages;
    passManager.addPass(pipe::createPipeInsertCommunication(communication));
    pipe::PipeVerifyCommunicationOptions verification;
    verification.model = options.getRules();
    passManager.addPass(pipe::createPipeVerifyCommunication(verification));
  });
}

/// Adds one pipeline within memory limits: of the first schedule that can do
/// with less memory, beginning with one that the seed chooses. Its chunks are
/// those of the other pipelines, so that it computes the same bits.
LogicalResult Compilation::addLimited() {
  Random random(task.seed ^ 0x11717);
  std::vector<Variant> variants =
      findVariants(pieces.size(), task.microbatches);
  llvm::erase_if(variants,
                 [](const Variant &variant) { return variant.slips; });
  std::rotate(variants.begin(),
              variants.begin() + random.below(variants.size()), variants.end());
  double least = random.oneOf(std::vector<double>{0.7, 0.8, 0.9});
  CompileOptions options = getOptions();
  options.replicas = replicas();
  options.clipSync = clipSync();
  options.pieces = pieces;
  options.recomputeAhead = recomputesAhead();
  for (const Variant &variant : variants) {
    options.stages = variant.stages;
    options.chunksPerStage = variant.chunksPerStage;
    options.placement = pipe::stringifyPlacement(variant.placement);
    options.schedule = variant.schedule;
    options.offload = chooseOffload(variant.schedule);
    options.shardOptimizer =
        options.replicas > 1 && sharesUpdates(variant.schedule);
    auto limited = compileWithinLimits(*model, options, {least, 0.95, 0.99},
                                       getName(variant) + "_limited");
    if (failed(limited))
      return failure();
    if (!*limited)
      continue;
    miscompileFunctions(**limited, fault);
    Block *body = module->getBody();
    body->getOperations().splice(body->end(),
                                 (*limited)->getBody()->getOperations());
    break;
  }
  return success();
}

/// Adds one pipeline that only runs forwards, on the stages of a schedule that
/// the seed chooses. Its chunks are those of the other pipelines.
LogicalResult Compilation::addForwards() {
  Variant variant = Random(task.seed ^ 0xF02D)
                        .oneOf(findVariants(pieces.size(), task.microbatches));
  CompileOptions options = getOptions();
  options.replicas = replicas();
  options.pieces = pieces;
  options.stages = variant.stages;
  options.chunksPerStage = variant.chunksPerStage;
  options.placement = pipe::stringifyPlacement(variant.placement);
  options.schedule = schedule::forwardOrderName;
  options.forwardOnly = true;
  OwningOpRef<ModuleOp> forwards = model->clone();
  FailureOr<func::FuncOp> function = pipe::findModel(*forwards, "");
  if (failed(function))
    return failure();
  function->setSymName("forwards");
  if (failed(runPhase(*forwards, [&](OpPassManager &passManager) {
        buildProgramPipeline(passManager, options);
      })))
    return failure();
  Block *body = module->getBody();
  body->getOperations().splice(body->end(),
                               forwards->getBody()->getOperations());
  return success();
}

LogicalResult Compilation::run() {
  if (failed(prepare()) || failed(partition()) || failed(differentiate()))
    return failure();
  miscompileFunctions(*module, fault);
  if (failed(schedule()) || failed(addCommunication()) ||
      (hasLimits() && failed(addLimited())) ||
      (hasForwards() && failed(addForwards())))
    return failure();
  auto pipeline = *module->getOps<pipe::PipelineOp>().begin();
  if (failed(compiler::describeModel(pipeline, artifact)))
    return failure();
  artifact.metadata.microbatches = task.microbatches;
  compiler::describeRanges(pipeline, artifact.metadata);
  CompileOptions options = getOptions();
  artifact.metadata.optimizer = *parseOptimizer(options.optimizer);
  artifact.metadata.errorFeedback = options.errorFeedback;
  if (failed(apply([&](OpPassManager &passManager) {
        buildMemoryPipeline(passManager, options);
      })) ||
      failed(describe()))
    return failure();
  miscompilePrograms(*module, fault);
  return lower();
}

namespace {
/// Keeps errors in place of printing them.
class DiagnosticsKeeper {
public:
  explicit DiagnosticsKeeper(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            llvm::raw_string_ostream(errors)
                << diagnostic.getLocation() << ": " << diagnostic << '\n';
          return success();
        }) {}

  std::string errors;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

Expected<artifact::Artifact> Compiler::compile(const Task &task) {
  DiagnosticsKeeper keeper(implementation->context);
  Compilation compilation(task, implementation->fault, implementation->context);
  if (failed(compilation.run()))
    return Status::error(keeper.errors);
  return std::move(compilation.artifact);
}

Expected<int64_t> Compiler::countPieces(const Task &task) {
  DiagnosticsKeeper keeper(implementation->context);
  Compilation compilation(task, implementation->fault, implementation->context);
  FailureOr<int64_t> count = compilation.countPieces();
  if (failed(count))
    return Status::error(keeper.errors);
  return *count;
}
