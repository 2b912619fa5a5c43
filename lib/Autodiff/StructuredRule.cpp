//===- StructuredRule.cpp - the rule of structured ops --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Autodiff/StructuredRule.h"

#include "Activity.h"
#include "BodyAdjoint.h"
#include "Emit.h"
#include "Extrema.h"
#include "StructuredAdjoint.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Analysis/FloatConversion.h"
#include "veeline/Analysis/TensorEmit.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

namespace {

/// The way in which an output is computed.
enum class OutputKind {
  /// Each element is written by one iteration, which may read the init.
  Elementwise,
  /// The init plus the sum over the iterations that share the element.
  Sum,
  /// The maximum or minimum of the init and the iterations that share the
  /// element.
  Extremum,
  /// The init times the product over the iterations that share the element.
  Product,
};

struct Output {
  OutputKind kind = OutputKind::Elementwise;
  /// The gradient of the result, or null.
  Value gradient;
  /// For an extremum or a product, the value of the body that it combines.
  Value candidate;
  /// For a product, the gradient of its factor that is 0, if it is the only
  /// one. The gradient of any other factor is `gradient` divided by the factor.
  Value gradientOfZero;
};

class StructuredRule {
public:
  StructuredRule(linalg::LinalgOp op, OpBuilder &builder, Adjoint &adjoint)
      : op(op), builder(builder), adjoint(adjoint),
        body(*op.getBlock()), space{op.getLoc(), op.getStaticLoopRanges(), {}} {
    auto func = op->getParentOfType<func::FuncOp>();
    space.unitsVary =
        func && func->hasAttr(veeline::pipe::PipeDialect::lengthVariesAttrName);
  }

  LogicalResult run();

private:
  LogicalResult classify();
  LogicalResult classifyOutput(unsigned index, Output &output);
  LogicalResult checkAccumulators(unsigned index);
  void collectSources();
  Value shareAmongTies(unsigned index);
  void spreadOverFactors(unsigned index);
  Value reduceCandidate(unsigned index, Combiner combiner,
                        function_ref<Value(Emit, Value, Value)> element);
  LogicalResult differentiateArgument(OpOperand &operand);
  LogicalResult differentiateInit(unsigned index);
  LogicalResult differentiateCaptured(Value captured);
  LogicalResult differentiateGather(Value captured);

  IRMapping mapBody(Block &block, bool readResults);
  ScalarBody createBody();
  void seedOutputs(Block &block, OpBuilder &nested, BodyAdjoint &derivative);
  FailureOr<ScalarBody> emitBody(Value target, bool readResults,
                                 SmallVectorImpl<Value> *indices = nullptr);
  FailureOr<ScalarBody> emitBestBody(Value target);
  int64_t countReads(const ScalarBody &scalar);
  Value findUnrounded(OpOperand &operand);
  Value sumOver(const ScalarBody &scalar, AffineMap map, Type type);

  unsigned numInputs() { return op.getNumDpsInputs(); }
  unsigned numOutputs() { return op.getNumDpsInits(); }
  unsigned initSource(unsigned i) { return numInputs() + i; }
  unsigned resultSource(unsigned i) { return numInputs() + numOutputs() + i; }
  unsigned gradientSource(unsigned i) {
    return numInputs() + 2 * numOutputs() + i;
  }
  unsigned zeroSource(unsigned i) { return numInputs() + 3 * numOutputs() + i; }
  AffineMap outputMap(unsigned i) {
    return op.getMatchingIndexingMap(op.getDpsInitOperand(i));
  }

  linalg::LinalgOp op;
  OpBuilder &builder;
  Adjoint &adjoint;
  Block &body;
  AdjointSpace space;
  SmallVector<Output> outputs;
};

} // namespace

/// Whether no two iterations reach the same element through `map`.
static bool isInjective(AffineMap map, const AdjointSpace &space) {
  for (auto [dim, extent] : llvm::enumerate(space.extents))
    if (!space.isUnit(extent) &&
        !llvm::is_contained(map.getResults(),
                            getAffineDimExpr(dim, map.getContext())))
      return false;
  return true;
}

