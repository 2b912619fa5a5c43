//===- UpdateKernels.cpp - optimisers as kernel functions -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations and their order are those of runtime/src/host/Update.cpp. So
// an updated parameter has the same bits as on the host.
//
//===----------------------------------------------------------------------===//

#include "UpdateKernels.h"
#include "KernelWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

void veeline::pipe::markKernel(func::FuncOp function) {
  Builder builder(function.getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
  function->setAttr(kernelAttrName, builder.getUnitAttr());
}

func::FuncOp veeline::pipe::finishKernel(SymbolTable &symbols,
                                         OpBuilder &builder,
                                         func::FuncOp function) {
  func::ReturnOp::create(builder, function.getLoc());
  function.setType(builder.getFunctionType(
      function.getBody().front().getArgumentTypes(), {}));
  markKernel(function);
  symbols.insert(function);
  return function;
}

func::FuncOp
KernelWriter::finish(ArrayRef<utils::IteratorType> iterators,
                     llvm::function_ref<SmallVector<Value>()> yield) {
  SmallVector<AffineMap> maps = inputMaps;
  llvm::append_range(maps, outputMaps);
  linalg::GenericOp::create(builder, loc, inputs, outputs, maps, iterators,
                            [&](OpBuilder &b, Location, ValueRange arguments) {
                              body = &b;
                              values = arguments;
                              linalg::YieldOp::create(b, loc, yield());
                            });
  return finishKernel(symbols, builder, function);
}

static std::string getName(StringRef what, const UpdateShape &shape) {
  std::string name;
  llvm::raw_string_ostream(name)
      << "pipe_" << what << '_' << shape.element << '_' << shape.numElements
      << "_of_" << shape.numGradients;
  return name;
}

static StringRef getSuffix(const UpdateShape &shape) {
  return shape.isClipped && shape.errorFeedback ? "_corrected_clipped"
         : shape.isClipped                      ? "_clipped"
         : shape.errorFeedback                  ? "_corrected"
                                                : "";
}

/// The part of a kernel's name for an optimiser.
static StringRef getOptimizer(Optimizer optimizer) {
  switch (optimizer) {
  case Optimizer::sgdMomentum:
    return "momentum";
  case Optimizer::sgdNesterov:
    return "nesterov";
  default:
    return name(optimizer);
  }
}

bool veeline::pipe::hasSeparateSlots(const UpdateShape &shape) {
  int64_t bytes =
      shape.numElements * (shape.element.getIntOrFloatBitWidth() / 8);
  return shape.getStateSlots() < 2 || bytes % kernelAlignment == 0;
}

/// The settings that an update uses, besides `keep` and `rate`.
static SmallVector<Coefficient> getCoefficients(Optimizer optimizer) {
  switch (optimizer) {
  case Optimizer::sgd:
    return {};
  case Optimizer::sgdMomentum:
  case Optimizer::sgdNesterov:
    return {beta1};
  case Optimizer::lion:
    return {beta1, oneMinusBeta1, beta2, oneMinusBeta2};
  default:
    break;
  }
  SmallVector<Coefficient> all = {beta1,         oneMinusBeta1,     beta2,
                                  oneMinusBeta2, secondMomentScale, epsilon};
  if (optimizer == Optimizer::nadamw)
    all.push_back(gradientRate);
  if (optimizer == Optimizer::adam)
    all.push_back(lossDecay);
  return all;
}

/// A new moment: `beta` times the old one, plus the complement of `beta` times
/// `g`.
static Value mix(KernelWriter &k, Coefficient beta, Value moment, Value g) {
  // The complement of a decay rate is the next coefficient.
  auto rest = static_cast<Coefficient>(beta + 1);
  return k.add(k.multiply(k.get(beta), moment), k.multiply(k.get(rest), g));
}

/// 1, -1, or `x` itself if it is neither greater nor less than 0.
static Value getSign(KernelWriter &k, Value x) {
  Value zero = k.number(0);
  Value negative =
      k.choose(arith::CmpFPredicate::OLT, x, zero, k.number(-1), x);
  return k.choose(arith::CmpFPredicate::OGT, x, zero, k.number(1), negative);
}

/// The new value and state of Adam and its variants.
static SmallVector<Value> updateAdam(KernelWriter &k, Optimizer optimizer,
                                     Value g) {
  if (optimizer == Optimizer::adam)
    g = k.add(g, k.multiply(k.get(lossDecay), k.getOutput(0)));
  Value first = mix(k, beta1, k.getOutput(1), g);
  Value second = mix(k, beta2, k.getOutput(2), k.multiply(g, g));
  Value denominator = k.add(
      k.multiply(k.sqrt(second), k.get(secondMomentScale)), k.get(epsilon));
  if (optimizer != Optimizer::nadamw)
    return k.subtractChange(
        k.multiply(k.get(rate), k.divide(first, denominator)), {first, second});
  Value direction =
      k.add(k.multiply(k.get(rate), first), k.multiply(k.get(gradientRate), g));
  return k.subtractChange(k.divide(direction, denominator), {first, second});
}

/// The new value and state, given the gradient.
static SmallVector<Value> update(KernelWriter &k, Optimizer optimizer,
                                 Value g) {
  auto step = [&](Value by, ArrayRef<Value> state) {
    return k.subtractChange(k.multiply(k.get(rate), by), state);
  };
  switch (optimizer) {
  case Optimizer::sgd:
    return step(g, {});
  case Optimizer::sgdMomentum:
  case Optimizer::sgdNesterov: {
    Value momentum = k.add(k.multiply(k.get(beta1), k.getOutput(1)), g);
    bool looksAhead = optimizer == Optimizer::sgdNesterov;
    return step(looksAhead ? k.add(g, k.multiply(k.get(beta1), momentum))
                           : momentum,
                momentum);
  }
  case Optimizer::lion: {
    Value direction = getSign(k, mix(k, beta1, k.getOutput(1), g));
    return step(direction, mix(k, beta2, k.getOutput(1), g));
  }
  default:
    return updateAdam(k, optimizer, g);
  }
}

func::FuncOp veeline::pipe::getUpdateKernel(SymbolTable &symbols,
                                            const UpdateShape &shape) {
  // Muon updates parameters that are not matrices by AdamW.
  Optimizer optimizer =
      shape.optimizer == Optimizer::muon ? Optimizer::adamw : shape.optimizer;
  std::string name = getName(getOptimizer(optimizer), shape);
  name += getSuffix(shape);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  KernelWriter k(symbols, name, shape, {shape.numElements});
  k.use(keep);
  k.use(rate);
  for (Coefficient coefficient : getCoefficients(optimizer))
    k.use(coefficient);
  if (shape.isClipped)
    k.useOutcome();
  k.addUpdated();
  return k.finish(utils::IteratorType::parallel, [&] {
    return k.unlessSkipped(update(k, optimizer, k.clip(k.averageGradients())));
  });
}

func::FuncOp veeline::pipe::getNormKernel(SymbolTable &symbols,
                                          const UpdateShape &shape,
                                          int64_t parts) {
  std::string name = getName("norm", shape);
  if (parts != normParts(shape.numElements))
    name += "_in_" + std::to_string(parts);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  KernelWriter k(symbols, name, shape, {parts, shape.numElements / parts});
  k.addOutput(
      k.addArgument({parts}, Float64Type::get(symbols.getOp()->getContext())),
      k.outer(1));
  return k.finish(
      {utils::IteratorType::parallel, utils::IteratorType::reduction},
      [&]() -> SmallVector<Value> {
        Value g = k.extend(k.averageGradients());
        return {k.add(k.getOutput(0), k.multiply(g, g))};
      });
}

//===----------------------------------------------------------------------===//
// Muon
//===----------------------------------------------------------------------===//

static std::string getMuonName(StringRef what, const UpdateShape &shape) {
  return getName(("muon_" + what).str(), shape) + getSuffix(shape).str();
}

func::FuncOp veeline::pipe::getMuonMomentumKernel(SymbolTable &symbols,
                                                  const UpdateShape &shape) {
  std::string name = getMuonName("momentum", shape);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  int64_t n = shape.numElements;
  KernelWriter k(symbols, name, shape, {n});
  k.use(beta1);
  if (shape.isClipped)
    k.useOutcome();
  for (int i = 0; i < 2; ++i)
    k.addOutput(k.addArgument({n}, shape.element), k.identity());
  return k.finish(utils::IteratorType::parallel, [&] {
    Value g = k.clip(k.averageGradients());
    Value momentum = k.add(k.multiply(k.get(beta1), k.getOutput(0)), g);
    Value direction = k.add(g, k.multiply(k.get(beta1), momentum));
    return k.unlessSkipped({momentum, direction});
  });
}

func::FuncOp veeline::pipe::getMuonStepKernel(SymbolTable &symbols,
                                              const UpdateShape &ofUpdate,
                                              int64_t longest) {
  UpdateShape shape = ofUpdate;
  shape.numGradients = 0;
  std::string name =
      getMuonName("step", shape) + "_longest_" + std::to_string(longest);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  KernelWriter k(symbols, name, shape, {shape.numElements});
  k.use(keep);
  k.use(rate);
  if (shape.isClipped)
    k.useOutcome();
  k.addDirection(shape.numElements);
  k.addUpdated(shape.getOwnSlots());
  return k.finish(utils::IteratorType::parallel, [&] {
    Value scale = k.multiply(
        k.get(rate), k.number(0.2 * std::sqrt(static_cast<double>(longest))));
    return k.unlessSkipped(
        k.subtractChange(k.multiply(scale, k.getDirection()), {}));
  });
}

/// Creates a private function by `build`, which gets a builder at its begin,
/// and arguments of the given types.
static func::FuncOp
makeKernel(SymbolTable &symbols, StringRef name, ArrayRef<MemRefType> types,
           llvm::function_ref<void(OpBuilder &, Location, ValueRange)> build) {
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  Location loc = symbols.getOp()->getLoc();
  OpBuilder builder(symbols.getOp()->getContext());
  SmallVector<Type> arguments(types.begin(), types.end());
  auto function =
      func::FuncOp::create(loc, name, builder.getFunctionType(arguments, {}));
  function.setPrivate();
  builder.setInsertionPointToStart(function.addEntryBlock());
  build(builder, loc, function.getArguments());
  return finishKernel(symbols, builder, function);
}

static Value asDouble(OpBuilder &b, Location l, Value value) {
  return value.getType().isF64()
             ? value
             : arith::ExtFOp::create(b, l, b.getF64Type(), value).getResult();
}

func::FuncOp veeline::pipe::getSquaresKernel(SymbolTable &symbols,
                                             const UpdateShape &shape) {
  Type f64 = Float64Type::get(symbols.getOp()->getContext());
  int64_t parts = normParts(shape.numElements);
  return makeKernel(
      symbols, getName("squares", shape),
      {MemRefType::get({parts, shape.numElements / parts}, shape.element),
       MemRefType::get(parts, f64)},
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        Value zero =
            arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0));
        linalg::FillOp::create(builder, loc, zero, arguments[1]);
        AffineMap all = builder.getMultiDimIdentityMap(2);
        AffineMap outer =
            AffineMap::get(2, 0, all.getResult(0), builder.getContext());
        linalg::GenericOp::create(
            builder, loc, arguments[0], arguments[1], {all, outer},
            {utils::IteratorType::parallel, utils::IteratorType::reduction},
            [](OpBuilder &b, Location l, ValueRange values) {
              Value x = asDouble(b, l, values[0]);
              Value square = arith::MulFOp::create(b, l, x, x);
              Value sum = arith::AddFOp::create(b, l, values[1], square);
              linalg::YieldOp::create(b, l, sum);
            });
      });
}

