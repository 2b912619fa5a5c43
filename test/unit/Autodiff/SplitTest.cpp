//===- SplitTest.cpp - what is in B and what is in W ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace veeline::test;
using namespace veeline::pipe;

namespace {

/// Counts the multiplications and additions of a matrix product; 0 for other
/// ops.
int64_t countFlops(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !linalg::isaContractionOpInterface(structured))
    return 0;
  int64_t flops = 2;
  for (int64_t extent : structured.getStaticLoopRanges())
    flops *= extent;
  return flops;
}

bool isParameter(const GradientCheck::Function &function, func::FuncOp func,
                 Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &func.getBody().front())
    return false;
  RoleAttr role = getArgRole(func, argument.getArgNumber());
  return role.getKind() == RoleKind::Operand &&
         function.description.operands[role.getIndex()] ==
             veeline::autodiff::OperandKind::Parameter;
}

struct Flops {
  /// Products with a parameter.
  int64_t withParameters = 0;
  /// Products whose result is returned: the gradients of parameters.
  int64_t returned = 0;
  int64_t others = 0;
};

Flops countFlops(const GradientCheck::Function &function, func::FuncOp func) {
  Flops flops;
  func.walk([&](Operation *op) {
    int64_t count = countFlops(op);
    if (count == 0)
      return;
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          return isParameter(function, func, operand);
        }))
      flops.withParameters += count;
    else if (llvm::any_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>))
      flops.returned += count;
    else
      flops.others += count;
  });
  return flops;
}

const GradientCheck::Function *getLayer() {
  GradientCheck *file = getFile(INPUTS "/transformer-layer.mlir");
  return file ? &file->getFunction("layer") : nullptr;
}

/// Of the backward of a layer's products with weights, W takes half and B the
/// other half. The products of attention, which have no weights, are all in B.
TEST(Split, WeightProductsAreHalved) {
  const GradientCheck::Function *layer = getLayer();
  ASSERT_TRUE(layer);
  // Four products of 16 rows: 16 x 48, 16 x 16, 16 x 64, 64 x 16.
  int64_t weights = 2 * 16 * (16 * 48 + 16 * 16 + 16 * 64 + 64 * 16);
  // Scores and context of 4 heads: 8 x 8 x 8 each.
  int64_t attention = 2 * 2 * 4 * 8 * 8 * 8;
  Flops forward = countFlops(*layer, layer->forward);
  EXPECT_EQ(forward.withParameters, weights);
  EXPECT_EQ(forward.others, attention);
  Flops input = countFlops(*layer, layer->input);
  EXPECT_EQ(input.withParameters, weights);
  EXPECT_EQ(input.others + input.returned, 2 * attention);
  Flops weight = countFlops(*layer, layer->weight);
  EXPECT_EQ(weight.returned, weights);
  EXPECT_EQ(weight.withParameters, 0);
  EXPECT_EQ(weight.others, 0);
  Flops fused = countFlops(*layer, layer->backward);
  EXPECT_EQ(fused.withParameters, weights);
  EXPECT_EQ(fused.returned, weights);
  EXPECT_EQ(fused.others, 2 * attention);
}

/// Every op of B serves the gradient of an operand.
TEST(Split, NothingInBackwardInputIsForParametersOnly) {
  for (const char *path :
       {INPUTS "/transformer-layer.mlir", INPUTS "/structured.mlir",
        INPUTS "/layers.mlir", INPUTS "/tensor.mlir", INPUTS "/control.mlir"}) {
    GradientCheck *file = getFile(path);
    ASSERT_TRUE(file);
    for (const std::string &name : file->getFunctions()) {
      func::FuncOp input = file->getFunction(name).input;
      if (!input)
        continue;
      Block &block = input.getBody().front();
      DenseSet<Operation *> needed;
      for (unsigned i = 0; i != input.getNumResults(); ++i)
        if (getResultRole(input, i).getKind() == RoleKind::OperandGrad)
          if (Operation *def =
                  block.getTerminator()->getOperand(i).getDefiningOp())
            needed.insert(def);
      for (Operation &op : llvm::reverse(block.without_terminator())) {
        EXPECT_TRUE(needed.contains(&op))
            << op.getName().getStringRef().str() << " in @" << name;
        op.walk([&](Operation *nested) {
          for (Value operand : nested->getOperands())
            if (Operation *def = operand.getDefiningOp())
              needed.insert(def);
        });
      }
    }
  }
}

/// No residual or saved value is repeated, is a view or is an argument, and
/// every argument is used.
TEST(Split, NothingIsKeptTwice) {
  GradientCheck *file = getFile(INPUTS "/transformer-layer.mlir");
  ASSERT_TRUE(file);
  const GradientCheck::Function &layer = file->getFunction("layer");
  for (func::FuncOp func : {layer.forward, layer.input}) {
    DenseSet<Value> seen;
    Operation *terminator = func.getBody().front().getTerminator();
    for (unsigned i = 0; i != func.getNumResults(); ++i) {
      RoleKind kind = getResultRole(func, i).getKind();
      if (kind != RoleKind::Residual && kind != RoleKind::Saved)
        continue;
      Value value = terminator->getOperand(i);
      EXPECT_TRUE(seen.insert(value).second);
      EXPECT_FALSE(isa<BlockArgument>(value));
      if (Operation *def = value.getDefiningOp()) {
        EXPECT_EQ(def->getName().getStringRef().find("_shape"),
                  StringRef::npos);
      }
    }
  }
  for (func::FuncOp func :
       {layer.forward, layer.backward, layer.input, layer.weight})
    for (BlockArgument argument : func.getArguments())
      EXPECT_FALSE(argument.use_empty()) << func.getName().str();
}

} // namespace