/// Follows additions from `value` to `accumulator`. Returns true if `value` is
/// the accumulator plus something that does not depend on it.
static bool isAccumulatorPlus(Value value, Value accumulator) {
  while (value != accumulator) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != accumulator.getParentBlock())
      return false;
    if (auto add = dyn_cast<arith::AddFOp>(def)) {
      bool lhs = dependsOn(add.getLhs(), accumulator);
      bool rhs = dependsOn(add.getRhs(), accumulator);
      if (lhs == rhs)
        return false;
      value = lhs ? add.getLhs() : add.getRhs();
    } else if (auto sub = dyn_cast<arith::SubFOp>(def)) {
      if (dependsOn(sub.getRhs(), accumulator))
        return false;
      value = sub.getLhs();
    } else if (isa<arith::ExtFOp, arith::TruncFOp>(def)) {
      value = def->getOperand(0);
    } else {
      return false;
    }
  }
  return true;
}

/// The other factor if `value` is a product with `accumulator`, else null.
static Value getFactor(Value value, Value accumulator) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product)
    return {};
  for (unsigned i : {0, 1})
    if (product.getOperand(i) == accumulator &&
        !dependsOn(product.getOperand(1 - i), accumulator))
      return product.getOperand(1 - i);
  return {};
}

LogicalResult StructuredRule::classifyOutput(unsigned index, Output &output) {
  if (isInjective(outputMap(index), space))
    return success();
  Value yielded = body.getTerminator()->getOperand(index);
  BlockArgument accumulator = body.getArgument(initSource(index));
  if (isAccumulatorPlus(yielded, accumulator)) {
    output.kind = OutputKind::Sum;
    return success();
  }
  if (auto extremum = matchExtremum(yielded, accumulator)) {
    output.kind = OutputKind::Extremum;
    output.candidate = extremum->other;
    return success();
  }
  output.candidate = getFactor(yielded, accumulator);
  if (output.candidate) {
    output.kind = OutputKind::Product;
    return success();
  }
  InFlightDiagnostic diag =
      op.emitError() << "'" << op->getName()
                     << "' has no derivative rule: several iterations write "
                        "each element of result "
                     << index
                     << ", which is supported where they are added or "
                        "multiplied, or where the largest or smallest is "
                        "taken";
  Operation *combiner = yielded.getDefiningOp();
  if (combiner && combiner->getBlock() == &body)
    diag.attachNote(combiner->getLoc())
        << "found '" << combiner->getName() << "' here";
  return failure();
}

/// Refuses a result that depends on the accumulator of another result, that is,
/// on earlier iterations. This rule does not differentiate through these.
LogicalResult StructuredRule::checkAccumulators(unsigned index) {
  Value yielded = body.getTerminator()->getOperand(index);
  for (unsigned other = 0; other != numOutputs(); ++other)
    if (other != index && !isInjective(outputMap(other), space) &&
        dependsOn(yielded, body.getArgument(initSource(other))))
      return op.emitError()
             << "'" << op->getName() << "' has no derivative rule: result "
             << index << " depends on what has been accumulated of result "
             << other << "; compute it in an op of its own";
  return success();
}

LogicalResult StructuredRule::classify() {
  for (unsigned i = 0; i != numOutputs(); ++i) {
    Output output;
    output.gradient = adjoint.gradient(op->getResult(i));
    if (output.gradient &&
        (failed(checkAccumulators(i)) || failed(classifyOutput(i, output))))
      return failure();
    outputs.push_back(output);
  }
  return success();
}

void StructuredRule::collectSources() {
  auto add = [&](Value value, AffineMap map) {
    space.sources.push_back(
        {value, map, value ? getElementTypeOrSelf(value) : Type()});
  };
  for (OpOperand *input : op.getDpsInputOperands())
    add(adjoint.primal(input->get()), op.getMatchingIndexingMap(input));
  for (unsigned i = 0; i != numOutputs(); ++i)
    add(adjoint.primal(op.getDpsInits()[i]), outputMap(i));
  for (unsigned i = 0; i != numOutputs(); ++i)
    add(adjoint.primal(op->getResult(i)), outputMap(i));
  for (unsigned i = 0; i != numOutputs(); ++i)
    add(outputs[i].gradient, outputMap(i));
  for (unsigned i = 0; i != numOutputs(); ++i)
    add(Value(), outputMap(i));
  // Sources without a value still need an argument of some element type.
  for (Source &source : space.sources)
    if (!source.value)
      source.elementType = builder.getF32Type();
}

