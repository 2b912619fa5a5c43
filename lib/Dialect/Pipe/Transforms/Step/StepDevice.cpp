//===- StepDevice.cpp - the parts of a step for GPUs only -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClipKernels.h"
#include "StepWriter.h"
#include "UpdateKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/Transforms/StreamOrder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// Allocates memory for a value of `type` on the host's stack.
Value StepWriter::onStack(Type type) {
  return LLVM::AllocaOp::create(
      builder, loc, ptr, builder.getI64Type(),
      constant(llvm::divideCeil(getByteSize(type), 8), 64));
}

/// The address of argument `number` of the function that `op` runs: `source`,
/// or a copy of it at an address that kernels can read.
Value StepWriter::atSlice(Operation *op, unsigned number, Value source,
                          int64_t bytes) {
  auto slices = op->getAttrOfType<DenseI64ArrayAttr>(sliceOffsetsAttrName);
  if (!isOnDevice || !slices || number >= slices.size() || slices[number] < 0)
    return source;
  Value copy = atArena(slices[number]);
  callRuntime("veeline_copy", {rank, copy, source, constant(bytes, 64)}, {});
  return copy;
}

/// Issues later operations to compute stream `stream`.
void StepWriter::setStream(int64_t stream) {
  if (stream == currentStream)
    return;
  currentStream = stream;
  callRuntime("veeline_stream", {rank, constant(stream, 32)}, {});
}

/// Makes all streams wait for the begin of the step, which is on the first
/// stream.
void StepWriter::forkStreams() {
  if (!isOnDevice || plan.device->streams == 1)
    return;
  Value event = constant(0, 32);
  callRuntime("veeline_event_record", {rank, event}, {});
  for (int64_t stream = 1; stream != plan.device->streams; ++stream) {
    setStream(stream);
    callRuntime("veeline_event_wait", {rank, event}, {});
  }
}

/// Whether anything is issued for `op`. Other ops are on no stream.
static bool isIssued(Operation *op) {
  return !isa<GradientOp>(op) && !isLength(op);
}

void StepWriter::beginOnStream(Operation *op) {
  if (!isOnDevice || plan.device->streams == 1 || !isIssued(op))
    return;
  setStream(getComputeStream(op));
  for (int64_t event : getAwaitedEvents(op))
    callRuntime("veeline_event_wait", {rank, constant(event, 32)}, {});
}

void StepWriter::endOnStream(Operation *op) {
  if (std::optional<int64_t> event = getRecordedEvent(op))
    callRuntime("veeline_event_record", {rank, constant(*event, 32)}, {});
}

/// The group of an op that sends or receives messages.
static IntegerAttr getGroup(Operation *op) {
  return llvm::TypeSwitch<Operation *, IntegerAttr>(op)
      .Case<SendOp, RecvOp, AllReduceOp, AllGatherOp>(
          [](auto message) { return message.getGroupAttr(); })
      .Default(IntegerAttr());
}

/// The first and last op of each group that the runtime has to know: those with
/// several operations to issue.
llvm::DenseMap<Operation *, Operation *> StepWriter::findGroups() {
  llvm::DenseMap<Operation *, Operation *> groups;
  IntegerAttr current;
  Operation *first = nullptr;
  for (Operation &op : program.getBody().front()) {
    IntegerAttr group = getGroup(&op);
    if (!isOfPart(&op) || (isReduction(&op) && !reductionNumbers.contains(&op)))
      continue;
    if (!group || group != current)
      first = &op;
    else
      groups[first] = &op;
    current = group;
  }
  return groups;
}

/// Requests the kernels that sum gradients over the ranks of this rank's stage.
void StepWriter::listSums() {
  SmallVector<Attribute> sums;
  if (auto list = module->getAttrOfType<ArrayAttr>(sumsAttrName))
    llvm::append_range(sums, list);
  int64_t members = tables.pipeline.getNumMembers(program.getStage());
  SmallVector<Reduction> reductions = getReductions(program);
  for (const MemoryPlan::ReducedPiece &piece : plan.reduced) {
    if (reductions[piece.reduction].isGather())
      continue;
    Type type =
        cast<ShapedType>(tables.params[piece.param].getValue().getType())
            .getElementType();
    Attribute sum = builder.getArrayAttr(
        {TypeAttr::get(type), builder.getI64IntegerAttr(members)});
    if (!llvm::is_contained(sums, sum))
      sums.push_back(sum);
  }
  if (!sums.empty())
    module->setAttr(sumsAttrName, builder.getArrayAttr(sums));
}

