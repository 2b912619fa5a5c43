//===- LowerToRuntime.cpp - --pipe-lower-to-runtime -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program becomes a function of straight-line code: calls of chunk functions
// and of the runtime (runtime/include/veeline/runtime.h), with constant offsets
// into the arena.
//
//===----------------------------------------------------------------------===//

#include "StepWriter.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Base/Check.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Step.h"
#include "veeline/Dialect/Pipe/Transforms/StreamOrder.h"
#include "llvm/ADT/TypeSwitch.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPELOWERTORUNTIME
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

//===----------------------------------------------------------------------===//
// Runtime calls and addresses
//===----------------------------------------------------------------------===//

func::FuncOp StepWriter::declare(StringRef name, ArrayRef<Type> arguments,
                                 Type result) {
  if (auto func = moduleSymbols.lookup<func::FuncOp>(name))
    return func;
  OpBuilder atEnd(module.getBodyRegion());
  auto type = atEnd.getFunctionType(arguments,
                                    result ? TypeRange(result) : TypeRange());
  auto func = func::FuncOp::create(atEnd, module.getLoc(), name, type);
  func.setPrivate();
  moduleSymbols.insert(func);
  return func;
}

Value StepWriter::callRuntime(StringRef name, ArrayRef<Value> arguments,
                              Type result) {
  SmallVector<Type> types =
      llvm::map_to_vector(arguments, [](Value v) { return v.getType(); });
  auto call = func::CallOp::create(builder, loc, declare(name, types, result),
                                   arguments);
  return result ? call.getResult(0) : Value();
}

Value StepWriter::constant(int64_t value, unsigned bits) {
  return LLVM::ConstantOp::create(builder, loc, builder.getIntegerType(bits),
                                  value);
}

Value StepWriter::atArena(int64_t offset) {
  Value &place = places[offset];
  if (!place)
    place = LLVM::GEPOp::create(builder, loc, ptr, builder.getI8Type(), arena,
                                ArrayRef<LLVM::GEPArg>{constant(offset, 64)});
  return place;
}