IRMapping StructuredRule::mapBody(Block &block, bool readResults) {
  IRMapping mapping;
  for (unsigned i = 0; i != numInputs() + numOutputs(); ++i)
    mapping.map(body.getArgument(i), block.getArgument(i));
  if (!readResults)
    return mapping;
  for (unsigned i = 0; i != numOutputs(); ++i) {
    Value yielded = body.getTerminator()->getOperand(i);
    if (outputs[i].kind == OutputKind::Elementwise && yielded.getDefiningOp() &&
        yielded.getParentBlock() == &body)
      mapping.map(yielded, block.getArgument(resultSource(i)));
  }
  return mapping;
}

/// Creates a body with an argument for each source and no ops.
ScalarBody StructuredRule::createBody() {
  ScalarBody scalar{std::make_unique<Block>(), Value()};
  for (const Source &source : space.sources)
    scalar.block->addArgument(source.elementType, space.loc);
  return scalar;
}

/// The gradient of a factor: `ofZero` if the factor is 0, else `gradient`
/// divided by the factor.
static Value divideByFactor(Emit emit, Value gradient, Value ofZero,
                            Value factor) {
  Value zero = emit.constant(factor.getType(), 0.0);
  return emit.select(emit.compare(arith::CmpFPredicate::OEQ, factor, zero),
                     ofZero, emit.div(gradient, factor));
}

/// Sets the gradients of those values of the body that become results.
void StructuredRule::seedOutputs(Block &block, OpBuilder &nested,
                                 BodyAdjoint &derivative) {
  for (auto [i, output] : llvm::enumerate(outputs)) {
    if (!output.gradient)
      continue;
    Value gradient = block.getArgument(gradientSource(i));
    if (!output.candidate) {
      derivative.seed(body.getTerminator()->getOperand(i), gradient);
      continue;
    }
    Emit emit(nested, space.loc);
    if (output.kind == OutputKind::Product) {
      derivative.seed(output.candidate,
                      divideByFactor(emit, gradient,
                                     block.getArgument(zeroSource(i)),
                                     derivative.primal(output.candidate)));
      continue;
    }
    Value attains = emit.compare(arith::CmpFPredicate::OEQ,
                                 derivative.primal(output.candidate),
                                 block.getArgument(resultSource(i)));
    Value zero = emit.constant(gradient.getType(), 0.0);
    derivative.seed(output.candidate, emit.select(attains, gradient, zero));
  }
}

/// Erases the ops that none of `values` needs.
static void eraseDead(Block &block, ArrayRef<Value> values) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && llvm::none_of(op.getResults(), [&](Value result) {
          return llvm::is_contained(values, result);
        }))
      op.erase();
}

/// Emits the gradient of `target` in one iteration. With `readResults`, values
/// that the op yields are read from its results instead of being recomputed. If
/// `indices` is set, a tensor.extract reads `target`, and its indices are
/// emitted, too.
FailureOr<ScalarBody>
StructuredRule::emitBody(Value target, bool readResults,
                         SmallVectorImpl<Value> *indices) {
  ScalarBody scalar = createBody();
  OpBuilder nested(builder.getContext());
  nested.setInsertionPointToEnd(scalar.block.get());
  BodyAdjoint derivative(body, nested, mapBody(*scalar.block, readResults));
  seedOutputs(*scalar.block, nested, derivative);
  FailureOr<Value> value = derivative.differentiate(target);
  if (failed(value))
    return failure();
  scalar.value = *value;
  SmallVector<Value> needed = {scalar.value};
  if (indices && scalar.value) {
    for (Value index : target.getDefiningOp<tensor::ExtractOp>().getIndices())
      indices->push_back(derivative.primal(index));
    llvm::append_range(needed, *indices);
  }
  eraseDead(*scalar.block, needed);
  return scalar;
}

