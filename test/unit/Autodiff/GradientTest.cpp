//===- GradientTest.cpp - every rule against finite differences -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Rounds.h"
#include "TestFiles.h"
#include "mlir/IR/MLIRContext.h"
#include "veeline/Autodiff/Registration.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace veeline::test;

namespace {

class GradientFiles : public ::testing::TestWithParam<const char *> {};

TEST_P(GradientFiles, MatchDifferences) {
  GradientCheck *file = getFile(GetParam());
  ASSERT_TRUE(file);
  for (const std::string &name : file->getFunctions())
    EXPECT_EQ(file->check(name), "") << "in @" << name;
}

/// Checks any file: VEELINE_GRADIENT_FILE=model.mlir, with
/// --gtest_filter=*GivenFile.
TEST(Gradients, GivenFile) {
  const char *path = std::getenv("VEELINE_GRADIENT_FILE");
  if (!path)
    GTEST_SKIP() << "VEELINE_GRADIENT_FILE names no file";
  GradientCheck *file = getFile(path);
  ASSERT_TRUE(file);
  for (const std::string &name : file->getFunctions())
    EXPECT_EQ(file->check(name), "") << "in @" << name;
}

/// Every op with a rule is in a file whose functions are checked against
/// differences.
TEST(Rules, AllAreTested) {
  mlir::DialectRegistry registry;
  registerTestDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::set<std::string> tested;
  for (const char *path :
       {INPUTS "/elementwise.mlir", INPUTS "/structured.mlir",
        INPUTS "/tensor.mlir", INPUTS "/windows.mlir", INPUTS "/control.mlir",
        INPUTS "/attention.mlir"}) {
    std::unique_ptr<GradientCheck> file = GradientCheck::read(path);
    ASSERT_TRUE(file);
    tested.insert(file->getOpNames().begin(), file->getOpNames().end());
  }
  std::vector<std::string> names =
      veeline::autodiff::listDifferentiableOps(context);
  EXPECT_GE(names.size(), 70u);
  for (const std::string &name : names)
    EXPECT_TRUE(tested.count(name)) << name << " has a rule and no test";
}

} // namespace

INSTANTIATE_TEST_SUITE_P(
    Rules, GradientFiles,
    ::testing::Values(INPUTS "/elementwise.mlir", INPUTS "/structured.mlir",
                      INPUTS "/tensor.mlir", INPUTS "/windows.mlir",
                      INPUTS "/layers.mlir", INPUTS "/transformer-layer.mlir",
                      INPUTS "/control.mlir", INPUTS "/attention.mlir"));

/// The long suite has one more, whose layers are in these.
static std::vector<const char *> listModels() {
  std::vector<const char *> models = {
      MODELS "/mlp.mlir", MODELS "/gpt-rotary.mlir", MODELS "/gpt-tied.mlir"};
  if (isLong())
    models.push_back(MODELS "/gpt.mlir");
  return models;
}

INSTANTIATE_TEST_SUITE_P(Models, GradientFiles,
                         ::testing::ValuesIn(listModels()));
