//===- KernelTraits.cpp - what data a kernel takes ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTraits.h"

#include "veeline/Dialect/Pipe/IR/Attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace veeline;
using namespace veeline::gpu;

/// The op of a kernel of attention, or null.
static pipe::AttentionOpInterface findAttention(KernelSource source) {
  auto ops = source.twin.getOps<pipe::AttentionOpInterface>();
  return ops.empty() ? pipe::AttentionOpInterface() : *ops.begin();
}

/// True if the order of additions is part of the result.
static bool hasFloatReduction(KernelSource source) {
  if (findAttention(source))
    return true;
  return source.twin
      .walk([](linalg::LinalgOp op) {
        bool hasFloats = llvm::any_of(op.getDpsInits(), [](Value init) {
          return isa<FloatType>(getElementTypeOrSelf(init.getType()));
        });
        return hasFloats && op.getNumReductionLoops() ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool callsDoubleFunctions(KernelSource source) {
  return source.twin
      .walk([](Operation *op) {
        bool isFunction = isa<math::MathDialect>(op->getDialect()) &&
                          getElementTypeOrSelf(op->getResult(0)).isF64();
        return isFunction ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if `value` is computed from a number of a buffer.
static bool isLoadedInteger(Value value) {
  if (!value.getType().isIntOrIndex())
    return false;
  Operation *op = value.getDefiningOp();
  if (!op)
    return !value.getType().isIndex();
  return isa<memref::LoadOp>(op) ||
         (isa<arith::ArithDialect>(op->getDialect()) &&
          llvm::any_of(op->getOperands(), isLoadedInteger));
}

/// How far `place` moves if all arguments of the kernel grow by 1.
static int64_t getStepOfArguments(Value place) {
  if (auto argument = dyn_cast<BlockArgument>(place))
    return isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (auto add = place.getDefiningOp<arith::AddIOp>())
    return getStepOfArguments(add.getLhs()) + getStepOfArguments(add.getRhs());
  auto product = place.getDefiningOp<arith::MulIOp>();
  APInt factor;
  if (product && matchPattern(product.getRhs(), m_ConstantInt(&factor)))
    return getStepOfArguments(product.getLhs()) * factor.getSExtValue();
  return 0;
}

/// The number of places in its buffer that arguments can choose for a view.
static std::optional<int64_t> countPlaces(memref::ReinterpretCastOp view) {
  auto source = dyn_cast<MemRefType>(view.getSource().getType());
  auto start = dyn_cast<Value>(view.getMixedOffsets().front());
  int64_t step = start ? getStepOfArguments(start) : 0;
  if (!step || !source || !source.hasStaticShape())
    return std::nullopt;
  int64_t last = 0;
  auto [strides, offset] = view.getType().getStridesAndOffset();
  for (auto [size, stride] : llvm::zip(view.getType().getShape(), strides))
    last += (size - 1) * stride;
  return (source.getNumElements() - 1 - last) / step + 1;
}

/// The smaller of two sizes: the smallest dimension that an integer of a buffer
/// indexes, and the fewest places that arguments can choose from. At most 1000.
static int64_t getIndexedSize(KernelSource source) {
  int64_t smallest = 1000;
  auto include = [&](MemRefType type, ValueRange indices) {
    for (auto [size, index] : llvm::zip(type.getShape(), indices))
      if (isLoadedInteger(index))
        smallest = std::min(smallest, size);
  };
  source.twin.walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      include(load.getMemRefType(), load.getIndices());
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      include(store.getMemRefType(), store.getIndices());
    else if (auto view = dyn_cast<memref::ReinterpretCastOp>(op))
      smallest = std::min(smallest, countPlaces(view).value_or(smallest));
  });
  return smallest;
}

static std::optional<ElementKind> getKind(Type type) {
  if (type.isF64())
    return ElementKind::f64;
  if (type.isF32())
    return ElementKind::f32;
  if (type.isBF16())
    return ElementKind::bf16;
  if (type.isF16())
    return ElementKind::f16;
  if (type.isIndex() || type.isInteger(64))
    return ElementKind::i64;
  if (type.isInteger(32))
    return ElementKind::i32;
  if (type.isInteger(16))
    return ElementKind::i16;
  if (type.isInteger(8))
    return ElementKind::i8;
  if (type.isInteger(1))
    return ElementKind::i1;
  return std::nullopt;
}

/// The most numbers that an op reduces to one.
static int64_t countAdded(KernelSource source) {
  int64_t most = 1;
  source.twin.walk([&](linalg::LinalgOp op) {
    int64_t count = 1;
    for (auto [size, kind] :
         llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction)
        count *= size;
    most = std::max(most, count);
  });
  return most;
}

static bool usesTf32(KernelSource source) {
  return source.threads
      .walk([](NVVM::ConvertFloatToTF32Op) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// The largest relative error of a rounding of the narrowest sums and products.
static double getUnit(KernelSource source) {
  double unit = 0;
  // Attention rounds exponentials, and what it makes of them, before it
  // multiplies them.
  if (pipe::AttentionOpInterface op = findAttention(source))
    if (auto kind = getKind(op.getQueryType().getElementType()))
      return std::max(epsilonOf(*kind), usesTf32(source) ? 0x1p-11 : 0);
  source.twin.walk([&](Operation *op) {
    if (!isa<arith::ArithDialect>(op->getDialect()) ||
        isa<arith::ConstantOp, arith::TruncFOp, arith::ExtFOp>(op))
      return;
    auto kind = getKind(getElementTypeOrSelf(op->getResult(0).getType()));
    unit = std::max(unit, kind ? epsilonOf(*kind) : 0);
  });
  return unit;
}

/// True if an op reads what `buffer`, or a view of it, has.
static bool isLoaded(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return llvm::any_of(user->getResults(), isLoaded);
    auto effects = dyn_cast<MemoryEffectOpInterface>(user);
    return !effects ||
           effects.getEffectOnValue<MemoryEffects::Read>(buffer).has_value();
  });
}

/// Describes an array whose size only the run time knows.
static KernelParam describePointer(Value argument) {
  KernelParam param;
  param.isBuffer = true;
  param.count = -1;
  for (Operation *user : argument.getUsers())
    if (auto element = dyn_cast<LLVM::GEPOp>(user)) {
      param.kind = getKind(element.getElemType());
      for (Operation *access : element->getUsers()) {
        param.isRead |= isa<LLVM::LoadOp>(access);
        param.isWritten |= isa<LLVM::StoreOp>(access);
      }
    }
  return param;
}

static KernelParam describeParam(mlir::gpu::GPUFuncOp kernel, unsigned index) {
  Value argument = kernel.getArgument(index);
  if (isa<LLVM::LLVMPointerType>(argument.getType()))
    return describePointer(argument);
  auto memref = dyn_cast<MemRefType>(argument.getType());
  KernelParam param;
  param.kind = getKind(memref ? memref.getElementType() : argument.getType());
  param.isBuffer = memref != nullptr;
  param.isRead = !memref || isLoaded(argument);
  param.isWritten =
      memref &&
      !kernel.getArgAttr(index, LLVM::LLVMDialect::getReadonlyAttrName());
  if (memref)
    param.count = memref.hasStaticShape() ? memref.getNumElements() : -1;
  return param;
}

/// The lse of a derivative of attention; null where there is none.
static Value getLse(pipe::AttentionOpInterface op) {
  return llvm::TypeSwitch<Operation *, Value>(op.getOperation())
      .Case<pipe::AttentionBackwardQOp, pipe::AttentionBackwardKVOp>(
          [](auto derivative) { return derivative.getLse(); })
      .Default([](Operation *) { return Value(); });
}

/// Shifts random data of an lse to near that of the scores, so that
/// exponentials are at most about 1, as they are with the true one.
static void shiftLse(pipe::AttentionOpInterface op, KernelInfo &info) {
  Value lse = getLse(op);
  if (!lse)
    return;
  while (Operation *view = lse.getDefiningOp())
    lse = view->getOperand(0);
  KernelParam &param = info.params[cast<BlockArgument>(lse).getArgNumber()];
  param.shift = std::log(static_cast<double>(op.getScoreShape().back())) + 1;
  // The mean of a product of positive numbers is about 1.1.
  param.positiveShift =
      param.shift +
      1.1 * op.getScale().convertToDouble() *
          static_cast<double>(op.getQueryType().getShape().back());
}

/// All of the kernel's shared buffers, each a multiple of 16 bytes, if they are
/// more than what a kernel may have without asking for it.
static int64_t getSharedBytes(mlir::gpu::GPUFuncOp kernel) {
  constexpr int64_t mostStatic = 48 << 10;
  int64_t bytes = 0;
  for (BlockArgument buffer : kernel.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(buffer.getType());
    Type element = type.getElementType();
    int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    bytes += llvm::alignTo(
        static_cast<uint64_t>(type.getNumElements() * ((bits + 7) / 8)), 16);
  }
  return bytes > mostStatic ? bytes : 0;
}

KernelInfo veeline::gpu::describe(KernelSource source) {
  KernelInfo info;
  mlir::gpu::GPUFuncOp kernel = source.threads;
  auto read = [](std::optional<ArrayRef<int32_t>> sizes, unsigned dim) {
    return sizes ? int64_t((*sizes)[dim]) : 1;
  };
  info.blockSize = read(kernel.getKnownBlockSize(), 0);
  for (unsigned dim = 0; dim < 3; ++dim)
    info.grid[dim] = read(kernel.getKnownGridSize(), dim);
  info.sharedBytes = getSharedBytes(kernel);
  info.numParams = kernel.getNumArguments();
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    info.params.push_back(describeParam(kernel, i));
  info.addsFloats = hasFloatReduction(source);
  info.numAdded = countAdded(source);
  info.unit = getUnit(source);
  info.indexedSize = getIndexedSize(source);
  info.callsDoubleFunctions = callsDoubleFunctions(source);
  if (pipe::AttentionOpInterface op = findAttention(source))
    shiftLse(op, info);
  return info;
}
