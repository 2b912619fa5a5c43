//===- PlanMemory.cpp - --pipe-plan-memory --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory/AdafactorPlaces.h"
#include "Memory/ArenaPlanner.h"
#include "Memory/MuonProducts.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Analysis/OffsetAllocator.h"
#include "veeline/Base/Optimizers.h"
#include "veeline/Base/Shards.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Step.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"
#include "veeline/Dialect/Pipe/Transforms/StreamOrder.h"
#include "veeline/Schedule/Asynchronous.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEPLANMEMORY
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

static int64_t getIntAttr(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : 0;
}

/// The number of older values of a parameter that ops of this rank use.
int64_t ArenaPlanner::countOlderVersions(int64_t param) const {
  std::optional<Asynchronous> kind = tables.pipeline.getAsynchronous();
  int64_t updates = 0, late = 0;
  auto count = [&](auto change) {
    if (static_cast<int64_t>(change.getParam()) != param)
      return;
    ++updates;
    late += change.getLate();
  };
  for (Operation &op : ProgramOp(program).getBody().front())
    llvm::TypeSwitch<Operation *>(&op).Case<UpdateOp, AssignOp>(count);
  if (!kind || updates == 0)
    return 0;
  if (*kind == Asynchronous::DoubleBuffered)
    return 1;
  return schedule::olderVersions(
      late, PipelineOp(tables.pipeline).getMicrobatches().value_or(1));
}

/// The bytes of optimiser state of a parameter on each rank that has a share of
/// its update.
int64_t ArenaPlanner::getStateBytes(ShapedType type) const {
  int64_t shards = PipelineOp(tables.pipeline).getShards(getStage());
  std::vector<int64_t> shape = type.getShape().vec();
  if (shards > 1 && isElementwise(updateRule(optimizer, shape)))
    shape = {shardElements(type.getNumElements(), shards)};
  return stateElements(optimizer, errorFeedback, shape) *
         (type.getElementTypeBitWidth() / 8);
}

SmallVector<int64_t> ArenaPlanner::reserveVersions(int64_t param,
                                                   int64_t bytes) {
  SmallVector<int64_t> offsets;
  for (int64_t i = 0, e = countOlderVersions(param); i != e; ++i)
    offsets.push_back(reserve(bytes));
  return offsets;
}

/// Places values and states first, then accumulators.
void ArenaPlanner::placeParams() {
  chooseOwners();
  for (auto [number, param] : llvm::enumerate(tables.params)) {
    auto users = getChunkUses(param.getValue());
    if (llvm::none_of(users, [&](auto user) { return isHere(user.first); }))
      continue;
    uint64_t bytes = getByteSize(param.getValue().getType());
    int64_t value = reserve(bytes);
    bool isHome =
        tables.getHome(number) == static_cast<int64_t>(program.getStage());
    int64_t stateBytes =
        isHome && !isForwardOnly(tables.pipeline) && !isFrozen(param)
            ? getStateBytes(cast<ShapedType>(param.getValue().getType()))
            : 0;
    int64_t owner = owners.lookup_or(number, -1);
    int64_t state = stateBytes && owner < 0 ? reserve(stateBytes) : -1;
    bool isKept = isHome && !tables.getGradientUsers(number).empty() &&
                  tables.pipeline.getClipSync() == ClipSync::Optimistic;
    plan.params.push_back({static_cast<int64_t>(number), value, state,
                           stateBytes, isHome,
                           isKept ? reserve(bytes + stateBytes) : -1,
                           reserveVersions(number, bytes), owner});
    for (auto [chunk, operand] : users)
      if (isHere(chunk) && tables.hasParamGradient(chunk, operand))
        plan.accumulators.push_back({static_cast<int64_t>(number), chunk, 0});
  }
  placeOwnedStates();
  // Accumulators that are summed over ranks are sorted by chunk.
  if (getNumMembers() > 1)
    llvm::stable_sort(plan.accumulators, [](const auto &a, const auto &b) {
      return a.chunk < b.chunk;
    });
  for (MemoryPlan::Accumulator &accumulator : plan.accumulators)
    accumulator.offset = reserve(
        getByteSize(tables.params[accumulator.param].getValue().getType()));
}

