//===- Loss.cpp - --pipe-import-loss --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "Uses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
#include "veeline/Import/Passes.h"

#include <limits>

namespace veeline {
#define GEN_PASS_DEF_PIPEIMPORTLOSS
#include "veeline/Import/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

namespace {
using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

/// Adds a loss that is computed from one result to the end of a model.
class LossBuilder {
public:
  LossBuilder(func::FuncOp model, Value result, int64_t samples)
      : model(model), samples(samples),
        builder(model.getBody().front().getTerminator()),
        location(result.getLoc()), result(result) {
    auto type = cast<RankedTensorType>(result.getType());
    element = type.getElementType();
    // Small floats are not precise enough for a sum.
    if (element.getIntOrFloatBitWidth() < 32)
      element = builder.getF32Type();
    widen();
  }

  FailureOr<Value> build(StringRef loss);

private:
  FailureOr<Value> crossEntropy();
  FailureOr<Value> meanSquaredError();
  Value sumAll(Value tensor);

  void widen();
  BlockArgument addData(StringRef name, RankedTensorType type);
  Value constant(double number) {
    return arith::ConstantOp::create(builder, location,
                                     builder.getFloatAttr(element, number));
  }
  Value filled(ArrayRef<int64_t> shape, double number);
  /// Creates a structured op over `shape`. Each input, and the `init` from
  /// which a reduction starts, has all its dimensions or all but the last.
  Value compute(ValueRange inputs, ArrayRef<int64_t> shape, Value init,
                Body body);
  /// Creates an elementwise op over `shape`. For inputs, see `compute`.
  Value elementwise(ValueRange inputs, ArrayRef<int64_t> shape, Body body);
  /// Reduces the last dimension of `shape`. For inputs, see `compute`.
  Value reduceRows(ValueRange inputs, ArrayRef<int64_t> shape, double start,
                   Body body);
  Value scaled(Value scalar, double factor);

  func::FuncOp model;
  int64_t samples;
  OpBuilder builder;
  Location location;
  Value result;
  Type element;
};
} // namespace

void LossBuilder::widen() {
  auto type = cast<RankedTensorType>(result.getType());
  if (type.getElementType() != element)
    result =
        arith::ExtFOp::create(builder, location, type.clone(element), result);
}

BlockArgument LossBuilder::addData(StringRef name, RankedTensorType type) {
  MLIRContext *context = model.getContext();
  return addArgument(model, type,
                     StringAttr::get(context, pipe::PipeDialect::batchAttrName),
                     StringAttr::get(context, name), location);
}

Value LossBuilder::filled(ArrayRef<int64_t> shape, double number) {
  Value empty = tensor::EmptyOp::create(builder, location, shape, element);
  return linalg::FillOp::create(builder, location, constant(number), empty)
      .getResult(0);
}

Value LossBuilder::compute(ValueRange inputs, ArrayRef<int64_t> shape,
                           Value init, Body body) {
  AffineMap all = builder.getMultiDimIdentityMap(shape.size());
  auto mapOf = [&](Value operand) {
    return all.getSliceMap(0,
                           cast<RankedTensorType>(operand.getType()).getRank());
  };
  SmallVector<AffineMap> maps = llvm::map_to_vector(inputs, mapOf);
  maps.push_back(mapOf(init));
  SmallVector<utils::IteratorType> iterators(shape.size(),
                                             utils::IteratorType::parallel);
  if (maps.back() != all)
    iterators.back() = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             builder, location, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &inner, Location at, ValueRange arguments) {
               linalg::YieldOp::create(inner, at, body(inner, at, arguments));
             })
      .getResult(0);
}

Value LossBuilder::elementwise(ValueRange inputs, ArrayRef<int64_t> shape,
                               Body body) {
  Value empty = tensor::EmptyOp::create(builder, location, shape, element);
  return compute(inputs, shape, empty, body);
}

Value LossBuilder::reduceRows(ValueRange inputs, ArrayRef<int64_t> shape,
                              double start, Body body) {
  return compute(inputs, shape, filled(shape.drop_back(), start), body);
}

