//===- DescriptionTest.cpp - what cannot be differentiated ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Jit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "veeline/Autodiff/Autodiff.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace veeline::autodiff;

namespace {

/// Differentiates the one function of `text` and returns the diagnostics; fails
/// the test if there is no error.
std::string getError(StringRef text, const ChunkDescription &description) {
  DialectRegistry registry;
  veeline::test::registerTestDialects(registry);
  MLIRContext context(registry);
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "does not parse: " + diagnostics;
  auto chunk =
      differentiateChunk(*module->getOps<func::FuncOp>().begin(), description);
  EXPECT_TRUE(failed(chunk));
  return diagnostics;
}

constexpr StringLiteral twoResults = R"mlir(
  func.func @f(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
    return %x, %i : tensor<4xf32>, tensor<4xi32>
  })mlir";

TEST(Description, LossIsOneNumber) {
  std::string error = getError(
      twoResults,
      {{OperandKind::EdgeValue, OperandKind::Constant}, {false, false}, 0});
  EXPECT_NE(error.find("the loss, result 0 of 'f', has to be a tensor<f32> or "
                       "tensor<f64>, found 'tensor<4xf32>'"),
            std::string::npos)
      << error;
}

TEST(Description, IntegersHaveNoGradient) {
  std::string error =
      getError(twoResults, {{OperandKind::EdgeValue, OperandKind::Parameter},
                            {true, false},
                            std::nullopt});
  EXPECT_NE(error.find("the gradient of argument 1 of 'f' is wanted, which has "
                       "to be a tensor of floats, found 'tensor<4xi32>'"),
            std::string::npos)
      << error;
  error = getError(twoResults, {{OperandKind::EdgeValue, OperandKind::Constant},
                                {true, true},
                                std::nullopt});
  EXPECT_NE(error.find("the gradient of result 1 of 'f'"), std::string::npos)
      << error;
}

TEST(Description, FitsTheFunction) {
  std::string error =
      getError(twoResults, {{OperandKind::EdgeValue}, {true}, std::nullopt});
  EXPECT_NE(error.find("described with 1 arguments and 1 results, but has 2 "
                       "and 2"),
            std::string::npos)
      << error;
}

TEST(Description, OneBlock) {
  std::string error = getError(
      R"mlir(
    func.func @f(%x: tensor<f32>, %c: i1) -> tensor<f32> {
      cf.cond_br %c, ^a, ^b
    ^a:
      return %x : tensor<f32>
    ^b:
      return %x : tensor<f32>
    })mlir",
      {{OperandKind::EdgeValue, OperandKind::Constant}, {true}, std::nullopt});
  EXPECT_NE(error.find("more than one block"), std::string::npos) << error;
}

/// A body uses a captured tensor in another way than by extracting. Its
/// gradient must not be lost without an error.
TEST(Description, CapturedTensorIsExtractedFrom) {
  std::string error =
      getError(R"mlir(
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %zero = arith.constant 0 : index
      %e = tensor.empty() : tensor<2xf32>
      %0 = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          outs(%e : tensor<2xf32>) {
      ^bb0(%out: f32):
        %s = tensor.extract_slice %x[1] [1] [1] : tensor<2xf32> to tensor<1xf32>
        %v = tensor.extract %s[%zero] : tensor<1xf32>
        linalg.yield %v : f32
      } -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })mlir",
               {{OperandKind::EdgeValue}, {true}, std::nullopt});
  EXPECT_NE(error.find("'tensor.extract_slice' has no derivative rule"),
            std::string::npos)
      << error;
}

/// A body must not make tensors of its scalars.
TEST(Description, BodiesAreScalar) {
  std::string error =
      getError(R"mlir(
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %zero = arith.constant 0 : index
      %e = tensor.empty() : tensor<2xf32>
      %0 = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]}
          ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) {
      ^bb0(%in: f32, %out: f32):
        %s = tensor.from_elements %in, %in : tensor<2xf32>
        %v = tensor.extract %s[%zero] : tensor<2xf32>
        linalg.yield %v : f32
      } -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })mlir",
               {{OperandKind::EdgeValue}, {true}, std::nullopt});
  EXPECT_NE(error.find("'tensor.from_elements' has no derivative rule"),
            std::string::npos)
      << error;
}

} // namespace
