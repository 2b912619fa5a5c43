//===- CountedWhile.cpp - loops that count, as scf.for --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters of JAX and StableHLO write a loop with a known number of iterations
// as an `scf.while` with a counter, which is often a tensor of rank 0. This
// file evaluates all values on which the condition depends, one iteration after
// the other.
//
//===----------------------------------------------------------------------===//

#include "CountedWhile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace veeline::autodiff;

/// A loop with more iterations than this is not changed.
static constexpr int64_t mostIterations = int64_t{1} << 16;

//===----------------------------------------------------------------------===//
// Integers in one iteration
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates integers, and tensors of one integer, from known ones.
class Evaluator {
public:
  void set(Value value, IntegerAttr number) { known[value] = number; }
  /// Returns null if `value` depends on something unknown.
  IntegerAttr get(Value value);

private:
  IntegerAttr compute(Value value);
  IntegerAttr fold(Operation *op);
  IntegerAttr getYielded(linalg::LinalgOp op, unsigned result);

  DenseMap<Value, IntegerAttr> known;
};
} // namespace

static bool isInteger(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return (!tensor || tensor.getRank() == 0) &&
         getElementTypeOrSelf(type).isIntOrIndex();
}

static IntegerAttr toNumber(Attribute attribute) {
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attribute))
    return dense.isSplat() ? dense.getSplatValue<IntegerAttr>() : IntegerAttr();
  return dyn_cast_or_null<IntegerAttr>(attribute);
}

IntegerAttr Evaluator::get(Value value) {
  if (!isInteger(value.getType()))
    return {};
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  IntegerAttr number = compute(value);
  known[value] = number;
  return number;
}

IntegerAttr Evaluator::compute(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return toNumber(constant);
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return get(extract.getTensor());
  if (auto elements = dyn_cast<tensor::FromElementsOp>(op))
    return get(elements.getElements().front());
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return getYielded(structured, cast<OpResult>(value).getResultNumber());
  return isa<arith::ArithDialect>(op->getDialect()) ? fold(op) : IntegerAttr();
}

/// Evaluates a result of a structured op that has no loops, so that its body
/// computes one element.
IntegerAttr Evaluator::getYielded(linalg::LinalgOp op, unsigned result) {
  if (op.getNumLoops() != 0)
    return {};
  for (OpOperand &operand : op->getOpOperands())
    known[op.getMatchingBlockArgument(&operand)] = get(operand.get());
  return get(op.getBlock()->getTerminator()->getOperand(result));
}

IntegerAttr Evaluator::fold(Operation *op) {
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    IntegerAttr number = get(operand);
    if (!number)
      return {};
    auto tensor = dyn_cast<RankedTensorType>(operand.getType());
    operands.push_back(
        tensor ? Attribute(DenseElementsAttr::get(tensor, number.getValue()))
               : number);
  }
  SmallVector<OpFoldResult> results;
  if (op->getNumResults() != 1 || failed(op->fold(operands, results)) ||
      results.size() != 1)
    return {};
  if (auto value = dyn_cast<Value>(results.front()))
    return get(value);
  return toNumber(cast<Attribute>(results.front()));
}

//===----------------------------------------------------------------------===//
// All iterations
//===----------------------------------------------------------------------===//

namespace {
class CountedWhile {
public:
  explicit CountedWhile(scf::WhileOp loop) : loop(loop) {}

  /// Evaluates all iterations. Returns whether their number is known.
  bool count();
  void replace();

private:
  bool forwardsArguments();
  void findSteps();
  Value counterAt(OpBuilder &builder, unsigned slot, Value iteration);
  Value counterAtEnd(OpBuilder &builder, unsigned slot);
  bool isCounter(unsigned slot) { return steps[slot].has_value(); }

  scf::WhileOp loop;
  /// For each argument of the body, the number of the carried value.
  SmallVector<unsigned> slotOf;
  /// For each carried value, its numbers before each iteration and after the
  /// last. The list is shorter if one of them is unknown.
  SmallVector<SmallVector<APInt>> numbers;
  /// For each carried value, the amount by which it grows in each iteration.
  /// None if that varies.
  SmallVector<std::optional<int64_t>> steps;
  int64_t iterations = 0;
};
} // namespace

bool CountedWhile::forwardsArguments() {
  Block *before = loop.getBeforeBody();
  for (Value value : loop.getConditionOp().getArgs()) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != before)
      return false;
    slotOf.push_back(argument.getArgNumber());
  }
  return llvm::all_of(before->without_terminator(),
                      [](Operation &op) { return isMemoryEffectFree(&op); });
}