static Value add(OpBuilder &builder, Location location, ValueRange arguments) {
  return arith::AddFOp::create(builder, location, arguments[1], arguments[0]);
}

Value LossBuilder::sumAll(Value tensor) {
  while (true) {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(tensor.getType()).getShape();
    if (shape.empty())
      return tensor;
    tensor = reduceRows(tensor, shape, 0.0, add);
  }
}

Value LossBuilder::scaled(Value scalar, double factor) {
  return elementwise(
      scalar, {}, [&](OpBuilder &inner, Location at, ValueRange arguments) {
        Value by = arith::ConstantOp::create(
            inner, at, inner.getFloatAttr(element, factor));
        return arith::MulFOp::create(inner, at, arguments[0], by);
      });
}

/// The mean over all rows of
/// -log softmax(x)[label] = log(sum(exp(x - max))) - (x[label] - max).
FailureOr<Value> LossBuilder::crossEntropy() {
  auto type = cast<RankedTensorType>(result.getType());
  if (type.getRank() == 0 || type.getShape().back() < 2)
    return model.emitError("cross entropy needs classes, two or more in the "
                           "last dimension of the result; found ")
           << type;
  ArrayRef<int64_t> shape = type.getShape(), rows = shape.drop_back();
  BlockArgument labels =
      addData("labels", RankedTensorType::get(rows, builder.getI32Type()));
  // A label outside of the classes would count as a class of probability 1.
  model.setArgAttr(labels.getArgNumber(), pipe::PipeDialect::rangeAttrName,
                   builder.getDenseI64ArrayAttr({0, shape.back()}));
  Value most = reduceRows(
      result, shape, -std::numeric_limits<double>::infinity(),
      [](OpBuilder &inner, Location at, ValueRange arguments) -> Value {
        return arith::MaximumFOp::create(inner, at, arguments[0], arguments[1]);
      });
  Value shifted = elementwise(
      {result, most}, shape,
      [](OpBuilder &inner, Location at, ValueRange arguments) -> Value {
        return arith::SubFOp::create(inner, at, arguments[0], arguments[1]);
      });
  Value sums = reduceRows(
      shifted, shape, 0.0,
      [](OpBuilder &inner, Location at, ValueRange arguments) -> Value {
        Value power = math::ExpOp::create(inner, at, arguments[0]);
        return arith::AddFOp::create(inner, at, arguments[1], power);
      });
  int64_t last = shape.size() - 1;
  Value right = reduceRows(
      {shifted, labels}, shape, 0.0,
      [&](OpBuilder &inner, Location at, ValueRange arguments) -> Value {
        Value index = linalg::IndexOp::create(inner, at, last);
        Value number = arith::IndexCastOp::create(
            inner, at, arguments[1].getType(), index);
        Value isRight = arith::CmpIOp::create(
            inner, at, arith::CmpIPredicate::eq, number, arguments[1]);
        Value zero = arith::ConstantOp::create(
            inner, at, inner.getFloatAttr(element, 0.0));
        Value value =
            arith::SelectOp::create(inner, at, isRight, arguments[0], zero);
        return arith::AddFOp::create(inner, at, arguments[2], value);
      });
  Value losses = elementwise(
      {sums, right}, rows,
      [](OpBuilder &inner, Location at, ValueRange arguments) -> Value {
        Value log = math::LogOp::create(inner, at, arguments[0]);
        return arith::SubFOp::create(inner, at, log, arguments[1]);
      });
  return scaled(sumAll(losses),
                static_cast<double>(shape.back()) / type.getNumElements());
}

FailureOr<Value> LossBuilder::meanSquaredError() {
  auto type = cast<RankedTensorType>(result.getType());
  if (type.getRank() == 0)
    return model.emitError("the mean squared error needs a result of one "
                           "dimension or more, to compare with targets; found ")
           << type
           << ", a loss already: leave --loss out to train with it, or choose "
              "another result by --result";
  BlockArgument targets = addData("targets", type);
  Value squares = elementwise(
      {result, targets}, type.getShape(),
      [](OpBuilder &inner, Location at, ValueRange arguments) -> Value {
        Value difference =
            arith::SubFOp::create(inner, at, arguments[0], arguments[1]);
        return arith::MulFOp::create(inner, at, difference, difference);
      });
  return scaled(sumAll(squares), 1.0 / type.getNumElements());
}