/// Places Adafactor's sums. They have room for the largest parameter.
void ArenaPlanner::placeSums() {
  for (auto update : program.getBody().front().getOps<UpdateOp>()) {
    auto type = cast<RankedTensorType>(update.getValue().getType());
    if (type.getNumElements() > 0)
      plan.updateWorkspaceBytes =
          std::max(plan.updateWorkspaceBytes,
                   AdafactorPlaces(type, /*workspace=*/0).bytes);
  }
  if (plan.updateWorkspaceBytes > 0)
    plan.updateWorkspace = reserve(plan.updateWorkspaceBytes);
}

/// Places the workspace in which Muon updates matrices. It has room for the
/// largest one.
void ArenaPlanner::placeUpdateWorkspace() {
  for (auto update : program.getBody().front().getOps<UpdateOp>()) {
    auto type = cast<RankedTensorType>(update.getValue().getType());
    if (type.getRank() != 2)
      continue;
    int64_t bytes =
        newtonSchulzElements(type.getDimSize(0), type.getDimSize(1)) *
        (type.getElementTypeBitWidth() / 8);
    if (isOnDevice && type.getNumElements() > 0) {
      bytes = MuonPlaces(type, /*workspace=*/0, /*state=*/0).bytes;
      addProducts(program->getParentOfType<ModuleOp>(), type);
    }
    plan.updateWorkspaceBytes = std::max(plan.updateWorkspaceBytes, bytes);
  }
  if (plan.updateWorkspaceBytes > 0)
    plan.updateWorkspace = reserve(plan.updateWorkspaceBytes);
}

/// Places the parameters that this rank's functions take rounded. They are the
/// same for all lengths.
void ArenaPlanner::placeRounded() {
  llvm::SmallDenseSet<std::pair<int64_t, int>> seen;
  for (Operation &op : program.getBody().front()) {
    std::optional<ChunkFunctionKind> kind = getFunctionKind(&op);
    if (!kind)
      continue;
    int64_t number = getScheduleOp(&op)->chunk;
    if (!seen.insert({number, static_cast<int>(*kind)}).second)
      continue;
    ChunkOp chunk = tables.chunks[number];
    FailureOr<ChunkSignature> signature =
        getChunkSignature(getFunction(symbols, chunk, *kind));
    if (failed(signature))
      continue;
    for (const ChunkValue &value : signature->arguments) {
      if (value.kind != RoleKind::Rounded)
        continue;
      int64_t param = tables.getParam(chunk, value.index);
      Type element = value.type.getElementType();
      if (!plan.findRounded(param, element))
        plan.rounded.push_back(
            {param, element, reserve(getByteSize(value.type)),
             reserveVersions(param, getByteSize(value.type))});
    }
  }
}

/// Places tensor results, for all microbatches of the greatest length, because
/// the runtime reads them after the step.
void ArenaPlanner::placeOutputs() {
  int64_t microbatches =
      PipelineOp(tables.pipeline).getMicrobatches().value_or(1);
  for (auto [number, value] :
       llvm::enumerate(tables.pipeline.getYield().getResults())) {
    auto chunk = value.getDefiningOp<ChunkOp>();
    if (!isOutput(value.getType()) || !chunk || !isHere(chunk.getIndex()))
      continue;
    int64_t bytes = getByteSize(value.getType()) * microbatches;
    plan.outputs.push_back(
        {static_cast<int64_t>(number), reserve(bytes), bytes});
  }
}

