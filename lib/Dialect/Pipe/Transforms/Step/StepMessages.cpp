//===- StepMessages.cpp - messages, sums, results, updates of a step ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepWriter.h"
#include "UpdateKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

static MemRefType getMemRefType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// Copies a tensor result to its place in the arena.
void StepWriter::keepOutput(int64_t result, int64_t microbatch, Value value,
                            Type type) {
  for (const MemoryPlan::Output &output : plan.outputs)
    if (output.result == result)
      copy(atArena(output.offset +
                   microbatch * static_cast<int64_t>(getByteSize(type))),
           value, type);
}

/// Passes the loss and the metrics to the runtime, and copies other results.
void StepWriter::reportResults(Operation *op) {
  auto forward = dyn_cast<ForwardOp>(op);
  if (!forward)
    return;
  ChunkOp chunk = tables.chunks[forward.getChunk()];
  for (auto [i, result] :
       llvm::enumerate(tables.pipeline.getYield().getResults())) {
    if (result.getDefiningOp() != chunk)
      continue;
    unsigned number = cast<OpResult>(result).getResultNumber();
    Value place = getAddress(forward.getResult(number));
    if (isOutput(result.getType())) {
      keepOutput(i, forward.getMicrobatch(), place, result.getType());
      continue;
    }
    unlessVoid([&] {
      callRuntime(
          "veeline_report",
          {rank, constant(i, 32), constant(forward.getMicrobatch(), 32), place},
          {});
    });
  }
}

void StepWriter::lowerSend(SendOp send) {
  Value channel = constant(channels.find(send), 32);
  if (isOnDevice)
    return bracket(send, [&] {
      callRuntime("veeline_send",
                  {rank, channel, constant(send.getMicrobatch(), 32),
                   getAddress(send.getValue())},
                  {});
    });
  bool isDirect = addresses.contains(send.getValue());
  bracket(send, [&] {
    if (isDirect)
      return (void)callRuntime("veeline_send_commit", {rank, channel}, {});
    Value slot = callRuntime("veeline_send_acquire", {rank, channel}, ptr);
    callRuntime("veeline_send_copy",
                {rank, channel, constant(send.getMicrobatch(), 32), slot,
                 getAddress(send.getValue())},
                {});
  });
}

void StepWriter::lowerRecv(RecvOp recv) {
  int64_t channel = channels.find(recv);
  if (isOnDevice && isLength(recv))
    addresses[recv.getHandle()] =
        onStack(recv.getHandle().getType().getValue());
  callRuntime("veeline_recv_post",
              {rank, constant(channel, 32), getAddress(recv.getHandle())}, {});
}

/// The last all-reduce of a reduction posts it, because all of its gradients
/// are complete then.
void StepWriter::lowerAllReduce(AllReduceOp sum) {
  if (reductionNumbers.contains(sum))
    bracket(sum, [&] { unlessVoid([&] { postReduction(sum); }); });
}

/// A void turn updates parameters, too, so this is not skipped.
void StepWriter::lowerAllGather(AllGatherOp gather) {
  if (reductionNumbers.contains(gather))
    bracket(gather, [&] { postReduction(gather); });
}

void StepWriter::postReduction(Operation *op) {
  callRuntime("veeline_reduce_post",
              {rank, constant(reductionNumbers.lookup(op), 32)}, {});
}

void StepWriter::waitForReduction(int64_t number) {
  callRuntime("veeline_reduce_wait", {rank, constant(number, 32)}, {});
}

void StepWriter::lowerWait(WaitOp wait) {
  RecvOp recv = getReceive(wait);
  if (!recv) {
    auto number = reductionNumbers.find(wait);
    if (number == reductionNumbers.end())
      return;
    auto call = [&] { waitForReduction(number->second); };
    bool isGather = wait.getHandle().getDefiningOp<AllGatherOp>() != nullptr;
    bracket(wait, [&] { isGather ? call() : unlessVoid(call); });
    return;
  }
  int64_t channel = channels.find(recv);
  bracket(wait, [&] {
    callRuntime("veeline_recv_wait", {rank, constant(channel, 32)}, {});
  });
  tellLength(wait.getValue());
}

