//===- ControlFlow.cpp - loops and branches on tensors in memory ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ControlFlow.h"

#include "veeline/Analysis/TensorEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// Before bufferization
//===----------------------------------------------------------------------===//

/// The operand in whose memory bufferization would place `value`, or null.
static OpOperand *getMemory(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return nullptr;
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
          tensor::ExtractSliceOp, tensor::CastOp>(op))
    return &op->getOpOperand(0);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return &loop.getInitArgsMutable()[number];
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return &insert.getDestMutable();
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return destination.getDpsInitOperand(number);
  return nullptr;
}

/// The tensor in whose memory `value` may be.
static Value getSource(Value value) {
  while (OpOperand *memory = getMemory(value))
    value = memory->get();
  return value;
}

/// True if `value` is `argument` updated in place, and no op uses the old
/// content after an update.
static bool isUpdateOf(Value value, Value argument) {
  while (value != argument) {
    OpOperand *memory = getMemory(value);
    if (!memory)
      return false;
    Operation *op = memory->getOwner();
    for (Operation *user : memory->get().getUsers()) {
      Operation *other = op->getBlock()->findAncestorOpInBlock(*user);
      if (other != op && (!other || op->isBeforeInBlock(other)))
        return false;
    }
    value = memory->get();
  }
  return true;
}

static Value copyTensor(OpBuilder &builder, Location loc, Value tensor) {
  Value empty =
      createEmpty(builder, loc, cast<RankedTensorType>(tensor.getType()));
  return linalg::CopyOp::create(builder, loc, tensor, empty).getResult(0);
}

static void storeInto(OpBuilder &builder, OpOperand &yielded, Value memory) {
  Location loc = yielded.getOwner()->getLoc();
  yielded.set(bufferization::MaterializeInDestinationOp::create(
                  builder, loc, yielded.get().getType(), yielded.get(), memory)
                  .getResult());
}

/// Makes an iteration leave each tensor in the memory of the argument that
/// carries it. If a yielded tensor is in the memory of another argument, it is
/// copied before anything is overwritten.
static void carryInPlace(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  OpBuilder builder(yield);
  SmallVector<std::pair<OpOperand *, Value>> stores;
  for (auto [operand, argument] :
       llvm::zip(yield->getOpOperands(), loop.getRegionIterArgs())) {
    if (!isa<RankedTensorType>(argument.getType()) ||
        isUpdateOf(operand.get(), argument))
      continue;
    if (isa<BlockArgument>(getSource(operand.get())))
      operand.set(copyTensor(builder, loop.getLoc(), operand.get()));
    stores.push_back({&operand, argument});
  }
  for (auto [operand, argument] : stores)
    storeInto(builder, *operand, argument);
}

/// Turns an arith.select between tensors into a structured op, because a select
/// between buffers would return a buffer at an unknown place. Canonicalization
/// creates such selects from branches that compute nothing.
static void chooseElements(arith::SelectOp select) {
  auto type = dyn_cast<RankedTensorType>(select.getType());
  if (!type || !select.getCondition().getType().isInteger(1))
    return;
  OpBuilder builder(select);
  Location loc = select.getLoc();
  Value chosen = createElementwise(
      builder, loc, type.getElementType(),
      {select.getTrueValue(), select.getFalseValue()},
      [&](OpBuilder &body, ValueRange arguments) -> Value {
        return arith::SelectOp::create(body, loc, select.getCondition(),
                                       arguments[0], arguments[1]);
      });
  select.replaceAllUsesWith(chosen);
  select.erase();
}

/// Copies the results of a branch to buffers of their own. So until
/// bufferization is over, they share memory with neither side.
static void copyResults(scf::IfOp op) {
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  for (Value result : op.getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || result.use_empty())
      continue;
    auto copy = bufferization::AllocTensorOp::create(
        builder, op.getLoc(), type, ValueRange(), /*copy=*/result);
    result.replaceAllUsesExcept(copy, copy);
  }
}

void veeline::chooseCarriedMemory(func::FuncOp func) {
  func.walk([](arith::SelectOp op) { chooseElements(op); });
  func.walk([](scf::IfOp op) { copyResults(op); });
  func.walk([](scf::ForOp loop) { carryInPlace(loop); });
}

//===----------------------------------------------------------------------===//
// After bufferization
//===----------------------------------------------------------------------===//

static Value lookThroughCasts(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  return value;
}

static bool isBuffer(Value value) { return isa<MemRefType>(value.getType()); }

static LogicalResult refuse(Operation *op, Value value) {
  return op->emitError() << "a tensor that this op carries cannot stay in one "
                            "place in memory, of type "
                         << value.getType();
}

