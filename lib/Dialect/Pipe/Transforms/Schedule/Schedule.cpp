//===- Schedule.cpp - --pipe-schedule -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "veeline/Base/Check.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Dialect/Pipe/IR/Edges.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/ProgramBuilder.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleFile.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"
#include "veeline/Schedule/Asynchronous.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Loop.h"
#include "veeline/Schedule/Offload.h"
#include "veeline/Schedule/Simulator.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPESCHEDULE
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

static std::optional<Asynchronous> getAsynchronous(StringRef schedule) {
  auto known = schedule::findGenerator(schedule);
  if (!known || (*known)->semantics == schedule::UpdateSemantics::Synchronous)
    return std::nullopt;
  return (*known)->semantics == schedule::UpdateSemantics::DoubleBuffered
             ? Asynchronous::DoubleBuffered
             : Asynchronous::Stashed;
}

/// Whether W may run in the next step, if the target supports that. Updates
/// that are clipped at a barrier wait for all W.
static bool mayWeightsSlip(PipelineOp pipeline) {
  return pipeline.getClipSync() != ClipSync::Barrier;
}

/// Checks that a pipeline can run without a flush. If each microbatch has
/// updates, no two ranks may have the same parameter.
static LogicalResult checkAsynchronous(PipelineOp pipeline, StringRef name,
                                       bool maySlip) {
  auto fail = [&](const Twine &why) {
    return pipeline.emitOpError()
           << "cannot be compiled with schedule '" << name
           << "', which updates weights without a flush, " << why
           << "; '1f1b' has the same order with one";
  };
  if (pipeline.getClipSync())
    return fail("where updates depend on all gradients of the step");
  if (!maySlip)
    return fail("where no work may run in the next step (slip=false)");
  if (pipeline.getStageReplicas())
    return fail("where stages have several ranks");
  if (getAsynchronous(name) == Asynchronous::DoubleBuffered)
    return success();
  for (BatchOp batch : pipeline.getBatches())
    if (batch.getLossWeight())
      return fail("after each microbatch, where these count more or less than "
                  "the others of their step");
  for (ParamOp param : pipeline.getParams()) {
    if (isFrozen(param))
      continue;
    std::optional<int64_t> stage;
    for (auto [chunk, operand] : getChunkUses(param.getValue())) {
      int64_t user = pipeline.getStageOf(chunk);
      if (stage.value_or(user) == user) {
        stage = user;
        continue;
      }
      InFlightDiagnostic diagnostic =
          fail("after each microbatch, where several stages use a parameter");
      diagnostic.attachNote(param.getLoc())
          << "parameter \"" << param.getParam().getName().getValue()
          << "\" is used on stages " << *stage << " and " << user;
      return diagnostic;
    }
  }
  return success();
}

/// Checks that no W runs in the next step if it may not.
static LogicalResult checkTurns(PipelineOp pipeline, bool maySlip,
                                const schedule::Schedule &order) {
  // Even if none of its W is late, the schedule may have late W for other
  // problems.
  auto known = schedule::findGenerator(order.name);
  if (maySlip || (!schedule::isCyclic(order) && !(known && (*known)->slips)))
    return success();
  return pipeline.emitOpError()
         << "cannot be compiled with schedule '" << order.name
         << "', which runs W of a step in the next one, "
         << (mayWeightsSlip(pipeline)
                 ? "where none may (slip=false), as with a compute stream for "
                   "each chunk"
                 : "where updates depend on all gradients of the step")
         << "; 'zb-v' is the nearest on a V, 'auto' on any placement";
}

/// Stores `error` in `outOfMemory` if it is about memory and `outOfMemory` is
/// not null. Otherwise emits a diagnostic.
static LogicalResult report(PipelineOp pipeline, const Twine &what,
                            schedule::Error error,
                            std::optional<schedule::Error> *outOfMemory) {
  if (!outOfMemory || error.kind != schedule::ErrorKind::OutOfMemory)
    return pipeline.emitOpError() << what << error.str();
  *outOfMemory = std::move(error);
  return failure();
}

