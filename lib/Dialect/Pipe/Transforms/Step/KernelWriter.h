//===- KernelWriter.h - kernels of updates, under construction --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_KERNELWRITER_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_KERNELWRITER_H

#include "ClipKernels.h"
#include "UpdateKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"

namespace veeline::pipe {

/// The numbers of veeline_settings, in its order.
enum Coefficient {
  gradientScale,
  keep,
  lossDecay,
  rate,
  beta1,
  oneMinusBeta1,
  beta2,
  oneMinusBeta2,
  secondMomentScale,
  epsilon,
  gradientRate,
  clipValue,
  greatestLimited,
  unused,
  decay,
  correction,
  numCoefficients
};
static_assert(numCoefficients == gpuSettingsNumbers && numCoefficients % 2 == 0,
              "the doubles behind the floats are aligned");

/// A kernel under construction: one structured op over all elements.
class KernelWriter {
public:
  KernelWriter(mlir::SymbolTable &symbols, llvm::StringRef name,
               const UpdateShape &shape, llvm::ArrayRef<int64_t> sizes)
      : symbols(symbols), shape(shape), sizes(sizes),
        builder(symbols.getOp()->getContext()), loc(symbols.getOp()->getLoc()) {
    function =
        mlir::func::FuncOp::create(loc, name, builder.getFunctionType({}, {}));
    function.setPrivate();
    builder.setInsertionPointToStart(function.addEntryBlock());
    settings = addArgument({settingsSize()}, shape.element);
    if (shape.isClipped)
      outcome = addArgument({numClipOutcomes}, builder.getF64Type());
    for (int64_t i = 0; i < shape.numGradients; ++i)
      addInput(addArgument(sizes, shape.element), identity());
    numGradients = inputs.size();
    if (numGradients > 0)
      for (Coefficient coefficient :
           {gradientScale, clipValue, greatestLimited})
        use(coefficient);
  }

  mlir::Value addArgument(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
    return function.getBody().front().addArgument(
        mlir::MemRefType::get(shape, element), loc);
  }
  mlir::AffineMap identity() {
    return builder.getMultiDimIdentityMap(sizes.size());
  }
  /// The map of an operand that depends only on the first `rank` loops.
  mlir::AffineMap outer(unsigned rank) {
    return mlir::AffineMap::get(sizes.size(), 0,
                                identity().getResults().take_front(rank),
                                builder.getContext());
  }
  /// The part of a buffer from element `offset` on, stored by rows.
  mlir::Value view(mlir::Value buffer, int64_t offset,
                   llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;)
      strides[i - 1] = strides[i] * shape[i];
    auto layout =
        mlir::StridedLayoutAttr::get(builder.getContext(), offset, strides);
    mlir::Type element =
        mlir::cast<mlir::MemRefType>(buffer.getType()).getElementType();
    return mlir::memref::ReinterpretCastOp::create(
        builder, loc, mlir::MemRefType::get(shape, element, layout), buffer,
        offset, shape, strides);
  }
  /// Adds a buffer of doubles as an output. They start as 0.
  void addSums(int64_t count, mlir::AffineMap map) {
    mlir::Value sums = addArgument({count}, builder.getF64Type());
    mlir::Value zero = mlir::arith::ConstantOp::create(
        builder, loc, builder.getF64FloatAttr(0));
    mlir::linalg::FillOp::create(builder, loc, zero, sums);
    addOutput(sums, map);
  }

  /// Adds one double as an output. It starts as 0.
  void addTotal() {
    mlir::Value sum = addArgument({}, builder.getF64Type());
    mlir::Value zero = mlir::arith::ConstantOp::create(
        builder, loc, builder.getF64FloatAttr(0));
    mlir::linalg::FillOp::create(builder, loc, zero, sum);
    addOutput(sum, outer(0));
  }

  /// Adds the value as an output, and slots of the state from `firstSlot` on.
  void addUpdated(int64_t firstSlot = 0) {
    int64_t n = shape.numElements, slots = shape.getStateSlots();
    addOutput(addArgument({n}, shape.element), identity());
    if (firstSlot == slots)
      return;
    mlir::Value state;
    if (!hasSeparateSlots(shape))
      state = addArgument({n * slots}, shape.element);
    for (int64_t slot = firstSlot; slot < slots; ++slot)
      addOutput(state ? view(state, slot * n, {n})
                      : addArgument({n}, shape.element),
                identity());
    if (shape.errorFeedback)
      for (Coefficient coefficient : {decay, correction})
        use(coefficient);
  }
  /// Adds an input. Returns its number for `getInput`.
  size_t addInput(mlir::Value buffer, mlir::AffineMap map) {
    inputs.push_back(buffer);
    inputMaps.push_back(map);
    return inputs.size() - 1;
  }
  void addOutput(mlir::Value buffer, mlir::AffineMap map) {
    outputs.push_back(buffer);
    outputMaps.push_back(map);
  }
  /// Makes one of the settings an input of the body.
  void use(Coefficient coefficient) {
    positions[coefficient] = inputs.size();
    addInput(view(settings, settingsSize() - numCoefficients + coefficient, {}),
             outer(0));
  }

