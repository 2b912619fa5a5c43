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

#include "PipelineTables.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Step.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPELOWERTORUNTIME
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

static MemRefType getMemRefType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

namespace {

/// Writes the step of one rank.
class StepWriter {
public:
  StepWriter(PipelineTables &tables, const ChannelTable &channels,
             ArrayRef<PipelineOp> versions, ProgramOp program, MemoryPlan plan,
             SymbolTableCollection &symbols)
      : tables(tables), channels(channels), versions(versions),
        program(program), plan(std::move(plan)), symbols(symbols),
        module(program->getParentOfType<ModuleOp>()),
        moduleSymbols(symbols.getSymbolTable(module)),
        typeConverter(program.getContext()), builder(program.getContext()),
        loc(program.getLoc()),
        ptr(LLVM::LLVMPointerType::get(program.getContext())) {
    for (PipelineOp version : versions)
      edgesAt.emplace_back(version);
  }

  LogicalResult run();

private:
  // Runtime calls.
  func::FuncOp declare(StringRef name, ArrayRef<Type> arguments, Type result);
  Value callRuntime(StringRef name, ArrayRef<Value> arguments, Type result);
  Value constant(int64_t value, unsigned bits);

  // Addresses.
  Value atArena(int64_t offset);
  Value atBatch(Value input, int64_t microbatch);
  Value getAddress(Value value);
  FailureOr<Value> getImplied(Operation *op, Value operand, int64_t microbatch);
  Value asMemRef(OpBuilder &builder, Value address, MemRefType type);
  void callFunction(OpBuilder &builder, func::FuncOp func, Value rank,
                    ArrayRef<Value> addresses);

  // Ops.
  void clearAccumulators();
  LogicalResult verifyPlaced(Operation *op);
  LogicalResult lower(Operation *op);
  LogicalResult lowerWork(Operation *op);
  FailureOr<Value> getArgument(Operation *op, ChunkOp chunk,
                               const ChunkValue &value, const Carried &carried);
  LogicalResult verifyLengthKnown(Operation *op, const schedule::Op &work);
  FailureOr<Value> getResult(Operation *op, ChunkOp chunk,
                             const ChunkValue &value, const Carried &carried);
  void acquireDirectSends(Operation *op);
  void reportResults(Operation *op);
  void tellLength(Value received);
  void lowerLength(LengthOp length);
  void callVersion(int64_t microbatch, StringRef name,
                   ArrayRef<func::FuncOp> functions, ArrayRef<Value> addresses);
  RankedTensorType getTypeAt(Value value, size_t version);
  void lowerSend(SendOp send);
  void lowerRecv(RecvOp recv);
  void lowerWait(WaitOp wait);
  void lowerAllReduce(AllReduceOp sum);
  void lowerAdd(AddOp add);
  LogicalResult lowerUpdate(UpdateOp update);
  LogicalResult lowerAssign(AssignOp assign);
  func::FuncOp getAddFunction(MemRefType type);
  template <typename BodyT> void bracket(Operation *op, BodyT body);

  PipelineTables &tables;
  const ChannelTable &channels;
  /// For each length; empty where there is one only.
  ArrayRef<PipelineOp> versions;
  std::vector<EdgeTable> edgesAt;
  ProgramOp program;
  MemoryPlan plan;
  SymbolTableCollection &symbols;
  ModuleOp module;
  SymbolTable &moduleSymbols;
  LLVMTypeConverter typeConverter;
  OpBuilder builder;
  Location loc;
  Type ptr;
  Value rank, arena, batch;
  llvm::DenseMap<Operation *, int64_t> timelineNumbers;
  /// The reduction that an op posts or waits for, where it is the one that
  /// does.
  llvm::DenseMap<Operation *, int64_t> reductionNumbers;
  /// The microbatches whose length is agreed on.
  llvm::DenseSet<int64_t> knownLengths;
  /// Where values that are not at a fixed place of the arena are.
  llvm::DenseMap<Value, Value> addresses;
};

} // namespace

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
  return LLVM::GEPOp::create(builder, loc, ptr, builder.getI8Type(), arena,
                             ArrayRef<LLVM::GEPArg>{constant(offset, 64)});
}

/// The slice of a batch argument, or a buffer.
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
  Value slot =
      LLVM::GEPOp::create(builder, loc, ptr, ptr, batch,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
  Value base = LLVM::LoadOp::create(builder, loc, ptr, slot);
  if (!isBatch || microbatch == 0)
    return base;
  int64_t bytes = getByteSize(input.getType()) * microbatch;
  return LLVM::GEPOp::create(builder, loc, ptr, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{constant(bytes, 64)});
}