/// Generates a schedule by the library, and verifies it. Emits a diagnostic if
/// the schedule does not exist or does not support the pipeline's placement.
static FailureOr<schedule::Schedule>
generateSchedule(PipelineOp pipeline, StringRef name, ScheduleGoal goal,
                 const schedule::Problem &problem,
                 std::optional<schedule::Error> *outOfMemory) {
  std::string schedule = name.str();
  auto placement = schedule::placementFor(schedule, pipeline.getStages(),
                                          pipeline.getChunksPerStage());
  if (!placement)
    return pipeline.emitOpError() << placement.error().str();
  for (ChunkOp chunk : pipeline.getChunks()) {
    int64_t index = chunk.getIndex();
    if (placement->stageOf(index) == pipeline.getStageOf(index) ||
        schedule == "sequential")
      continue;
    return pipeline.emitOpError()
           << "has placement '" << stringifyPlacement(pipeline.getPlacement())
           << "', but schedule '" << name << "' is made for placement '"
           << schedule::toString(placement->kind())
           << "'; partition with that placement";
  }
  if (getAsynchronous(name) &&
      failed(checkAsynchronous(pipeline, name, goal.maySlip)))
    return failure();
  schedule::GeneratorOptions options;
  options.objective = goal.objective;
  options.maySlip = goal.maySlip;
  options.searchSeconds = goal.searchSeconds;
  options.offload = goal.offload > 0;
  auto generated = schedule::generate(schedule, problem, options);
  if (!generated)
    return report(pipeline, "", generated.takeError(), outOfMemory);
  for (const std::string &warning : generated->warnings)
    pipeline.emitWarning() << "schedule '" << name << "': " << warning;
  if (auto status = schedule::verify(problem, *generated); !status)
    return report(pipeline,
                  "schedule '" + name + "' does not pass verification: ",
                  status.takeError(), outOfMemory);
  return *generated;
}

/// Checks that chunks have the functions for the backwards of an order: fused,
/// split, or both.
static LogicalResult checkFunctions(PipelineOp pipeline,
                                    const schedule::Problem &problem,
                                    const schedule::Schedule &order) {
  SmallVector<ChunkOp> chunks = pipeline.getChunks();
  for (auto [stage, ops] : llvm::enumerate(order.stages))
    for (auto [step, op] : llvm::enumerate(ops)) {
      ChunkOp chunk = chunks[op.chunk];
      bool isFused = op.kind == schedule::OpKind::Backward;
      bool hasSplit = chunk.getBackwardInput() || chunk.getBackwardWeight();
      bool hasFused = chunk.getBackward().has_value();
      // A chunk on which no gradient depends has neither.
      if (op.kind == schedule::OpKind::Forward ||
          op.kind == schedule::OpKind::Recompute || hasFused == hasSplit ||
          hasFused == isFused)
        continue;
      return pipeline.emitOpError()
             << "cannot run schedule '" << order.name
             << "': " << problem.nameOfRank(stage) << ", step " << step << ": "
             << schedule::describe(op)
             << (isFused ? ": the chunk has no fused backward"
                         : ": the chunk's backward is not split; run "
                           "--pipe-split-backward first");
    }
  return success();
}

