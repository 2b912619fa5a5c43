//===- AttentionViews.cpp - attention on heads where they are -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyPaths.h"
#include "LibraryCalls.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEATTENTIONVIEWS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

/// `operand` as loops over its dimensions, or nothing where its place is not
/// static.
static std::optional<LoopNest> getPlace(Value operand) {
  auto type = cast<MemRefType>(operand.getType());
  LoopNest nest;
  NestAccess access;
  access.base = operand;
  access.elementType = type.getElementType();
  access.isMemRef = true;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(access.strides, access.offset)) ||
      llvm::any_of(access.strides, ShapedType::isDynamic) ||
      ShapedType::isDynamic(access.offset))
    return std::nullopt;
  // What the view starts at counts from its buffer.
  access.offset = 0;
  if (!access.rebase())
    return std::nullopt;
  for (auto [size, stride] : llvm::zip(type.getShape(), access.strides)) {
    nest.loops.push_back({size});
    if (size == 1)
      stride = 0;
  }
  nest.accesses.push_back(std::move(access));
  return nest;
}

/// The view of what `copy` has on the other side than `from`, or null where
/// `place` is none of it with contiguous rows.
static Value createView(OpBuilder &builder, Location loc, LoopNest place,
                        const LoopNest &copy, unsigned from) {
  size_t rank = place.loops.size();
  if (!redirect(place, 0, copy, from) || place.loops.size() != rank)
    return {};
  NestAccess &access = place.accesses.front();
  SmallVector<int64_t> sizes;
  for (auto [loop, stride] : llvm::zip(place.loops, access.strides)) {
    sizes.push_back(loop.size);
    if (stride == 0)
      stride = 1;
  }
  if (access.strides.back() != 1)
    return {};
  auto layout = StridedLayoutAttr::get(builder.getContext(), access.offset,
                                       access.strides);
  return memref::ReinterpretCastOp::create(
      builder, loc, MemRefType::get(sizes, access.elementType, layout),
      access.base, access.offset, sizes, access.strides);
}

static void readThroughCopy(OpBuilder &builder, OpOperand &operand) {
  Operation *op = operand.getOwner();
  std::optional<LoopNest> place = getPlace(operand.get());
  if (!place)
    return;
  auto copy = findCopyInto(place->accesses.front().base, op);
  if (!copy)
    return;
  builder.setInsertionPoint(op);
  if (Value view = createView(builder, op->getLoc(), *place, *copy, 1))
    operand.set(view);
}

static void writeThroughCopy(RewriterBase &rewriter, OpOperand &operand) {
  Operation *op = operand.getOwner();
  std::optional<LoopNest> place = getPlace(operand.get());
  if (!place)
    return;
  auto copy = findCopyOf(place->accesses.front().base, op);
  if (!copy)
    return;
  rewriter.setInsertionPoint(op);
  Value view = createView(rewriter, op->getLoc(), *place, *copy, 0);
  if (!view)
    return;
  operand.set(view);
  replaceCopy(rewriter, *copy, view.getDefiningOp());
}

namespace {

struct AttentionViews : veeline::impl::PipeAttentionViewsBase<AttentionViews> {
  void runOnOperation() override {
    SmallVector<pipe::AttentionOpInterface> ops;
    getOperation().walk(
        [&](pipe::AttentionOpInterface op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (pipe::AttentionOpInterface op : ops) {
      auto destination = cast<DestinationStyleOpInterface>(op.getOperation());
      // Masks and numbers of a row have other dimensions.
      size_t rank = op.getQueryType().getRank();
      for (OpOperand &operand : op->getOpOperands()) {
        auto type = dyn_cast<MemRefType>(operand.get().getType());
        if (!type || static_cast<size_t>(type.getRank()) != rank ||
            operand.get() == op.getMask())
          continue;
        if (destination.isDpsInit(&operand))
          writeThroughCopy(rewriter, operand);
        else
          readThroughCopy(rewriter, operand);
      }
    }
    removeDeadCopies(rewriter, getOperation());
  }
};

} // namespace
