//===- Ranges.cpp - valid ranges of a model's integers --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "veeline/Compiler/Metadata.h"

#include <limits>

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;
using namespace veeline::pipe;

namespace {
/// Valid numbers are at least `low` and less than `high`.
struct Bounds {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();

  bool isKnown() const {
    return low != std::numeric_limits<int64_t>::min() ||
           high != std::numeric_limits<int64_t>::max();
  }
  bool contains(double value) const {
    return value >= static_cast<double>(low) &&
           value < static_cast<double>(high);
  }
  void meet(const Bounds &other) {
    low = std::max(low, other.low);
    high = std::min(high, other.high);
  }
};

/// Finds the valid numbers of a value of a pipeline or chunk: those that are
/// valid indices for all dimensions that the value, perhaps cast or reshaped,
/// indexes. Follows values through chunks.
class BoundsFinder {
public:
  explicit BoundsFinder(PipelineOp pipeline);
  /// `isFloat`: the value was a float before casts.
  Bounds find(Value value, bool isFloat);

private:
  Bounds findAt(OpOperand &use, bool isFloat);
  Bounds findAtSelect(arith::SelectOp select, Value value, bool isFloat);
  Bounds findAtLimit(Operation *user, OpOperand &use);
  Bounds findAtChunk(ChunkOp chunk, unsigned operand, bool isFloat);
  Bounds findAtReturn(OpOperand &use, bool isFloat);
  Bounds findAtExtract(tensor::ExtractOp extract, unsigned operand,
                       bool isFloat);
  Bounds findWrapped(arith::SelectOp select, Value index);

  SymbolTableCollection symbols;
  /// For each primal function, the chunks that run it.
  DenseMap<Operation *, SmallVector<ChunkOp>> chunksOf;
};
} // namespace

BoundsFinder::BoundsFinder(PipelineOp pipeline) {
  for (auto chunk : pipeline.getOps<ChunkOp>())
    if (Operation *primal =
            symbols.lookupNearestSymbolFrom(chunk, chunk.getPrimalAttr()))
      chunksOf[primal].push_back(chunk);
}

/// The bounds of `index` if `select` makes negative indices count from the end,
/// in the form that exporters write: x < 0 ? x + size : x.
Bounds BoundsFinder::findWrapped(arith::SelectOp select, Value index) {
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
  Bounds bounds = find(select.getResult(), /*isFloat=*/false);
  if (bounds.isKnown())
    bounds.low -= size.getSExtValue();
  return bounds;
}

static bool isOrder(arith::CmpIPredicate predicate) {
  return predicate != arith::CmpIPredicate::eq &&
         predicate != arith::CmpIPredicate::ne;
}

/// Whether `user` limits `value` by a constant: a minimum, maximum or select.
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

/// Whether `op` returns the number that it takes, in another type or
/// arrangement. It may drop the fraction of a float, because that leaves it
/// within integer bounds. A conversion to a narrower float does not count: it
/// may round the number beyond them.
static bool keepsNumber(Operation *op) {
  return isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp, arith::ExtFOp, arith::FPToSIOp,
             arith::FPToUIOp, math::FloorOp, math::CeilOp, math::RoundOp,
             math::RoundEvenOp, math::TruncOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp, tensor::ExtractSliceOp, tensor::CastOp>(op);
}

static std::optional<double> getConstant(Value value) {
  APInt integer;
  APFloat real(0.0);
  if (matchPattern(value, m_ConstantInt(&integer)))
    return integer.signedRoundToDouble();
  if (matchPattern(value, m_ConstantFloat(&real)))
    return real.convertToDouble();
  return std::nullopt;
}

static bool isLowerLimit(Operation *op) {
  return isa<arith::MaxSIOp, arith::MaxUIOp, arith::MaximumFOp,
             arith::MaxNumFOp>(op);
}

static bool isUpperLimit(Operation *op) {
  return isa<arith::MinSIOp, arith::MinUIOp, arith::MinimumFOp,
             arith::MinNumFOp>(op);
}

Bounds BoundsFinder::find(Value value, bool isFloat) {
  isFloat |= isa<FloatType>(getElementTypeOrSelf(value.getType()));
  Bounds bounds;
  for (OpOperand &use : value.getUses())
    bounds.meet(findAt(use, isFloat));
  return bounds;
}