/// The function that `op` runs, for each length.
SmallVector<func::FuncOp> ArenaPlanner::getFunctions(Operation *op) {
  std::optional<ChunkFunctionKind> kind = getFunctionKind(op);
  if (!kind)
    return {};
  ChunkOp chunk = tables.chunks[getScheduleOp(op)->chunk];
  SmallVector<func::FuncOp> functions = {getFunction(symbols, chunk, *kind)};
  for (PipelineOp version : versions)
    functions.push_back(
        getFunction(symbols, version.getChunks()[chunk.getIndex()], *kind));
  return functions;
}

/// Adds a slot that is live from `slot.op` to the end of that op and of `uses`.
void ArenaPlanner::addSlot(Slot slot, const StreamOrder::Point &uses,
                           uint64_t bytes, uint64_t live, int64_t nextTurnEnd) {
  StreamOrder::Point all = uses;
  order.include(all, slot.op);
  int64_t begin = order.getNumber(slot.op);
  int64_t end = std::min(*llvm::max_element(all) + 1, order.getNumOps());
  if (nextTurnEnd > 0)
    end = order.getNumOps() + nextTurnEnd;
  slots.push_back(slot);
  intervals.push_back({begin, end, bytes});
  liveBytes.push_back({begin, end, live});
  lives.streams.push_back(getComputeStream(slot.op));
  for (int64_t stream = 0; stream != order.getNumStreams(); ++stream)
    lives.ends.push_back(order.findFirstAfter(all, stream));
}

/// The value that replaces that of `use` after its user: the value that a wait
/// returns for a handle, or that a restore returns for what was reloaded. Null
/// for other users.
static Value getAlias(OpOperand &use) {
  if (auto wait = dyn_cast<WaitOp>(use.getOwner()))
    return wait.getValue();
  if (auto restore = dyn_cast<RestoreOp>(use.getOwner()))
    return restore.getCopies()[use.getOperandNumber()];
  return {};
}

/// Adds to `uses` all ops during which `value` has to be kept. A handle is live
/// as long as the value that it stands for.
void ArenaPlanner::addUses(Value value, StreamOrder::Point &uses) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    order.include(uses, user);
    if (Operation *end = sendEnds.lookup(user)) {
      order.include(uses, end);
      // No op waits for the last sends, so their values are kept to the end of
      // the step.
      if (end == &program.getBody().front().back())
        uses[getComputeStream(user)] = order.getNumOps();
    }
    if (Value alias = getAlias(use))
      addUses(alias, uses);
  }
}

/// The number of the op of the next turn from which on `value` is not used any
/// more, or 0 if the next turn does not use it. A handle is live as long as the
/// value that it stands for.
int64_t ArenaPlanner::findNextTurnEnd(Value value) const {
  int64_t end = 0;
  Block &body = ProgramOp(program).getBody().front();
  for (OpOperand &use : value.getUses()) {
    if (Value alias = getAlias(use))
      end = std::max(end, findNextTurnEnd(alias));
    if (!isa<CarryOp>(use.getOwner()))
      continue;
    for (Operation *late :
         body.getArgument(use.getOperandNumber()).getUsers()) {
      end = std::max(end, order.getNumber(late) + 1);
      if (auto wait = dyn_cast<WaitOp>(late))
        for (Operation *user : wait->getUsers())
          end = std::max(end, order.getNumber(user) + 1);
    }
  }
  return end;
}

/// Adds a slot for each argument of `op` that has to be copied. A microbatch of
/// a batch argument may start at an address without the alignment that kernels
/// need.
void ArenaPlanner::addSlices(Operation *op) {
  schedule::Op work = *getScheduleOp(op);
  ChunkOp chunk = tables.chunks[work.chunk];
  FailureOr<ChunkSignature> signature = getChunkSignature(
      getFunction(symbols, chunk, getFunctionKind(work.kind)));
  if (failed(signature))
    return;
  for (auto [number, value] : llvm::enumerate(signature->arguments)) {
    if (!isImplied(chunk, value) ||
        !chunk.getOperands()[value.index].getDefiningOp<BatchOp>())
      continue;
    uint64_t bytes = getByteSize(chunk.getOperands()[value.index].getType());
    if (bytes * work.microbatch % kernelAlignment == 0)
      continue;
    addSlot({op, std::nullopt, number}, order.getNone(), bytes, bytes);
  }
}

