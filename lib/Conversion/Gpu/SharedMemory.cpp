//===- SharedMemory.cpp - placing shared buffers --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuModule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace veeline;

/// Every buffer allows accesses of 16 bytes.
static constexpr int64_t sharedAlignment = 16;

/// The offset of each buffer, and the end of the last one.
static SmallVector<int64_t> getOffsets(gpu::GPUFuncOp kernel) {
  SmallVector<int64_t> offsets = {0};
  for (BlockArgument buffer : kernel.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(buffer.getType());
    Type element = type.getElementType();
    int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    int64_t bytes = type.getNumElements() * llvm::divideCeil(bits, 8);
    offsets.push_back(llvm::alignTo(offsets.back() + bytes, sharedAlignment));
  }
  return offsets;
}

int64_t veeline::getDynamicSharedBytes(gpu::GPUFuncOp kernel) {
  int64_t bytes = getOffsets(kernel).back();
  return bytes > maxStaticSharedBytes ? bytes : 0;
}

/// Puts the shared buffers of `kernel` into dynamic shared memory.
static void useDynamic(gpu::GPUFuncOp kernel) {
  SmallVector<int64_t> offsets = getOffsets(kernel);
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Location loc = kernel.getLoc();
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type(),
                               MemRefLayoutAttrInterface(), space);
  Value all = gpu::DynamicSharedMemoryOp::create(builder, loc, bytes);
  SmallVector<BlockArgument> buffers(kernel.getWorkgroupAttributions());
  for (auto [buffer, offset] : llvm::zip(buffers, offsets)) {
    Value place = arith::ConstantIndexOp::create(builder, loc, offset);
    buffer.replaceAllUsesWith(
        memref::ViewOp::create(builder, loc, cast<MemRefType>(buffer.getType()),
                               all, place, ValueRange()));
  }
  kernel.getBody().front().eraseArguments(kernel.getNumArguments(),
                                          buffers.size());
  kernel->removeAttr(kernel.getNumWorkgroupAttributionsAttrName());
  if (auto name = kernel.getWorkgroupAttribAttrsAttrName())
    kernel->removeAttr(name);
}

/// Gives shared buffers the number of the memory space that all conversions to
/// LLVM expect.
static void numberSharedMemory(gpu::GPUFuncOp kernel) {
  constexpr unsigned sharedSpace = 3;
  SmallVector<Value> buffers(kernel.getWorkgroupAttributions());
  kernel.walk([&](memref::ViewOp view) { buffers.push_back(view); });
  OpBuilder builder(kernel.getContext());
  for (Value buffer : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    auto numbered = MemRefType::get(type.getShape(), type.getElementType(),
                                    type.getLayout(),
                                    builder.getI64IntegerAttr(sharedSpace));
    builder.setInsertionPointAfterValue(buffer);
    auto cast = UnrealizedConversionCastOp::create(builder, kernel.getLoc(),
                                                   numbered, buffer);
    buffer.replaceAllUsesExcept(cast.getResult(0), cast);
  }
}

/// Sets the alignment of shared buffers, which limits how far LLVM merges
/// accesses. By default it would be the size of a buffer, but buffers are
/// placed one after the other.
static void alignSharedMemory(gpu::GPUFuncOp kernel) {
  OpBuilder builder(kernel.getContext());
  for (unsigned i = 0; i < kernel.getNumWorkgroupAttributions(); ++i)
    kernel.setWorkgroupAttributionAttr(
        i, LLVM::LLVMDialect::getAlignAttrName(),
        builder.getI64IntegerAttr(sharedAlignment));
}

void veeline::lowerSharedMemory(gpu::GPUModuleOp module) {
  for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
    if (getDynamicSharedBytes(kernel))
      useDynamic(kernel);
    alignSharedMemory(kernel);
    numberSharedMemory(kernel);
  }
}
