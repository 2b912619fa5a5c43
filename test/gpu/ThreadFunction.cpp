//===- ThreadFunction.cpp - gpu.func as a function for a CPU --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
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

/// Replaces the GPU ops of a function by its arguments and by calls.
class ThreadWriter {
public:
  ThreadWriter(func::FuncOp function, ops::GPUFuncOp kernel)
      : function(function), kernel(kernel), builder(function.getContext()) {}

  LogicalResult run();

private:
  LogicalResult replace(Operation *op);
  bool replaceId(Operation *op);
  bool replaceExchange(Operation *op);
  bool replaceCopy(Operation *op);
  void replaceShuffle(ops::ShuffleOp op);
  void replaceBallot(NVVM::VoteSyncOp op);
  void replaceLoad(nvgpu::LdMatrixOp op);
  void replaceProduct(NVVM::MmaOp op);
  void replaceRounding(NVVM::ConvertFloatToTF32Op op);
  Value makeInt(int64_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  }
  Value makeSite() { return makeInt(numSites++); }
  Value getRegister(int64_t number);
  Value store(ValueRange values, int64_t first);
  Value getAddress(Value buffer, Value index);
  void call(int32_t index, ValueRange arguments) {
    callDevice(builder, loc, index, Type(), arguments);
  }

  func::FuncOp function;
  ops::GPUFuncOp kernel;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
  /// Room for what calls take and return by address.
  Value registers;
  int32_t numSites = 0;
};

} // namespace

/// The place of 32 bits on the stack of the thread.
Value ThreadWriter::getRegister(int64_t number) {
  constexpr int64_t numRegisters = 16;
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  if (!registers) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    registers = LLVM::AllocaOp::create(
        builder, loc, pointer, builder.getI32Type(), makeInt(numRegisters));
  }
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI32Type(),
                             registers,
                             ArrayRef<LLVM::GEPArg>{int32_t(number)});
}