/// Where an SSA value of the program is.
Value StepWriter::getAddress(Value value) {
  if (Value address = addresses.lookup(value))
    return address;
  if (auto wait = value.getDefiningOp<WaitOp>())
    return getAddress(wait.getHandle());
  if (auto gradient = value.getDefiningOp<GradientOp>())
    return atArena(
        *plan.findAccumulator(gradient.getParam(), gradient.getChunk()));
  if (auto sum = value.getDefiningOp<AllReduceOp>())
    return atArena(*plan.findAccumulator(sum.getParam(), sum.getChunk()));
  if (auto update = value.getDefiningOp<UpdateOp>())
    return atArena(plan.findParam(update.getParam())->value);
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
  int64_t number = llvm::find(tables.params, param) - tables.params.begin();
  const MemoryPlan::Param *entry = plan.findParam(number);
  if (!entry)
    return op->emitOpError()
           << "uses parameter " << number
           << ", which has no place in the plan of this rank's memory";
  return atArena(entry->value);
}

Value StepWriter::asMemRef(OpBuilder &builder, Value address, MemRefType type) {
  Value descriptor = MemRefDescriptor::fromStaticShape(
      builder, loc, typeConverter, type, address);
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
}

/// Calls `func`, which takes the rank, if it is not null, and then memrefs.
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

