//===- EmbedderTest.cpp - a rule from outside -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The example of docs/differentiation.md: the program that embeds Veeline
// brings the rule of an op for which Veeline has none, and its cost.
//
//===----------------------------------------------------------------------===//

#include "Jit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "veeline/Analysis/CostOpInterface.h"
#include "veeline/Analysis/MachineCost.h"
#include "veeline/Autodiff/Autodiff.h"
#include "veeline/Autodiff/DifferentiableOpInterface.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace veeline::autodiff;

namespace {

constexpr StringLiteral model = R"mlir(
  func.func @quantized(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = tosa.custom %x {domain_name = "converter", implementation_attrs = "", operator_name = "fake_quantize"} : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
)mlir";

// The documentation shows the names of parameters.
// NOLINTBEGIN(misc-unused-parameters)
// [docs: rule]
/// An op of a converter that rounds to what a quantised model can hold, as
/// quantisation-aware training wants it: the gradient passes as if nothing had
/// been rounded.
struct StraightThroughRounding
    : DifferentiableOpInterface::ExternalModel<StraightThroughRounding,
                                               tosa::CustomOp> {
  LogicalResult differentiate(Operation *op, OpBuilder &builder,
                              Adjoint &adjoint) const {
    adjoint.contribute(op->getOperand(0), adjoint.gradient(op->getResult(0)));
    return success();
  }
};

void registerMyRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *) {
    tosa::CustomOp::attachInterface<StraightThroughRounding>(*context);
  });
}
// [docs: end]
// NOLINTEND(misc-unused-parameters)

FailureOr<DifferentiatedChunk> differentiate(DialectRegistry &registry,
                                             std::string &diagnostics,
                                             std::string &backward) {
  MLIRContext context(registry);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      diagnostics += note.str() + "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(model, &context);
  if (!module)
    return failure();
  ChunkDescription description;
  description.operands = {OperandKind::EdgeValue};
  description.hasResultGradient = {true};
  auto chunk =
      differentiateChunk(*module->getOps<func::FuncOp>().begin(), description);
  if (failed(chunk))
    return failure();
  llvm::raw_string_ostream(backward) << *chunk->backward;
  // The functions belong to this context.
  chunk->forward = nullptr;
  chunk->backward = nullptr;
  return chunk;
}

TEST(Embedder, OpWithoutRuleIsNamed) {
  DialectRegistry registry;
  veeline::test::registerTestDialects(registry);
  std::string diagnostics, backward;
  EXPECT_TRUE(failed(differentiate(registry, diagnostics, backward)));
  EXPECT_NE(diagnostics.find("'tosa.custom' has no derivative rule"),
            std::string::npos)
      << diagnostics;
  EXPECT_NE(diagnostics.find("DifferentiableOpInterface"), std::string::npos)
      << diagnostics;
}

TEST(Embedder, AddsARule) {
  DialectRegistry registry;
  veeline::test::registerTestDialects(registry);
  registerMyRules(registry);
  std::string diagnostics, backward;
  EXPECT_TRUE(succeeded(differentiate(registry, diagnostics, backward)))
      << diagnostics;
  // The gradient itself is returned.
  EXPECT_NE(backward.find("return %arg0 : tensor<4xf32>"), std::string::npos)
      << backward;
}

/// A number of products and of other operations that the op does not move.
struct MuchWork
    : veeline::CostOpInterface::ExternalModel<MuchWork, tosa::CustomOp> {
  veeline::OpCost estimateCost(Operation *) const {
    return {/*contractionFlops=*/6000, /*otherFlops=*/500, /*bytes=*/32};
  }
};

void registerMyCosts(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *) {
    tosa::CustomOp::attachInterface<MuchWork>(*context);
  });
}

/// What the cost model says of the model's op, and its time by a table.
std::pair<veeline::OpCost, double> estimate(DialectRegistry &registry) {
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(model, &context);
  veeline::MachineTable table;
  table.add("product f32", 1, 10);
  table.add("arithmetic", 1, 2);
  table.add("elementwise", 1, 4);
  std::pair<veeline::OpCost, double> found;
  module->walk([&](tosa::CustomOp op) {
    found = {veeline::estimateCost(op),
             veeline::MachineCost(table, /*cycle=*/0).estimate(op)};
  });
  return found;
}

TEST(Embedder, OpWithoutCostMovesItsOperands) {
  DialectRegistry registry;
  veeline::test::registerTestDialects(registry);
  auto [cost, time] = estimate(registry);
  EXPECT_EQ(cost.contractionFlops, 0u);
  EXPECT_EQ(cost.otherFlops, 4u);
  EXPECT_EQ(cost.bytes, 32u);
  // 16 bytes are read and 16 written, which count twice.
  EXPECT_DOUBLE_EQ(time, 48 / 4.0);
}

TEST(Embedder, AddsACost) {
  DialectRegistry registry;
  veeline::test::registerTestDialects(registry);
  registerMyCosts(registry);
  auto [cost, time] = estimate(registry);
  EXPECT_EQ(cost.contractionFlops, 6000u);
  EXPECT_EQ(cost.otherFlops, 500u);
  EXPECT_EQ(cost.bytes, 32u);
  EXPECT_DOUBLE_EQ(time, 6000 / 10.0 + 500 / 2.0);
}

} // namespace