/// The number of bytes that the body reads, except gradients. A value that is
/// only extended counts in its narrower type.
int64_t StructuredRule::countReads(const ScalarBody &scalar) {
  int64_t count = 0;
  DenseSet<Value> seen;
  for (unsigned i = 0; i != gradientSource(0); ++i) {
    Value value = space.sources[i].value;
    if (!isa<RankedTensorType>(value.getType()) || !scalar.reads(i))
      continue;
    if (Value extended = getExtended(value))
      value = extended;
    if (seen.insert(value).second)
      count += getByteSize(value.getType());
  }
  return count;
}

/// Emits the body in the form that reads least. For example, reading exp(x)
/// instead of x saves a transcendental function, but reading both saves
/// nothing.
FailureOr<ScalarBody> StructuredRule::emitBestBody(Value target) {
  FailureOr<ScalarBody> fromInputs = emitBody(target, /*readResults=*/false);
  if (failed(fromInputs) || !fromInputs->value)
    return fromInputs;
  FailureOr<ScalarBody> fromResults = emitBody(target, /*readResults=*/true);
  if (failed(fromResults))
    return failure();
  bool useResults = countReads(*fromResults) <= countReads(*fromInputs);
  return useResults ? std::move(fromResults) : std::move(fromInputs);
}

/// Sums the scalar over all iterations that share an element of `type`.
Value StructuredRule::sumOver(const ScalarBody &scalar, AffineMap map,
                              Type type) {
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType) {
    Value sum = createAdjoint(builder, space, scalar, map,
                              RankedTensorType::get({}, type));
    return tensor::ExtractOp::create(builder, space.loc, sum, ValueRange{});
  }
  // A gradient that does not change needs no op.
  std::optional<unsigned> source = scalar.getSource(scalar.value);
  if (source && space.sources[*source].map == map && map.isPermutation() &&
      space.sources[*source].value.getType() == type)
    return space.sources[*source].value;
  if (Value product =
          createContraction(builder, space, scalar, map, tensorType))
    return product;
  return createAdjoint(builder, space, scalar, map, tensorType);
}

/// The gradient of an argument before it is rounded, or null. If the model
/// rounds an argument before a use (weights of f32, for a product of bf16), the
/// gradient is rounded, too, and then extended for the argument.
Value StructuredRule::findUnrounded(OpOperand &operand) {
  Value argument = operand.get(), result = op->getResult(0);
  if (!isa<BlockArgument>(argument) || getRounded(result) != argument)
    return {};
  Value gradient = outputs[0].gradient;
  Value unrounded = gradient ? getRounded(gradient) : Value();
  bool fits = unrounded && unrounded.getType() == argument.getType();
  return fits ? unrounded : Value();
}

LogicalResult StructuredRule::differentiateArgument(OpOperand &operand) {
  if (Value unrounded = findUnrounded(operand)) {
    adjoint.contribute(operand.get(), unrounded);
    return success();
  }
  FailureOr<ScalarBody> scalar =
      emitBestBody(op.getMatchingBlockArgument(&operand));
  if (failed(scalar))
    return failure();
  if (scalar->value)
    adjoint.contribute(operand.get(),
                       sumOver(*scalar, op.getMatchingIndexingMap(&operand),
                               operand.get().getType()));
  return success();
}