FailureOr<Value> LossBuilder::build(StringRef loss) {
  if (loss == "cross-entropy")
    return crossEntropy();
  if (loss == "mse")
    return meanSquaredError();
  if (loss == "sum")
    return samples == 1 ? sumAll(result)
                        : scaled(sumAll(result), 1.0 / samples);
  return model.emitError("unknown loss '")
         << loss << "'; expected cross-entropy, mse or sum";
}

/// Lists the numbers and types of the results in a diagnostic.
static void listResults(Diagnostic &diagnostic, func::FuncOp model) {
  llvm::interleaveComma(
      llvm::enumerate(model.getResultTypes()), diagnostic, [&](auto result) {
        diagnostic << result.index() << " (" << result.value() << ")";
      });
}

/// Whether a result has one scalar for each sample. With several samples, all
/// results of rank 1 are of this form.
static bool isScalarOfEach(Type type, int64_t samples) {
  return samples != 1 && isFloatTensor(type) &&
         cast<RankedTensorType>(type).getShape() == ArrayRef(samples);
}

static bool isScalar(Type type, int64_t samples) {
  return isScalarOfEach(type, samples) ||
         (isFloatTensor(type) && cast<RankedTensorType>(type).getRank() == 0);
}

/// The result from which the loss is computed if the user chose none: the first
/// one, or else the only one that is possible. A result is impossible if no
/// parameter changes it, or if it consists of integers, such as an argmax.
static FailureOr<int64_t> findResult(func::FuncOp model, StringRef loss,
                                     int64_t samples) {
  SmallVector<int64_t> candidates;
  for (auto [i, type] : llvm::enumerate(model.getResultTypes()))
    if (loss.empty() ? isScalar(type, samples) : isFloatTensor(type))
      candidates.push_back(i);
  Operation *end = model.getBody().front().getTerminator();
  llvm::DenseSet<Value> trained = findDependent(model, [&](unsigned argument) {
    return pipe::isTrainedParam(model, argument);
  });
  auto trainable = llvm::filter_to_vector(candidates, [&](int64_t i) {
    return trained.contains(end->getOperand(i));
  });
  // `candidates` includes results that --pipe-import-results has emptied.
  bool areSeveral = candidates.size() > 1;
  if (!loss.empty() && !trainable.empty())
    candidates = trainable;
  if (candidates.empty())
    return 0;
  if (candidates.size() > 1 && candidates.front() != 0)
    return refuseSeveral(model, candidates);
  if (candidates.front() != 0 || areSeveral) {
    InFlightDiagnostic remark = end->emitRemark("result ")
                                << candidates.front() << " of the model, "
                                << model.getResultTypes()[candidates.front()]
                                << ", is what the loss is made of";
    if (areSeveral)
      remark << "; --result chooses another one";
  }
  return candidates.front();
}

static FailureOr<Value> chooseResult(func::FuncOp model, int64_t number,
                                     StringRef loss) {
  Operation *end = model.getBody().front().getTerminator();
  if (number < 0 || number >= model.getNumResults()) {
    InFlightDiagnostic diagnostic = end->emitError("there is no result ")
                                    << number
                                    << " of the model; its results are ";
    listResults(*diagnostic.getUnderlyingDiagnostic(), model);
    return diagnostic;
  }
  Value result = end->getOperand(number);
  if (isFloatTensor(result.getType()))
    return result;
  InFlightDiagnostic diagnostic = end->emitError("result ")
                                  << number << " of the model is "
                                  << result.getType()
                                  << ", and a loss is made of a tensor of "
                                     "floats of static shape; its results are ";
  listResults(*diagnostic.getUnderlyingDiagnostic(), model);
  return diagnostic << "; choose one by --result"
                    << (loss.empty() ? ", and attach a loss by --loss: "
                                       "cross-entropy, mse or sum"
                                     : "");
}

