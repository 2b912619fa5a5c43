//===- ThreadFunction.cpp - gpu.func as a function for a CPU --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::gpu;
// veeline::gpu has no ops.
namespace ops = mlir::gpu;

Value veeline::gpu::callDevice(OpBuilder &builder, Location loc, int32_t index,
                               Type result, ValueRange arguments) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value table = LLVM::AddressOfOp::create(builder, loc, pointer, functionsName);
  table = LLVM::LoadOp::create(builder, loc, pointer, table);
  Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, table,
                                    ArrayRef<LLVM::GEPArg>{index});
  SmallVector<Value> operands = {
      LLVM::LoadOp::create(builder, loc, pointer, place)};
  llvm::append_range(operands, arguments);
  auto type = LLVM::LLVMFunctionType::get(
      result ? result : LLVM::LLVMVoidType::get(builder.getContext()),
      llvm::to_vector(arguments.getTypes()));
  auto call = LLVM::CallOp::create(builder, loc, type, operands);
  return result ? call.getResult() : Value();
}

static Value makeInt(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}

/// A value of up to 8 bytes as a number of 64 bits, and back.
static Value toBits(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(builder, loc,
                                     builder.getIntegerType(width), value);
  if (width == 64)
    return value;
  return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), value);
}

static Value fromBits(OpBuilder &builder, Location loc, Value bits, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width < 64)
    bits = arith::TruncIOp::create(builder, loc, builder.getIntegerType(width),
                                   bits);
  if (isa<FloatType>(type))
    bits = arith::BitcastOp::create(builder, loc, type, bits);
  return bits;
}

namespace {

/// Turns the ops of a GPU in a function to arguments and calls.
class ThreadWriter {
public:
  ThreadWriter(func::FuncOp function, ops::GPUFuncOp kernel)
      : function(function), kernel(kernel), builder(function.getContext()) {}

  LogicalResult run();

private:
  LogicalResult replace(Operation *op);
  void replaceShuffle(ops::ShuffleOp op);
  void replaceBallot(NVVM::VoteSyncOp op);

  func::FuncOp function;
  ops::GPUFuncOp kernel;
  OpBuilder builder;
  int32_t numSites = 0;
};

} // namespace

void ThreadWriter::replaceShuffle(ops::ShuffleOp op) {
  Location loc = op.getLoc();
  Value bits = callDevice(
      builder, loc, shuffleIndex, builder.getI64Type(),
      {toBits(builder, loc, op.getValue()), op.getOffset(), op.getWidth(),
       makeInt(builder, loc, static_cast<int64_t>(op.getMode())),
       makeInt(builder, loc, numSites++)});
  op.getShuffleResult().replaceAllUsesWith(
      fromBits(builder, loc, bits, op.getValue().getType()));
}

/// Of all lanes.
void ThreadWriter::replaceBallot(NVVM::VoteSyncOp op) {
  Location loc = op.getLoc();
  Value bits = callDevice(
      builder, loc, shuffleIndex, builder.getI64Type(),
      {toBits(builder, loc, op.getPred()), makeInt(builder, loc, 0),
       makeInt(builder, loc, static_cast<int64_t>(warpSize)),
       makeInt(builder, loc, ballotMode), makeInt(builder, loc, numSites++)});
  op.getRes().replaceAllUsesWith(
      fromBits(builder, loc, bits, op.getRes().getType()));
}

