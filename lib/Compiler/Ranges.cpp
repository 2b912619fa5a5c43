//===- Ranges.cpp - which integers a model can index with -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "veeline/Compiler/Metadata.h"

#include <limits>

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;
using namespace veeline::pipe;

namespace {
/// Valid integers are those from `low` to below `high`.
struct Bounds {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();

  bool isKnown() const { return high != std::numeric_limits<int64_t>::max(); }
  void meet(const Bounds &other) {
    low = std::max(low, other.low);
    high = std::min(high, other.high);
  }
};
} // namespace

static Bounds findBounds(Value value);

/// An index that counts from the end where it is negative, as exporters write
/// it: x < 0 ? x + size : x.
static Bounds findWrappedBounds(arith::SelectOp select, Value index) {
  auto test = select.getCondition().getDefiningOp<arith::CmpIOp>();
  auto sum = select.getTrueValue().getDefiningOp<arith::AddIOp>();
  APInt zero, size;
  if (!test || !sum || select.getFalseValue() != index ||
      test.getPredicate() != arith::CmpIPredicate::slt ||
      test.getLhs() != index ||
      !matchPattern(test.getRhs(), m_ConstantInt(&zero)) || !zero.isZero() ||
      sum.getLhs() != index ||
      !matchPattern(sum.getRhs(), m_ConstantInt(&size)))
    return {};
  Bounds bounds = findBounds(select.getResult());
  if (bounds.isKnown())
    bounds.low -= size.getSExtValue();
  return bounds;
}

static bool isOrder(arith::CmpIPredicate predicate) {
  return predicate != arith::CmpIPredicate::eq &&
         predicate != arith::CmpIPredicate::ne;
}

/// Whether `user` is `value`, or a constant where that is larger or smaller.
static bool isClamp(Operation *user, Value value) {
  if (isa<arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(user))
    return matchPattern(user->getOperand(user->getOperand(0) == value),
                        m_Constant());
  auto select = dyn_cast<arith::SelectOp>(user);
  auto test = select ? select.getCondition().getDefiningOp<arith::CmpIOp>()
                     : arith::CmpIOp();
  if (!test || !isOrder(test.getPredicate()))
    return false;
  bool takesFirst = select.getTrueValue() == value;
  APInt bound, given;
  return (takesFirst || select.getFalseValue() == value) &&
         llvm::is_contained(test->getOperands(), value) &&
         matchPattern(test->getOperand(test.getLhs() == value),
                      m_ConstantInt(&bound)) &&
         matchPattern(takesFirst ? select.getFalseValue()
                                 : select.getTrueValue(),
                      m_ConstantInt(&given)) &&
         bound == given;
}

/// What `value`, or what casts and views make of it, may be to index the
/// dimensions that it indexes.
static Bounds findBounds(Value value) {
  Bounds bounds;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (auto extract = dyn_cast<tensor::ExtractOp>(user)) {
      if (use.getOperandNumber() == 0) {
        bounds.meet(findBounds(extract.getResult()));
        continue;
      }
      int64_t size =
          extract.getTensor().getType().getDimSize(use.getOperandNumber() - 1);
      if (!ShapedType::isDynamic(size))
        bounds.meet({0, size});
    } else if (auto structured = dyn_cast<linalg::LinalgOp>(user)) {
      if (structured.isDpsInput(&use))
        bounds.meet(findBounds(structured.getMatchingBlockArgument(&use)));
    } else if (isa<linalg::YieldOp>(user)) {
      // An op that only moves integers around.
      bounds.meet(
          findBounds(user->getParentOp()->getResult(use.getOperandNumber())));
    } else if (isClamp(user, value)) {
      // What a clamp would change is most likely wrong: the last row of a table
      // would be trained by whatever is beyond it.
      bounds.meet(findBounds(user->getResult(0)));
    } else if (auto select = dyn_cast<arith::SelectOp>(user)) {
      bounds.meet(findWrappedBounds(select, value));
    } else if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
                   arith::ExtUIOp, arith::TruncIOp, tensor::CollapseShapeOp,
                   tensor::ExpandShapeOp, tensor::ExtractSliceOp,
                   tensor::CastOp>(user)) {
      bounds.meet(findBounds(user->getResult(0)));
    }
  }
  return bounds;
}

/// Over all chunks that take the input.
static Bounds findInputBounds(Value input, SymbolTableCollection &symbols) {
  Bounds bounds;
  for (OpOperand &use : input.getUses()) {
    auto chunk = dyn_cast<ChunkOp>(use.getOwner());
    if (!chunk)
      continue;
    auto primal = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        chunk, chunk.getPrimalAttr());
    if (primal && !primal.isExternal())
      bounds.meet(findBounds(primal.getArgument(use.getOperandNumber())));
  }
  return bounds;
}

void veeline::compiler::describeRanges(PipelineOp pipeline,
                                       artifact::Metadata &metadata) {
  SymbolTableCollection symbols;
  auto describe = [&](Value input, DenseI64ArrayAttr given, auto &entry) {
    if (!isa<IntegerType>(cast<ShapedType>(input.getType()).getElementType()))
      return;
    if (Bounds bounds = findInputBounds(input, symbols); bounds.isKnown())
      entry.range = {bounds.low, bounds.high};
    if (!given)
      return;
    std::pair<int64_t, int64_t> all = {given[0], given[1]};
    if (entry.range)
      all = {std::max(all.first, entry.range->first),
             std::min(all.second, entry.range->second)};
    entry.range = all;
  };
  for (auto [batch, entry] :
       llvm::zip_equal(pipeline.getBatches(), metadata.batches))
    describe(batch.getValue(), batch.getRangeAttr(), entry);
  for (auto [buffer, entry] :
       llvm::zip_equal(pipeline.getBuffers(), metadata.buffers))
    describe(buffer.getValue(), buffer.getRangeAttr(), entry);
}