LogicalResult StructuredRule::differentiateInit(unsigned index) {
  OpOperand &init = *op.getDpsInitOperand(index);
  const Output &output = outputs[index];
  if (output.kind == OutputKind::Elementwise)
    return differentiateArgument(init);
  if (!output.gradient)
    return success();
  if (output.kind == OutputKind::Sum) {
    adjoint.contribute(init.get(), output.gradient);
    return success();
  }
  Value primal = adjoint.primal(init.get());
  if (output.kind == OutputKind::Product) {
    adjoint.contribute(
        init.get(),
        createElementwise(builder, space.loc, getElementTypeOrSelf(primal),
                          {output.gradient, output.gradientOfZero, primal},
                          [&](OpBuilder &nested, ValueRange args) {
                            return divideByFactor(Emit(nested, space.loc),
                                                  args[0], args[1], args[2]);
                          }));
    return success();
  }
  Value result = adjoint.primal(op->getResult(index));
  Value gradient = createElementwise(
      builder, space.loc, getElementTypeOrSelf(result),
      {output.gradient, primal, result},
      [&](OpBuilder &nested, ValueRange args) {
        Emit emit(nested, space.loc);
        Value attains =
            emit.compare(arith::CmpFPredicate::OEQ, args[1], args[2]);
        return emit.select(attains, args[0],
                           emit.constant(args[0].getType(), 0.0));
      });
  adjoint.contribute(init.get(), gradient);
  return success();
}

/// Whether `init` is a fill with an infinity, which is never equal to a finite
/// value.
static bool isInfinite(Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  APFloat value(0.0);
  return fill && matchPattern(fill.getInputs()[0], m_ConstantFloat(&value)) &&
         value.isInfinity();
}

/// Combines `element`, of the candidate and the result, over the iterations
/// that share an element of result `index`.
Value StructuredRule::reduceCandidate(
    unsigned index, Combiner combiner,
    function_ref<Value(Emit, Value, Value)> element) {
  auto type = cast<RankedTensorType>(op->getResult(index).getType());
  ScalarBody scalar = createBody();
  OpBuilder nested(builder.getContext());
  nested.setInsertionPointToEnd(scalar.block.get());
  BodyAdjoint copies(body, nested, mapBody(*scalar.block, false));
  scalar.value =
      element(Emit(nested, space.loc), copies.primal(outputs[index].candidate),
              scalar.block->getArgument(resultSource(index)));
  return createAdjoint(builder, space, scalar, outputMap(index),
                       type.clone(getAccumulatorType(type.getElementType())),
                       combiner);
}

/// Emits 1 if a equals b, else 0.
static Value countEqual(Emit emit, Type type, Value a, Value b) {
  return emit.select(emit.compare(arith::CmpFPredicate::OEQ, a, b),
                     emit.constant(type, 1.0), emit.constant(type, 0.0));
}

/// The gradient of an extremum, divided by the number of elements that equal
/// it.
Value StructuredRule::shareAmongTies(unsigned index) {
  Type element = getElementTypeOrSelf(op->getResult(index));
  Type countType = getAccumulatorType(element);
  Value count = reduceCandidate(
      index, Combiner::Sum, [&](Emit emit, Value candidate, Value result) {
        return countEqual(emit, countType, candidate, result);
      });
  SmallVector<Value> inputs = {outputs[index].gradient, count};
  Value init = adjoint.primal(op.getDpsInits()[index]);
  bool initMayTie = !isInfinite(init);
  if (initMayTie)
    inputs.append({init, adjoint.primal(op->getResult(index))});
  return createElementwise(
      builder, space.loc, element, inputs,
      [&](OpBuilder &inner, ValueRange args) {
        Emit emit(inner, space.loc);
        Value ties = args[1];
        if (initMayTie)
          ties = emit.add(ties, countEqual(emit, countType, args[2], args[3]));
        return emit.div(args[0], emit.convert(ties, args[0].getType()));
      });
}

