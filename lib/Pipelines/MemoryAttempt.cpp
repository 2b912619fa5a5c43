//===- MemoryAttempt.cpp - the cost of one way to compile -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryAttempt.h"

#include "Phases.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/Transforms/ChunkCosts.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

static constexpr ByFunctionKind<ChunkFunctionKind> allKinds = {
    ChunkFunctionKind::Forward, ChunkFunctionKind::Backward,
    ChunkFunctionKind::BackwardInput, ChunkFunctionKind::BackwardWeight,
    ChunkFunctionKind::Recomputation};

static PipelineOp getPipeline(ModuleOp module) {
  return *module.getOps<PipelineOp>().begin();
}

MemoryTrial::MemoryTrial(ModuleOp model, const CompileOptions &options,
                         std::vector<int64_t> pieces)
    : model(model), options(options), pieces(std::move(pieces)) {
  // The first orders may have no R, but later ones may.
  usedKinds[static_cast<size_t>(ChunkFunctionKind::Recomputation)] =
      options.recomputeAhead;
}

LogicalResult MemoryTrial::partition() {
  partitioned = model.clone();
  CompileOptions cut = options;
  cut.pieces = pieces;
  return runPhase(*partitioned, [&](OpPassManager &passManager) {
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

double MemoryTrial::getForwardScale(int number) {
  return getCostScale(getPipeline(*partitioned).getChunks()[number])[0];
}

FailureOr<OwningOpRef<ModuleOp>>
MemoryTrial::differentiate(ArrayRef<Recompute> policies) {
  OwningOpRef<ModuleOp> module = partitioned->clone();
  CompileOptions chosen = options;
  chosen.recompute.clear();
  for (const Recompute &policy : policies)
    chosen.recompute.push_back(toString(policy));
  if (failed(runPhase(*module, [&](OpPassManager &passManager) {
        addDifferentiation(passManager, chosen);
      })))
    return failure();
  return module;
}

//===----------------------------------------------------------------------===//
// Variants of chunks
//===----------------------------------------------------------------------===//

/// The size of the operands that functions of `kinds` of `chunk` take and that
/// another chunk of the same stage produces.
static int64_t getLocalBytes(PipelineOp pipeline, ChunkOp chunk,
                             ArrayRef<ChunkFunctionKind> kinds,
                             const ChunkVariant &variant) {
  llvm::SmallDenseSet<unsigned> operands;
  for (ChunkFunctionKind kind : kinds) {
    func::FuncOp func = *variant.declarations[static_cast<size_t>(kind)];
    FailureOr<ChunkSignature> signature = failure();
    if (func)
      signature = getChunkSignature(func);
    if (failed(signature))
      continue;
    for (const ChunkValue &value : signature->arguments)
      if (value.kind == RoleKind::Operand)
        operands.insert(value.index);
  }
  int64_t stage = pipeline.getStageOf(chunk.getIndex()), bytes = 0;
  for (unsigned operand : operands) {
    Value value = chunk.getOperands()[operand];
    auto producer = value.getDefiningOp<ChunkOp>();
    if (producer && pipeline.getStageOf(producer.getIndex()) == stage)
      bytes += getByteSize(value.getType());
  }
  return bytes;
}

static schedule::Chunk withoutLocalBytes(PipelineOp pipeline, ChunkOp chunk,
                                         const ChunkVariant &variant) {
  schedule::Chunk own = variant.chunk;
  auto getLocal = [&](ArrayRef<ChunkFunctionKind> kinds) {
    return getLocalBytes(pipeline, chunk, kinds, variant);
  };
  int64_t kept = own.forwardMemory, whole = kept + own.recomputeMemory;
  int64_t left = whole + own.backwardInputMemory;
  bool releases = own.backwardInputMemory != 0;
  kept -= getLocal(ArrayRef(allKinds).drop_front());
  // Without the forward and the recomputation.
  whole -= getLocal(ArrayRef(allKinds).drop_front().drop_back());
  left =
      releases ? left - getLocal({ChunkFunctionKind::BackwardWeight}) : whole;
  own.forwardMemory = kept;
  own.recomputeMemory = whole - kept;
  own.backwardInputMemory = left - whole;
  own.backwardWeightMemory = -left;
  return own;
}

/// Differentiates and splits the chunk in a module of its own.
LogicalResult MemoryTrial::makeVariant(int number, ChunkVariant &variant) {
  PipelineOp pipeline = getPipeline(*partitioned);
  variant.functions = ModuleOp::create(pipeline.getLoc());
  auto builder = OpBuilder::atBlockEnd(variant.functions->getBody());
  auto copy = cast<PipelineOp>(builder.clone(*pipeline));
  ChunkOp chunk = copy.getChunks()[number];
  Operation *primal = builder.clone(
      *SymbolTable::lookupNearestSymbolFrom(pipeline, chunk.getPrimalAttr()));
  auto given = getJoint(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      pipeline, chunk.getPrimalAttr()));
  if (failed(given))
    return failure();
  Operation *joint = *given ? builder.clone(**given) : nullptr;
  SymbolTable symbols(*variant.functions);
  if (failed(
          differentiateChunk(chunk, variant.policy, options.target, symbols)) ||
      (options.recomputeAhead && failed(splitRecomputation(chunk, symbols))) ||
      failed(splitBackward(chunk, symbols)))
    return failure();
  SymbolTableCollection tables;
  if (failed(roundParameters(chunk, tables)))
    return failure();
  setChunkCosts(copy, tables);
  variant.cost = *chunk.getCost();
  for (ChunkFunctionKind kind : allKinds)
    if (func::FuncOp func = getFunction(tables, chunk, kind))
      variant.declarations[static_cast<size_t>(kind)] =
          cast<func::FuncOp>(func->cloneWithoutRegions());
  variant.chunk = describeChunk(chunk, tables);
  variant.own = withoutLocalBytes(copy, chunk, variant);
  copy.erase();
  primal->erase();
  if (joint)
    joint->erase();
  return success();
}

static int64_t getNumber(func::FuncOp func, StringRef name) {
  auto attr = func->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : 0;
}

/// Bufferizes those functions that orders use and that have not been measured
/// yet.
LogicalResult MemoryTrial::measure(int number, ChunkVariant &variant) {
  SmallVector<size_t> missing;
  for (size_t kind = 0; kind != allKinds.size(); ++kind)
    if (usedKinds[kind] && !std::exchange(variant.isMeasured[kind], true) &&
        variant.declarations[kind])
      missing.push_back(kind);
  if (missing.empty())
    return success();
  if (!variant.functions && failed(makeVariant(number, variant)))
    return failure();
  OwningOpRef<ModuleOp> module = std::move(variant.functions);
  SymbolTable symbols(*module);
  auto getName = [&](size_t kind) {
    return variant.declarations[kind]->getSymName();
  };
  for (auto func : llvm::to_vector(module->getOps<func::FuncOp>()))
    if (llvm::none_of(missing, [&](size_t kind) {
          return getName(kind) == func.getSymName();
        }))
      symbols.erase(func);
  if (failed(runPhase(*module, [&](OpPassManager &passManager) {
        addBufferization(passManager, options);
      })))
    return failure();
  SymbolTable bufferized(*module);
  for (size_t kind : missing) {
    auto func = bufferized.lookup<func::FuncOp>(getName(kind));
    variant.workspaces[kind] = getNumber(func, workspaceBytesAttrName);
    variant.livePeaks[kind] = getNumber(func, workspacePeakAttrName);
    variant.callsLibrary[kind] = callsLibrary(func);
    for (Attribute name : getGlobals(func))
      variant.constants[kind].push_back(
          bufferized
              .lookup<memref::GlobalOp>(cast<FlatSymbolRefAttr>(name).getAttr())
              .clone());
  }
  return success();
}

FailureOr<const ChunkVariant *>
MemoryTrial::getVariant(int number, const Recompute &policy) {
  auto [entry, isNew] = variants.try_emplace({number, toString(policy)});
  ChunkVariant &variant = entry->second;
  variant.policy = policy;
  // If an earlier try failed, it is repeated for its diagnostic.
  if ((isNew || !variant.cost) && failed(makeVariant(number, variant)))
    return failure();
  return const_cast<const ChunkVariant *>(&variant);
}

LogicalResult MemoryTrial::measure(ArrayRef<std::pair<int, Recompute>> wanted) {
  llvm::SetVector<std::pair<int, ChunkVariant *>> missing;
  for (const auto &[number, policy] : wanted) {
    auto found = getVariant(number, policy);
    if (failed(found))
      return failure();
    missing.insert({number, &variants[{number, toString(policy)}]});
  }
  return failableParallelForEach(
      model.getContext(), missing.getArrayRef(),
      [&](const auto &one) { return measure(one.first, *one.second); });
}

//===----------------------------------------------------------------------===//
// Attempts
//===----------------------------------------------------------------------===//

bool MemoryAttempt::fits(ArrayRef<int64_t> limits) const {
  return !outOfMemory &&
         llvm::all_of(llvm::zip_equal(arenas, limits), [](const auto &both) {
           return std::get<0>(both) <= std::get<1>(both);
         });
}

/// Creates a module with the pipeline and declarations of its chunks'
/// functions.
FailureOr<OwningOpRef<ModuleOp>>
MemoryTrial::declare(ArrayRef<Recompute> policies) {
  PipelineOp pipeline = getPipeline(*partitioned);
  OwningOpRef<ModuleOp> module = ModuleOp::create(pipeline.getLoc());
  auto builder = OpBuilder::atBlockEnd(module->getBody());
  auto copy = cast<PipelineOp>(builder.clone(*pipeline));
  // Versions for shorter microbatches use the plan of the version for the
  // longest ones.
  if (ArrayRef<int64_t> lengths = getLengths(copy); !lengths.empty())
    setVersions(copy, SmallVector<int64_t>{lengths.back()}, {});
  for (auto [number, chunk] : llvm::enumerate(copy.getChunks())) {
    auto found = getVariant(number, policies[number]);
    if (failed(found))
      return failure();
    const ChunkVariant &variant = **found;
    chunk.setCostAttr(variant.cost);
    for (ChunkFunctionKind kind : allKinds)
      if (func::FuncOp func = *variant.declarations[static_cast<size_t>(kind)])
        chunk->setAttr(
            getName(kind),
            FlatSymbolRefAttr::get(
                cast<func::FuncOp>(builder.clone(*func)).getSymNameAttr()));
  }
  return module;
}

namespace {
/// Adds globals to a module. Equal globals are added once.
class SharedGlobals {
public:
  explicit SharedGlobals(ModuleOp module) : symbols(module) {}

  Attribute add(memref::GlobalOp global) {
    auto &name = names[{global.getType(), global.getInitialValueAttr()}];
    if (!name) {
      memref::GlobalOp copy = global.clone();
      symbols.insert(copy);
      name = FlatSymbolRefAttr::get(copy);
    }
    return name;
  }

private:
  SymbolTable symbols;
  llvm::DenseMap<std::pair<Type, Attribute>, Attribute> names;
};
} // namespace

/// Gives declarations the attributes that bufferization would give them:
/// workspaces, library calls and constants.
void MemoryTrial::setWorkspaces(ModuleOp module, ArrayRef<Recompute> policies) {
  SymbolTableCollection symbols;
  SharedGlobals globals(module);
  Builder builder(module.getContext());
  for (auto [number, chunk] :
       llvm::enumerate(getPipeline(module).getChunks())) {
    const ChunkVariant &variant =
        variants[{static_cast<int>(number), toString(policies[number])}];
    for (ChunkFunctionKind kind : allKinds) {
      func::FuncOp func = getFunction(symbols, chunk, kind);
      if (!func)
        continue;
      auto set = [&](StringRef name, int64_t bytes) {
        func->setAttr(name, builder.getI64IntegerAttr(bytes));
      };
      set(workspaceBytesAttrName,
          variant.workspaces[static_cast<size_t>(kind)]);
      set(workspacePeakAttrName, variant.livePeaks[static_cast<size_t>(kind)]);
      if (variant.callsLibrary[static_cast<size_t>(kind)])
        func->setAttr(callsLibraryAttrName, builder.getUnitAttr());
      SmallVector<Attribute> names;
      for (const auto &global : variant.constants[static_cast<size_t>(kind)])
        names.push_back(globals.add(*global));
      func->setAttr(readsGlobalsAttrName, builder.getArrayAttr(names));
    }
  }
}

/// The end of the part of the arena that lasts throughout the step: parameters,
/// optimiser state and accumulators.
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

std::vector<int64_t> veeline::getPeaks(const schedule::Problem &problem,
                                       const schedule::Simulation &simulation) {
  std::vector<int64_t> peaks(problem.stages());
  for (int rank = 0; rank != problem.ranks(); ++rank) {
    int64_t &peak = peaks[problem.stageOfRank(rank)];
    peak = std::max<int64_t>(peak, simulation.stages[rank].peakMemory);
  }
  return peaks;
}

/// Reads the plan of each stage. If it has several ranks, that is the plan with
/// the largest arena.
static LogicalResult readPlans(PipelineOp pipeline, MemoryAttempt &attempt) {
  size_t numStages = attempt.problem->stages();
  attempt.arenas.assign(numStages, 0);
  attempt.lasting.resize(numStages);
  attempt.worstRanks.resize(numStages);
  for (auto [rank, program] : llvm::enumerate(getPrograms(pipeline))) {
    FailureOr<MemoryPlan> plan = MemoryPlan::get(program);
    if (failed(plan))
      return failure();
    int64_t stage = program.getStage();
    if (plan->arenaBytes <= attempt.arenas[stage])
      continue;
    attempt.arenas[stage] = plan->arenaBytes;
    attempt.lasting[stage] = getLasting(pipeline, *plan);
    attempt.worstRanks[stage] = static_cast<int>(rank);
  }
  return success();
}

FailureOr<MemoryAttempt>
MemoryTrial::attempt(std::vector<Recompute> policies,
                     std::vector<int64_t> scheduleLimits,
                     double searchSeconds) {
  MemoryAttempt attempt{std::move(policies), std::move(scheduleLimits),
                        searchSeconds};
  auto module = declare(attempt.policies);
  if (failed(module))
    return failure();
  PipelineOp pipeline = getPipeline(**module);
  if (!attempt.scheduleLimits.empty())
    pipeline->setAttr(
        scheduleLimitsAttrName,
        DenseI64ArrayAttr::get(pipeline.getContext(), attempt.scheduleLimits));
  // The number of ranks determines how long a sum takes, and so where updates
  // are placed.
  pipeline.setReplicas(options.replicas);
  pipeline.setShardOptimizer(options.shardOptimizer);
  SymbolTableCollection symbols;
  ScheduleGoal goal{options.objective, options.mayWeightsSlip(),
                    /*updatesAtEnd=*/options.chunkStreams, searchSeconds};
  goal.offload = options.offload;
  auto simulation =
      schedulePipeline(pipeline, options.schedule, goal, options.microbatches,
                       symbols, &attempt.outOfMemory);
  if (attempt.outOfMemory)
    return attempt;
  if (failed(simulation))
    return failure();
  attempt.step = simulation->value(options.objective);
  auto problem = buildProblem(pipeline, options.microbatches, symbols);
  if (failed(problem))
    return failure();
  attempt.problem = std::move(*problem);
  attempt.held = getPeaks(*attempt.problem, *simulation);
  attempt.order = readSchedule(pipeline, getPrograms(pipeline));
  for (const auto &ops : attempt.order.stages)
    for (const schedule::Op &op : ops)
      usedKinds[static_cast<size_t>(getFunctionKind(op.kind))] = true;
  SmallVector<std::pair<int, Recompute>> chunks;
  for (auto [number, policy] : llvm::enumerate(attempt.policies))
    chunks.push_back({static_cast<int>(number), policy});
  if (failed(measure(chunks)))
    return failure();
  setWorkspaces(**module, attempt.policies);
  if (failed(insertCommunication(pipeline, options.communication,
                                 options.getRules(), symbols)))
    return failure();
  if (options.chunkStreams)
    assignStreams(pipeline);
  if (failed(planMemory(pipeline, options.optimizer, options.errorFeedback,
                        options.ncclSums, options.target, symbols)))
    return failure();
  if (failed(readPlans(pipeline, attempt)))
    return failure();
  return attempt;
}