  // The functions below emit code of the body.
  mlir::Value get(Coefficient coefficient) {
    return values[positions[coefficient]];
  }
  mlir::Value getInput(size_t number) { return values[number]; }
  mlir::Value getOutput(unsigned number) {
    return values[inputs.size() + number];
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return mlir::arith::AddFOp::create(*body, loc, a, b);
  }
  mlir::Value subtract(mlir::Value a, mlir::Value b) {
    return mlir::arith::SubFOp::create(*body, loc, a, b);
  }
  mlir::Value multiply(mlir::Value a, mlir::Value b) {
    return mlir::arith::MulFOp::create(*body, loc, a, b);
  }
  mlir::Value divide(mlir::Value a, mlir::Value b) {
    return mlir::arith::DivFOp::create(*body, loc, a, b);
  }
  mlir::Value sqrt(mlir::Value a) {
    return mlir::math::SqrtOp::create(*body, loc, a);
  }
  mlir::Value choose(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                     mlir::Value b, mlir::Value ifTrue, mlir::Value otherwise) {
    mlir::Value isTrue =
        mlir::arith::CmpFOp::create(*body, loc, predicate, a, b);
    return mlir::arith::SelectOp::create(*body, loc, isTrue, ifTrue, otherwise);
  }
  mlir::Value extend(mlir::Value a) {
    return shape.element.isF64()
               ? a
               : mlir::arith::ExtFOp::create(*body, loc, body->getF64Type(), a)
                     .getResult();
  }
  /// Rounds a double to the parameter's type.
  mlir::Value round(mlir::Value a) {
    return shape.element.isF64()
               ? a
               : mlir::arith::TruncFOp::create(*body, loc, shape.element, a)
                     .getResult();
  }
  mlir::Value exact(double x) {
    return mlir::arith::ConstantOp::create(*body, loc,
                                           body->getF64FloatAttr(x));
  }
  /// Makes the outcome of clipping an input of the body.
  void useOutcome() {
    firstOutcome = inputs.size();
    for (ClipOutcome number : {clipFactor, clipSkips})
      addInput(view(outcome, number, {}), outer(0));
  }
  /// Scales a gradient by the factor that the norm of all gradients requires.
  mlir::Value clip(mlir::Value g) {
    if (!outcome)
      return g;
    mlir::Value factor = values[firstOutcome];
    if (!shape.element.isF64())
      factor = mlir::arith::TruncFOp::create(*body, loc, shape.element, factor);
    return multiply(g, factor);
  }
  /// If the step changes nothing, returns the old values of the outputs.
  llvm::SmallVector<mlir::Value>
  unlessSkipped(llvm::SmallVector<mlir::Value> results) {
    if (!outcome)
      return results;
    mlir::Value zero =
        mlir::arith::ConstantOp::create(*body, loc, body->getF64FloatAttr(0));
    mlir::Value skips =
        mlir::arith::CmpFOp::create(*body, loc, mlir::arith::CmpFPredicate::OGT,
                                    values[firstOutcome + 1], zero);
    for (auto [number, result] : llvm::enumerate(results))
      result = mlir::arith::SelectOp::create(*body, loc, skips,
                                             getOutput(number), result);
    return results;
  }
  /// Makes a direction of `count` elements an input of the body.
  void addDirection(int64_t count) {
    directionInput = inputs.size();
    addInput(addArgument({count}, shape.element), identity());
  }
  mlir::Value getDirection() { return values[directionInput]; }
  mlir::Value number(double x) {
    return mlir::arith::ConstantOp::create(
        *body, loc,
        mlir::cast<mlir::TypedAttr>(body->getFloatAttr(shape.element, x)));
  }
  mlir::Value averageGradients() {
    mlir::Value sum = values[0];
    for (size_t i = 1; i < numGradients; ++i)
      sum = add(sum, values[i]);
    return limit(multiply(sum, get(gradientScale)));
  }
  /// Limits each element by value. NaN, and elements greater than the greatest
  /// that is limited, are not changed.
  mlir::Value limit(mlir::Value g) {
    mlir::Value most = get(clipValue),
                least = mlir::arith::NegFOp::create(*body, loc, most);
    mlir::Value limited =
        choose(mlir::arith::CmpFPredicate::OGT, g, most, most,
               choose(mlir::arith::CmpFPredicate::OLT, g, least, least, g));
    mlir::Value size = mlir::math::AbsFOp::create(*body, loc, g);
    return choose(mlir::arith::CmpFPredicate::OLE, size, get(greatestLimited),
                  limited, g);
  }

  /// The new value and state. `change` is subtracted from the value after
  /// decay.
  llvm::SmallVector<mlir::Value>
  subtractChange(mlir::Value change, llvm::ArrayRef<mlir::Value> state) {
    mlir::Value old = getOutput(0);
    mlir::Value value = subtract(multiply(old, get(keep)), change);
    llvm::SmallVector<mlir::Value> results = {value};
    llvm::append_range(results, state);
    if (!shape.errorFeedback)
      return results;
    mlir::Value before = getOutput(results.size());
    mlir::Value update = add(multiply(get(decay), old), change);
    results[0] =
        subtract(value, multiply(get(correction), subtract(update, before)));
    results.push_back(update);
    return results;
  }

  /// Ends the kernel. `yield` computes the new elements of the outputs.
  mlir::func::FuncOp
  finish(llvm::ArrayRef<mlir::utils::IteratorType> iterators,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> yield);

private:
  /// The size of veeline_settings (floats, then doubles) in elements. A kernel
  /// of f32 reads only the floats.
  int64_t settingsSize() const {
    return shape.element.isF64() ? numCoefficients / 2 + numCoefficients
                                 : numCoefficients;
  }

  mlir::SymbolTable &symbols;
  UpdateShape shape;
  llvm::SmallVector<int64_t> sizes;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::func::FuncOp function;
  mlir::Value settings,
      outcome; ///< The latter is null if nothing is clipped.
  size_t numGradients = 0, firstOutcome = 0, directionInput = 0;
  llvm::SmallVector<mlir::Value> inputs, outputs;
  llvm::SmallVector<mlir::AffineMap> inputMaps, outputMaps;
  size_t positions[numCoefficients] = {};
  mlir::OpBuilder *body = nullptr;
  mlir::ValueRange values;
};

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_KERNELWRITER_H