static LogicalResult attachLoss(func::FuncOp model, StringRef loss,
                                int64_t number, int64_t samples) {
  FailureOr<Value> result = chooseResult(model, number, loss);
  if (failed(result))
    return failure();
  if (loss.empty() && !isScalar(result->getType(), samples))
    return model.getBody().front().getTerminator()->emitError("result ")
           << number << " of the model is " << result->getType()
           << ", no loss; attach one by --loss: cross-entropy, mse "
              "or sum";
  if (!loss.empty() || isScalarOfEach(result->getType(), samples)) {
    result =
        LossBuilder(model, *result, samples).build(loss.empty() ? "sum" : loss);
    if (failed(result))
      return failure();
  }
  model.getBody().front().getTerminator()->setOperands(*result);
  updateType(model);
  return success();
}

/// Drops results that are no metrics. One of the type of an argument may be a
/// gradient, for which there is another pass.
static void dropOthers(func::FuncOp model, int64_t samples) {
  Operation *end = model.getBody().front().getTerminator();
  for (int64_t i = model.getNumResults() - 1; i > 0; --i) {
    Type type = model.getResultTypes()[i];
    if (isScalar(type, samples))
      continue;
    InFlightDiagnostic remark =
        end->emitRemark("result ")
        << i << " of the model, " << type
        << ", is left out: metrics are scalars of floats";
    if (isa<FloatType>(getElementTypeOrSelf(type)) &&
        llvm::is_contained(model.getArgumentTypes(), type))
      remark << "; if it is a gradient or an updated parameter, say so by "
                "--joint and --params (docs/joint-graphs.md)";
    end->eraseOperand(i);
  }
  updateType(model);
}

/// With several samples, the loss and the metrics are means over them.
static LogicalResult takeMeans(func::FuncOp model, int64_t samples) {
  dropOthers(model, samples);
  for (OpOperand &result :
       model.getBody().front().getTerminator()->getOpOperands()) {
    if (!isScalarOfEach(result.get().getType(), samples))
      continue;
    FailureOr<Value> mean =
        LossBuilder(model, result.get(), samples).build("sum");
    if (failed(mean))
      return failure();
    result.set(*mean);
  }
  updateType(model);
  return success();
}

/// Keeps all results of a model that is not trained, or the one that is chosen.
/// Files and the runtime have no floats of 16 bits for them.
static LogicalResult keepResults(func::FuncOp model, int64_t number) {
  Operation *end = model.getBody().front().getTerminator();
  if (number != anyResult && (number < 0 || number >= model.getNumResults()))
    return chooseResult(model, number, /*loss=*/"");
  if (number != anyResult)
    end->setOperands(end->getOperand(number));
  OpBuilder builder(end);
  for (OpOperand &result : end->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(result.get().getType());
    auto element =
        type ? dyn_cast<FloatType>(type.getElementType()) : FloatType();
    if (element && element.getWidth() < 32)
      result.set(arith::ExtFOp::create(builder, result.get().getLoc(),
                                       type.clone(builder.getF32Type()),
                                       result.get()));
  }
  updateType(model);
  return success();
}

namespace {
struct ImportLoss : veeline::impl::PipeImportLossBase<ImportLoss> {
  using PipeImportLossBase::PipeImportLossBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = getChosenModel(getOperation());
    if (failed(model))
      return signalPassFailure();
    // A joint function has a loss already.
    if (pipe::isJoint(*model))
      return;
    if (forwardOnly && loss.empty()) {
      if (failed(keepResults(*model, result)))
        signalPassFailure();
      return;
    }
    FailureOr<int64_t> number = int64_t(result);
    if (result == anyResult)
      number = findResult(*model, loss, microbatchSize);
    if (failed(number))
      return signalPassFailure();
    // By the input contract, the first result is the loss and the others are
    // metrics.
    bool hasLoss = loss.empty() && *number == 0 && model->getNumResults() > 0 &&
                   isScalar(model->getResultTypes()[0], microbatchSize);
    if (failed(hasLoss ? takeMeans(*model, microbatchSize)
                       : attachLoss(*model, loss, *number, microbatchSize)))
      signalPassFailure();
  }
};
} // namespace
