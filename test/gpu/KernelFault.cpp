//===- KernelFault.cpp - kernels made wrong on purpose --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFault.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace veeline::gpu;

static bool isSite(Operation *op, KernelFault fault) {
  switch (fault) {
  case KernelFault::barrier:
    return isa<mlir::gpu::BarrierOp>(op);
  case KernelFault::bound: {
    auto compare = dyn_cast<arith::CmpIOp>(op);
    return compare && compare.getPredicate() == arith::CmpIPredicate::ult &&
           compare.getLhs().getType().isIndex() &&
           getConstantIntValue(compare.getRhs());
  }
  case KernelFault::shuffle: {
    auto shuffle = dyn_cast<mlir::gpu::ShuffleOp>(op);
    return shuffle && getConstantIntValue(shuffle.getOffset());
  }
  case KernelFault::store:
    return isa<memref::StoreOp, vector::StoreOp>(op);
  case KernelFault::wait:
    return isa<NVVM::CpAsyncWaitGroupOp>(op);
  }
  return false;
}

std::vector<Operation *>
veeline::gpu::findFaultSites(mlir::gpu::GPUFuncOp kernel, KernelFault fault) {
  std::vector<Operation *> sites;
  kernel.walk([&](Operation *op) {
    if (isSite(op, fault))
      sites.push_back(op);
  });
  return sites;
}

/// Replaces a constant operand.
static void setConstant(OpOperand &operand, int64_t value) {
  OpBuilder builder(operand.getOwner());
  Type type = operand.get().getType();
  operand.set(arith::ConstantOp::create(builder, operand.getOwner()->getLoc(),
                                        builder.getIntegerAttr(type, value)));
}

void veeline::gpu::makeFault(Operation *op, KernelFault fault) {
  if (fault == KernelFault::bound) {
    OpOperand &limit = op->getOpOperand(1);
    // By 16: the compared index may move in steps of an access's elements.
    setConstant(limit, *getConstantIntValue(limit.get()) + 16);
  } else if (fault == KernelFault::shuffle) {
    OpOperand &offset = op->getOpOperand(1);
    int64_t lanes = *getConstantIntValue(offset.get());
    setConstant(offset, lanes > 1 ? lanes / 2 : lanes + 1);
  } else {
    op->erase();
  }
}
