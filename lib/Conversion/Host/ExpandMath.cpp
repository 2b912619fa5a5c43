//===- ExpandMath.cpp - math functions as arithmetic or calls of libm -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatFunctions.h"
#include "veeline/Conversion/Passes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEEXPANDMATH
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

using Unary = Expression (*)(Expression);

static Expression buildRsqrt(Expression x) { return 1.0 / x.sqrt(); }

/// The function that builds `op` from f32 arithmetic, or null if there is none.
static Unary getUnary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Unary>(op)
      .Case([](math::ExpOp) { return buildExp; })
      .Case([](math::Exp2Op) { return buildExp2; })
      .Case([](math::ExpM1Op) { return buildExpM1; })
      .Case([](math::LogOp) { return buildLog; })
      .Case([](math::Log2Op) { return buildLog2; })
      .Case([](math::Log10Op) { return buildLog10; })
      .Case([](math::Log1pOp) { return buildLog1p; })
      .Case([](math::TanhOp) { return buildTanh; })
      .Case([](math::ErfOp) { return buildErf; })
      .Case([](math::SinOp) { return buildSin; })
      .Case([](math::CosOp) { return buildCos; })
      .Case([](math::RsqrtOp) { return buildRsqrt; })
      .Default([](Operation *) { return Unary(); });
}

//===----------------------------------------------------------------------===//
// f64
//===----------------------------------------------------------------------===//

/// The f64 function of libm that computes `op`, or an empty name.
static StringRef getLibmName(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("math.acos", "acos")
      .Case("math.acosh", "acosh")
      .Case("math.asin", "asin")
      .Case("math.asinh", "asinh")
      .Case("math.atan", "atan")
      .Case("math.atan2", "atan2")
      .Case("math.atanh", "atanh")
      .Case("math.cbrt", "cbrt")
      .Case("math.cos", "cos")
      .Case("math.cosh", "cosh")
      .Case("math.erf", "erf")
      .Case("math.erfc", "erfc")
      .Case("math.exp", "exp")
      .Case("math.exp2", "exp2")
      .Case("math.expm1", "expm1")
      .Case("math.log", "log")
      .Case("math.log10", "log10")
      .Case("math.log1p", "log1p")
      .Case("math.log2", "log2")
      .Case("math.fpowi", "pow")
      .Case("math.powf", "pow")
      .Case("math.sin", "sin")
      .Case("math.sinh", "sinh")
      .Case("math.tan", "tan")
      .Case("math.tanh", "tanh")
      .Default("");
}

/// Declares the f64 function `name` in `module`. `Function` is the op of the
/// declaration.
template <typename Function, typename FunctionType>
static LogicalResult declare(Operation *op, Operation *module, StringRef name,
                             FunctionType type) {
  OpBuilder builder = OpBuilder::atBlockBegin(&module->getRegion(0).front());
  if (Operation *symbol = SymbolTable::lookupSymbolIn(module, name)) {
    auto function = dyn_cast<Function>(symbol);
    if (function && function.isExternal() && function.getFunctionType() == type)
      return success();
    InFlightDiagnostic error = op->emitError("this op needs libm's function '")
                               << name
                               << "', but the module has a symbol of "
                                  "this name: rename it";
    error.attachNote(symbol->getLoc()) << "it is here";
    return error;
  }
  auto function = Function::create(builder, module->getLoc(), name, type);
  function.setVisibility(SymbolTable::Visibility::Private);
  return success();
}

/// Whether `op` is in a GPU module. Functions are then those of libdevice of
/// the CUDA toolkit, which have libm's names with a prefix. They are called in
/// the LLVM dialect, because the conversion of the gpu dialect does not change
/// that.
static bool isOnGpu(Operation *op) {
  return op->getParentOfType<gpu::GPUModuleOp>() != nullptr;
}

static std::string getFunctionName(Operation *op) {
  return (isOnGpu(op) ? "__nv_" : "") + getLibmName(op).str();
}

/// Declares the function that callScalar calls for `op`.
static LogicalResult declare(Operation *op, Operation *module) {
  Type f64 = Float64Type::get(op->getContext());
  SmallVector<Type> inputs(op->getNumOperands(), f64);
  std::string name = getFunctionName(op);
  if (isOnGpu(op))
    return declare<LLVM::LLVMFuncOp>(op, module, name,
                                     LLVM::LLVMFunctionType::get(f64, inputs));
  return declare<func::FuncOp>(
      op, module, name, FunctionType::get(op->getContext(), inputs, f64));
}