func::FuncOp veeline::pipe::getNormalizeKernel(SymbolTable &symbols,
                                               const UpdateShape &shape) {
  MLIRContext *context = symbols.getOp()->getContext();
  Type f64 = Float64Type::get(context);
  return makeKernel(
      symbols, getName("normalize", shape),
      {MemRefType::get({}, f64),
       MemRefType::get(shape.numElements, shape.element)},
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        linalg::GenericOp::create(
            builder, loc, arguments[0], arguments[1],
            {AffineMap::get(1, 0, {}, context),
             builder.getMultiDimIdentityMap(1)},
            utils::IteratorType::parallel,
            [&](OpBuilder &b, Location l, ValueRange values) {
              auto number = [&](double x) -> Value {
                return arith::ConstantOp::create(b, l, b.getF64FloatAttr(x));
              };
              Value norm = math::SqrtOp::create(b, l, values[0]);
              // Avoid a division by zero.
              Value divisor = arith::AddFOp::create(b, l, norm, number(1e-7));
              Value scale = arith::DivFOp::create(b, l, number(1), divisor);
              if (!shape.element.isF64())
                scale = arith::TruncFOp::create(b, l, shape.element, scale);
              Value x = arith::MulFOp::create(b, l, values[1], scale);
              linalg::YieldOp::create(b, l, x);
            });
      });
}