Bounds BoundsFinder::findAt(OpOperand &use, bool isFloat) {
  Operation *user = use.getOwner();
  if (auto chunk = dyn_cast<ChunkOp>(user))
    return findAtChunk(chunk, use.getOperandNumber(), isFloat);
  if (isa<func::ReturnOp>(user))
    return findAtReturn(use, isFloat);
  if (auto extract = dyn_cast<tensor::ExtractOp>(user))
    return findAtExtract(extract, use.getOperandNumber(), isFloat);
  if (auto structured = dyn_cast<linalg::LinalgOp>(user))
    return structured.isDpsInput(&use)
               ? find(structured.getMatchingBlockArgument(&use), isFloat)
               : Bounds();
  // A linalg op that only passes on the number.
  if (isa<linalg::YieldOp>(user))
    return find(user->getParentOp()->getResult(use.getOperandNumber()),
                isFloat);
  if (isFloat && (isLowerLimit(user) || isUpperLimit(user)))
    return findAtLimit(user, use);
  // The valid values are those before a clamp. If a clamp changes a value, the
  // value is most likely wrong: it would train the last row of a table.
  if (keepsNumber(user) || (!isFloat && isClamp(user, use.get())))
    return find(user->getResult(0), isFloat);
  if (auto select = dyn_cast<arith::SelectOp>(user))
    return findAtSelect(select, use.get(), isFloat);
  return {};
}

/// The bounds before a minimum or maximum of floats. Floats may be positions. A
/// limit within the bounds then clamps them to the nearest row, so there is no
/// bound on its side. A limit beyond the bounds is one at which a cast
/// saturates, and changes nothing.
Bounds BoundsFinder::findAtLimit(Operation *user, OpOperand &use) {
  std::optional<double> limit =
      getConstant(user->getOperand(1 - use.getOperandNumber()));
  if (!limit)
    return {};
  Bounds bounds = find(user->getResult(0), /*isFloat=*/true);
  if (!bounds.contains(*limit))
    return bounds;
  if (isLowerLimit(user))
    bounds.low = Bounds().low;
  else
    bounds.high = Bounds().high;
  return bounds;
}

/// The bounds before a select. For integers, see findWrapped. A select between
/// a float and a constant beyond the bounds is a saturation, and changes
/// nothing. Any other select leaves the bounds unknown.
Bounds BoundsFinder::findAtSelect(arith::SelectOp select, Value value,
                                  bool isFloat) {
  if (!isFloat)
    return findWrapped(select, value);
  if (value != select.getTrueValue() && value != select.getFalseValue())
    return {};
  std::optional<double> other =
      getConstant(value == select.getTrueValue() ? select.getFalseValue()
                                                 : select.getTrueValue());
  if (!other)
    return {};
  Bounds bounds = find(select.getResult(), isFloat);
  return bounds.contains(*other) ? Bounds() : bounds;
}

Bounds BoundsFinder::findAtChunk(ChunkOp chunk, unsigned operand,
                                 bool isFloat) {
  auto primal = symbols.lookupNearestSymbolFrom<func::FuncOp>(
      chunk, chunk.getPrimalAttr());
  return primal && !primal.isExternal()
             ? find(primal.getArgument(operand), isFloat)
             : Bounds();
}

Bounds BoundsFinder::findAtReturn(OpOperand &use, bool isFloat) {
  Bounds bounds;
  for (ChunkOp chunk : chunksOf.lookup(use.getOwner()->getParentOp()))
    bounds.meet(find(chunk.getResult(use.getOperandNumber()), isFloat));
  return bounds;
}

Bounds BoundsFinder::findAtExtract(tensor::ExtractOp extract, unsigned operand,
                                   bool isFloat) {
  if (operand == 0)
    return find(extract.getResult(), isFloat);
  int64_t size = extract.getTensor().getType().getDimSize(operand - 1);
  return ShapedType::isDynamic(size) ? Bounds() : Bounds{0, size};
}

void veeline::compiler::describeRanges(PipelineOp pipeline,
                                       artifact::Metadata &metadata) {
  BoundsFinder finder(pipeline);
  auto describe = [&](Value input, DenseI64ArrayAttr given, auto &entry) {
    if (Bounds bounds = finder.find(input, /*isFloat=*/false); bounds.isKnown())
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