/// The address of the slice of a batch argument, or of a buffer.
Value StepWriter::atBatch(Value input, int64_t microbatch) {
  int64_t number = 0;
  SmallVector<BatchOp> batches = tables.pipeline.getBatches();
  bool isBatch = isa<BatchOp>(input.getDefiningOp());
  if (isBatch) {
    number = llvm::find(batches, cast<BatchOp>(input.getDefiningOp())) -
             batches.begin();
  } else {
    SmallVector<BufferOp> buffers = tables.pipeline.getBuffers();
    number = batches.size() +
             (llvm::find(buffers, cast<BufferOp>(input.getDefiningOp())) -
              buffers.begin());
  }
  int64_t bytes = isBatch ? getByteSize(input.getType()) * microbatch : 0;
  if (isOnDevice) {
    bool isOfStepBefore = static_cast<bool>(batchOfStep);
    auto place = llvm::find_if(
        isOfStepBefore ? plan.device->inputsBefore : plan.device->inputs,
        [&](const MemoryPlan::Input &entry) { return entry.input == number; });
    return atArena(place->offset + bytes);
  }
  Value slot =
      LLVM::GEPOp::create(builder, loc, ptr, ptr, batch,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
  Value base = LLVM::LoadOp::create(builder, loc, ptr, slot);
  if (bytes == 0)
    return base;
  return LLVM::GEPOp::create(builder, loc, ptr, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{constant(bytes, 64)});
}

/// The address of an SSA value of the program.
Value StepWriter::getAddress(Value value) {
  if (Value address = addresses.lookup(value))
    return address;
  if (isa<BlockArgument>(value))
    return getAddress(getSource(value));
  if (auto wait = value.getDefiningOp<WaitOp>())
    return getAddress(wait.getHandle());
  if (auto restore = value.getDefiningOp<RestoreOp>())
    return getAddress(
        restore.getValues()[cast<OpResult>(value).getResultNumber()]);
  if (auto gradient = value.getDefiningOp<GradientOp>())
    return atArena(
        *plan.findAccumulator(gradient.getParam(), gradient.getChunk()));
  if (auto sum = value.getDefiningOp<AllReduceOp>())
    return atArena(*plan.findAccumulator(sum.getParam(), sum.getChunk()));
  if (auto update = value.getDefiningOp<UpdateOp>())
    return atArena(plan.findParam(update.getParam())->value);
  if (auto gather = value.getDefiningOp<AllGatherOp>())
    return atArena(plan.findParam(gather.getParam())->value);
  auto result = cast<OpResult>(value);
  auto offsets =
      result.getOwner()->getAttrOfType<DenseI64ArrayAttr>(offsetsAttrName);
  return atArena(offsets[result.getResultNumber()]);
}

FailureOr<Value> StepWriter::getImplied(Operation *op, Value operand,
                                        int64_t microbatch) {
  auto param = operand.getDefiningOp<ParamOp>();
  if (!param)
    return atBatch(operand, microbatch);
  int64_t number = tables.getNumber(param);
  const MemoryPlan::Param *entry = plan.findParam(number);
  if (!entry)
    return op->emitOpError()
           << "uses parameter " << number
           << ", which has no place in the plan of this rank's memory";
  std::optional<int64_t> version = getOlderValue(op, number);
  return atArena(version ? entry->versions[*version] : entry->value);
}

Value StepWriter::asMemRef(OpBuilder &builder, Value address, MemRefType type) {
  Value &memref = memrefs[{builder.getInsertionBlock(), address, type}];
  if (memref)
    return memref;
  Value descriptor = MemRefDescriptor::fromStaticShape(
      builder, loc, typeConverter, type, address);
  memref = UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
               .getResult(0);
  return memref;
}

/// Calls `func`. It takes the rank, unless that is null, and then memrefs.
void StepWriter::callFunction(OpBuilder &builder, func::FuncOp func, Value rank,
                              ArrayRef<Value> addresses) {
  SmallVector<Value> arguments;
  if (rank)
    arguments.push_back(rank);
  ArrayRef<Type> types = func.getArgumentTypes();
  for (Value address : addresses)
    arguments.push_back(
        asMemRef(builder, address, cast<MemRefType>(types[arguments.size()])));
  func::CallOp::create(builder, loc, func, arguments);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// The position of `value` in `list`, which is also its position among the op's
/// operands or results.
static unsigned findCarried(ArrayRef<ChunkValue> list,
                            const ChunkValue &value) {
  const ChunkValue *it = llvm::find(list, value);
  VEELINE_CHECK(it != list.end(), "the value is carried");
  return it - list.begin();
}

FailureOr<Value> StepWriter::getRounded(Operation *op, ChunkOp chunk,
                                        const ChunkValue &value) {
  int64_t param = tables.getParam(chunk, value.index);
  const MemoryPlan::Rounded *entry =
      plan.findRounded(param, value.type.getElementType());
  if (!entry)
    return op->emitOpError()
           << "uses parameter " << param << " as "
           << value.type.getElementType()
           << ", which has no place in the plan of this rank's memory";
  std::optional<int64_t> version = getOlderValue(op, param);
  return atArena(version ? entry->versions[*version] : entry->offset);
}

FailureOr<Value> StepWriter::getArgument(Operation *op, ChunkOp chunk,
                                         const ChunkValue &value,
                                         const Carried &carried) {
  int64_t microbatch = getScheduleOp(op)->microbatch;
  if (value.kind == RoleKind::Rounded)
    return getRounded(op, chunk, value);
  if (isImplied(chunk, value))
    return getImplied(op, chunk.getOperands()[value.index], microbatch);
  return getAddress(op->getOperand(findCarried(carried.arguments, value)));
}

FailureOr<Value> StepWriter::getResult(Operation *op, ChunkOp chunk,
                                       const ChunkValue &value,
                                       const Carried &carried) {
  if (value.kind != RoleKind::ParamGrad)
    return getAddress(op->getResult(findCarried(carried.results, value)));
  int64_t number = tables.getParam(chunk, value.index);
  std::optional<int64_t> offset =
      plan.findAccumulator(number, chunk.getIndex());
  if (!offset)
    return op->emitOpError()
           << "accumulates a gradient of parameter " << number
           << ", which has no place in the plan of this rank's memory";
  return atArena(*offset);
}

/// Waits until receivers have posted memory for the values that `op` computes
/// directly in it.
void StepWriter::acquireDirectSends(Operation *op) {
  auto offsets = op->getAttrOfType<DenseI64ArrayAttr>(offsetsAttrName);
  for (OpResult result : op->getResults()) {
    if (offsets && offsets[result.getResultNumber()] >= 0)
      continue;
    auto send = cast<SendOp>(*result.getUsers().begin());
    int64_t channel = channels.find(send);
    addresses[result] =
        callRuntime("veeline_send_acquire", {rank, constant(channel, 32)}, ptr);
  }
}

LogicalResult StepWriter::lowerWork(Operation *op) {
  schedule::Op work = *getScheduleOp(op);
  ChunkOp chunk = tables.chunks[work.chunk];
  ChunkFunctionKind kind = getFunctionKind(work.kind);
  func::FuncOp func = getFunction(symbols, chunk, kind);
  FailureOr<ChunkSignature> signature = getChunkSignature(func);
  auto workspace = op->getAttrOfType<IntegerAttr>(workspaceOffsetAttrName);
  if (failed(signature))
    return failure();
  if (!workspace || !func->hasAttr(numResultsAttrName))
    return op->emitOpError(
        "has no planned memory; run --pipe-plan-memory first");
  if (failed(verifyLengthKnown(op, work)))
    return failure();
  const Carried &carried = tables.get(work.chunk, kind);
  if (!isOnDevice)
    acquireDirectSends(op);
  SmallVector<Value> addresses;
  for (auto [number, value] : llvm::enumerate(signature->arguments)) {
    FailureOr<Value> argument = getArgument(op, chunk, value, carried);
    if (failed(argument))
      return failure();
    addresses.push_back(
        atSlice(op, number, *argument, getByteSize(value.type)));
  }
  for (const ChunkValue &value : signature->results) {
    FailureOr<Value> result = getResult(op, chunk, value, carried);
    if (failed(result))
      return failure();
    addresses.push_back(*result);
  }
  addresses.push_back(atArena(workspace.getInt()));
  if (beginsSums(op))
    clearAccumulators([](int64_t) { return true; });
  auto call = [&] {
    if (versions.empty())
      return callFunction(builder, func, rank, addresses);
    SmallVector<func::FuncOp> functions;
    for (PipelineOp version : versions)
      functions.push_back(
          getFunction(symbols, version.getChunks()[work.chunk], kind));
    callVersion(work.microbatch, func.getSymName(), functions, addresses);
  };
  bracket(op, [&] { unlessVoid(call); });
  reportResults(op);
  return success();
}

/// Checks that the values that the step computes have a place in the arena,
/// except values that are computed directly in a receiver's memory.
LogicalResult StepWriter::verifyPlaced(Operation *op) {
  auto verifySum = [&](auto sum) -> LogicalResult {
    if (plan.findAccumulator(sum.getParam(), sum.getChunk()))
      return success();
    return op->emitOpError("is a sum that has no place in the plan of this "
                           "rank's memory");
  };
  if (auto gradient = dyn_cast<GradientOp>(op))
    return verifySum(gradient);
  if (auto sum = dyn_cast<AllReduceOp>(op))
    return verifySum(sum);
  if ((!getScheduleOp(op) &&
       !isa<AddOp, CopyOp, LengthOp, RecvOp, SquaredNormOp, GatherNormsOp,
            ClipOp, OffloadOp, ReloadOp>(op)) ||
      (isOnDevice && isLength(op)))
    return success();
  auto offsets = op->getAttrOfType<DenseI64ArrayAttr>(offsetsAttrName);
  bool isComplete = offsets && offsets.size() == op->getNumResults();
  for (OpResult result : op->getResults()) {
    bool isPlaced = isComplete && offsets[result.getResultNumber()] >= 0;
    if (!isPlaced && (isOnDevice || !isComputedAtReceiver(result)))
      return op->emitOpError(
          "has no planned memory; run --pipe-plan-memory first");
  }
  return success();
}

LogicalResult StepWriter::lower(Operation *op) {
  loc = op->getLoc();
  if (failed(verifyPlaced(op)))
    return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ForwardOp, RecomputationOp, BackwardOp, BackwardInputOp,
            BackwardWeightOp>([&](Operation *op) { return lowerWork(op); })
      .Case([&](SendOp op) { return lowerSend(op), success(); })
      .Case([&](RecvOp op) { return lowerRecv(op), success(); })
      .Case([&](WaitOp op) { return lowerWait(op), success(); })
      .Case([&](AllReduceOp op) { return lowerAllReduce(op), success(); })
      .Case([&](AllGatherOp op) { return lowerAllGather(op), success(); })
      .Case([&](LengthOp op) { return lowerLength(op), success(); })
      .Case([&](OffloadOp op) { return lowerOffload(op), success(); })
      .Case([&](ReleaseOp op) { return lowerRelease(op), success(); })
      .Case([&](ReloadOp op) { return lowerReload(op), success(); })
      .Case([&](RestoreOp op) { return lowerRestore(op), success(); })
      .Case([&](AddOp op) { return lowerAdd(op), success(); })
      .Case([&](CopyOp op) {
        copy(getAddress(op.getResult()), getAddress(op.getValue()),
             op.getResult().getType());
        return success();
      })
      .Case([&](SquaredNormOp op) { return lowerSquaredNorm(op); })
      .Case([&](GatherNormsOp op) { return lowerGatherNorms(op), success(); })
      .Case([&](ClipOp op) { return lowerClip(op), success(); })
      .Case([&](ValidateOp op) { return lowerValidate(op), success(); })
      .Case([&](UpdateOp op) { return lowerUpdate(op); })
      .Case([&](AssignOp op) { return lowerAssign(op); })
      .Case<GradientOp, CarryOp>([&](Operation *) { return success(); })
      .Default([](Operation *op) {
        return op->emitOpError(
            "cannot be lowered; run --pipe-insert-communication first");
      });
}

/// Clears accumulators. Adjacent ones are cleared together. Memory in between
/// must not be written.
void StepWriter::clearAccumulators(
    llvm::function_ref<bool(int64_t)> isCleared) {
  SmallVector<std::pair<int64_t, int64_t>> ranges;
  for (const MemoryPlan::Accumulator &accumulator : plan.accumulators) {
    int64_t bytes =
        getByteSize(tables.params[accumulator.param].getValue().getType());
    if (bytes == 0 || !isCleared(accumulator.param))
      continue;
    if (!ranges.empty() && ranges.back().second == accumulator.offset)
      ranges.back().second += bytes;
    else
      ranges.push_back({accumulator.offset, accumulator.offset + bytes});
  }
  clear(ranges);
}

/// Norms have to be cleared, because kernels add to them.
void StepWriter::clearNorms() {
  if (isOnDevice && plan.device->normParts)
    clear({{plan.device->normsOffset,
            plan.device->normsOffset +
                plan.device->getNormBytes(plan.params.size())}});
}

void StepWriter::clear(ArrayRef<std::pair<int64_t, int64_t>> ranges) {
  for (auto [begin, end] : ranges) {
    Value place = atArena(begin), bytes = constant(end - begin, 64);
    if (isOnDevice)
      callRuntime("veeline_zero", {rank, place, bytes}, {});
    else
      LLVM::MemsetOp::create(builder, loc, place, constant(0, 8), bytes,
                             /*isVolatile=*/false);
  }
}

/// The function that writes the elements of `source` to `target`, rounded to
/// its type.
func::FuncOp StepWriter::getRoundFunction(MemRefType source,
                                          MemRefType target) {
  std::string name;
  llvm::raw_string_ostream(name)
      << "pipe_round_" << source.getNumElements() << '_'
      << source.getElementType() << "_to_" << target.getElementType();
  return getElementwise(
      name, {source, target},
      [](OpBuilder &b, Location l, ValueRange values) -> Value {
        return arith::TruncFOp::create(b, l, values[1].getType(), values[0]);
      });
}

/// Rounds parameters, as the last step left them, for this step's functions.
LogicalResult
StepWriter::roundParameters(llvm::function_ref<bool(int64_t)> isRounded) {
  for (const MemoryPlan::Rounded &entry : plan.rounded) {
    if (!isRounded(entry.param))
      continue;
    const MemoryPlan::Param *param = plan.findParam(entry.param);
    if (!param)
      return program.emitOpError()
             << "rounds parameter " << entry.param
             << ", which has no place in the plan of this rank's memory";
    roundTo(entry, param->value, entry.offset);
  }
  return success();
}

/// Rounds the value at `source` of the parameter of `entry`.
void StepWriter::roundTo(const MemoryPlan::Rounded &entry, int64_t source,
                         int64_t target) {
  auto type = cast<ShapedType>(tables.params[entry.param].getValue().getType());
  int64_t count = type.getNumElements();
  if (count == 0)
    return;
  func::FuncOp func =
      getRoundFunction(MemRefType::get(count, type.getElementType()),
                       MemRefType::get(count, entry.element));
  callFunction(builder, func, /*rank=*/{}, {atArena(source), atArena(target)});
}

/// Whether `op` belongs to the part that is being written.
bool StepWriter::isOfPart(Operation *op) const {
  return part != (isLate(op) ? StepPart::First : StepPart::Late);
}

/// Begins ops of the step before, which read the data of that step.
void StepWriter::beginLate() {
  if (batchOfStep)
    return;
  batchOfStep = batch;
  batch = callRuntime("veeline_late_begin", {rank}, ptr);
}

void StepWriter::endLate() {
  if (!batchOfStep)
    return;
  batch = std::exchange(batchOfStep, Value());
  callRuntime("veeline_late_end", {rank, constant(numLate == 0, 32)}, {});
  // Updates of this step also add to the norms of parameters.
  bool isStashed =
      PipelineOp(tables.pipeline).getAsynchronous() == Asynchronous::Stashed;
  if (numLate == 0 && isStashed && part == StepPart::Whole)
    clearNorms();
}

/// After a late update, or an update of a microbatch, prepares its parameter
/// for later ops.
LogicalResult StepWriter::beginAfter(Operation *op) {
  auto update = dyn_cast<UpdateOp>(op);
  auto assignment = dyn_cast<AssignOp>(op);
  // If ranks update shares, the parameter has changed once these are gathered.
  auto wait = dyn_cast<WaitOp>(op);
  AllGatherOp gather =
      wait ? wait.getHandle().getDefiningOp<AllGatherOp>() : AllGatherOp();
  if (update && isSharded())
    return success();
  bool isOfMicrobatch = update && update.getMicrobatch();
  if ((!update && !assignment && !gather) || !(isLate(op) || isOfMicrobatch) ||
      part == StepPart::Late)
    return success();
  auto changed = static_cast<int64_t>(update   ? update.getParam()
                                      : gather ? gather.getParam()
                                               : assignment.getParam());
  auto isChanged = [&](int64_t param) { return param == changed; };
  // A void turn needs the sums again. Sums of updates in time are clear
  // already.
  bool areKept = tables.pipeline.getAsynchronous() ||
                 (isOptimistic() && part == StepPart::Whole) ||
                 !lateUpdates.contains(changed);
  if (!areKept)
    clearAccumulators(isChanged);
  return roundParameters(isChanged);
}

LogicalResult StepWriter::lowerOps() {
  llvm::DenseMap<Operation *, Operation *> groups;
  if (isOnDevice) {
    listSums();
    groups = findGroups();
  }
  Operation *last = nullptr;
  for (Operation &op : program.getBody().front()) {
    bool late = isLate(&op);
    numLate -= late;
    if (!isOfPart(&op)) {
      // Others may rely on the order of streams that the op stands for.
      if (part == StepPart::First)
        beginOnStream(&op);
      if (failed(beginAfter(&op)))
        return failure();
      if (part == StepPart::First)
        endOnStream(&op);
      continue;
    }
    late ? beginLate() : endLate();
    if (Operation *end = groups.lookup(&op)) {
      callRuntime("veeline_group_begin", {rank}, {});
      last = end;
    }
    beginOnStream(&op);
    if (failed(lower(&op)) || failed(beginAfter(&op)))
      return failure();
    endOnStream(&op);
    if (&op == last)
      callRuntime("veeline_group_end", {rank}, {});
  }
  endLate();
  return success();
}

bool StepWriter::isRedone(Operation *op) const {
  auto isOfParam = [&](auto message) {
    return tables.edges[message.getEdge()].isParameter();
  };
  if (auto send = dyn_cast<SendOp>(op))
    return isOfParam(send);
  auto wait = dyn_cast<WaitOp>(op);
  Operation *posted = wait ? wait.getHandle().getDefiningOp() : op;
  // If the handle comes from the turn before, its source is a receive.
  if (auto recv = dyn_cast_or_null<RecvOp>(posted))
    return isOfParam(recv);
  if (wait)
    return isa_and_nonnull<AllGatherOp>(posted);
  return isa<UpdateOp, AllGatherOp, AssignOp>(op);
}

bool StepWriter::isOptimistic() const {
  return tables.pipeline.getClipSync() == ClipSync::Optimistic;
}

/// Emits the updates that are repeated. In a void turn, these are the late
/// updates, which come before it is known that the turn is void. After the last
/// step, there is no further turn, so all updates are repeated, and the
/// messages with gradients and values of parameters, because received ones may
/// have been overwritten since.
LogicalResult StepWriter::lowerRedone() {
  Value isWrong = arith::XOrIOp::create(
      builder, loc, isRight,
      arith::ConstantIntOp::create(builder, loc, 1, /*width=*/1));
  auto branch =
      scf::IfOp::create(builder, loc, isWrong, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  isRight = {};
  bool isAlone = part == StepPart::Late;
  for (Operation &op : program.getBody().front())
    if (isRedone(&op) && (isAlone || isLate(&op)) && failed(lower(&op)))
      return failure();
  return success();
}

LogicalResult StepWriter::run(StepPart which) {
  part = which;
  builder.setInsertionPointToEnd(module.getBody());
  auto func =
      func::FuncOp::create(builder, loc, getStepName(program, part),
                           builder.getFunctionType({ptr, ptr, ptr}, {}));
  moduleSymbols.insert(func);
  builder.setInsertionPointToStart(func.addEntryBlock());
  rank = func.getArgument(0);
  arena = func.getArgument(1);
  batch = func.getArgument(2);
  for (auto [i, op] : llvm::enumerate(getTimelineOps(program)))
    timelineNumbers[op] = i;
  for (auto [i, offload] :
       llvm::enumerate(program.getBody().front().getOps<OffloadOp>()))
    offloadNumbers[{offload.getChunk(), offload.getMicrobatch()}] =
        static_cast<int64_t>(i);
  for (auto [i, reduction] : llvm::enumerate(getReductions(program))) {
    reductionNumbers[reduction.ops.back()] = i;
    reductionNumbers[reduction.firstWait] = i;
  }
  llvm::SmallDenseSet<int64_t> gatheredLate;
  for (Operation &op : program.getBody().front()) {
    numLate += isLate(&op);
    if (auto gather = dyn_cast<AllGatherOp>(op); gather && gather.getLate())
      gatheredLate.insert(gather.getParam());
    llvm::TypeSwitch<Operation *>(&op).Case<UpdateOp, AssignOp>(
        [&](auto change) {
          if (change.getLate())
            lateUpdates[change.getParam()].push_back(change);
        });
  }
  if (failed(verifyOlderValues()))
    return failure();
  bool isAsynchronous = tables.pipeline.getAsynchronous().has_value();
  bool isAnew = isAsynchronous && part == StepPart::First;
  auto isInTime = [&](int64_t param) {
    return isAnew || !lateUpdates.contains(param);
  };
  if (part != StepPart::Late) {
    // Optimistic updates may need the last step's sums again.
    if (part == StepPart::First || !isOptimistic())
      clearAccumulators(isInTime);
    clearNorms();
    if (failed(roundParameters([&](int64_t param) {
          return isInTime(param) && !gatheredLate.contains(param);
        })))
      return failure();
    if (isAnew)
      roundOlderValues();
    forkStreams();
  } else {
    clearNorms();
  }
  if (failed(lowerOps()))
    return failure();
  bool hasRedone = part == StepPart::Late ||
                   (part == StepPart::Whole && !lateUpdates.empty());
  if (isOptimistic() && hasRedone && failed(lowerRedone()))
    return failure();
  func::ReturnOp::create(builder, loc);
  return success();
}

namespace {
struct PipeLowerToRuntime
    : veeline::pipe::impl::PipeLowerToRuntimeBase<PipeLowerToRuntime> {
  using PipeLowerToRuntimeBase::PipeLowerToRuntimeBase;

  /// Checks that the plan is for the same target, and for the streams of the
  /// ops.
  LogicalResult verifyTarget(ProgramOp program, const MemoryPlan &plan) {
    bool isOnDevice = target == KernelTarget::Cuda;
    FailureOr<StreamCounts> counts = getStreamCounts(program);
    if (failed(counts))
      return failure();
    bool isForStreams =
        !plan.device || (plan.device->streams == counts->streams &&
                         plan.device->events == counts->events);
    if (!isForStreams)
      return program.emitOpError("has memory that is planned for other compute "
                                 "streams; run --pipe-plan-memory again");
    if (plan.device.has_value() == isOnDevice)
      return success();
    return program.emitOpError("has memory that is planned for another target; "
                               "run --pipe-plan-memory=target=")
           << (isOnDevice ? "cuda" : "host") << " first";
  }

  void runOnOperation() override {
    SymbolTableCollection symbols;
    SmallVector<Operation *> lowered;
    for (auto pipeline : getOperation().getOps<PipelineOp>()) {
      SmallVector<ProgramOp> programs = getPrograms(pipeline);
      PipelineTables tables(pipeline, symbols);
      ChannelTable channels(pipeline, programs);
      FailureOr<SmallVector<PipelineOp>> versions =
          getVersions(pipeline, symbols);
      if (!tables.valid || failed(versions) ||
          failed(verifyChannelOrder(programs, channels)))
        return signalPassFailure();
      for (ProgramOp program : programs) {
        FailureOr<MemoryPlan> plan = MemoryPlan::get(program);
        if (failed(plan) || failed(verifyTarget(program, *plan)))
          return signalPassFailure();
        for (StepPart part : getStepParts(program))
          if (failed(StepWriter(tables, channels, *versions, program, *plan,
                                target, symbols)
                         .run(part)))
            return signalPassFailure();
        lowered.push_back(program);
      }
      lowered.push_back(pipeline);
    }
    for (Operation *op : lowered)
      op->erase();
  }
};
} // namespace
