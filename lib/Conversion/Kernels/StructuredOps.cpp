//===- StructuredOps.cpp - queries on structured ops ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StructuredOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"

using namespace mlir;

bool veeline::isMatrixProduct(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !op.getNumReductionLoops() || !linalg::isaContractionOpInterface(op))
    return false;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  return succeeded(dims) && !dims->m.empty() && !dims->n.empty();
}

Value veeline::getRootBuffer(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
    if (isa<memref::ViewOp>(view.getOperation()))
      break;
    memref = view.getViewSource();
  }
  return memref;
}

bool veeline::isWrite(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.isDpsInit(&use);
  if (isa<pipe::AttentionOpInterface>(op))
    return cast<DestinationStyleOpInterface>(op).isDpsInit(&use);
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return &use == &copy.getTargetMutable();
  return !isa<memref::LoadOp>(op) && !op->hasAttr(readsOnlyAttrName);
}

veeline::BufferUses::BufferUses(Value root, Block *block) { add(root, block); }

/// Finds the ops that use `address`, or an address computed from it. Several
/// calls may share the op that takes the address.
static void findUsers(Value address, SmallVectorImpl<Operation *> &users) {
  for (Operation *user : address.getUsers())
    if (isa<arith::ArithDialect>(user->getDialect()) ||
        isa<LLVM::IntToPtrOp>(user))
      findUsers(user->getResult(0), users);
    else
      users.push_back(user);
}

void veeline::BufferUses::add(Value value, Block *block) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
      add(view.getViewDest(), block);
      continue;
    }
    SmallVector<Operation *> users = {op};
    if (auto address = dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(op)) {
      users.clear();
      findUsers(address.getResult(), users);
    }
    for (Operation *user : users) {
      Operation *ancestor = block->findAncestorOpInBlock(*user);
      isKnown &=
          ancestor && llvm::none_of(user->getResultTypes(), [](Type type) {
            return isa<BaseMemRefType>(type);
          });
      if (ancestor)
        (isWrite(use) ? writers : readers).push_back(ancestor);
    }
  }
}
