//===- ProductCalls.cpp - calls of products and their readers -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductCalls.h"

#include "Kernels/StructuredOps.h"
#include "LibraryCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace veeline;

/// The op that took the address to which `pointer` belongs, or null if it is
/// unknown; and whether `pointer` is this address itself.
static std::pair<memref::ExtractAlignedPointerAsIndexOp, bool>
findBuffer(Value pointer) {
  auto toPointer = pointer.getDefiningOp<LLVM::IntToPtrOp>();
  Value address = toPointer ? toPointer.getArg() : Value();
  bool isStart = true;
  while (address) {
    Operation *op = address.getDefiningOp();
    if (auto extract =
            dyn_cast_or_null<memref::ExtractAlignedPointerAsIndexOp>(op))
      return {extract, isStart};
    isStart &= isa_and_present<arith::IndexCastOp>(op);
    bool isStep = isa_and_present<arith::IndexCastOp, arith::AddIOp>(op);
    address = isStep ? op->getOperand(0) : Value();
  }
  return {};
}

Value veeline::getStartOf(Value pointer) {
  auto address = findBuffer(pointer).first;
  return address ? address.getSource() : Value();
}

/// The operands of the call except the rank, the entry, c, and the scratch
/// memory, which no other op uses.
static SmallVector<Value> getOtherOperands(func::CallOp call) {
  SmallVector<Value> operands = {call.getOperand(2), call.getOperand(3)};
  llvm::append_range(operands, call.getOperands().drop_front(5).drop_back(1));
  return operands;
}

std::optional<ProductCall> ProductCall::match(func::CallOp call,
                                              const GemmDesc &desc) {
  auto [address, isStart] = findBuffer(call.getOperand(4));
  if (!address || !isStart)
    return std::nullopt;
  ProductCall product{call, desc, address.getSource(), false, {}};
  product.isTemporary =
      product.result.getDefiningOp<memref::AllocOp>() != nullptr;
  BufferUses uses(getRootBuffer(product.result), call->getBlock());
  if (!uses.isKnown || uses.writers.size() != 1 || uses.writers.front() != call)
    return std::nullopt;
  product.readers = uses.readers;
  return product;
}

linalg::GenericOp ProductCall::getReader(Operation *op) const {
  auto reader = dyn_cast<linalg::GenericOp>(op);
  bool isReader = reader && reader->getBlock() == call->getBlock() &&
                  call->isBeforeInBlock(reader) &&
                  reader.getNumReductionLoops() == 0 &&
                  reader.getNumDpsInits() == 1;
  return isReader ? reader : linalg::GenericOp();
}

linalg::GenericOp ProductCall::getOnlyReader() const {
  return isTemporary && readers.size() == 1 ? getReader(readers.front())
                                            : linalg::GenericOp();
}

bool ProductCall::isStoredByRows() const {
  return desc.batch.empty() && desc.cStrides[0] == desc.n &&
         desc.cStrides[1] == 1 &&
         cast<MemRefType>(result.getType()).getNumElements() == desc.m * desc.n;
}

bool ProductCall::isWhole(linalg::GenericOp op, OpOperand &operand) const {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  return type && type.getLayout().isIdentity() && type.hasStaticShape() &&
         type.getNumElements() ==
             cast<MemRefType>(result.getType()).getNumElements() &&
         op.getMatchingIndexingMap(&operand).isIdentity();
}

bool ProductCall::isProduct(linalg::GenericOp op, OpOperand &operand) const {
  return isWhole(op, operand) &&
         getRootBuffer(operand.get()) == getRootBuffer(result);
}

bool ProductCall::isUntouched(Value buffer, Operation *reader,
                              bool alsoReads) const {
  BufferUses uses(getRootBuffer(buffer), call->getBlock());
  return uses.isKnown && !anyBetween(uses.writers, call, reader) &&
         !(alsoReads && anyBetween(uses.readers, call, reader));
}

/// The buffers that the call reads, or writes besides c. None if one of them is
/// unknown.
static std::optional<SmallVector<Value>> getOtherBuffers(func::CallOp call) {
  SmallVector<Value> buffers;
  for (Value operand : getOtherOperands(call)) {
    if (operand.getDefiningOp<LLVM::ZeroOp>())
      continue;
    auto address = findBuffer(operand).first;
    if (!address)
      return std::nullopt;
    buffers.push_back(getRootBuffer(address.getSource()));
  }
  return buffers;
}

bool ProductCall::canTarget(Value target, Operation *reader) const {
  std::optional<SmallVector<Value>> others = getOtherBuffers(call);
  return others && !llvm::is_contained(*others, getRootBuffer(target)) &&
         isUntouched(target, reader, /*alsoReads=*/true);
}

bool ProductCall::canMoveTo(Operation *reader, Value target) const {
  std::optional<SmallVector<Value>> others = getOtherBuffers(call);
  return others && !llvm::is_contained(*others, getRootBuffer(target)) &&
         llvm::all_of(*others, [&](Value buffer) {
           return isUntouched(buffer, reader, /*alsoReads=*/false);
         });
}

bool ProductCall::provide(Value memref) const {
  Operation *op = memref.getDefiningOp();
  if (!op || op->getBlock() != call->getBlock() || op->isBeforeInBlock(call))
    return true;
  bool isView = isa<ViewLikeOpInterface>(op) && op->getNumOperands() == 1;
  if (!isa<memref::AllocOp>(op) && !(isView && provide(op->getOperand(0))))
    return false;
  op->moveBefore(call);
  return true;
}
