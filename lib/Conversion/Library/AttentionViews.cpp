//===- AttentionViews.cpp - attention on heads without copies -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyPaths.h"
#include "LibraryCalls.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <set>
#include <tuple>

namespace veeline {
#define GEN_PASS_DEF_PIPEATTENTIONVIEWS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

/// `operand` as loops over its dimensions. None if its place is not static.
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
  // rebase() adds the offset of the view.
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

/// Creates the view of `place`, which is access `from` of `copy`, on the other
/// side of the copy. Null if there is no such view with contiguous rows.
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

/// True for operands with a matrix for each head. Masks, and operands with one
/// number for each row, have other dimensions.
static bool hasHeads(pipe::AttentionOpInterface op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  return type && type.getRank() == op.getQueryType().getRank() &&
         operand.get() != op.getMask();
}

namespace {

/// Identifies an operand: the number of the computation, the name of the op,
/// and the position.
using Heads = std::tuple<int64_t, StringRef, unsigned>;

/// Lets attention read and write heads in place, by views. A chunk's fused
/// backward, and its B and W, must call the library alike, because they compute
/// the same values, and a library may choose an implementation by strides. So
/// an operand that would get different strides in two of these functions gets
/// no view in any of them.
class ViewMaker {
public:
  explicit ViewMaker(MLIRContext *context) : rewriter(context) {}

  void run(ArrayRef<func::FuncOp> functions);

private:
  void makeViews(func::FuncOp function);
  bool findConflicts(ArrayRef<func::FuncOp> functions);

  IRRewriter rewriter;
  std::set<Heads> kept; ///< The operands that get no views.
};

} // namespace

static std::optional<Heads> getHeads(pipe::AttentionOpInterface op,
                                     OpOperand &operand) {
  std::optional<int64_t> number = pipe::getComputation(op->getLoc());
  if (!number)
    return std::nullopt;
  return Heads(*number, op->getName().getStringRef(),
               operand.getOperandNumber());
}

void ViewMaker::makeViews(func::FuncOp function) {
  SmallVector<pipe::AttentionOpInterface> ops;
  function.walk([&](pipe::AttentionOpInterface op) { ops.push_back(op); });
  for (pipe::AttentionOpInterface op : ops) {
    auto destination = cast<DestinationStyleOpInterface>(op.getOperation());
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<Heads> heads = getHeads(op, operand);
      if (!hasHeads(op, operand) || (heads && kept.count(*heads)))
        continue;
      if (destination.isDpsInit(&operand))
        writeThroughCopy(rewriter, operand);
      else
        readThroughCopy(rewriter, operand);
    }
  }
  removeDeadCopies(rewriter, function);
}

/// Adds operands that get two layouts to `kept`. Returns true if there are new
/// ones.
bool ViewMaker::findConflicts(ArrayRef<func::FuncOp> functions) {
  std::map<Heads, SmallVector<int64_t>> places;
  size_t numKept = kept.size();
  for (func::FuncOp function : functions)
    function->walk([&](pipe::AttentionOpInterface op) {
      for (OpOperand &operand : op->getOpOperands()) {
        std::optional<Heads> heads = getHeads(op, operand);
        if (!heads || !hasHeads(op, operand))
          continue;
        auto type = cast<MemRefType>(operand.get().getType());
        SmallVector<int64_t> strides;
        int64_t offset;
        if (failed(type.getStridesAndOffset(strides, offset)))
          continue;
        for (auto [size, stride] : llvm::zip(type.getShape(), strides))
          if (size == 1)
            stride = 0;
        auto [known, isNew] = places.try_emplace(*heads, strides);
        if (!isNew && known->second != strides)
          kept.insert(*heads);
      }
    });
  return kept.size() > numKept;
}

void ViewMaker::run(ArrayRef<func::FuncOp> functions) {
  SmallVector<OwningOpRef<func::FuncOp>> originals;
  for (func::FuncOp function : functions)
    originals.push_back(function.clone());
  while (true) {
    for (func::FuncOp function : functions)
      makeViews(function);
    if (!findConflicts(functions))
      return;
    for (auto [function, original] : llvm::zip_equal(functions, originals)) {
      OwningOpRef<func::FuncOp> copy = original->clone();
      func::FuncOp(function).getBody().takeBody(copy->getBody());
    }
  }
}

namespace {

struct AttentionViews : veeline::impl::PipeAttentionViewsBase<AttentionViews> {
  void runOnOperation() override {
    llvm::SetVector<func::FuncOp> rest;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        rest.insert(function);
    for (ArrayRef<func::FuncOp> functions :
         pipe::getBackwardFunctions(getOperation())) {
      ViewMaker(&getContext()).run(functions);
      for (func::FuncOp function : functions)
        rest.remove(function);
    }
    for (func::FuncOp function : rest)
      ViewMaker(&getContext()).run(function);
  }
};

} // namespace