/// Puts values of 32 bits side by side; returns where the first one is.
Value ThreadWriter::store(ValueRange values, int64_t first) {
  for (auto [i, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(builder, loc, value,
                          getRegister(first + static_cast<int64_t>(i)));
  return getRegister(first);
}

/// The address of an element of a buffer of one dimension.
Value ThreadWriter::getAddress(Value buffer, Value index) {
  auto type = cast<MemRefType>(buffer.getType());
  Value start =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  Value width = arith::ConstantIndexOp::create(
      builder, loc, type.getElementTypeBitWidth() / 8);
  Value offset = arith::MulIOp::create(builder, loc, index, width);
  Value address = arith::IndexCastOp::create(
      builder, loc, builder.getI64Type(),
      arith::AddIOp::create(builder, loc, start, offset));
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
}

//===----------------------------------------------------------------------===//
// What lanes do together
//===----------------------------------------------------------------------===//

void ThreadWriter::replaceShuffle(ops::ShuffleOp op) {
  Value bits = callDevice(
      builder, loc, shuffleIndex, builder.getI64Type(),
      {toBits(builder, loc, op.getValue()), op.getOffset(), op.getWidth(),
       makeInt(static_cast<int64_t>(op.getMode())), makeSite()});
  op.getShuffleResult().replaceAllUsesWith(
      fromBits(builder, loc, bits, op.getValue().getType()));
}

void ThreadWriter::replaceBallot(NVVM::VoteSyncOp op) {
  Value bits = callDevice(builder, loc, shuffleIndex, builder.getI64Type(),
                          {toBits(builder, loc, op.getPred()), makeInt(0),
                           makeInt(warpSize), makeInt(ballotMode), makeSite()});
  op.getRes().replaceAllUsesWith(
      fromBits(builder, loc, bits, op.getRes().getType()));
}

/// Two elements of 16 bits are one register.
void ThreadWriter::replaceLoad(nvgpu::LdMatrixOp op) {
  auto type = cast<VectorType>(op.getType());
  int64_t count = op.getNumTiles();
  call(loadMatricesIndex,
       {getRegister(0), getAddress(op.getSrcMemref(), op.getIndices().front()),
        makeInt(count), makeInt(op.getTranspose()), makeSite()});
  auto pair =
      VectorType::get(type.getShape().drop_front(), type.getElementType());
  Value result =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  for (int64_t i = 0; i < count; ++i)
    result = vector::InsertOp::create(
        builder, loc, LLVM::LoadOp::create(builder, loc, pair, getRegister(i)),
        result, i);
  op.replaceAllUsesWith(result);
}

static MatrixKind getKind(NVVM::MmaOp op) {
  if (op.getMultiplicandAPtxType() == NVVM::MMATypes::tf32)
    return MatrixKind::tf32;
  return op.getMultiplicandAPtxType() == NVVM::MMATypes::bf16 ? MatrixKind::bf16
                                                              : MatrixKind::f16;
}

void ThreadWriter::replaceProduct(NVVM::MmaOp op) {
  constexpr int64_t firstB = 4, firstC = 8;
  Value a = store(op.getOperandA(), 0), b = store(op.getOperandB(), firstB);
  Value c = store(op.getOperandC(), firstC);
  call(multiplyIndex,
       {a, b, c, makeInt(static_cast<int64_t>(getKind(op))), makeSite()});
  Value result = LLVM::UndefOp::create(builder, loc, op.getType());
  for (int64_t i = 0; i < 4; ++i)
    result = LLVM::InsertValueOp::create(
        builder, loc, result,
        LLVM::LoadOp::create(builder, loc, builder.getF32Type(),
                             getRegister(firstC + i)),
        i);
  op.replaceAllUsesWith(result);
}

/// Replaces an op at which threads wait for each other; false for other ops.
bool ThreadWriter::replaceExchange(Operation *op) {
  if (isa<ops::BarrierOp>(op))
    call(barrierIndex, makeSite());
  else if (auto shuffle = dyn_cast<ops::ShuffleOp>(op);
           shuffle && shuffle.getValid().use_empty())
    replaceShuffle(shuffle);
  else if (auto load = dyn_cast<nvgpu::LdMatrixOp>(op))
    replaceLoad(load);
  else if (auto product = dyn_cast<NVVM::MmaOp>(op))
    replaceProduct(product);
  else if (auto vote = dyn_cast<NVVM::VoteSyncOp>(op);
           vote && vote.getKind() == NVVM::VoteSyncKind::ballot)
    replaceBallot(vote);
  else
    return false;
  return true;
}

//===----------------------------------------------------------------------===//
// What a thread does alone
//===----------------------------------------------------------------------===//

bool ThreadWriter::replaceId(Operation *op) {
  if (auto thread = dyn_cast<ops::ThreadIdOp>(op);
      thread && thread.getDimension() == ops::Dimension::x) {
    op->getResult(0).replaceAllUsesWith(function.getArgument(0));
    return true;
  }
  auto block = dyn_cast<ops::BlockIdOp>(op);
  if (!block)
    return false;
  unsigned dim = static_cast<unsigned>(block.getDimension());
  op->getResult(0).replaceAllUsesWith(function.getArgument(1 + dim));
  return true;
}

bool ThreadWriter::replaceCopy(Operation *op) {
  if (isa<NVVM::CpAsyncCommitGroupOp>(op)) {
    call(commitCopiesIndex, {});
    return true;
  }
  if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op)) {
    call(waitForCopiesIndex, makeInt(wait.getN()));
    return true;
  }
  auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(op);
  if (!copy || !copy.getAsyncToken().use_empty())
    return false;
  int64_t width =
      cast<MemRefType>(copy.getSrc().getType()).getElementTypeBitWidth() / 8;
  Type number = builder.getI64Type();
  Value bytes = arith::ConstantIntOp::create(
      builder, loc, copy.getDstElements().getSExtValue() * width, 64);
  Value sourceBytes = bytes;
  if (Value elements = copy.getSrcElements())
    sourceBytes = arith::MulIOp::create(
        builder, loc,
        arith::IndexCastOp::create(builder, loc, number, elements),
        arith::ConstantIntOp::create(builder, loc, width, 64));
  call(copyAsyncIndex, {getAddress(copy.getDst(), copy.getDstIndices().front()),
                        getAddress(copy.getSrc(), copy.getSrcIndices().front()),
                        bytes, sourceBytes});
  return true;
}

/// Rounds to 10 bits after the point, halves away from zero.
void ThreadWriter::replaceRounding(NVVM::ConvertFloatToTF32Op op) {
  Value number = op.getSrc();
  Value bits =
      arith::BitcastOp::create(builder, loc, builder.getI32Type(), number);
  Value rounded = arith::AndIOp::create(
      builder, loc, arith::AddIOp::create(builder, loc, bits, makeInt(1 << 12)),
      makeInt(-(1 << 13)));
  Value isNumber = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::ORD, number, number);
  op.replaceAllUsesWith(
      arith::SelectOp::create(builder, loc, isNumber, rounded, bits)
          .getResult());
}

/// True for a GPU instruction that an op of the math dialect emulates.
static bool isApproximation(Operation *op) {
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  return call && call.getIntrin() == "llvm.nvvm.ex2.approx.ftz.f32";
}

LogicalResult ThreadWriter::replace(Operation *op) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  if (isa<ops::ReturnOp>(op))
    func::ReturnOp::create(builder, loc);
  else if (auto rounding = dyn_cast<NVVM::ConvertFloatToTF32Op>(op))
    replaceRounding(rounding);
  else if (isApproximation(op))
    op->replaceAllUsesWith(
        math::Exp2Op::create(builder, loc, op->getOperand(0)));
  else if (!replaceId(op) && !replaceExchange(op) && !replaceCopy(op))
    return op->emitOpError("has no emulation: add one to ThreadFunction.cpp");
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
    if (isa<ops::GPUDialect, NVVM::NVVMDialect, nvgpu::NVGPUDialect>(
            op->getDialect()) ||
        isApproximation(op))
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
    info.exchanges |= isa<ops::BarrierOp, ops::ShuffleOp, NVVM::VoteSyncOp,
                          NVVM::MmaOp, nvgpu::LdMatrixOp>(op);
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
