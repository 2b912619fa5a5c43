//===- PipeTransformOps.cpp - transform ops that make pipelines -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/TransformOps/PipeTransformOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "veeline/Base/Suggest.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;
namespace comm = veeline::schedule::communication;

using transform::ApplyToEachResultList;
using transform::TransformRewriter;
using transform::TransformState;

#define GET_OP_CLASSES
#include "veeline/Dialect/Pipe/TransformOps/PipeTransformOps.cpp.inc"

LogicalResult script::verifyKnownAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef found = attribute.getName();
    if (found.contains('.'))
      continue;
    std::vector<std::string> known;
    for (StringAttr name : op->getName().getAttributeNames())
      known.push_back(name.str());
    InFlightDiagnostic error = op->emitOpError();
    if (known.empty())
      return error << "has no attributes; found '" << found << "'";
    return error << "has no attribute '" << found << "'; it has "
                 << veeline::joinNames(known)
                 << veeline::suggestion(found.str(), known);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

void script::CutOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

DiagnosedSilenceableFailure
script::CutOp::applyToOne(TransformRewriter &rewriter, Operation *target,
                          ApplyToEachResultList & /*results*/,
                          TransformState & /*state*/) {
  if (target->getNumResults() != 1 ||
      !isa<RankedTensorType>(target->getResult(0).getType())) {
    DiagnosedSilenceableFailure failure =
        emitSilenceableError()
        << "cuts behind ops with one result, a tensor; found '"
        << target->getName() << "'";
    failure.attachNote(target->getLoc()) << "this op";
    return failure;
  }
  Value result = target->getResult(0);
  rewriter.setInsertionPointAfter(target);
  auto mark =
      BoundaryOp::create(rewriter, target->getLoc(), result.getType(), result);
  rewriter.replaceAllUsesExcept(result, mark.getResult(), mark);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure script::PartitionOp::applyToOne(
    TransformRewriter & /*rewriter*/, func::FuncOp target,
    ApplyToEachResultList &results, TransformState & /*state*/) {
  if (!isa_and_nonnull<ModuleOp>(target->getParentOp())) {
    DiagnosedSilenceableFailure failure =
        emitSilenceableError()
        << "cuts functions of a module, and this one is in none: "
           "transform.alternatives works on copies; use a transform.sequence "
           "with failures(suppress)";
    failure.attachNote(target.getLoc()) << "this function";
    return failure;
  }
  // If this fails, the function is not changed, so that a script can go on.
  SmallVector<Diagnostic> diagnostics;
  ScopedDiagnosticHandler keep(target.getContext(), [&](Diagnostic &given) {
    if (given.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    diagnostics.push_back(std::move(given));
    return success();
  });
  FailureOr<Placement> placement =
      pipe::getPlacement(getLoc(), getPlacement(), getChunksPerStage());
  FailureOr<std::optional<ClipSync>> sync =
      pipe::getClipSync(getLoc(), getClipSync());
  FailureOr<PipelineOp> pipeline = failure();
  if (succeeded(placement) && succeeded(sync)) {
    PartitionOptions options;
    options.stages = getStages();
    options.chunksPerStage = getChunksPerStage();
    options.placement = *placement;
    if (auto pieces = getPieces())
      options.pieces.assign(pieces->begin(), pieces->end());
    options.profile = getProfile().str();
    options.machineTable = getMachineTable().str();
    options.machineCores = getMachineCores();
    options.replicas = getReplicas();
    if (auto replicas = getStageReplicas())
      options.stageReplicas.assign(replicas->begin(), replicas->end());
    options.clipSync = *sync;
    options.forwardOnly = getForwardOnly();
    pipeline = pipe::partition(target, options);
  }
  if (failed(pipeline))
    return DiagnosedSilenceableFailure::silenceableFailure(
        std::move(diagnostics));
  results.push_back(*pipeline);
  return DiagnosedSilenceableFailure::success();
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

template <typename T> using Names = SmallVector<std::pair<std::string, T>>;

/// The values with the names that the library gives them.
template <typename T> static Names<T> name(std::initializer_list<T> values) {
  return llvm::map_to_vector(values, [](T value) {
    return std::pair<std::string, T>(comm::toString(value), value);
  });
}

/// The value named `text`. If there is none, emits an error that lists the
/// names.
template <typename T>
static FailureOr<T> readName(Operation *op, StringAttr attribute,
                             StringRef text, const Names<T> &names) {
  std::vector<std::string> known;
  for (const auto &[name, value] : names) {
    if (name == text)
      return value;
    known.push_back(name);
  }
  return op->emitOpError() << "attribute " << attribute << " is one of "
                           << veeline::joinNames(known) << "; found '" << text
                           << "'" << veeline::suggestion(text.str(), known);
}

/// Whether `op` is another pipeline than `pipeline`, or a program of one.
static bool isOfAnother(Operation &op, PipelineOp pipeline) {
  if (auto program = dyn_cast<ProgramOp>(op))
    return program.getPipeline() != pipeline.getSymName();
  return isa<PipelineOp>(op) && &op != pipeline.getOperation();
}

/// Runs a pass on the module of `pipeline`. Its other pipelines are moved
/// elsewhere meanwhile, because passes process every pipeline in a module.
static DiagnosedSilenceableFailure runOn(PipelineOp pipeline,
                                         std::unique_ptr<Pass> pass,
                                         ApplyToEachResultList &results) {
  auto module = dyn_cast_or_null<ModuleOp>(pipeline->getParentOp());
  if (!module)
    return emitDefiniteFailure(pipeline, "has to be in a module");
  OwningOpRef<ModuleOp> before = ModuleOp::create(module.getLoc());
  OwningOpRef<ModuleOp> after = ModuleOp::create(module.getLoc());
  Block *aside = before->getBody();
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    if (&op == pipeline.getOperation())
      aside = after->getBody();
    else if (isOfAnother(op, pipeline))
      op.moveBefore(aside, aside->end());
  }
  PassManager passManager(pipeline.getContext());
  passManager.addPass(std::move(pass));
  LogicalResult result = passManager.run(module);
  // Insert around the pipeline, because the pass may have erased any function.
  Block::OpListType &ops = module.getBody()->getOperations();
  ops.splice(Block::iterator(pipeline), before->getBody()->getOperations());
  ops.splice(ops.end(), after->getBody()->getOperations());
  if (failed(result))
    return DiagnosedSilenceableFailure::definiteFailure();
  results.push_back(pipeline);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure script::DifferentiateOp::applyToOne(
    TransformRewriter & /*rewriter*/, PipelineOp target,
    ApplyToEachResultList &results, TransformState & /*state*/) {
  PipeDifferentiateOptions options;
  if (std::optional<ArrayAttr> recompute = getRecompute())
    for (StringAttr policy : recompute->getAsRange<StringAttr>())
      options.recompute.push_back(policy.str());
  options.forwardOnly = getForwardOnly();
  auto kernels = readName<KernelTarget>(
      *this, getKernelsAttrName(), getKernels(),
      {{"host", KernelTarget::Host}, {"cuda", KernelTarget::Cuda}});
  if (failed(kernels))
    return DiagnosedSilenceableFailure::definiteFailure();
  options.target = *kernels;
  return runOn(target, createPipeDifferentiate(options), results);
}

DiagnosedSilenceableFailure script::SplitRecomputationOp::applyToOne(
    TransformRewriter & /*rewriter*/, PipelineOp target,
    ApplyToEachResultList &results, TransformState & /*state*/) {
  return runOn(target, createPipeSplitRecomputation(), results);
}

DiagnosedSilenceableFailure script::SplitBackwardOp::applyToOne(
    TransformRewriter & /*rewriter*/, PipelineOp target,
    ApplyToEachResultList &results, TransformState & /*state*/) {
  return runOn(target, createPipeSplitBackward(), results);
}

DiagnosedSilenceableFailure script::RoundParametersOp::applyToOne(
    TransformRewriter & /*rewriter*/, PipelineOp target,
    ApplyToEachResultList &results, TransformState & /*state*/) {
  return runOn(target, createPipeRoundParameters(), results);
}

DiagnosedSilenceableFailure script::ScheduleOp::applyToOne(
    TransformRewriter & /*rewriter*/, PipelineOp target,
    ApplyToEachResultList &results, TransformState & /*state*/) {
  PipeScheduleOptions options;
  using schedule::Objective;
  auto objective =
      readName<Objective>(*this, getObjectiveAttrName(), getObjective(),
                          {{"period", Objective::Period},
                           {"makespan", Objective::Makespan},
                           {"span", Objective::Span}});
  if (failed(objective))
    return DiagnosedSilenceableFailure::definiteFailure();
  options.schedule = getSchedule().str();
  options.objective = *objective;
  options.slip = getSlip();
  options.updatesAtEnd = getUpdatesAtEnd();
  options.offload = getOffload().convertToDouble();
  options.sequential = getSequential();
  options.microbatches = getMicrobatches();
  options.replicas = getReplicas();
  options.shardOptimizer = getShardOptimizer();
  return runOn(target, createPipeSchedule(options), results);
}

DiagnosedSilenceableFailure script::InsertCommunicationOp::applyToOne(
    TransformRewriter & /*rewriter*/, PipelineOp target,
    ApplyToEachResultList &results, TransformState & /*state*/) {
  PipeInsertCommunicationOptions options;
  auto strategy = readName<comm::Strategy>(
      *this, getStrategyAttrName(), getStrategy(),
      name({comm::Strategy::PointToPoint, comm::Strategy::Batched,
            comm::Strategy::Ring, comm::Strategy::Overlap,
            comm::Strategy::Duplex}));
  auto model = readName<comm::Model>(
      *this, getModelAttrName(), getModel(),
      name({comm::Model::Nccl, comm::Model::Mpi, comm::Model::NcclDuplex}));
  if (failed(strategy) || failed(model))
    return DiagnosedSilenceableFailure::definiteFailure();
  options.strategy = *strategy;
  options.model = *model;
  options.splitMessages = getSplitMessages();
  return runOn(target, createPipeInsertCommunication(options), results);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
class PipeTransformExtension
    : public transform::TransformDialectExtension<PipeTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PipeTransformExtension)

  // The base class calls this function, and has an empty one.
  void init() { // NOLINT(bugprone-derived-method-shadowing-base-method)
    declareDependentDialect<func::FuncDialect>();
    declareGeneratedDialect<PipeDialect>();
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<func::FuncDialect>();
    declareGeneratedDialect<linalg::LinalgDialect>();
    declareGeneratedDialect<math::MathDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<tensor::TensorDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "veeline/Dialect/Pipe/TransformOps/PipeTransformOps.cpp.inc"
        >();
  }
};
} // namespace

void veeline::pipe::registerTransformOps(DialectRegistry &registry) {
  registry.addExtensions<PipeTransformExtension>();
}