LogicalResult ThreadWriter::replace(Operation *op) {
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  if (auto thread = dyn_cast<ops::ThreadIdOp>(op);
      thread && thread.getDimension() == ops::Dimension::x) {
    op->getResult(0).replaceAllUsesWith(function.getArgument(0));
  } else if (auto block = dyn_cast<ops::BlockIdOp>(op)) {
    unsigned dim = static_cast<unsigned>(block.getDimension());
    op->getResult(0).replaceAllUsesWith(function.getArgument(1 + dim));
  } else if (isa<ops::BarrierOp>(op)) {
    callDevice(builder, loc, barrierIndex, Type(),
               makeInt(builder, loc, numSites++));
  } else if (auto shuffle = dyn_cast<ops::ShuffleOp>(op);
             shuffle && shuffle.getValid().use_empty()) {
    replaceShuffle(shuffle);
  } else if (auto vote = dyn_cast<NVVM::VoteSyncOp>(op);
             vote && vote.getKind() == NVVM::VoteSyncKind::ballot) {
    replaceBallot(vote);
  } else if (isa<ops::ReturnOp>(op)) {
    func::ReturnOp::create(builder, loc);
  } else {
    return op->emitOpError("has no emulation: add one to ThreadFunction.cpp");
  }
  op->erase();
  return success();
}

/// `type` in the memory of a CPU.
static Type withoutMemorySpace(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !memref.getMemorySpace())
    return type;
  return MemRefType::get(memref.getShape(), memref.getElementType(),
                         memref.getLayout());
}

LogicalResult ThreadWriter::run() {
  SmallVector<Operation *> found;
  WalkResult result = function.walk([&](Operation *op) {
    for (Value value : op->getResults())
      value.setType(withoutMemorySpace(value.getType()));
    if (isa<ops::GPUDialect, NVVM::NVVMDialect>(op->getDialect()))
      found.push_back(op);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (Operation *op : found)
    if (failed(replace(op)))
      return failure();
  return success();
}

FailureOr<func::FuncOp> veeline::gpu::writeThreadFunction(ops::GPUFuncOp kernel,
                                                          StringRef name,
                                                          ModuleOp module) {
  if (!kernel.getPrivateAttributions().empty())
    return kernel.emitOpError("has private buffers, which have no emulation");
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> types(4, builder.getIndexType());
  for (BlockArgument argument : kernel.getBody().getArguments())
    types.push_back(withoutMemorySpace(argument.getType()));
  auto function = func::FuncOp::create(builder, kernel.getLoc(), name,
                                       builder.getFunctionType(types, {}));
  IRMapping mapping;
  kernel.getBody().cloneInto(&function.getBody(), mapping);
  Block &entry = function.getBody().front();
  for (auto [argument, type] :
       llvm::zip(entry.getArguments(), ArrayRef(types).drop_front(4)))
    argument.setType(type);
  for (unsigned i = 0; i < 4; ++i)
    entry.insertArgument(i, types[i], kernel.getLoc());
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (DictionaryAttr attributes = kernel.getArgAttrDict(i))
      function.setArgAttrs(4 + i, attributes);
  if (failed(ThreadWriter(function, kernel).run()))
    return failure();
  return function;
}

/// Shared buffers lie apart, so that a place beyond one is in no other.
static constexpr int64_t sharedAlignment = 256;

KernelInfo veeline::gpu::describe(ops::GPUFuncOp kernel) {
  KernelInfo info;
  auto read = [](std::optional<ArrayRef<int32_t>> sizes, unsigned dim) {
    return sizes ? int64_t((*sizes)[dim]) : 1;
  };
  info.blockSize = read(kernel.getKnownBlockSize(), 0);
  for (unsigned dim = 0; dim < 3; ++dim)
    info.grid[dim] = read(kernel.getKnownGridSize(), dim);
  info.numParams = kernel.getNumArguments();
  kernel.walk([&](Operation *op) {
    info.exchanges |= isa<ops::BarrierOp, ops::ShuffleOp, NVVM::VoteSyncOp>(op);
  });
  int64_t offset = 0;
  for (BlockArgument buffer : kernel.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(buffer.getType());
    unsigned bits = type.getElementType().isIndex()
                        ? 64
                        : type.getElementType().getIntOrFloatBitWidth();
    int64_t elementBytes = (bits + 7) / 8;
    int64_t bytes = type.getNumElements() * elementBytes;
    info.shared.push_back({offset, bytes, elementBytes});
    offset = llvm::alignTo(offset + bytes + 1, sharedAlignment);
  }
  return info;
}
