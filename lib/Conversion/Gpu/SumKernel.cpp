//===- SumKernel.cpp - sums over replicas ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one kernel of dynamic extent: the runtime launches it on as many elements
// as a share of a reduction has.
//
//===----------------------------------------------------------------------===//

#include "GpuModule.h"
#include "KernelClass.h"
#include "veeline/Conversion/KernelTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace veeline;

std::string veeline::getSumKernelName(Type type, int64_t count) {
  std::string name;
  llvm::raw_string_ostream(name) << "sum_" << type << '_' << count;
  return name;
}

/// The number of the thread's first element; the next ones are a block's
/// threads apart.
static Value getFirst(OpBuilder &builder, Location loc) {
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value size =
      arith::ConstantIndexOp::create(builder, loc, sumElementsPerBlock);
  Value start = arith::MulIOp::create(builder, loc, block, size);
  Value first = arith::AddIOp::create(builder, loc, start, thread);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), first);
}

/// Adds up element `index`, where there is one.
static void addElement(OpBuilder &builder, Location loc, Type type,
                       ValueRange arguments, Value index) {
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       index, arguments.back());
  auto branch =
      scf::IfOp::create(builder, loc, exists, /*withElseRegion=*/false);
  OpBuilder body = branch.getThenBodyBuilder();
  Type ptr = LLVM::LLVMPointerType::get(builder.getContext());
  auto getAddress = [&](Value base) -> Value {
    return LLVM::GEPOp::create(body, loc, ptr, type, base,
                               ArrayRef<LLVM::GEPArg>{index});
  };
  Value sum;
  for (Value contribution : arguments.drop_front().drop_back()) {
    Value next =
        LLVM::LoadOp::create(body, loc, type, getAddress(contribution));
    sum = sum ? arith::AddFOp::create(body, loc, sum, next).getResult() : next;
  }
  LLVM::StoreOp::create(body, loc, sum, getAddress(arguments.front()));
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
  auto function = gpu::GPUFuncOp::create(builder, loc, name,
                                         builder.getFunctionType(types, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function->setAttr(sumKernelAttrName, builder.getUnitAttr());
  function.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(
      {static_cast<int32_t>(threadsPerBlock), 1, 1}));
  OpBuilder body = OpBuilder::atBlockEnd(&function.getBody().front());
  Value first = getFirst(body, loc);
  for (int64_t i = 0; i < sumElementsPerBlock; i += threadsPerBlock) {
    Value step = arith::ConstantIntOp::create(body, loc, i, 64);
    addElement(body, loc, type, function.getArguments(),
               arith::AddIOp::create(body, loc, first, step));
  }
  gpu::ReturnOp::create(body, loc);
}
