//===- SumKernel.cpp - sums over replicas ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only kernel with a dynamic extent: the runtime launches it for as many
// elements as a share of a reduction has.
//
//===----------------------------------------------------------------------===//

#include "GpuModule.h"
#include "KernelClass.h"
#include "veeline/Conversion/KernelTable.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace veeline;

std::string veeline::getSumKernelName(Type type, int64_t count) {
  std::string name;
  llvm::raw_string_ostream(name) << "sum_" << type << '_' << count;
  return name;
}

/// The number of the thread's first element. Its next elements are as far apart
/// as a block has threads.
static Value getFirst(OpBuilder &builder, Location loc) {
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value size =
      arith::ConstantIndexOp::create(builder, loc, sumElementsPerBlock);
  Value start = arith::MulIOp::create(builder, loc, block, size);
  Value first = arith::AddIOp::create(builder, loc, start, thread);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), first);
}

/// Adds up element `index`.
static void addElement(OpBuilder &builder, Location loc, Type type,
                       ValueRange arguments, Value index) {
  Type ptr = LLVM::LLVMPointerType::get(builder.getContext());
  auto getAddress = [&](Value base) -> Value {
    return LLVM::GEPOp::create(builder, loc, ptr, type, base,
                               ArrayRef<LLVM::GEPArg>{index});
  };
  Value sum;
  for (Value contribution : arguments.drop_front().drop_back()) {
    Value next =
        LLVM::LoadOp::create(builder, loc, type, getAddress(contribution));
    sum =
        sum ? arith::AddFOp::create(builder, loc, sum, next).getResult() : next;
  }
  LLVM::StoreOp::create(builder, loc, sum, getAddress(arguments.front()));
}

/// Emits the work of a thread, which sums four elements of its block.
static void writeThread(gpu::GPUFuncOp function, Type type) {
  Location loc = function.getLoc();
  OpBuilder body = OpBuilder::atBlockEnd(&function.getBody().front());
  Value count = function.getArguments().back();
  Value first = getFirst(body, loc);
  for (int64_t i = 0; i < sumElementsPerBlock; i += threadsPerBlock) {
    Value step = arith::ConstantIntOp::create(body, loc, i, 64);
    Value index = arith::AddIOp::create(body, loc, first, step);
    Value exists = arith::CmpIOp::create(body, loc, arith::CmpIPredicate::slt,
                                         index, count);
    auto branch =
        scf::IfOp::create(body, loc, exists, /*withElseRegion=*/false);
    OpBuilder inside = branch.getThenBodyBuilder();
    addElement(inside, loc, type, function.getArguments(), index);
  }
  gpu::ReturnOp::create(body, loc);
}

/// Emits the counterpart for a CPU.
static void writeTwin(func::FuncOp twin, Type type) {
  Location loc = twin.getLoc();
  OpBuilder body = OpBuilder::atBlockEnd(twin.addEntryBlock());
  Value count = arith::IndexCastOp::create(body, loc, body.getIndexType(),
                                           twin.getArguments().back());
  Value zero = arith::ConstantIndexOp::create(body, loc, 0);
  Value one = arith::ConstantIndexOp::create(body, loc, 1);
  auto loop = scf::ForOp::create(body, loc, zero, count, one);
  OpBuilder inside = OpBuilder::atBlockTerminator(loop.getBody());
  Value index = arith::IndexCastOp::create(inside, loc, inside.getI64Type(),
                                           loop.getInductionVar());
  addElement(inside, loc, type, twin.getArguments(), index);
  func::ReturnOp::create(body, loc);
}

void veeline::addSumKernel(gpu::GPUModuleOp module, Type type, int64_t count) {
  std::string name = getSumKernelName(type, count);
  if (module.lookupSymbol(name))
    return;
  Location loc = module.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> types(1 + count,
                          LLVM::LLVMPointerType::get(module.getContext()));
  types.push_back(builder.getI64Type());
  FunctionType signature = builder.getFunctionType(types, {});
  auto function = gpu::GPUFuncOp::create(builder, loc, name, signature);
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function->setAttr(sumKernelAttrName, builder.getUnitAttr());
  function.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(
      {static_cast<int32_t>(threadsPerBlock), 1, 1}));
  writeThread(function, type);
  builder.setInsertionPoint(module);
  auto twin = func::FuncOp::create(builder, loc, name, signature);
  twin.setPrivate();
  twin->setAttr(kernelAttrName, builder.getUnitAttr());
  twin->setAttr(sumKernelAttrName, builder.getUnitAttr());
  twin->setAttr(gpuKernelAttrName,
                SymbolRefAttr::get(module.getSymNameAttr(),
                                   {FlatSymbolRefAttr::get(function)}));
  writeTwin(twin, type);
}
