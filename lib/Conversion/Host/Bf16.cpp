//===- Bf16.cpp - bf16 on CPUs without support for it ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bf16.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

namespace {

struct ExpandBf16Conversions
    : PassWrapper<ExpandBf16Conversions, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandBf16Conversions)

  StringRef getName() const override { return "ExpandBf16Conversions"; }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace

void veeline::addBf16Arithmetic(OpPassManager &passManager) {
  math::MathExtendToSupportedTypesOptions functions;
  functions.extraTypeStrs = {"f16"};
  passManager.addPass(math::createMathExtendToSupportedTypes(functions));
  arith::ArithEmulateUnsupportedFloatsOptions arithmetic;
  arithmetic.sourceTypeStrs = {"bf16"};
  arithmetic.targetTypeStr = "f32";
  passManager.addPass(arith::createArithEmulateUnsupportedFloats(arithmetic));
  passManager.addPass(std::make_unique<ExpandBf16Conversions>());
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// The type with i16 in place of bf16, also for vectors.
static Type toBits(Type type) {
  if (!getElementTypeOrSelf(type).isBF16())
    return type;
  Type bits = IntegerType::get(type.getContext(), 16);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(bits)) : bits;
}

static bool hasBf16(Operation *op) {
  auto isBf16 = [](Type type) { return type != toBits(type); };
  return llvm::any_of(op->getOperandTypes(), isBf16) ||
         llvm::any_of(op->getResultTypes(), isBf16);
}

/// True for an op that accepts integers wherever it accepts floats.
static bool isMove(Operation *op) {
  return isa<LLVM::BitcastOp, LLVM::BrOp, LLVM::CondBrOp, LLVM::ConstantOp,
             LLVM::ExtractElementOp, LLVM::FreezeOp, LLVM::InsertElementOp,
             LLVM::LoadOp, LLVM::PoisonOp, LLVM::SelectOp,
             LLVM::ShuffleVectorOp, LLVM::StoreOp, LLVM::UndefOp, LLVM::ZeroOp>(
      op);
}

/// Replaces a constant by its bits.
static void convertConstant(LLVM::ConstantOp op) {
  Attribute value = op.getValue();
  Type type = toBits(op.getType());
  if (auto number = dyn_cast<FloatAttr>(value))
    op.setValueAttr(IntegerAttr::get(type, number.getValue().bitcastToAPInt()));
  else if (auto numbers = dyn_cast<DenseFPElementsAttr>(value))
    op.setValueAttr(numbers.bitcast(getElementTypeOrSelf(type)));
}

static void moveAsBits(LLVM::LLVMFuncOp function) {
  bool movesOnly = true;
  function.walk([&](Operation *op) {
    movesOnly &= op == function || !hasBf16(op) || isMove(op);
  });
  auto isBf16 = [](Type type) { return type != toBits(type); };
  if (!movesOnly || llvm::any_of(function.getArgumentTypes(), isBf16) ||
      isBf16(function.getFunctionType().getReturnType()))
    return;
  function.walk([](Operation *op) {
    if (auto constant = dyn_cast<LLVM::ConstantOp>(op); constant && hasBf16(op))
      convertConstant(constant);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(toBits(argument.getType()));
    for (OpResult result : op->getResults())
      result.setType(toBits(result.getType()));
  });
  function.walk([](LLVM::BitcastOp op) {
    if (op.getArg().getType() != op.getType())
      return;
    op.replaceAllUsesWith(op.getArg());
    op.erase();
  });
}

namespace {

struct MoveBf16AsBits : PassWrapper<MoveBf16AsBits, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MoveBf16AsBits)

  StringRef getName() const override { return "MoveBf16AsBits"; }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      moveAsBits(function);
  }
};

} // namespace

void veeline::addBf16Moves(OpPassManager &passManager) {
  passManager.addPass(std::make_unique<MoveBf16AsBits>());
}
