//===- EpilogueFallbacks.cpp - ops in place of missing epilogues ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryCalls.h"
#include "ProductCalls.h"
#include "veeline/Analysis/TensorEmit.h"
#include "veeline/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <cmath>

namespace veeline {
#define GEN_PASS_DEF_PIPEEPILOGUEFALLBACKS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// Functions of an element, in f32
//===----------------------------------------------------------------------===//

static Value createConstant(ImplicitLocOpBuilder &builder, double value) {
  return arith::ConstantOp::create(
      builder, builder.getF32FloatAttr(static_cast<float>(value)));
}

static constexpr double geluFactor = M_2_SQRTPI * M_SQRT1_2;
static constexpr double geluCube = 0.044715;

/// tanh(f (x + c x^3)). GELU(x) is x / 2 (1 + tanh(...)).
static Value createGeluTanh(ImplicitLocOpBuilder &builder, Value x) {
  Value square = arith::MulFOp::create(builder, x, x);
  Value inner = arith::AddFOp::create(
      builder,
      arith::MulFOp::create(builder, createConstant(builder, geluCube), square),
      createConstant(builder, 1));
  Value scaled =
      arith::MulFOp::create(builder, createConstant(builder, geluFactor), x);
  return math::TanhOp::create(builder,
                              arith::MulFOp::create(builder, scaled, inner));
}

/// (1 + tanh) / 2, the factor of x in GELU.
static Value createGeluWeight(ImplicitLocOpBuilder &builder, Value tanh) {
  Value half = createConstant(builder, 0.5);
  return arith::AddFOp::create(
      builder, arith::MulFOp::create(builder, half, tanh), half);
}

static Value createGelu(ImplicitLocOpBuilder &builder, Value x) {
  return arith::MulFOp::create(
      builder, x, createGeluWeight(builder, createGeluTanh(builder, x)));
}

/// GELU'(x) = (1 + t) / 2 + x / 2 (1 - t^2) f (1 + 3 c x^2).
static Value createGeluDerivative(ImplicitLocOpBuilder &builder, Value x) {
  Value tanh = createGeluTanh(builder, x);
  Value one = createConstant(builder, 1);
  Value rise = arith::SubFOp::create(
      builder, one, arith::MulFOp::create(builder, tanh, tanh));
  Value square = arith::MulFOp::create(builder, x, x);
  Value inner = arith::AddFOp::create(
      builder, one,
      arith::MulFOp::create(builder, createConstant(builder, 3 * geluCube),
                            square));
  Value slope = arith::MulFOp::create(
      builder,
      arith::MulFOp::create(builder, createConstant(builder, geluFactor / 2),
                            x),
      arith::MulFOp::create(builder, rise, inner));
  return arith::AddFOp::create(builder, createGeluWeight(builder, tanh), slope);
}

//===----------------------------------------------------------------------===//
// Ops on matrices
//===----------------------------------------------------------------------===//

namespace {

/// One product with an epilogue, and the ops that replace the epilogue.
class Fallback {
public:
  Fallback(IRRewriter &rewriter, func::CallOp call, const GemmDesc &desc)
      : rewriter(rewriter), loc(call.getLoc()), desc(desc),
        target(getStartOf(call.getOperand(targetAt))) {
    if (call.getNumOperands() > biasAt + 1)
      bias = getStartOf(call.getOperand(biasAt));
    if (call.getNumOperands() > auxAt + 1)
      aux = getStartOf(call.getOperand(auxAt));
  }

  static constexpr unsigned targetAt = 4, biasAt = 5, auxAt = 6;

  /// The operand that gets the product alone: with GELU, that is where the
  /// argument of GELU has to be, which may be a matrix of its own.
  unsigned getProductAt() const { return isGelu() ? auxAt : targetAt; }
  /// Emits ops that do what the library would have done to the product.
  void emit();

private:
  bool isGelu() const {
    return desc.epilogue == GemmEpilogue::GeluAux ||
           desc.epilogue == GemmEpilogue::BiasGeluAux;
  }
  using Body = function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;
  void apply(ValueRange inputs, ArrayRef<AffineMap> maps, Value output,
             Body body);
  Value flatten(Value memref);
  void addBias(Value matrix);

