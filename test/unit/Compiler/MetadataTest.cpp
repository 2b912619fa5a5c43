//===- MetadataTest.cpp - metadata of IR that no pass of ours wrote -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/Metadata.h"
#include "veeline/Compiler/Compiler.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

namespace {

/// Textual IR as a model, and what is said on standard error meanwhile.
class MetadataTest : public testing::Test {
protected:
  pipe::PipelineOp load(const std::string &text) {
    std::string path = testing::TempDir() + "veeline-metadata-test.mlir";
    std::ofstream(path) << text;
    EXPECT_TRUE(succeeded(model.load(path)));
    std::remove(path.c_str());
    return *model.getModule().getOps<pipe::PipelineOp>().begin();
  }

  Model model;
};

/// A pipeline with a batch argument of `type`.
std::string withBatch(const std::string &type) {
  return "pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {"
         "\n  %x = pipe.batch \"x\" : " +
         type +
         "\n  %w = pipe.param <\"w\", init = zeros> : tensor<f32>"
         "\n  %0 = pipe.chunk 0 @c(%x, %w) : (" +
         type +
         ", tensor<f32>) -> tensor<f32>"
         "\n  pipe.yield %0 : tensor<f32>\n}"
         "\nfunc.func private @c(" +
         type + ", tensor<f32>) -> tensor<f32>\n";
}

} // namespace

TEST_F(MetadataTest, DescribesTypesOfTheRuntime) {
  artifact::Metadata metadata;
  ASSERT_TRUE(
      succeeded(describeModel(load(withBatch("tensor<4xi16>")), metadata)));
  ASSERT_EQ(metadata.batches.size(), 1u);
  EXPECT_EQ(metadata.batches[0].type, artifact::DataType::i16);
  EXPECT_EQ(metadata.batches[0].shape, std::vector<int64_t>{4});
}

TEST_F(MetadataTest, RefusesTypesThatTheRuntimeLacks) {
  artifact::Metadata metadata;
  pipe::PipelineOp pipeline = load(withBatch("tensor<4xi128>"));
  testing::internal::CaptureStderr();
  EXPECT_TRUE(failed(describeModel(pipeline, metadata)));
  std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find(":2:8: error: the runtime has no elements of type "
                         "'i128'"),
            std::string::npos)
      << message;
}