/// The shape of the update or norm of a parameter with `numGradients`
/// gradients.
UpdateShape StepWriter::getUpdateShape(const MemoryPlan::Param &entry,
                                       size_t numGradients) {
  auto type = cast<ShapedType>(tables.params[entry.param].getValue().getType());
  return {type.getElementType(), type.getNumElements(),
          static_cast<int64_t>(numGradients), plan.device->optimizer,
          plan.device->errorFeedback};
}

/// The offset of the settings of an entry of `params`.
int64_t StepWriter::getSettingsOf(const MemoryPlan::Param &entry) const {
  return (&entry - plan.params.begin()) * gpuSettingsBytes;
}

/// The settings for an update, perhaps of one microbatch.
Value StepWriter::getSettings(const MemoryPlan::Param &entry,
                              std::optional<uint64_t> microbatch) {
  Value settings = callRuntime("veeline_settings", {rank}, ptr);
  int64_t offset =
      getSettingsOf(entry) +
      static_cast<int64_t>(microbatch.value_or(0)) * plan.getSettingsStride();
  if (offset == 0)
    return settings;
  return LLVM::GEPOp::create(
      builder, loc, ptr, builder.getI8Type(), settings,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

/// Calls the kernel that adds the square of a gradient's norm to the parts of
/// the norm. Returns the address of these. If gradients are scattered, the rank
/// has only some of the parts.
Value StepWriter::lowerNormOnDevice(ValueRange gradients,
                                    const MemoryPlan::Param &entry,
                                    Value settings, bool areScattered) {
  int64_t number = &entry - plan.params.begin();
  UpdateShape shape = getUpdateShape(entry, gradients.size());
  int64_t parts = normParts(shape.numElements);
  if (areScattered) {
    int64_t size = shape.numElements / parts;
    parts = normPartsOfShard(
        shape.numElements,
        PipelineOp(tables.pipeline).getShards(program.getStage()));
    shape.numElements = parts * size;
  }
  SmallVector<Value> arguments = {settings};
  for (Value gradient : gradients) {
    Value place = getAddress(gradient);
    arguments.push_back(
        areScattered ? atShare(entry, place, "veeline_norm_shard") : place);
  }
  arguments.push_back(
      callRuntime("veeline_norm", {rank, constant(number, 32)}, ptr));
  callFunction(builder, getNormKernel(moduleSymbols, shape, parts),
               /*rank=*/{}, arguments);
  return arguments.back();
}

void StepWriter::addParts(SquaredNormOp op, const MemoryPlan::Param &entry) {
  UpdateShape shape = getUpdateShape(entry, op.getGradients().size());
  Value norm = getAddress(op.getNorm());
  if (shape.numElements == 0)
    return (void)callRuntime("veeline_zero",
                             {rank, norm, constant(sizeof(double), 64)}, {});
  Value parts = lowerNormOnDevice(op.getGradients(), entry,
                                  getSettings(entry,
                                              /*microbatch=*/std::nullopt),
                                  /*areScattered=*/false);
  callFunction(builder,
               getAddPartsKernel(moduleSymbols, normParts(shape.numElements)),
               /*rank=*/{}, {parts, norm});
}

void StepWriter::lowerGatherNormsOnDevice(GatherNormsOp op) {
  ArrayRef<int64_t> params = op.getParams();
  SmallVector<Value> norms = llvm::map_to_vector(
      op.getNorms(), [&](Value norm) { return getAddress(norm); });
  int64_t count = cast<ShapedType>(op.getAll().getType()).getNumElements();
  OtherNorms others = op.getBefore() ? OtherNorms::Copied : OtherNorms::Zero;
  size_t done = 0;
  do {
    size_t size = std::min<size_t>(params.size() - done, maxGatheredNorms);
    SmallVector<Value> arguments(ArrayRef(norms).slice(done, size));
    if (others == OtherNorms::Copied)
      arguments.push_back(getAddress(op.getBefore()));
    arguments.push_back(getAddress(op.getAll()));
    callFunction(
        builder,
        getGatherKernel(moduleSymbols, params.slice(done, size), count, others),
        /*rank=*/{}, arguments);
    others = OtherNorms::Kept;
    done += size;
  } while (done < params.size());
}

void StepWriter::lowerClipOnDevice(ClipOp op) {
  int64_t count = cast<ShapedType>(op.getNorms().getType()).getNumElements();
  int64_t settings = plan.device->settingsOffset;
  int64_t place = plan.device->clipOffset;
  int64_t stride = plan.getSettingsStride();
  Value outcome = atArena(place + gpuClipOutcome);
  // The outcome is still that of the step before here.
  callFunction(builder, getChooseKernel(moduleSymbols, stride), /*rank=*/{},
               {outcome, atArena(settings), atArena(settings + stride),
                atArena(place + gpuClipSettings)});
  callFunction(
      builder, getClipKernel(moduleSymbols, count), /*rank=*/{},
      {getAddress(op.getNorms()), atArena(place + gpuClipLimits), outcome});
}

/// The address of this rank's share of a parameter, or of its gradient, at
/// `place`.
Value StepWriter::atShard(const MemoryPlan::Param &entry, Value place) {
  return isSharded() ? atShare(entry, place, "veeline_shard") : place;
}

/// The same for what `function` says is the share. Which one that is, only the
/// runtime knows: ranks of all replicas run this step.
Value StepWriter::atShare(const MemoryPlan::Param &entry, Value place,
                          StringRef function) {
  int64_t number = &entry - plan.params.begin();
  Value bytes =
      callRuntime(function, {rank, constant(number, 32)}, builder.getI64Type());
  auto address = LLVM::GEPOp::create(builder, loc, ptr, builder.getI8Type(),
                                     place, ArrayRef<LLVM::GEPArg>{bytes});
  auto type = cast<ShapedType>(tables.params[entry.param].getValue().getType());
  address->setAttr(withinAttrName, builder.getI64IntegerAttr(
                                       type.getNumElements() *
                                       type.getElementTypeBitWidth() / 8));
  return address;
}

/// Calls the norm's kernel, unless the norm is known already, then that of the
/// update. Both read the gradients.
void StepWriter::lowerUpdateOnDevice(UpdateOp update,
                                     const MemoryPlan::Param &entry) {
  UpdateShape shape = getUpdateShape(entry, update.getGradients().size());
  if (shape.numElements == 0)
    return;
  shape.isClipped = static_cast<bool>(update.getFactor());
  SmallVector<Value> arguments;
  if (shape.isClipped) {
    int64_t place = plan.device->clipOffset;
    arguments = {atArena(place + gpuClipSettings + getSettingsOf(entry)),
                 atArena(place + gpuClipOutcome)};
  } else {
    arguments = {getSettings(entry, update.getMicrobatch())};
  }
  bool isOwned = entry.owner >= 0, areScattered = takesScattered(update);
  auto addNorm = [&] {
    if (!shape.isClipped)
      lowerNormOnDevice(update.getGradients(), entry, arguments.front(),
                        areScattered && !isOwned);
  };
  // A rank that does not update the parameter may know its whole gradient.
  if (!isOwned || !areScattered)
    addNorm();
  if (!isOwned)
    return lowerOwnUpdate(update, entry, shape, arguments);
  ifOwned(entry, [&] {
    if (areScattered)
      addNorm();
    lowerOwnUpdate(update, entry, shape, arguments);
  });
}

/// Runs `body` on the rank that updates the whole parameter. Places that it
/// looks up are known inside of it only.
void StepWriter::ifOwned(const MemoryPlan::Param &entry,
                         llvm::function_ref<void()> body) {
  int64_t number = &entry - plan.params.begin();
  Value owns = callRuntime("veeline_owns", {rank, constant(number, 32)},
                           builder.getI32Type());
  Value isOwner = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        owns, constant(0, 32));
  auto branch = scf::IfOp::create(builder, loc, isOwner, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  auto knownPlaces = places;
  auto knownAddresses = addresses;
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  body();
  places = std::move(knownPlaces);
  addresses = std::move(knownAddresses);
}

/// The kernels of an update of what this rank updates.
void StepWriter::lowerOwnUpdate(UpdateOp update, const MemoryPlan::Param &entry,
                                UpdateShape shape,
                                SmallVector<Value> arguments) {
  if (isMuon(update))
    return lowerMuonOnDevice(update, entry, shape, arguments);
  if (shape.optimizer == Optimizer::adafactor)
    return lowerAdafactorOnDevice(update, entry, shape, arguments);
  if (isSharded())
    shape.numElements = shardElements(
        shape.numElements,
        PipelineOp(tables.pipeline).getShards(program.getStage()));
  for (Value gradient : update.getGradients())
    arguments.push_back(atShard(entry, getAddress(gradient)));
  arguments.push_back(atShard(entry, atArena(entry.value)));
  int64_t slots = shape.getStateSlots();
  int64_t slotBytes = slots ? entry.stateBytes / slots : 0;
  int64_t stateArguments = hasSeparateSlots(shape) ? slots : 1;
  for (int64_t i = 0; i < stateArguments; ++i)
    arguments.push_back(atArena(entry.state + i * slotBytes));
  callFunction(builder, getUpdateKernel(moduleSymbols, shape), /*rank=*/{},
               arguments);
}