template <typename BodyT> void StepWriter::bracket(Operation *op, BodyT body) {
  Value number = constant(timelineNumbers.lookup(op), 32);
  callRuntime("veeline_op_begin", {rank, number}, {});
  body();
  callRuntime("veeline_op_end", {rank, number}, {});
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// The SSA value of `op` that stands for `value` in `list`.
static std::optional<unsigned> findCarried(ArrayRef<ChunkValue> list,
                                           const ChunkValue &value) {
  auto it = llvm::find(list, value);
  if (it == list.end())
    return std::nullopt;
  return it - list.begin();
}

FailureOr<Value> StepWriter::getArgument(Operation *op, ChunkOp chunk,
                                         const ChunkValue &value,
                                         const Carried &carried) {
  int64_t microbatch = getScheduleOp(op)->microbatch;
  if (isImplied(chunk, value))
    return getImplied(op, chunk.getOperands()[value.index], microbatch);
  return getAddress(op->getOperand(*findCarried(carried.arguments, value)));
}

FailureOr<Value> StepWriter::getResult(Operation *op, ChunkOp chunk,
                                       const ChunkValue &value,
                                       const Carried &carried) {
  if (value.kind != RoleKind::ParamGrad)
    return getAddress(op->getResult(*findCarried(carried.results, value)));
  auto param = chunk.getOperands()[value.index].getDefiningOp<ParamOp>();
  int64_t number = llvm::find(tables.params, param) - tables.params.begin();
  std::optional<int64_t> offset =
      plan.findAccumulator(number, chunk.getIndex());
  if (!offset)
    return op->emitOpError()
           << "accumulates a gradient of parameter " << number
           << ", which has no place in the plan of this rank's memory";
  return atArena(*offset);
}

/// Waits for the receivers' memory of what `op` computes straight into it.
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

/// Hands the loss and the metrics to the runtime.
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
    callRuntime("veeline_report",
                {rank, constant(i, 32), constant(forward.getMicrobatch(), 32),
                 getAddress(forward.getResult(number))},
                {});
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
  acquireDirectSends(op);
  SmallVector<Value> addresses;
  for (const ChunkValue &value : signature->arguments) {
    FailureOr<Value> argument = getArgument(op, chunk, value, carried);
    if (failed(argument))
      return failure();
    addresses.push_back(*argument);
  }
  for (const ChunkValue &value : signature->results) {
    FailureOr<Value> result = getResult(op, chunk, value, carried);
    if (failed(result))
      return failure();
    addresses.push_back(*result);
  }
  addresses.push_back(atArena(workspace.getInt()));
  bracket(op, [&] {
    if (versions.empty())
      return callFunction(builder, func, rank, addresses);
    SmallVector<func::FuncOp> functions;
    for (PipelineOp version : versions)
      functions.push_back(
          getFunction(symbols, version.getChunks()[work.chunk], kind));
    callVersion(work.microbatch, func.getSymName(), functions, addresses);
  });
  reportResults(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

LogicalResult StepWriter::verifyLengthKnown(Operation *op,
                                            const schedule::Op &work) {
  if (versions.empty() || knownLengths.contains(work.microbatch))
    return success();
  return op->emitOpError() << "runs before the length of microbatch "
                           << work.microbatch
                           << " is agreed on by a pipe.length; run "
                              "--pipe-insert-communication first";
}

/// What others say is known where it arrives: values are waited for that may
/// come before the op.
void StepWriter::tellLength(Value received) {
  for (Operation *user : received.getUsers()) {
    auto length = dyn_cast<LengthOp>(user);
    if (!length)
      continue;
    Value microbatch = constant(length.getMicrobatch(), 32);
    if (length.getData())
      callRuntime("veeline_length_of_data", {rank, microbatch}, {});
    callRuntime("veeline_length_received",
                {rank, microbatch, getAddress(received)}, {});
  }
}

/// What all sources agree on.
void StepWriter::lowerLength(LengthOp length) {
  knownLengths.insert(length.getMicrobatch());
  Value microbatch = constant(length.getMicrobatch(), 32);
  if (length.getData() && length.getReceived().empty())
    callRuntime("veeline_length_of_data", {rank, microbatch}, {});
  if (!length.getLength().use_empty())
    callRuntime("veeline_length",
                {rank, microbatch, getAddress(length.getLength())}, {});
}

/// Calls the one of `functions` that is for the length of the microbatch, by a
/// function `<name>_of_version` that tells them apart.
void StepWriter::callVersion(int64_t microbatch, StringRef name,
                             ArrayRef<func::FuncOp> functions,
                             ArrayRef<Value> addresses) {
  Value version =
      callRuntime("veeline_version", {rank, constant(microbatch, 32)},
                  builder.getI32Type());
  SmallVector<Value> arguments = {rank, version};
  llvm::append_range(arguments, addresses);
  std::string dispatcherName = (name + "_of_version").str();
  auto dispatcher = moduleSymbols.lookup<func::FuncOp>(dispatcherName);
  if (!dispatcher) {
    SmallVector<Type> types = llvm::map_to_vector(
        arguments, [](Value value) { return value.getType(); });
    dispatcher = declare(dispatcherName, types, {});
    Block *entry = dispatcher.addEntryBlock();
    OpBuilder body = OpBuilder::atBlockBegin(entry);
    Value index = arith::IndexCastOp::create(body, loc, body.getIndexType(),
                                             entry->getArgument(1));
    SmallVector<int64_t> cases(functions.size() - 1);
    std::iota(cases.begin(), cases.end(), 0);
    auto choice = scf::IndexSwitchOp::create(body, loc, TypeRange(), index,
                                             cases, cases.size());
    SmallVector<Value> passed(entry->getArguments().drop_front(2));
    func::FuncOp first = functions.front();
    bool takesRank = isa<LLVM::LLVMPointerType>(first.getArgumentTypes()[0]);
    for (auto [i, function] : llvm::enumerate(functions)) {
      Region &region = i == cases.size() ? choice.getDefaultRegion()
                                         : choice.getCaseRegions()[i];
      OpBuilder inCase = OpBuilder::atBlockBegin(&region.emplaceBlock());
      callFunction(inCase, function,
                   takesRank ? entry->getArgument(0) : Value(), passed);
      scf::YieldOp::create(inCase, loc);
    }
    func::ReturnOp::create(body, loc);
  }
  func::CallOp::create(builder, loc, dispatcher, arguments);
}

/// The type that a value of the program has in a version.
RankedTensorType StepWriter::getTypeAt(Value value, size_t version) {
  if (auto add = value.getDefiningOp<AddOp>())
    return getTypeAt(add.getLhs(), version);
  if (auto wait = value.getDefiningOp<WaitOp>()) {
    auto recv = wait.getHandle().getDefiningOp<RecvOp>();
    return edgesAt[version][recv.getEdge()].type;
  }
  auto result = cast<OpResult>(value);
  schedule::Op work = *getScheduleOp(result.getOwner());
  PipelineOp pipeline = versions[version];
  ChunkOp chunk = pipeline.getChunks()[work.chunk];
  FailureOr<ChunkSignature> signature = getChunkSignature(
      getFunction(symbols, chunk, getFunctionKind(work.kind)));
  return getCarried(chunk, signature->results)[result.getResultNumber()].type;
}

/// The microbatch that a gradient is of.
static int64_t getMicrobatch(Value gradient) {
  if (auto add = gradient.getDefiningOp<AddOp>())
    return getMicrobatch(add.getLhs());
  if (auto wait = gradient.getDefiningOp<WaitOp>())
    return wait.getHandle().getDefiningOp<RecvOp>().getMicrobatch();
  return getScheduleOp(gradient.getDefiningOp())->microbatch;
}

//===----------------------------------------------------------------------===//
// Messages, sums, updates
//===----------------------------------------------------------------------===//

void StepWriter::lowerSend(SendOp send) {
  Value channel = constant(channels.find(send), 32);
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
  callRuntime("veeline_recv_post",
              {rank, constant(channel, 32), getAddress(recv.getHandle())}, {});
}

/// A reduction is posted when all of its gradients are there.
void StepWriter::lowerAllReduce(AllReduceOp sum) {
  auto number = reductionNumbers.find(sum);
  if (number == reductionNumbers.end())
    return;
  bracket(sum, [&] {
    callRuntime("veeline_reduce_post", {rank, constant(number->second, 32)},
                {});
  });
}

void StepWriter::lowerWait(WaitOp wait) {
  auto recv = wait.getHandle().getDefiningOp<RecvOp>();
  if (!recv) {
    auto number = reductionNumbers.find(wait);
    if (number != reductionNumbers.end())
      bracket(wait, [&] {
        callRuntime("veeline_reduce_wait", {rank, constant(number->second, 32)},
                    {});
      });
    return;
  }
  int64_t channel = channels.find(recv);
  bracket(wait, [&] {
    callRuntime("veeline_recv_wait", {rank, constant(channel, 32)}, {});
  });
  tellLength(wait.getValue());
}

/// `pipe_add_<type>`: c = a + b, on memrefs.
func::FuncOp StepWriter::getAddFunction(MemRefType type) {
  std::string name = "pipe_add";
  for (int64_t size : type.getShape())
    name += "_" + std::to_string(size);
  llvm::raw_string_ostream(name) << "_" << type.getElementType();
  if (auto func = moduleSymbols.lookup<func::FuncOp>(name))
    return func;
  func::FuncOp func = declare(name, {type, type, type}, {});
  OpBuilder body = OpBuilder::atBlockBegin(func.addEntryBlock());
  AffineMap map = body.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      body, loc, ValueRange{func.getArgument(0), func.getArgument(1)},
      ValueRange{func.getArgument(2)}, ArrayRef<AffineMap>{map, map, map},
      iterators, [](OpBuilder &b, Location l, ValueRange values) {
        Value sum = arith::AddFOp::create(b, l, values[0], values[1]);
        linalg::YieldOp::create(b, l, sum);
      });
  func::ReturnOp::create(body, loc);
  return func;
}

void StepWriter::lowerAdd(AddOp add) {
  SmallVector<Value> addresses;
  for (Value value : {add.getLhs(), add.getRhs(), add.getResult()})
    addresses.push_back(getAddress(value));
  func::FuncOp func = getAddFunction(getMemRefType(add.getResult().getType()));
  if (versions.empty())
    return callFunction(builder, func, /*rank=*/{}, addresses);
  SmallVector<func::FuncOp> functions;
  std::string name = func.getSymName().str();
  for (size_t i = 0; i != versions.size(); ++i) {
    RankedTensorType type = getTypeAt(add.getResult(), i);
    functions.push_back(getAddFunction(getMemRefType(type)));
    // Of two values that have one shape at the bound, other lengths may have
    // two.
    name += "_" + std::to_string(type.getNumElements());
  }
  callVersion(getMicrobatch(add.getLhs()), name, functions, addresses);
}

LogicalResult StepWriter::lowerUpdate(UpdateOp update) {
  const MemoryPlan::Param *entry = plan.findParam(update.getParam());
  if (!entry || !entry->isHome)
    return update.emitOpError("updates a parameter whose home is another rank");
  int64_t number = entry - plan.params.begin();
  int64_t count = update.getGradients().size();
  Value gradients =
      LLVM::AllocaOp::create(builder, loc, ptr, ptr, constant(count, 64));
  for (auto [i, gradient] : llvm::enumerate(update.getGradients())) {
    Value slot =
        LLVM::GEPOp::create(builder, loc, ptr, ptr, gradients,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, getAddress(gradient), slot);
  }
  Value state = entry->state >= 0
                    ? atArena(entry->state)
                    : LLVM::ZeroOp::create(builder, loc, ptr).getResult();
  bracket(update, [&] {
    callRuntime("veeline_update",
                {rank, constant(number, 32), atArena(entry->value), state,
                 gradients, constant(count, 32)},
                {});
  });
  return success();
}

LogicalResult StepWriter::lowerAssign(AssignOp assign) {
  const MemoryPlan::Param *entry = plan.findParam(assign.getParam());
  if (!entry)
    return assign.emitOpError("assigns a parameter that has no place in the "
                              "plan of this rank's memory");
  LLVM::MemcpyOp::create(builder, loc, atArena(entry->value),
                         getAddress(assign.getValue()),
                         constant(getByteSize(assign.getValue().getType()), 64),
                         /*isVolatile=*/false);
  return success();
}

/// The values that the step computes have a place in the arena, but for those
/// that go straight into a receiver's memory.
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
  if (!getScheduleOp(op) && !isa<AddOp, LengthOp, RecvOp>(op))
    return success();
  auto offsets = op->getAttrOfType<DenseI64ArrayAttr>(offsetsAttrName);
  bool isComplete = offsets && offsets.size() == op->getNumResults();
  for (OpResult result : op->getResults()) {
    bool isPlaced = isComplete && offsets[result.getResultNumber()] >= 0;
    if (!isPlaced && !isComputedAtReceiver(result))
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
      .Case<ForwardOp, BackwardOp, BackwardInputOp, BackwardWeightOp>(
          [&](Operation *op) { return lowerWork(op); })
      .Case([&](SendOp op) { return lowerSend(op), success(); })
      .Case([&](RecvOp op) { return lowerRecv(op), success(); })
      .Case([&](WaitOp op) { return lowerWait(op), success(); })
      .Case([&](AllReduceOp op) { return lowerAllReduce(op), success(); })
      .Case([&](LengthOp op) { return lowerLength(op), success(); })
      .Case([&](AddOp op) { return lowerAdd(op), success(); })
      .Case([&](UpdateOp op) { return lowerUpdate(op); })
      .Case([&](AssignOp op) { return lowerAssign(op); })
      .Case([&](GradientOp) { return success(); })
      .Default([](Operation *op) {
        return op->emitOpError(
            "cannot be lowered; run --pipe-insert-communication first");
      });
}

/// Clears the accumulators, those without a gap between them at once. What lies
/// in gaps is not ours to write.
void StepWriter::clearAccumulators() {
  SmallVector<std::pair<int64_t, int64_t>> ranges;
  for (const MemoryPlan::Accumulator &accumulator : plan.accumulators) {
    int64_t bytes =
        getByteSize(tables.params[accumulator.param].getValue().getType());
    if (bytes == 0)
      continue;
    if (!ranges.empty() && ranges.back().second == accumulator.offset)
      ranges.back().second += bytes;
    else
      ranges.push_back({accumulator.offset, accumulator.offset + bytes});
  }
  for (auto [begin, end] : ranges)
    LLVM::MemsetOp::create(builder, loc, atArena(begin), constant(0, 8),
                           constant(end - begin, 64), /*isVolatile=*/false);
}

LogicalResult StepWriter::run() {
  builder.setInsertionPointToEnd(module.getBody());
  auto func =
      func::FuncOp::create(builder, loc, getStepName(program),
                           builder.getFunctionType({ptr, ptr, ptr}, {}));
  moduleSymbols.insert(func);
  builder.setInsertionPointToStart(func.addEntryBlock());
  rank = func.getArgument(0);
  arena = func.getArgument(1);
  batch = func.getArgument(2);
  for (auto [i, op] : llvm::enumerate(getTimelineOps(program)))
    timelineNumbers[op] = i;
  for (auto [i, reduction] : llvm::enumerate(getReductions(program))) {
    reductionNumbers[reduction.ops.back()] = i;
    reductionNumbers[reduction.firstWait] = i;
  }
  clearAccumulators();
  for (Operation &op : program.getBody().front())
    if (failed(lower(&op)))
      return failure();
  func::ReturnOp::create(builder, loc);
  return success();
}

namespace {
struct PipeLowerToRuntime
    : veeline::pipe::impl::PipeLowerToRuntimeBase<PipeLowerToRuntime> {
  using PipeLowerToRuntimeBase::PipeLowerToRuntimeBase;

  void runOnOperation() override {
    if (target != "host") {
      getOperation().emitError()
          << "unknown target '" << target << "'; targets: host";
      return signalPassFailure();
    }
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
        if (failed(plan) || failed(StepWriter(tables, channels, *versions,
                                              program, *plan, symbols)
                                       .run()))
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