/// Replaces `loop` by one that carries no buffers.
static LogicalResult dropBuffers(RewriterBase &rewriter, scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  SmallVector<Value> inits, yields;
  for (auto [init, argument, yielded] : llvm::zip(
           loop.getInitArgs(), loop.getRegionIterArgs(), yield.getOperands())) {
    if (!isBuffer(init)) {
      inits.push_back(init);
      yields.push_back(yielded);
    } else if (lookThroughCasts(yielded) != argument) {
      return refuse(loop, init);
    }
  }
  if (inits.size() == loop.getNumResults())
    return success();
  rewriter.setInsertionPoint(loop);
  auto replacement =
      scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep(), inits);
  SmallVector<Value> arguments = {replacement.getInductionVar()}, results;
  unsigned next = 0;
  for (Value init : loop.getInitArgs()) {
    arguments.push_back(isBuffer(init) ? init
                                       : replacement.getRegionIterArg(next));
    results.push_back(isBuffer(init) ? init : replacement.getResult(next));
    next += !isBuffer(init);
  }
  if (inits.empty())
    rewriter.eraseOp(replacement.getBody()->getTerminator());
  rewriter.mergeBlocks(loop.getBody(), replacement.getBody(), arguments);
  Operation *end = replacement.getBody()->getTerminator();
  rewriter.setInsertionPoint(end);
  SmallVector<Value> kept;
  for (Value value : end->getOperands())
    if (!isBuffer(value))
      kept.push_back(value);
  rewriter.replaceOpWithNewOp<scf::YieldOp>(end, kept);
  rewriter.replaceOp(loop, results);
  return success();
}

/// Makes `region`, one side of a branch, compute its yielded value `number` in
/// `memory`.
static void storeResult(RewriterBase &rewriter, Region &region, unsigned number,
                        Value memory) {
  Operation *yield = region.front().getTerminator();
  Value value = lookThroughCasts(yield->getOperand(number));
  auto alloc = value.getDefiningOp<memref::AllocOp>();
  if (alloc && alloc->getBlock() == &region.front() &&
      alloc.getType() == memory.getType()) {
    rewriter.replaceOp(alloc, memory);
    return;
  }
  rewriter.setInsertionPoint(yield);
  memref::CopyOp::create(rewriter, yield->getLoc(), value, memory);
}

/// Replaces `op` by one without results that are buffers.
static void dropResults(RewriterBase &rewriter, scf::IfOp op) {
  SmallVector<Type> types = llvm::filter_to_vector(
      op.getResultTypes(), [](Type type) { return !isa<MemRefType>(type); });
  if (types.size() == op.getNumResults())
    return;
  rewriter.setInsertionPoint(op);
  auto replacement = scf::IfOp::create(rewriter, op.getLoc(), types,
                                       op.getCondition(), /*withElse=*/true);
  for (auto [region, old] :
       llvm::zip(replacement->getRegions(), op->getRegions())) {
    region.takeBody(old);
    Operation *yield = region.front().getTerminator();
    SmallVector<Value> kept = llvm::filter_to_vector(
        yield->getOperands(), [](Value value) { return !isBuffer(value); });
    yield->setOperands(kept);
  }
  unsigned next = 0;
  for (OpResult result : op.getResults())
    if (!isBuffer(result))
      rewriter.replaceAllUsesWith(result, replacement.getResult(next++));
  rewriter.eraseOp(op);
}

/// Makes both sides of a branch write to buffers that are allocated before it.
static LogicalResult dropBuffers(RewriterBase &rewriter, scf::IfOp op) {
  for (OpResult result : op.getResults()) {
    auto type = dyn_cast<MemRefType>(result.getType());
    if (!type)
      continue;
    if (!type.hasStaticShape())
      return refuse(op, result);
    rewriter.setInsertionPoint(op);
    Value memory = memref::AllocOp::create(
        rewriter, op.getLoc(),
        MemRefType::get(type.getShape(), type.getElementType()));
    for (Region &region : op->getRegions())
      storeResult(rewriter, region, result.getResultNumber(), memory);
    rewriter.setInsertionPoint(op);
    if (memory.getType() != type)
      memory = memref::CastOp::create(rewriter, op.getLoc(), type, memory);
    rewriter.replaceAllUsesWith(result, memory);
  }
  dropResults(rewriter, op);
  return success();
}

LogicalResult veeline::removeCarriedBuffers(RewriterBase &rewriter,
                                            func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::IfOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (failed(loop ? dropBuffers(rewriter, loop)
                    : dropBuffers(rewriter, cast<scf::IfOp>(op))))
      return failure();
  }
  return success();
}

void veeline::hoistAllocations(func::FuncOp func) {
  Block &entry = func.getBody().front();
  SmallVector<Operation *> buffers;
  func.walk([&](Operation *op) {
    if (isa<memref::AllocOp, memref::GetGlobalOp>(op) &&
        op->getNumOperands() == 0)
      buffers.push_back(op);
  });
  for (Operation *op : llvm::reverse(buffers))
    op->moveBefore(&entry, entry.begin());
}