LogicalResult ArenaPlanner::collect() {
  if (isOnDevice)
    sendEnds = findSendEnds(program);
  for (Operation &op : program.getBody().front()) {
    std::optional<ChunkFunctionKind> kind = getFunctionKind(&op);
    if (isOnDevice && isLength(&op))
      continue;
    auto addResult = [&](OpResult result, Type type) -> LogicalResult {
      int64_t nextTurnEnd = findNextTurnEnd(result);
      if (nextTurnEnd > order.getNumber(&op))
        return op.emitOpError()
               << "writes result " << result.getResultNumber()
               << " while a late op still needs that of the step before; run "
                  "--pipe-insert-communication, which copies it";
      StreamOrder::Point uses = order.getNone();
      addUses(result, uses);
      uint64_t bytes = getByteSize(type);
      addSlot({&op, result.getResultNumber()}, uses, bytes, bytes, nextTurnEnd);
      return success();
    };
    if (auto recv = dyn_cast<RecvOp>(op)) {
      if (failed(addResult(cast<OpResult>(recv.getHandle()),
                           recv.getHandle().getType().getValue())))
        return failure();
      continue;
    }
    if (!kind && !isa<AddOp, CopyOp, LengthOp, SquaredNormOp, GatherNormsOp,
                      ClipOp, ReloadOp>(op))
      continue;
    for (OpResult result : op.getResults()) {
      if (kind && !isOnDevice && isComputedAtReceiver(result))
        continue;
      if (failed(addResult(result, result.getType())))
        return failure();
    }
    if (!kind)
      continue;
    SmallVector<func::FuncOp> functions = getFunctions(&op);
    if (!functions.front()->hasAttr(workspaceBytesAttrName))
      return functions.front().emitOpError(
          "is not bufferized; run --pipe-bufferize-chunks "
          "before --pipe-plan-memory");
    int64_t workspace = 0, live = 0;
    for (func::FuncOp func : functions) {
      workspace = std::max(workspace, getIntAttr(func, workspaceBytesAttrName));
      live = std::max(live, getIntAttr(func, workspacePeakAttrName));
    }
    if (isOnDevice)
      addSlices(&op);
    op.setAttr(workspaceSizeAttrName,
               Builder(op.getContext()).getI64IntegerAttr(workspace));
    addSlot({&op, std::nullopt}, order.getNone(), workspace, live);
  }
  return success();
}

/// Places copies in the host's memory. Each is live from its pipe.offload to
/// its pipe.restore.
void ArenaPlanner::placeOnHost() {
  std::vector<LiveInterval> copies;
  SmallVector<OffloadOp> offloads;
  for (auto offload : program.getBody().front().getOps<OffloadOp>()) {
    offloads.push_back(offload);
    auto reload = cast<ReloadOp>(*offload.getCopies().front().user_begin());
    Operation *restore = *reload.getCopies().front().user_begin();
    for (Value copy : offload.getCopies())
      copies.push_back({order.getNumber(offload), order.getNumber(restore) + 1,
                        getByteSize(copy.getType())});
  }
  if (copies.empty())
    return;
  OffsetPlan offsets = planLoopOffsets(copies, order.getNumOps(), alignment);
  plan.hostBytes = llvm::alignTo(offsets.totalBytes, alignment);
  const auto *next = offsets.offsets.data();
  for (OffloadOp offload : offloads) {
    SmallVector<int64_t> row;
    for (size_t i = 0; i != offload.getCopies().size(); ++i)
      row.push_back(static_cast<int64_t>(*next++));
    offload->setAttr(offsetsAttrName,
                     Builder(offload.getContext()).getDenseI64ArrayAttr(row));
  }
}

