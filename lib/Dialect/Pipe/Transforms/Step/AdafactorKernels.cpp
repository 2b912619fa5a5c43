//===- AdafactorKernels.cpp - Adafactor's update as kernel functions ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These kernels use the formulas of runtime/src/host/Update.cpp, but another
// order of sums.
//
//===----------------------------------------------------------------------===//

#include "KernelWriter.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;
using utils::IteratorType;

static std::string getName(StringRef what, const AdafactorShape &shape) {
  std::string name;
  llvm::raw_string_ostream(name)
      << "pipe_adafactor_" << what << '_' << shape.element << '_' << shape.rows
      << 'x' << shape.columns << (shape.isFactored ? "" : "_whole") << "_of_"
      << shape.numGradients << (shape.isClipped ? "_clipped" : "")
      << (shape.errorFeedback ? "_corrected" : "");
  return name;
}

static AdafactorShape withoutGradients(AdafactorShape shape) {
  shape.numGradients = 0;
  return shape;
}

/// The map of an operand with one element for each column.
static AffineMap getColumnMap(KernelWriter &k) {
  AffineMap all = k.identity();
  return AffineMap::get(2, 0, all.getResult(1), all.getContext());
}

/// The summand of a gradient.
static Value getSquare(KernelWriter &k, Value g) {
  return k.add(k.multiply(g, g), k.number(adafactorEpsilon));
}

/// Adds the whole state as an argument.
static Value addState(KernelWriter &k, const AdafactorShape &shape) {
  return k.addArgument({shape.getWholeState()}, shape.element);
}

namespace {
/// The direction of a step: its inputs in a kernel, and its computation in a
/// body.
class AdafactorDirection {
public:
  AdafactorDirection(KernelWriter &k, const AdafactorShape &shape)
      : k(k), shape(shape) {
    state = addState(k, shape);
    Value total =
        k.addArgument({}, Float64Type::get(shape.element.getContext()));
    if (!shape.isFactored) {
      moment =
          k.addInput(k.view(state, /*offset=*/0, {shape.rows, shape.columns}),
                     k.identity());
      return;
    }
    ofRow = k.addInput(k.view(state, /*offset=*/0, {shape.rows}), k.outer(1));
    moment =
        k.addInput(k.view(state, shape.rows, {shape.columns}), getColumnMap(k));
    sum = k.addInput(total, k.outer(0));
  }

  Value get() {
    Value g = k.clip(k.averageGradients()), second = k.getInput(moment);
    if (shape.isFactored) {
      Value mean =
          k.divide(k.getInput(sum), k.exact(static_cast<double>(shape.rows)));
      Value scale = k.round(k.divide(k.extend(k.getInput(ofRow)), mean));
      second = k.multiply(scale, second);
    }
    return k.divide(g, k.sqrt(second));
  }

  Value state;

private:
  KernelWriter &k;
  const AdafactorShape &shape;
  size_t moment = 0, ofRow = 0, sum = 0;
};
} // namespace

func::FuncOp veeline::pipe::getAdafactorSumsKernel(SymbolTable &symbols,
                                                   const AdafactorShape &shape,
                                                   bool ofRows) {
  std::string name = getName(ofRows ? "rows" : "columns", shape);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  KernelWriter k(symbols, name, shape, {shape.rows, shape.columns});
  if (shape.isClipped)
    k.useOutcome();
  k.addSums(ofRows ? shape.rows : shape.columns,
            ofRows ? k.outer(1) : getColumnMap(k));
  IteratorType outer = IteratorType::parallel, inner = IteratorType::reduction;
  if (!ofRows)
    std::swap(outer, inner);
  return k.finish({outer, inner}, [&]() -> SmallVector<Value> {
    Value square = getSquare(k, k.clip(k.averageGradients()));
    return {k.add(k.getOutput(0), k.extend(square))};
  });
}

func::FuncOp veeline::pipe::getAdafactorMeansKernel(
    SymbolTable &symbols, const AdafactorShape &ofUpdate, bool ofRows) {
  AdafactorShape shape = withoutGradients(ofUpdate);
  std::string name = getName(ofRows ? "row_means" : "column_means", shape);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  int64_t count = ofRows ? shape.rows : shape.columns;
  int64_t others = ofRows ? shape.columns : shape.rows;
  KernelWriter k(symbols, name, shape, {count});
  k.use(beta2);
  k.use(oneMinusBeta2);
  if (shape.isClipped)
    k.useOutcome();
  size_t sums = k.addInput(
      k.addArgument({count}, Float64Type::get(shape.element.getContext())),
      k.identity());
  k.addOutput(k.view(addState(k, shape), ofRows ? 0 : shape.rows, {count}),
              k.identity());
  return k.finish(IteratorType::parallel, [&] {
    Value mean = k.round(
        k.divide(k.getInput(sums), k.exact(static_cast<double>(others))));
    return k.unlessSkipped({k.add(k.multiply(k.get(beta2), k.getOutput(0)),
                                  k.multiply(k.get(oneMinusBeta2), mean))});
  });
}