func::FuncOp StepWriter::getElementwise(
    StringRef name, ArrayRef<Type> types,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> compute) {
  if (auto func = moduleSymbols.lookup<func::FuncOp>(name))
    return func;
  func::FuncOp func = declare(name, types, {});
  OpBuilder body = OpBuilder::atBlockBegin(func.addEntryBlock());
  int64_t rank = cast<MemRefType>(types.front()).getRank();
  SmallVector<AffineMap> maps(types.size(), body.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  ValueRange arguments = func.getArguments();
  linalg::GenericOp::create(
      body, loc, arguments.drop_back(), arguments.take_back(), maps, iterators,
      [&](OpBuilder &b, Location l, ValueRange values) {
        linalg::YieldOp::create(b, l, compute(b, l, values));
      });
  func::ReturnOp::create(body, loc);
  if (isOnDevice)
    markKernel(func);
  return func;
}

/// The function `pipe_add_<sizes>_<type>`: c = a + b, on memrefs.
func::FuncOp StepWriter::getAddFunction(MemRefType type) {
  std::string name = "pipe_add";
  for (int64_t size : type.getShape())
    name += "_" + std::to_string(size);
  llvm::raw_string_ostream(name) << "_" << type.getElementType();
  return getElementwise(
      name, {type, type, type},
      [](OpBuilder &b, Location l, ValueRange values) -> Value {
        return arith::AddFOp::create(b, l, values[0], values[1]);
      });
}

/// The microbatch of a gradient.
static int64_t getMicrobatch(Value gradient) {
  gradient = getSource(gradient);
  if (auto add = gradient.getDefiningOp<AddOp>())
    return getMicrobatch(add.getLhs());
  if (auto wait = gradient.getDefiningOp<WaitOp>())
    return getReceive(wait).getMicrobatch();
  return getScheduleOp(gradient.getDefiningOp())->microbatch;
}

void StepWriter::lowerAdd(AddOp add) {
  SmallVector<Value> addresses;
  for (Value value : {add.getLhs(), add.getRhs(), add.getResult()})
    addresses.push_back(getAddress(value));
  func::FuncOp func = getAddFunction(getMemRefType(add.getResult().getType()));
  if (versions.empty())
    return unlessVoid(
        [&] { callFunction(builder, func, /*rank=*/{}, addresses); });
  SmallVector<func::FuncOp> functions;
  std::string name = func.getSymName().str();
  for (size_t i = 0; i != versions.size(); ++i) {
    RankedTensorType type = getTypeAt(add.getResult(), i);
    functions.push_back(getAddFunction(getMemRefType(type)));
    // Values of one shape at the longest length may have different shapes at
    // another length.
    name += "_" + std::to_string(type.getNumElements());
  }
  unlessVoid([&] {
    callVersion(getMicrobatch(add.getLhs()), name, functions, addresses);
  });
}

/// If the turn is not void, sums are cleared here. A void turn still reads
/// them.
void StepWriter::lowerValidate(ValidateOp validate) {
  bracket(validate, [&] {
    Value right = callRuntime("veeline_validate", {rank}, builder.getI32Type());
    isRight = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                    right, constant(0, 32));
  });
  if (part != StepPart::Whole)
    return;
  for (const MemoryPlan::Accumulator &accumulator : plan.accumulators)
    atArena(accumulator.offset);
  unlessVoid([&] { clearAccumulators([](int64_t) { return true; }); });
}

/// Whether updates are of a share of their parameters.
bool StepWriter::isSharded() const {
  return PipelineOp(tables.pipeline).getShards(ProgramOp(program).getStage()) >
         1;
}

/// Checks that an update of a share is gathered, in this turn or the next:
/// other ranks wait for it.
static LogicalResult verifyGathered(UpdateOp update) {
  auto isGathered = [](OpOperand &use) {
    if (!isa<CarryOp>(use.getOwner()))
      return isa<AllGatherOp>(use.getOwner());
    Block *body = use.getOwner()->getBlock();
    return llvm::any_of(body->getArgument(use.getOperandNumber()).getUsers(),
                        llvm::IsaPred<AllGatherOp>);
  };
  if (llvm::any_of(update->getUses(), isGathered))
    return success();
  return update.emitOpError("is of a share of the parameter, which nothing "
                            "gathers; run --pipe-insert-communication first");
}

LogicalResult StepWriter::lowerUpdate(UpdateOp update) {
  const MemoryPlan::Param *entry = plan.findParam(update.getParam());
  if (!entry || !entry->isHome)
    return update.emitOpError("updates a parameter whose home is another rank");
  if (isSharded() && failed(verifyGathered(update)))
    return failure();
  if (failed(verifyProducts(update)))
    return failure();
  keepValue(*entry, update.getMicrobatch());
  bracket(update, [&] {
    if (isOnDevice)
      lowerUpdateOnDevice(update, *entry);
    else
      lowerUpdateOnHost(update, *entry);
  });
  return success();
}

