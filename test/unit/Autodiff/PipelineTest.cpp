//===- PipelineTest.cpp - gradients of a whole pipeline -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the functions that the passes make of a pipeline's chunks: forward from
// the first chunk to the last, backward from the last to the first. Compares
// the gradients of the pipeline's parameters with differences.
//
//===----------------------------------------------------------------------===//

#include "GradientCheck.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "gtest/gtest.h"

#include <cmath>
#include <map>
#include <random>

using namespace mlir;
using namespace veeline::test;
using namespace veeline::pipe;

namespace {

using Values = GradientCheck::Values;

class Pipeline : public ::testing::Test {
protected:
  void SetUp() override {
    DialectRegistry registry;
    registerTestDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
    module = parseSourceFile<ModuleOp>(INPUTS "/pipeline.mlir", &context);
    ASSERT_TRUE(module);
    PassManager manager(&context);
    manager.addPass(createPipeDifferentiate());
    manager.addPass(createPipeSplitBackward());
    ASSERT_TRUE(succeeded(manager.run(*module)));
    pipeline = *module->getOps<PipelineOp>().begin();
    OwningOpRef<ModuleOp> functions = module->clone();
    (*functions->getOps<PipelineOp>().begin()).erase();
    compiled = JitModule::compile(*functions);
    ASSERT_TRUE(compiled);
    makeInputs();
  }

  void makeInputs() {
    std::mt19937_64 generator(3);
    std::uniform_real_distribution<double> real(-1.0, 1.0);
    for (Operation &op : *pipeline.getBody().begin()) {
      if (!isa<ParamOp, BatchOp, BufferOp>(op))
        continue;
      Array array(cast<RankedTensorType>(op.getResult(0).getType()));
      bool isInteger = array.type.getElementType().isInteger();
      for (int64_t i = 0; i != array.size(); ++i)
        array.set(i, isInteger ? double(generator() % 3) : real(generator));
      inputs.insert({op.getResult(0).getAsOpaquePointer(), array});
    }
  }

  void call(FlatSymbolRefAttr name, Values &values) {
    GradientCheck::call(module->lookupSymbol<func::FuncOp>(name), values,
                        [&](StringRef function, ArrayRef<Array *> arguments,
                            MutableArrayRef<Array> results) {
                          compiled->run(function, arguments, results);
                        });
  }

  /// Runs all forward functions; returns the loss.
  double forward() {
    std::map<const void *, Array> known = inputs;
    chunks.clear();
    for (ChunkOp chunk : pipeline.getChunks()) {
      Values &values = chunks.emplace_back();
      for (auto [i, operand] : llvm::enumerate(chunk.getOperands()))
        values.insert(
            {{RoleKind::Operand, i}, known.at(operand.getAsOpaquePointer())});
      call(chunk.getForwardAttr(), values);
      for (auto [i, result] : llvm::enumerate(chunk.getResults()))
        known.insert(
            {result.getAsOpaquePointer(), values.at({RoleKind::Result, i})});
    }
    return known.at(pipeline.getYield().getResults()[0].getAsOpaquePointer())
        .get(0);
  }

  using Gradients = std::map<const void *, Array>;

  static void add(Gradients &gradients, Value value, const Array &part) {
    auto [it, isNew] = gradients.insert({value.getAsOpaquePointer(), part});
    if (isNew)
      return;
    for (int64_t i = 0; i != part.size(); ++i)
      it->second.set(i, it->second.get(i) + part.get(i));
  }

  /// The gradients of all values and parameters, by fused or split backward.
  Gradients backward(bool split) {
    forward();
    Gradients gradients;
    SmallVector<ChunkOp> ops = pipeline.getChunks();
    for (size_t k = ops.size(); k-- != 0;) {
      Values values = chunks[k];
      for (auto [i, result] : llvm::enumerate(ops[k].getResults())) {
        auto it = gradients.find(result.getAsOpaquePointer());
        if (it != gradients.end())
          values.insert({{RoleKind::ResultGrad, i}, it->second});
      }
      if (!split) {
        call(ops[k].getBackwardAttr(), values);
      } else {
        if (ops[k].getBackwardInput())
          call(ops[k].getBackwardInputAttr(), values);
        if (ops[k].getBackwardWeight())
          call(ops[k].getBackwardWeightAttr(), values);
      }
      for (const auto &[role, array] : values)
        if (role.first == RoleKind::OperandGrad ||
            role.first == RoleKind::ParamGrad)
          add(gradients, ops[k].getOperands()[role.second], array);
    }
    return gradients;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  PipelineOp pipeline;
  std::unique_ptr<JitModule> compiled;
  std::map<const void *, Array> inputs;
  std::vector<Values> chunks;
};

TEST_F(Pipeline, GradientsMatchDifferences) {
  Gradients gradients = backward(/*split=*/false);
  for (ParamOp param : pipeline.getParams()) {
    const void *key = param.getValue().getAsOpaquePointer();
    ASSERT_TRUE(gradients.count(key));
    Array &values = inputs.at(key);
    double error = 0.0, norm = 0.0;
    for (int64_t i = 0; i != values.size(); ++i) {
      double original = values.get(i), h = 1e-3;
      auto at = [&](double t) {
        values.set(i, original + t);
        return forward();
      };
      double difference =
          (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      values.set(i, original);
      error += std::pow(gradients.at(key).get(i) - difference, 2);
      norm += difference * difference;
    }
    EXPECT_GT(norm, 0.0);
    EXPECT_LE(std::sqrt(error), 1e-6 * std::sqrt(norm))
        << param.getParam().getName().getValue().str();
  }
}

TEST_F(Pipeline, SplitIsBitwiseTheFused) {
  Gradients fused = backward(/*split=*/false);
  Gradients split = backward(/*split=*/true);
  ASSERT_EQ(fused.size(), split.size());
  for (const auto &[key, array] : fused)
    EXPECT_EQ(array.bytes, split.at(key).bytes);
}

/// Integers and metrics have no gradients, and the chunk of the loss has no
/// result_grad.
TEST_F(Pipeline, OnlyFloatEdgesHaveGradients) {
  ChunkOp first = pipeline.getChunks().front();
  ChunkOp last = pipeline.getChunks().back();
  auto backward = module->lookupSymbol<func::FuncOp>(last.getBackwardAttr());
  for (unsigned i = 0; i != backward.getNumArguments(); ++i)
    EXPECT_NE(getArgRole(backward, i).getKind(), RoleKind::ResultGrad);
  ASSERT_EQ(backward.getNumResults(), 3u);
  backward = module->lookupSymbol<func::FuncOp>(first.getBackwardAttr());
  EXPECT_EQ(backward.getNumResults(), 1u);
  EXPECT_FALSE(first.getBackwardInput());
}

} // namespace