bool CountedWhile::count() {
  if (!forwardsArguments())
    return false;
  SmallVector<IntegerAttr> state;
  Evaluator outside;
  for (Value init : loop.getInits())
    state.push_back(outside.get(init));
  numbers.resize(state.size());
  while (true) {
    for (auto [sequence, number] : llvm::zip_equal(numbers, state))
      if (number && static_cast<int64_t>(sequence.size()) == iterations)
        sequence.push_back(number.getValue());
    Evaluator inside;
    for (auto [argument, number] :
         llvm::zip_equal(loop.getBeforeArguments(), state))
      inside.set(argument, number);
    for (auto [argument, slot] :
         llvm::zip_equal(loop.getAfterArguments(), slotOf))
      inside.set(argument, state[slot]);
    IntegerAttr goesOn = inside.get(loop.getConditionOp().getCondition());
    if (goesOn && goesOn.getValue().isZero())
      return true;
    if (!goesOn || iterations == mostIterations)
      return false;
    ++iterations;
    for (auto [number, next] :
         llvm::zip_equal(state, loop.getYieldOp().getOperands()))
      number = inside.get(next);
  }
}

void CountedWhile::findSteps() {
  for (ArrayRef<APInt> sequence : numbers) {
    steps.emplace_back();
    if (static_cast<int64_t>(sequence.size()) != iterations + 1)
      continue;
    APInt step = iterations == 0 ? APInt::getZero(sequence[0].getBitWidth())
                                 : sequence[1] - sequence[0];
    bool isEven = true;
    for (int64_t i = 0; i != iterations; ++i)
      isEven &= sequence[i + 1] - sequence[i] == step;
    unsigned width = sequence[0].getBitWidth();
    if (isEven && width > 1 && width <= 64)
      steps.back() = step.getSExtValue();
  }
}

static Value toType(OpBuilder &builder, Location loc, Value index, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!element.isIndex())
    index = arith::IndexCastOp::create(builder, loc, element, index);
  if (isa<RankedTensorType>(type))
    return tensor::FromElementsOp::create(builder, loc, type, index);
  return index;
}

Value CountedWhile::counterAt(OpBuilder &builder, unsigned slot,
                              Value iteration) {
  Location loc = loop.getLoc();
  auto index = [&](int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  Value number = iteration;
  if (*steps[slot] != 1)
    number = arith::MulIOp::create(builder, loc, number, index(*steps[slot]));
  if (!numbers[slot].front().isZero())
    number = arith::AddIOp::create(builder, loc, number,
                                   index(numbers[slot].front().getSExtValue()));
  return toType(builder, loc, number, loop.getInits()[slot].getType());
}

Value CountedWhile::counterAtEnd(OpBuilder &builder, unsigned slot) {
  Location loc = loop.getLoc();
  Value number = arith::ConstantIndexOp::create(
      builder, loc, numbers[slot].back().getSExtValue());
  return toType(builder, loc, number, loop.getInits()[slot].getType());
}

void CountedWhile::replace() {
  findSteps();
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  SmallVector<unsigned> carried;
  SmallVector<Value> inits;
  for (unsigned slot = 0; slot != steps.size(); ++slot)
    if (!isCounter(slot)) {
      carried.push_back(slot);
      inits.push_back(loop.getInits()[slot]);
    }
  auto index = [&](int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  SmallVector<Value> results(steps.size());
  auto replacement = scf::ForOp::create(
      builder, loc, index(0), index(iterations), index(1), inits,
      [&](OpBuilder &nested, Location, Value iteration, ValueRange arguments) {
        SmallVector<Value> values(steps.size());
        for (auto [slot, argument] : llvm::zip_equal(carried, arguments))
          values[slot] = argument;
        IRMapping mapping;
        for (auto [argument, slot] :
             llvm::zip_equal(loop.getAfterArguments(), slotOf)) {
          if (!values[slot])
            values[slot] = counterAt(nested, slot, iteration);
          mapping.map(argument, values[slot]);
        }
        for (Operation &op : loop.getAfterBody()->without_terminator())
          nested.clone(op, mapping);
        SmallVector<Value> next;
        for (unsigned slot : carried)
          next.push_back(
              mapping.lookupOrDefault(loop.getYieldOp().getOperand(slot)));
        scf::YieldOp::create(nested, loc, next);
      });
  for (auto [slot, result] : llvm::zip_equal(carried, replacement.getResults()))
    results[slot] = result;
  for (auto [result, slot] : llvm::zip_equal(loop.getResults(), slotOf)) {
    if (!results[slot])
      results[slot] = counterAtEnd(builder, slot);
    result.replaceAllUsesWith(results[slot]);
  }
  loop.erase();
}

void veeline::autodiff::replaceByFor(scf::WhileOp loop) {
  CountedWhile counted(loop);
  if (counted.count())
    counted.replace();
}