/// Sets the gradients of the factors of a product. That of a factor is the
/// gradient of the result times all other factors. If no factor is 0, that is
/// the product of all divided by the factor. If one factor is 0, only that
/// factor has a gradient; if two are, none has.
void StructuredRule::spreadOverFactors(unsigned index) {
  Output &output = outputs[index];
  Type element = getElementTypeOrSelf(op->getResult(index));
  Type sumType = getAccumulatorType(element);
  Value product = reduceCandidate(
      index, Combiner::Product, [&](Emit emit, Value candidate, Value) {
        Value zero = emit.constant(candidate.getType(), 0.0);
        Value isZero = emit.compare(arith::CmpFPredicate::OEQ, candidate, zero);
        return emit.select(isZero, emit.constant(candidate.getType(), 1.0),
                           candidate);
      });
  Value zeros = reduceCandidate(
      index, Combiner::Sum, [&](Emit emit, Value candidate, Value) {
        return countEqual(emit, sumType, candidate,
                          emit.constant(candidate.getType(), 0.0));
      });
  Value init = adjoint.primal(op.getDpsInits()[index]);
  auto scale = [&](double wantedZeros) {
    return createElementwise(
        builder, space.loc, element, {output.gradient, product, zeros, init},
        [&](OpBuilder &nested, ValueRange args) {
          Emit emit(nested, space.loc);
          Value zero = emit.constant(element, 0.0);
          Value first = emit.compare(arith::CmpFPredicate::OEQ, args[3], zero);
          Value factor = emit.convert(
              emit.select(first, emit.constant(element, 1.0), args[3]),
              sumType);
          Value all = emit.mul(emit.mul(args[1], factor),
                               emit.convert(args[0], sumType));
          Value count =
              emit.add(args[2], countEqual(emit, sumType, args[3], zero));
          Value has = emit.compare(arith::CmpFPredicate::OEQ, count,
                                   emit.constant(sumType, wantedZeros));
          return emit.select(has, emit.convert(all, element), zero);
        });
  };
  Value ofOthers = scale(0.0);
  output.gradientOfZero = scale(1.0);
  output.gradient = ofOthers;
}

LogicalResult StructuredRule::differentiateGather(Value captured) {
  auto type = dyn_cast<RankedTensorType>(captured.getType());
  WalkResult walk = body.walk([&](Operation *user) {
    if (!llvm::is_contained(user->getOperands(), captured))
      return WalkResult::advance();
    auto extract = dyn_cast<tensor::ExtractOp>(user);
    if (!extract || extract->getBlock() != &body) {
      (void)emitNoRule(user);
      return WalkResult::interrupt();
    }
    SmallVector<Value> indices;
    FailureOr<ScalarBody> scalar =
        emitBody(extract.getResult(), /*readResults=*/false, &indices);
    if (failed(scalar))
      return WalkResult::interrupt();
    if (scalar->value)
      adjoint.contribute(captured,
                         createScatter(builder, space, *scalar, indices, type,
                                       isa<BlockArgument>(captured)));
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult StructuredRule::differentiateCaptured(Value captured) {
  if (isa<RankedTensorType>(captured.getType()))
    return differentiateGather(captured);
  FailureOr<ScalarBody> scalar = emitBestBody(captured);
  if (failed(scalar))
    return failure();
  AffineMap toScalar =
      AffineMap::get(space.extents.size(), 0, builder.getContext());
  if (scalar->value)
    adjoint.contribute(captured,
                       sumOver(*scalar, toScalar, captured.getType()));
  return success();
}

LogicalResult StructuredRule::run() {
  if (failed(classify()))
    return failure();
  collectSources();
  for (auto [i, output] : llvm::enumerate(outputs))
    if (output.gradient && output.candidate) {
      if (output.kind == OutputKind::Extremum)
        output.gradient = shareAmongTies(i);
      else
        spreadOverFactors(i);
      space.sources[gradientSource(i)].value = output.gradient;
      if (output.gradientOfZero)
        space.sources[zeroSource(i)] = {
            output.gradientOfZero, outputMap(i),
            getElementTypeOrSelf(output.gradientOfZero)};
    }
  for (OpOperand *input : op.getDpsInputOperands())
    if (adjoint.wants(input->get()) && failed(differentiateArgument(*input)))
      return failure();
  for (unsigned i = 0; i != numOutputs(); ++i)
    if (adjoint.wants(op.getDpsInits()[i]) && failed(differentiateInit(i)))
      return failure();
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    if (adjoint.wants(value) && failed(differentiateCaptured(value)))
      return failure();
  return success();
}

LogicalResult veeline::autodiff::differentiateStructured(linalg::LinalgOp op,
                                                         OpBuilder &builder,
                                                         Adjoint &adjoint) {
  return StructuredRule(op, builder, adjoint).run();
}
