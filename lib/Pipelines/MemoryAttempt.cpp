//===- MemoryAttempt.cpp - what one way to compile would take -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryAttempt.h"

#include "Phases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Conversion/Pipelines.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

static constexpr std::array<ChunkFunctionKind, 4> allKinds = {
    ChunkFunctionKind::Forward, ChunkFunctionKind::Backward,
    ChunkFunctionKind::BackwardInput, ChunkFunctionKind::BackwardWeight};

static LogicalResult run(ModuleOp module,
                         llvm::function_ref<void(OpPassManager &)> build) {
  PassManager passManager(module.getContext());
  build(passManager);
  return passManager.run(module);
}

static PipelineOp getPipeline(ModuleOp module) {
  return *module.getOps<PipelineOp>().begin();
}

MemoryTrial::MemoryTrial(ModuleOp model, const CompileOptions &options,
                         std::vector<int64_t> pieces)
    : model(model), options(options), pieces(std::move(pieces)) {}

LogicalResult MemoryTrial::partition() {
  partitioned = model.clone();
  CompileOptions cut = options;
  cut.pieces = pieces;
  return run(*partitioned, [&](OpPassManager &passManager) {
    addPartition(passManager, cut);
  });
}

pipe::Placement MemoryTrial::getPlacement() {
  return getPipeline(*partitioned).getPlacement();
}

std::vector<int64_t> MemoryTrial::getPieces() {
  std::vector<int64_t> counts;
  for (ChunkOp chunk : getPipeline(*partitioned).getChunks())
    counts.push_back(getNumPieces(chunk));
  return counts;
}

FailureOr<OwningOpRef<ModuleOp>>
MemoryTrial::differentiate(ArrayRef<Recompute> policies) {
  OwningOpRef<ModuleOp> module = partitioned->clone();
  CompileOptions chosen = options;
  chosen.recompute.clear();
  for (const Recompute &policy : policies)
    chosen.recompute.push_back(toString(policy));
  if (failed(run(*module, [&](OpPassManager &passManager) {
        addDifferentiation(passManager, chosen);
      })))
    return failure();
  return module;
}

static int64_t getNumber(func::FuncOp func, StringRef name) {
  auto attr = func->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : 0;
}

FailureOr<const std::vector<Workspaces> *>
MemoryTrial::measure(const Recompute &policy) {
  auto [entry, isNew] = measured.try_emplace(toString(policy));
  if (!isNew)
    return &entry->second;
  std::vector<Recompute> all(getPipeline(*partitioned).getNumChunks(), policy);
  auto module = differentiate(all);
  if (failed(module) || failed(run(**module, [&](OpPassManager &passManager) {
        BufferizeChunksOptions bufferize;
        bufferize.gemmScratch = options.gemmScratch;
        buildBufferizeChunksPipeline(passManager, bufferize);
      })))
    return failure();
  SymbolTableCollection symbols;
  for (ChunkOp chunk : getPipeline(**module).getChunks()) {
    Workspaces &workspaces = entry->second.emplace_back();
    for (ChunkFunctionKind kind : allKinds)
      if (func::FuncOp func = getFunction(symbols, chunk, kind))
        workspaces.kinds[static_cast<size_t>(kind)] = {
            getNumber(func, workspaceBytesAttrName),
            getNumber(func, workspacePeakAttrName)};
  }
  return &entry->second;
}

/// Functions on tensors then say what they will take when bufferized.
LogicalResult MemoryTrial::setWorkspaces(ModuleOp module,
                                         MemoryAttempt &attempt) {
  SymbolTableCollection symbols;
  Builder builder(module.getContext());
  for (auto [k, chunk] : llvm::enumerate(getPipeline(module).getChunks())) {
    auto all = measure(attempt.policies[k]);
    if (failed(all))
      return failure();
    attempt.workspaces.push_back((**all)[k]);
    for (ChunkFunctionKind kind : allKinds) {
      func::FuncOp func = getFunction(symbols, chunk, kind);
      if (!func)
        continue;
      const Workspaces::Sizes &sizes =
          attempt.workspaces.back().kinds[static_cast<size_t>(kind)];
      func->setAttr(workspaceBytesAttrName,
                    builder.getI64IntegerAttr(sizes.bytes));
      func->setAttr(workspacePeakAttrName,
                    builder.getI64IntegerAttr(sizes.peakLive));
    }
  }
  return success();
}

/// Where what lives throughout ends.
static int64_t getLasting(PipelineOp pipeline, const MemoryPlan &plan) {
  SmallVector<ParamOp> params = pipeline.getParams();
  int64_t end = 0;
  auto cover = [&](int64_t param, int64_t offset) {
    end = std::max<int64_t>(
        end, offset + getByteSize(params[param].getValue().getType()));
  };
  for (const MemoryPlan::Param &param : plan.params) {
    cover(param.param, param.value);
    end = std::max(end, param.state + param.stateBytes);
  }
  for (const MemoryPlan::Accumulator &accumulator : plan.accumulators)
    cover(accumulator.param, accumulator.offset);
  return end;
}

FailureOr<MemoryAttempt>
MemoryTrial::attempt(std::vector<Recompute> policies,
                     std::vector<int64_t> scheduleLimits) {
  MemoryAttempt attempt{std::move(policies), std::move(scheduleLimits)};
  auto module = differentiate(attempt.policies);
  if (failed(module) || failed(setWorkspaces(**module, attempt)))
    return failure();
  PipelineOp pipeline = getPipeline(**module);
  if (!attempt.scheduleLimits.empty())
    pipeline->setAttr(
        scheduleLimitsAttrName,
        DenseI64ArrayAttr::get(pipeline.getContext(), attempt.scheduleLimits));
  SymbolTableCollection symbols;
  auto simulation =
      schedulePipeline(pipeline, options.schedule, options.microbatches,
                       symbols, &attempt.outOfMemory);
  if (attempt.outOfMemory)
    return attempt;
  if (failed(simulation))
    return failure();
  attempt.makespan = simulation->makespan;
  for (const schedule::StageStatistics &stage : simulation->stages)
    attempt.held.push_back(stage.peakMemory);
  auto problem = buildProblem(pipeline, options.microbatches, symbols);
  if (failed(problem))
    return failure();
  attempt.chunks = std::move(problem->chunks);
  attempt.order = readSchedule(pipeline, getPrograms(pipeline));
  if (failed(insertCommunication(pipeline, symbols)) ||
      failed(planMemory(pipeline, options.optimizer, symbols)))
    return failure();
  for (ProgramOp program : getPrograms(pipeline)) {
    FailureOr<MemoryPlan> plan = MemoryPlan::get(program);
    if (failed(plan))
      return failure();
    attempt.arenas.push_back(plan->arenaBytes);
    attempt.lasting.push_back(getLasting(pipeline, *plan));
  }
  return attempt;
}