/// Calls the function of `op` on f64 scalars.
static Value callScalar(OpBuilder &builder, Operation *op,
                        ValueRange operands) {
  Location loc = op->getLoc();
  std::string name = getFunctionName(op);
  SmallVector<Value> wide;
  Type f64 = builder.getF64Type();
  for (Value operand : operands) {
    if (isa<IntegerType>(operand.getType()))
      operand = arith::SIToFPOp::create(builder, loc, f64, operand);
    wide.push_back(operand);
  }
  if (isOnGpu(op))
    return LLVM::CallOp::create(builder, loc, f64, name, wide).getResult();
  return func::CallOp::create(builder, loc, name, f64, wide).getResult(0);
}

/// Calls the function of `op` once for every element of the f64 operands.
static Value callForEach(OpBuilder &builder, Operation *op, ValueRange operands,
                         Type type) {
  Location loc = op->getLoc();
  auto vectorType = dyn_cast<VectorType>(type);
  if (!vectorType)
    return callScalar(builder, op, operands);
  Value result =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(vectorType));
  SmallVector<int64_t> strides = computeStrides(vectorType.getShape());
  for (int64_t i = 0; i < vectorType.getNumElements(); ++i) {
    SmallVector<int64_t> position = delinearize(i, strides);
    SmallVector<Value> elements;
    for (Value operand : operands)
      elements.push_back(
          vector::ExtractOp::create(builder, loc, operand, position));
    Value element = callScalar(builder, op, elements);
    result = vector::InsertOp::create(builder, loc, element, result, position);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {

/// Expands the math functions in the regions of an op.
class MathExpander {
public:
  explicit MathExpander(MLIRContext *context) : builder(context) {}

  LogicalResult expand(Operation *op);

private:
  Value expandF32(Operation *op);
  Value expandF64(Operation *op, ValueRange operands);
  Value cast(Location loc, Value value, Type element);

  OpBuilder builder;
};

} // namespace

static Type withElement(Type type, Type element) {
  auto vectorType = dyn_cast<VectorType>(type);
  return vectorType ? Type(vectorType.clone(element)) : element;
}

/// Converts `value`, a float of another width, to elements of type `element`.
Value MathExpander::cast(Location loc, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element || !isa<FloatType>(from))
    return value;
  Type type = withElement(value.getType(), element);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

Value MathExpander::expandF32(Operation *op) {
  Expression x(builder, op->getLoc(), op->getOperand(0));
  if (Unary unary = getUnary(op))
    return unary(x).getValue();
  if (isa<math::PowFOp>(op))
    return buildPow(x, Expression(builder, op->getLoc(), op->getOperand(1)))
        .getValue();
  return {};
}

Value MathExpander::expandF64(Operation *op, ValueRange operands) {
  Expression x(builder, op->getLoc(), operands[0]);
  if (isa<math::RsqrtOp>(op))
    return buildRsqrt(x).getValue();
  if (getLibmName(op).empty() ||
      failed(declare(op, SymbolTable::getNearestSymbolTable(op))))
    return {};
  return callForEach(builder, op, operands, x.getType());
}

LogicalResult MathExpander::expand(Operation *op) {
  if (op->getNumResults() != 1 ||
      (getLibmName(op).empty() && !isa<math::RsqrtOp>(op)))
    return success();
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  builder.setInsertionPoint(op);
  auto vectorType = dyn_cast<VectorType>(op->getResult(0).getType());
  if (vectorType && vectorType.isScalable())
    return op->emitError("expanding a function needs vectors of fixed length");
  Location loc = op->getLoc();
  Value result;
  if (element.isF32())
    result = expandF32(op);
  if (!result && element.getIntOrFloatBitWidth() >= 32) {
    // f32 functions without a polynomial are computed in f64 and rounded.
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(cast(loc, operand, builder.getF64Type()));
    result = expandF64(op, operands);
    if (!result)
      return failure();
    result = cast(loc, result, element);
  } else if (!result) {
    // Functions of half precision are computed in f32 and rounded.
    Operation *wide = builder.clone(*op);
    builder.setInsertionPoint(wide);
    for (OpOperand &operand : wide->getOpOperands())
      operand.set(cast(loc, operand.get(), builder.getF32Type()));
    wide->getResult(0).setType(
        withElement(wide->getResult(0).getType(), builder.getF32Type()));
    builder.setInsertionPointAfter(wide);
    result = cast(loc, wide->getResult(0), element);
    op->replaceAllUsesWith(ValueRange{result});
    op->erase();
    return expand(wide);
  }
  op->replaceAllUsesWith(ValueRange{result});
  op->erase();
  return success();
}

namespace {

struct ExpandMath : veeline::impl::PipeExpandMathBase<ExpandMath> {
  /// Declarations are placed next to functions, so the pass runs on the op that
  /// contains these.
  bool canScheduleOn(RegisteredOperationName name) const override {
    return name.hasTrait<OpTrait::SymbolTable>();
  }

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<math::MathDialect>(op->getDialect()))
        ops.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    MathExpander expander(&getContext());
    for (Operation *op : ops)
      if (failed(expander.expand(op)))
        return signalPassFailure();
  }
};

} // namespace