/// The order of a file. If activations may be offloaded, they are, as far as
/// that saves something or limits demand it.
static FailureOr<schedule::Schedule>
getOrderOfFile(PipelineOp pipeline, StringRef path, ScheduleGoal goal,
               const schedule::Problem &problem,
               std::optional<schedule::Error> *outOfMemory) {
  auto adopt = [&](const schedule::Problem &given) {
    return goal.order ? adoptSchedule(pipeline, path, *goal.order, given,
                                      goal.objective)
                      : importSchedule(pipeline, path, given, goal.objective);
  };
  if (goal.offload == 0)
    return adopt(problem);
  schedule::Problem unlimited = problem;
  unlimited.memoryLimits.clear();
  auto order = adopt(unlimited);
  if (failed(order))
    return failure();
  order->offloads.clear();
  auto offloaded =
      schedule::addOffloads(problem, std::move(*order), goal.objective);
  if (!offloaded)
    return report(pipeline, "", offloaded.takeError(), outOfMemory);
  schedule::warnOfNoOffloads(problem, *offloaded, goal.objective);
  for (const std::string &warning : offloaded->warnings)
    pipeline.emitWarning() << "the order of '" << path << "': " << warning;
  return std::move(*offloaded);
}

/// The order by name, or from a file, which may name its schedule. Forwards
/// alone have an order of their own.
static FailureOr<schedule::Schedule>
getOrder(PipelineOp pipeline, StringRef name, ScheduleGoal goal,
         const schedule::Problem &problem,
         std::optional<schedule::Error> *outOfMemory) {
  if (isForwardOnly(pipeline)) {
    schedule::Schedule order = schedule::forwardOrder(problem);
    if (auto status = schedule::verify(problem, order); !status)
      return report(pipeline, "", status.takeError(), outOfMemory);
    return order;
  }
  std::optional<std::string> path = schedule::scheduleFilePath(name);
  auto order =
      path ? getOrderOfFile(pipeline, *path, goal, problem, outOfMemory)
           : generateSchedule(pipeline, name, goal, problem, outOfMemory);
  if (failed(order) || failed(checkTurns(pipeline, goal.maySlip, *order)) ||
      failed(checkFunctions(pipeline, problem, *order)))
    return failure();
  return order;
}

/// The rules for sharing updates are in the verifier.
static LogicalResult shareUpdates(PipelineOp pipeline) {
  pipeline.setShardOptimizer(true);
  return pipeline.verify();
}

/// Creates a copy of `pipeline` in which one rank has all chunks.
static PipelineOp cloneForOneRank(PipelineOp pipeline, SymbolTable &symbols) {
  auto copy = cast<PipelineOp>(pipeline->clone());
  copy.setSymName((pipeline.getSymName() + "_sequential").str());
  copy.setChunksPerStage(pipeline.getNumChunks());
  copy.setStages(1);
  copy.setPlacement(pipeline.getNumChunks() == 1 ? Placement::Linear
                                                 : Placement::Interleaved);
  // These are limits of the original's ranks.
  copy->removeAttr(scheduleLimitsAttrName);
  copy->removeAttr(searchSecondsAttrName);
  copy->removeAttr(memoryLimitsAttrName);
  copy.setReplicas(1);
  copy.removeStageReplicasAttr();
  copy.setShardOptimizer(false);
  symbols.insert(copy, std::next(pipeline->getIterator()));
  return copy;
}

/// Reads the limits of the stages from the pipeline's attribute.
static LogicalResult readLimits(PipelineOp pipeline,
                                schedule::Problem &problem) {
  Attribute attr = pipeline->getAttr(scheduleLimitsAttrName);
  if (!attr)
    return success();
  auto limits = dyn_cast<DenseI64ArrayAttr>(attr);
  if (!limits || limits.size() != problem.stages())
    return pipeline.emitOpError()
           << "attribute '" << scheduleLimitsAttrName
           << "' has to be an array of one number of bytes for each of the "
           << problem.stages() << " stages, found " << attr;
  problem.memoryLimits.assign(limits.asArrayRef().begin(),
                              limits.asArrayRef().end());
  return success();
}