void ArenaPlanner::writeOffsets(const OffsetPlan &offsets) {
  llvm::MapVector<Operation *, SmallVector<int64_t>> byOp, slices;
  Builder builder(program.getContext());
  for (auto [slot, offset] : llvm::zip_equal(slots, offsets.offsets)) {
    int64_t absolute = persistent + static_cast<int64_t>(offset);
    auto &row = byOp[slot.op];
    row.resize(slot.op->getNumResults(), -1);
    if (slot.argument) {
      SmallVector<int64_t> &copies = slices[slot.op];
      copies.resize(std::max<size_t>(copies.size(), *slot.argument + 1), -1);
      copies[*slot.argument] = absolute;
    } else if (slot.result)
      row[*slot.result] = absolute;
    else
      slot.op->setAttr(workspaceOffsetAttrName,
                       builder.getI64IntegerAttr(absolute));
  }
  for (auto &[op, row] : byOp)
    op->setAttr(offsetsAttrName, builder.getDenseI64ArrayAttr(row));
  for (auto &[op, row] : slices)
    op->setAttr(sliceOffsetsAttrName, builder.getDenseI64ArrayAttr(row));
}

LogicalResult ArenaPlanner::checkStreams() {
  FailureOr<StreamCounts> counts = getStreamCounts(program);
  if (failed(counts))
    return failure();
  lives.numStreams = counts->streams;
  if (isOnDevice) {
    plan.device.emplace();
    plan.device->streams = counts->streams;
    plan.device->events = counts->events;
  } else if (counts->streams > 1) {
    return program.emitOpError("has several compute streams, which only a GPU "
                               "has; plan with target=cuda");
  }
  if (isOnDevice && failed(checkDevice()))
    return failure();
  return verifyStreamOrder(program, order);
}

LogicalResult ArenaPlanner::run() {
  if (failed(checkStreams()))
    return failure();
  placeParams();
  placeRounded();
  placeOutputs();
  if (optimizer == Optimizer::muon)
    placeUpdateWorkspace();
  if (optimizer == Optimizer::adafactor && isOnDevice)
    placeSums();
  if (isOnDevice)
    placeDevice();
  if (failed(placeReductions()) || failed(collect()))
    return failure();
  int64_t turn = order.getNumOps();
  OffsetPlan offsets = lives.numStreams > 1
                           ? planOffsets(intervals, lives, alignment)
                           : planLoopOffsets(intervals, turn, alignment);
  writeOffsets(offsets);
  placeBuffers();
  placeOnHost();
  plan.arenaBytes = llvm::alignTo(persistent + offsets.totalBytes, alignment);
  plan.peakLiveBytes = persistent + peakLoopBytes(liveBytes, turn);
  program.setMemoryAttr(plan.toAttribute(program.getContext()));
  return success();
}

/// The limit of the arena of `program` in bytes, or none.
static std::optional<int64_t> getLimit(PipelineOp pipeline, ProgramOp program) {
  auto limits =
      pipeline->getAttrOfType<DenseI64ArrayAttr>(memoryLimitsAttrName);
  if (!limits || limits.size() != static_cast<int64_t>(pipeline.getStages()))
    return std::nullopt;
  return limits[program.getStage()];
}

/// Checks that the arena of `program` is within the limit of its stage, if
/// there is one. Emits a diagnostic if not.
static LogicalResult checkLimit(PipelineOp pipeline, ProgramOp program) {
  Attribute attr = pipeline->getAttr(memoryLimitsAttrName);
  if (!attr)
    return success();
  auto limits = dyn_cast<DenseI64ArrayAttr>(attr);
  if (!limits || limits.size() != static_cast<int64_t>(pipeline.getStages()))
    return pipeline.emitOpError()
           << "attribute '" << memoryLimitsAttrName
           << "' has to be an array of one number of bytes for each of the "
           << pipeline.getStages() << " stages, found " << attr;
  FailureOr<MemoryPlan> plan = MemoryPlan::get(program);
  if (failed(plan))
    return failure();
  int64_t stage = program.getStage();
  if (plan->arenaBytes <= limits[stage])
    return success();
  return program.emitOpError() << "has an arena of " << plan->arenaBytes
                               << " bytes, but the memory limit of stage "
                               << stage << " is " << limits[stage] << " bytes";
}