  IRRewriter &rewriter;
  Location loc;
  const GemmDesc &desc;
  Value target, bias, aux;
};

} // namespace

/// Emits output = body(inputs, output), in f32. The first of `maps` is that of
/// output.
void Fallback::apply(ValueRange inputs, ArrayRef<AffineMap> maps, Value output,
                     Body body) {
  SmallVector<AffineMap> all(maps.drop_front());
  all.push_back(maps.front());
  SmallVector<utils::IteratorType> iterators(maps.front().getNumDims(),
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      rewriter, loc, inputs, output, all, iterators,
      [&](OpBuilder &inner, Location at, ValueRange arguments) {
        ImplicitLocOpBuilder builder(at, inner);
        SmallVector<Value> wide;
        for (Value argument : arguments)
          wide.push_back(
              convertFloat(builder, at, argument, builder.getF32Type()));
        Value value = body(builder, wide);
        linalg::YieldOp::create(
            builder,
            convertFloat(builder, at, value, arguments.back().getType()));
      });
}

/// Collapses a buffer to one dimension, in the order of memory.
Value Fallback::flatten(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getRank() == 1)
    return memref;
  ReassociationIndices all =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return memref::CollapseShapeOp::create(rewriter, loc, memref,
                                         ArrayRef<ReassociationIndices>{all});
}

void Fallback::addBias(Value matrix) {
  Value flat = flatten(matrix);
  Value rows = memref::ExpandShapeOp::create(
      rewriter, loc, ArrayRef<int64_t>{desc.m, desc.n}, flat,
      ArrayRef<ReassociationIndices>{{0, 1}});
  AffineMap all = rewriter.getMultiDimIdentityMap(2);
  apply(bias, {all, all.getMinorIdentityMap(2, 1, rewriter.getContext())}, rows,
        [](ImplicitLocOpBuilder &builder, ValueRange values) {
          return arith::AddFOp::create(builder, values[1], values[0]);
        });
}

void Fallback::emit() {
  if (bias)
    addBias(isGelu() ? aux : target);
  if (!aux)
    return;
  AffineMap all = rewriter.getMultiDimIdentityMap(1);
  bool isOfGelu = isGelu();
  apply(flatten(aux), {all, all}, flatten(target),
        [&](ImplicitLocOpBuilder &builder, ValueRange values) -> Value {
          if (isOfGelu)
            return createGelu(builder, values[0]);
          return arith::MulFOp::create(
              builder, values[1], createGeluDerivative(builder, values[0]));
        });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Emits a call of the product without its epilogue, with the operands of
/// `call`.
static void emitAlone(IRRewriter &rewriter, LibraryCalls &calls,
                      func::CallOp call, GemmDesc desc, unsigned productAt) {
  desc.epilogue = GemmEpilogue::None;
  SmallVector<Value> operands(call.getOperands().take_front(5));
  operands[Fallback::targetAt] = call.getOperand(productAt);
  operands.push_back(call.getOperands().back());
  calls.emitWith(rewriter, call.getLoc(), "veeline_gemm",
                 desc.toAttribute(rewriter.getContext()), operands);
}

namespace {

struct EpilogueFallbacks
    : veeline::impl::PipeEpilogueFallbacksBase<EpilogueFallbacks> {
  void runOnOperation() override {
    LibraryCalls calls(getOperation(), "veeline_gemm", gemmsAttrName);
    SmallVector<func::CallOp> found;
    getOperation().walk([&](func::CallOp call) { found.push_back(call); });
    for (func::CallOp call : found) {
      DictionaryAttr entry = calls.getEntry(call);
      FailureOr<GemmDesc> desc =
          entry ? GemmDesc::fromAttribute(entry) : FailureOr<GemmDesc>();
      if (succeeded(desc) && desc->epilogue != GemmEpilogue::None)
        rewrite(calls, call, *desc, entry);
    }
    calls.finish();
  }

private:
  void rewrite(LibraryCalls &calls, func::CallOp call, const GemmDesc &desc,
               DictionaryAttr entry) {
    IRRewriter rewriter(call);
    scf::IfOp choice = calls.ask(rewriter, call.getLoc(), call.getOperand(0),
                                 entry, "veeline_has_gemm");
    rewriter.setInsertionPointToStart(choice.elseBlock());
    Fallback fallback(rewriter, call, desc);
    emitAlone(rewriter, calls, call, desc, fallback.getProductAt());
    fallback.emit();
    call->moveBefore(choice.thenBlock(), choice.thenBlock()->begin());
  }
};

} // namespace