FailureOr<schedule::Simulation>
veeline::pipe::schedulePipeline(PipelineOp pipeline, StringRef name,
                                ScheduleGoal goal, int64_t microbatches,
                                SymbolTableCollection &tables,
                                std::optional<schedule::Error> *outOfMemory) {
  if (isForwardOnly(pipeline))
    name = schedule::forwardOrderName;
  pipeline.setAsynchronous(getAsynchronous(name));
  if (goal.offload > 0)
    pipeline->setAttr(offloadAttrName,
                      Builder(pipeline).getF64FloatAttr(goal.offload));
  else
    pipeline->removeAttr(offloadAttrName);
  auto problem = buildProblem(pipeline, microbatches, tables);
  if (failed(problem) || failed(readLimits(pipeline, *problem)))
    return failure();
  if (auto seconds = pipeline->getAttrOfType<FloatAttr>(searchSecondsAttrName))
    goal.searchSeconds = seconds.getValueAsDouble();
  auto order = getOrder(pipeline, name, goal, *problem, outOfMemory);
  if (failed(order))
    return failure();
  auto simulation = schedule::simulate(*problem, *order);
  if (!simulation)
    return pipeline.emitOpError() << simulation.error().str();
  VEELINE_CHECK(order->offloads.empty() ||
                    order->offloads.size() == order->stages.size(),
                "a schedule that is verified has offloads for all ranks");
  auto times = schedule::turnTimes(*problem, *order);
  if (!times)
    return pipeline.emitOpError() << times.error().str();
  pipeline.setMicrobatches(microbatches);
  pipeline.setSchedule(name);
  if (failed(
          buildPrograms(pipeline, *order, *times, goal.updatesAtEnd, tables)))
    return failure();
  VEELINE_CHECK(
      schedule::verify(*problem, readSchedule(pipeline, getPrograms(pipeline))),
      "the programs do not follow the schedule that they were built from");
  return *simulation;
}

/// The maximum keeps the time of a copy a meaningful number.
static constexpr double maxOffload = 1e6;

namespace {
struct PipeSchedule : veeline::pipe::impl::PipeScheduleBase<PipeSchedule> {
  using PipeScheduleBase::PipeScheduleBase;

  void runOnOperation() override {
    SymbolTableCollection tables;
    SymbolTable &symbols = tables.getSymbolTable(getOperation());
    if (microbatches < 1) {
      getOperation().emitError()
          << "microbatches is at least 1, found " << microbatches.getValue();
      return signalPassFailure();
    }
    // Rounding may exceed the maximum a little.
    if (!(offload >= 0 && offload <= maxOffload * (1 + 1e-9))) {
      getOperation().emitError()
          << "offload is a bandwidth in gigabytes a second from 0 to "
          << shortNumber(maxOffload) << ", found "
          << shortNumber(offload.getValue());
      return signalPassFailure();
    }
    if (replicas < 1) {
      getOperation().emitError()
          << "replicas is at least 1, found " << replicas.getValue();
      return signalPassFailure();
    }
    for (auto pipeline : llvm::to_vector(getOperation().getOps<PipelineOp>())) {
      if (isVersion(pipeline) || !getPrograms(pipeline).empty())
        continue;
      pipeline.setReplicas(replicas);
      if (shardOptimizer && failed(shareUpdates(pipeline)))
        return signalPassFailure();
      ScheduleGoal goal{objective, slip && mayWeightsSlip(pipeline),
                        updatesAtEnd};
      goal.offload = offload;
      bool failedOne = failed(
          schedulePipeline(pipeline, schedule, goal, microbatches, tables));
      // Ranks of one stage sum their microbatches separately. So only with a
      // single microbatch would one rank get the same bits. The same holds if
      // each microbatch has updates.
      bool isGrouped = pipeline.getStageReplicas().has_value() ||
                       pipeline.getAsynchronous() == Asynchronous::Stashed;
      goal.offload = 0;
      if (!failedOne && sequential)
        failedOne = failed(schedulePipeline(
            cloneForOneRank(pipeline, symbols), "sequential", goal,
            isGrouped ? 1 : microbatches.getValue(), tables));
      if (failedOne)
        return signalPassFailure();
    }
  }
};
} // namespace