/// The addresses of gradients, as an array on the stack.
Value StepWriter::makeGradientList(ValueRange gradients) {
  Value list = LLVM::AllocaOp::create(
      builder, loc, ptr, ptr,
      constant(static_cast<int64_t>(gradients.size()), 64));
  for (auto [i, gradient] : llvm::enumerate(gradients)) {
    Value slot =
        LLVM::GEPOp::create(builder, loc, ptr, ptr, list,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, getAddress(gradient), slot);
  }
  return list;
}

void StepWriter::lowerUpdateOnHost(UpdateOp update,
                                   const MemoryPlan::Param &entry) {
  int64_t number = &entry - plan.params.begin();
  int64_t count = update.getGradients().size();
  Value gradients = makeGradientList(update.getGradients());
  Value state = entry.state >= 0
                    ? atArena(entry.state)
                    : LLVM::ZeroOp::create(builder, loc, ptr).getResult();
  SmallVector<Value> arguments = {
      rank,      constant(number, 32), atArena(entry.value), state,
      gradients, constant(count, 32)};
  StringRef function = "veeline_update";
  if (std::optional<uint64_t> microbatch = update.getMicrobatch()) {
    function = "veeline_update_microbatch";
    arguments.insert(arguments.begin() + 1, constant(*microbatch, 32));
  } else if (update.getFactor()) {
    function = "veeline_update_clipped";
    arguments.push_back(getAddress(update.getFactor()));
  } else if (entry.kept >= 0) {
    function = "veeline_update_optimistic";
    arguments.push_back(atArena(entry.kept));
  }
  callRuntime(function, arguments, {});
}

LogicalResult StepWriter::lowerSquaredNorm(SquaredNormOp op) {
  const MemoryPlan::Param *entry = plan.findParam(op.getParam());
  if (!entry || !entry->isHome)
    return op.emitOpError("is of a parameter whose home is another rank");
  bracket(op, [&] {
    if (isOnDevice)
      return addParts(op, *entry);
    int64_t number = entry - plan.params.begin();
    int64_t count = op.getGradients().size();
    callRuntime("veeline_squared_norm",
                {rank, constant(number, 32),
                 makeGradientList(op.getGradients()), constant(count, 32),
                 getAddress(op.getNorm())},
                {});
  });
  return success();
}

void StepWriter::lowerGatherNorms(GatherNormsOp op) {
  if (isOnDevice)
    return lowerGatherNormsOnDevice(op);
  Value all = getAddress(op.getAll());
  int64_t bytes = getByteSize(op.getAll().getType());
  if (op.getBefore())
    copy(all, getAddress(op.getBefore()), op.getAll().getType());
  else
    LLVM::MemsetOp::create(builder, loc, all, constant(0, 8),
                           constant(bytes, 64), /*isVolatile=*/false);
  Type f64 = builder.getF64Type();
  for (auto [param, norm] : llvm::zip_equal(op.getParams(), op.getNorms())) {
    Value value = LLVM::LoadOp::create(builder, loc, f64, getAddress(norm));
    Value place = LLVM::GEPOp::create(
        builder, loc, ptr, f64, all,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(param)});
    LLVM::StoreOp::create(builder, loc, value, place);
  }
}

void StepWriter::lowerClip(ClipOp op) {
  if (isOnDevice)
    return lowerClipOnDevice(op);
  int64_t count = cast<ShapedType>(op.getNorms().getType()).getNumElements();
  callRuntime("veeline_clip",
              {rank, getAddress(op.getNorms()), constant(count, 32),
               getAddress(op.getFactor())},
              {});
}

LogicalResult StepWriter::lowerAssign(AssignOp assign) {
  const MemoryPlan::Param *entry = plan.findParam(assign.getParam());
  if (!entry)
    return assign.emitOpError("assigns a parameter that has no place in the "
                              "plan of this rank's memory");
  keepValue(*entry, /*microbatch=*/std::nullopt);
  copy(atArena(entry->value), getAddress(assign.getValue()),
       assign.getValue().getType());
  return success();
}

void StepWriter::copy(Value target, Value source, Type type) {
  Value bytes = constant(getByteSize(type), 64);
  if (isOnDevice)
    callRuntime("veeline_copy", {rank, target, source, bytes}, {});
  else
    LLVM::MemcpyOp::create(builder, loc, target, source, bytes,
                           /*isVolatile=*/false);
}