/// Numbers the dense constants that functions of `module` use.
static void listConstants(ModuleOp module) {
  llvm::SmallDenseSet<Attribute> used;
  for (auto function : module.getOps<func::FuncOp>())
    used.insert_range(getGlobals(function));
  SmallVector<Attribute> names;
  for (auto global : module.getOps<memref::GlobalOp>())
    if (used.contains(FlatSymbolRefAttr::get(global)))
      names.push_back(FlatSymbolRefAttr::get(global));
  module->setAttr(constantsAttrName, Builder(module).getArrayAttr(names));
}

/// Checks that Muon has a matrix.
static LogicalResult verifyOptimizer(PipelineOp pipeline, Optimizer optimizer) {
  auto isMatrix = [](ParamOp param) {
    return cast<ShapedType>(param.getValue().getType()).getRank() == 2 &&
           !isFrozen(param);
  };
  if (optimizer != Optimizer::muon || isForwardOnly(pipeline) ||
      llvm::any_of(pipeline.getParams(), isMatrix))
    return success();
  return pipeline.emitOpError("has no parameter of rank 2 that is trained, but "
                              "'muon' updates matrices; take adamw");
}

/// Whether its rank adds up gradients with others.
static bool hasReductions(ProgramOp program) {
  return !program.getBody().front().getOps<AllReduceOp>().empty();
}

LogicalResult veeline::pipe::planMemory(PipelineOp pipeline,
                                        StringRef optimizer, bool errorFeedback,
                                        bool ncclSums, KernelTarget target,
                                        SymbolTableCollection &symbols) {
  std::optional<Optimizer> known = parseOptimizer(optimizer);
  if (!known)
    return pipeline->getParentOfType<ModuleOp>().emitError()
           << "unknown optimizer '" << optimizer << "'; expected "
           << listOptimizers();
  if (failed(verifyOptimizer(pipeline, *known)))
    return failure();
  PipelineTables tables(pipeline, symbols);
  if (!tables.valid)
    return failure();
  FailureOr<SmallVector<PipelineOp>> versions = getVersions(pipeline, symbols);
  if (failed(versions) || failed(verifyVersions(pipeline, symbols)))
    return failure();
  if (target == KernelTarget::Cuda)
    listConstants(pipeline->getParentOfType<ModuleOp>());
  SmallVector<ProgramOp> programs = getPrograms(pipeline);
  pipeline.setNcclSums(ncclSums && target == KernelTarget::Cuda &&
                       llvm::any_of(programs, hasReductions));
  for (ProgramOp program : programs)
    postGroupsAtOnce(program);
  auto orders = getStreamOrders(pipeline, programs);
  if (failed(orders))
    return failure();
  for (auto [program, order] : llvm::zip_equal(programs, *orders))
    for (LibraryMemory library : {LibraryMemory::Ample, LibraryMemory::Least}) {
      ArenaPlanner planner(tables, program, *known, errorFeedback, target,
                           *versions, order, library, symbols);
      if (failed(planner.run()))
        return failure();
      std::optional<int64_t> limit = getLimit(pipeline, program);
      if (!limit || planner.getArenaBytes() <= *limit)
        break;
    }
  return success();
}

namespace {
struct PipePlanMemory
    : veeline::pipe::impl::PipePlanMemoryBase<PipePlanMemory> {
  using PipePlanMemoryBase::PipePlanMemoryBase;

  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto pipeline : getOperation().getOps<PipelineOp>()) {
      if (failed(planMemory(pipeline, optimizer, errorFeedback, ncclSums,
                            target, symbols)))
        return signalPassFailure();
      for (ProgramOp program : getPrograms(pipeline))
        if (failed(checkLimit(pipeline, program)))
          return signalPassFailure();
    }
  }
};
} // namespace