func::FuncOp
veeline::pipe::getAdafactorMomentsKernel(SymbolTable &symbols,
                                         const AdafactorShape &shape) {
  std::string name = getName("moments", shape);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  KernelWriter k(symbols, name, shape, {shape.numElements});
  k.use(beta2);
  k.use(oneMinusBeta2);
  if (shape.isClipped)
    k.useOutcome();
  k.addOutput(k.view(addState(k, shape), /*offset=*/0, {shape.numElements}),
              k.identity());
  return k.finish(IteratorType::parallel, [&] {
    Value square = getSquare(k, k.clip(k.averageGradients()));
    return k.unlessSkipped({k.add(k.multiply(k.get(beta2), k.getOutput(0)),
                                  k.multiply(k.get(oneMinusBeta2), square))});
  });
}

func::FuncOp
veeline::pipe::getAdafactorTotalKernel(SymbolTable &symbols,
                                       const AdafactorShape &ofUpdate) {
  AdafactorShape shape = withoutGradients(ofUpdate);
  std::string name = getName("total", shape);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  KernelWriter k(symbols, name, shape, {shape.rows});
  size_t means = k.addInput(
      k.view(addState(k, shape), /*offset=*/0, {shape.rows}), k.identity());
  k.addTotal();
  return k.finish(IteratorType::reduction, [&]() -> SmallVector<Value> {
    return {k.add(k.getOutput(0), k.extend(k.getInput(means)))};
  });
}

func::FuncOp
veeline::pipe::getAdafactorLengthKernel(SymbolTable &symbols,
                                        const AdafactorShape &shape) {
  std::string name = getName("length", shape);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  KernelWriter k(symbols, name, shape, {shape.rows, shape.columns});
  if (shape.isClipped)
    k.useOutcome();
  AdafactorDirection direction(k, shape);
  k.addSums(shape.rows, k.outer(1));
  return k.finish({IteratorType::parallel, IteratorType::reduction},
                  [&]() -> SmallVector<Value> {
                    Value u = k.extend(direction.get());
                    return {k.add(k.getOutput(0), k.multiply(u, u))};
                  });
}

func::FuncOp
veeline::pipe::getAdafactorRateKernel(SymbolTable &symbols,
                                      const AdafactorShape &ofUpdate) {
  AdafactorShape shape = withoutGradients(ofUpdate);
  std::string name = getName("rate", shape);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  KernelWriter k(symbols, name, shape, {1});
  k.use(rate);
  Type f64 = Float64Type::get(shape.element.getContext());
  size_t ofValue = k.addInput(k.addArgument({}, f64), k.outer(0));
  size_t ofDirection = k.addInput(k.addArgument({}, f64), k.outer(0));
  k.addOutput(k.addArgument({1}, shape.element), k.identity());
  return k.finish(IteratorType::parallel, [&]() -> SmallVector<Value> {
    Value elements = k.exact(static_cast<double>(shape.numElements));
    Value size = k.sqrt(k.divide(k.getInput(ofValue), elements));
    Value length = k.sqrt(k.divide(k.getInput(ofDirection), elements));
    Value least = k.exact(adafactorLeastScale), one = k.exact(1);
    Value most = k.exact(adafactorClip);
    Value scale = k.choose(arith::CmpFPredicate::OGT, size, least, size, least);
    Value excess = k.choose(arith::CmpFPredicate::OGT, length, most,
                            k.divide(length, most), one);
    return {k.round(k.divide(
        k.multiply(k.extend(k.get(Coefficient::rate)), scale), excess))};
  });
}

func::FuncOp
veeline::pipe::getAdafactorStepKernel(SymbolTable &symbols,
                                      const AdafactorShape &shape) {
  std::string name = getName("step", shape);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  KernelWriter k(symbols, name, shape, {shape.rows, shape.columns});
  k.use(keep);
  if (shape.errorFeedback)
    for (Coefficient coefficient : {decay, correction})
      k.use(coefficient);
  if (shape.isClipped)
    k.useOutcome();
  AdafactorDirection direction(k, shape);
  size_t scale = k.addInput(
      k.view(k.addArgument({1}, shape.element), /*offset=*/0, {}), k.outer(0));
  k.addOutput(k.addArgument({shape.rows, shape.columns}, shape.element),
              k.identity());
  if (shape.errorFeedback)
    k.addOutput(k.view(direction.state, shape.getOwnState(),
                       {shape.rows, shape.columns}),
                k.identity());
  return k.finish({IteratorType::parallel, IteratorType::parallel}, [&] {
    return k.unlessSkipped(
        k.subtractChange(k.multiply(k.getInput(scale), direction.get()), {}));
  });
}
