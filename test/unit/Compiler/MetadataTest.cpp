//===- MetadataTest.cpp - metadata of IR that no pass of ours wrote -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/Metadata.h"
#include "../Runtime/TempDir.h"
#include "veeline/Compiler/Compiler.h"

#include <gtest/gtest.h>

#include <memory>

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

namespace {

/// Loads textual IR as a model.
class MetadataTest : public testing::Test {
protected:
  pipe::PipelineOp load(const std::string &text) {
    test::TempDir directory;
    model = std::make_unique<Model>();
    EXPECT_TRUE(succeeded(model->load(directory.write("net.mlir", text))));
    return *model->getModule().getOps<pipe::PipelineOp>().begin();
  }

  std::unique_ptr<Model> model;
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

/// A module with this table, and a pipeline whose memory is planned.
std::string withTable(const std::string &name, const std::string &entries) {
  return "module attributes {" + name + " = [" + entries + R"mlir(]} {
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %w = pipe.param <"w", init = zeros> : tensor<f32>
    %0 = pipe.chunk 0 @c(%w) {forward = @f} : (tensor<f32>) -> tensor<f32>
    pipe.yield %0 : tensor<f32>
  }
  func.func private @c(tensor<f32>) -> tensor<f32>
  func.func private @f(tensor<f32> {pipe.role = #pipe.role<operand 0>})
      -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
  pipe.program @net_rank0 of @net stage(0) attributes {memory = {
      accumulators = [], arena_bytes = 128 : i64,
      params = [array<i64: 0, 0, -1, 0, 1>], peak_live_bytes = 128 : i64}} {
    %0 = pipe.forward chunk(0) microbatch(0) ()
        {pipe.offsets = array<i64: 64>} : () -> tensor<f32>
  }
})mlir";
}

const char *const product =
    "{a_strides = array<i64: 3, 1>, b_strides = array<i64: 2, 1>, "
    "batch = array<i64>, c_strides = array<i64: 2, 1>, dtype = f32, "
    "k = 3 : i64, m = 4 : i64, n = 2 : i64, scratch_bytes = 0 : i64}";

const char *const convolution =
    "{batch = 2 : i64, dilations = array<i64: 1>, groups = 1 : i64, "
    "inputs = 2 : i64, kind = \"backward_weights\", outputs = 4 : i64, "
    "padding = array<i64: 0>, scratch_bytes = 64 : i64, "
    "strides = array<i64: 1>, w_sizes = array<i64: 3>, "
    "w_strides = array<i64: 1, 1, 4, 8>, x_sizes = array<i64: 8>, "
    "x_strides = array<i64: 16, 2, 1, 2>, y_sizes = array<i64: 6>, "
    "y_strides = array<i64: 24, 4, 1, 4>}";

const char *const attention =
    "{batch = 2 : i64, causal = true, depth = 8 : i64, deterministic = false, "
    "dtype = f16, heads = 4 : i64, key_heads = 2 : i64, "
    "key_strides = array<i64: 80, 8, 16>, keys = 5 : i64, kind = \"forward\", "
    "mask_dtype = f32, mask_strides = array<i64: 0, 0, 8>, "
    "output_strides = array<i64: 192, 48, 8>, queries = 6 : i64, "
    "query_strides = array<i64: 192, 8, 32>, scale = 0.25 : f64, "
    "scratch_bytes = 0 : i64, value_depth = 8 : i64, "
    "value_strides = array<i64: 80, 8, 16>}";

} // namespace

/// Expects `call` to fail with a message that has `text` in it.
static void expectError(llvm::function_ref<LogicalResult()> call,
                        const std::string &text) {
  testing::internal::CaptureStderr();
  EXPECT_TRUE(failed(call()));
  std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find(text), std::string::npos) << message;
}

TEST_F(MetadataTest, DescribesTypesOfTheRuntime) {
  artifact::Artifact artifact;
  const artifact::Metadata &metadata = artifact.metadata;
  ASSERT_TRUE(
      succeeded(describeModel(load(withBatch("tensor<4xi16>")), artifact)));
  ASSERT_EQ(metadata.batches.size(), 1u);
  EXPECT_EQ(metadata.batches[0].type, artifact::DataType::i16);
  EXPECT_EQ(metadata.batches[0].shape, std::vector<int64_t>{4});
}

TEST_F(MetadataTest, RefusesTypesThatTheRuntimeLacks) {
  artifact::Artifact artifact;
  pipe::PipelineOp pipeline = load(withBatch("tensor<4xi128>"));
  expectError([&] { return describeModel(pipeline, artifact); },
              ":2:8: error: the runtime has no elements of type 'i128'");
}

/// Describes the program of a module without constants.
static FailureOr<artifact::Program> describe(pipe::PipelineOp pipeline) {
  artifact::Artifact artifact;
  ConstantSections constants(pipeline->getParentOfType<ModuleOp>(), artifact);
  return describeProgram(pipeline, "pipeline", /*firstObject=*/0, constants);
}

/// Expects a program not to be described, for a reason.
static void expectRefused(pipe::PipelineOp pipeline, const std::string &text) {
  expectError([&] { return LogicalResult(describe(pipeline)); }, text);
}

TEST_F(MetadataTest, DescribesProducts) {
  auto program = describe(load(withTable("pipe.gemms", product)));
  ASSERT_TRUE(succeeded(program));
  ASSERT_EQ(program->ranks.size(), 1u);
  ASSERT_EQ(program->ranks[0].gemms.size(), 1u);
  EXPECT_EQ(program->ranks[0].gemms[0].m, 4);
}

TEST_F(MetadataTest, DescribesConvolutions) {
  auto program = describe(load(withTable("pipe.convolutions", convolution)));
  ASSERT_TRUE(succeeded(program));
  ASSERT_EQ(program->ranks[0].convolutions.size(), 1u);
  const artifact::Convolution &entry = program->ranks[0].convolutions[0];
  EXPECT_EQ(entry.kind, artifact::ConvolutionKind::backwardWeights);
  EXPECT_EQ(entry.outputs, 4);
  EXPECT_EQ(entry.xStrides, (std::vector<int64_t>{16, 2, 1, 2}));
  EXPECT_EQ(entry.scratchBytes, 64);
}

/// The types of the host are the defaults.
TEST_F(MetadataTest, DescribesTypesOfConvolutions) {
  using artifact::ComputeType;
  using artifact::DataType;
  struct Case {
    const char *members;
    DataType type;
    ComputeType compute;
  };
  for (const Case &expected :
       {Case{"", DataType::f32, ComputeType::f32},
        Case{", tf32", DataType::f32, ComputeType::tf32},
        Case{", dtype = bf16", DataType::bf16, ComputeType::f32},
        Case{", dtype = f16", DataType::f16, ComputeType::f32}}) {
    std::string text = convolution;
    text.insert(text.size() - 1, expected.members);
    auto program = describe(load(withTable("pipe.convolutions", text)));
    ASSERT_TRUE(succeeded(program));
    const artifact::Convolution &entry = program->ranks[0].convolutions[0];
    EXPECT_EQ(entry.type, expected.type) << expected.members;
    EXPECT_EQ(entry.compute, expected.compute) << expected.members;
  }
}

TEST_F(MetadataTest, RefusesDamagedConvolutions) {
  std::string text = convolution;
  std::string without = text, longer = text;
  without.replace(text.find("outputs"), 7, "others");
  longer.replace(text.find("padding = array<i64: 0>"), 23,
                 "padding = array<i64: 0, 1>");
  for (const std::string &damaged : {without, longer})
    expectRefused(load(withTable("pipe.convolutions", damaged)),
                  "error: entry 0 of 'pipe.convolutions' does not describe a "
                  "convolution: ");
}

TEST_F(MetadataTest, DescribesAttentions) {
  auto program = describe(load(withTable("pipe.attentions", attention)));
  ASSERT_TRUE(succeeded(program));
  ASSERT_EQ(program->ranks[0].attentions.size(), 1u);
  const artifact::Attention &entry = program->ranks[0].attentions[0];
  EXPECT_EQ(entry.kind, artifact::AttentionKind::forward);
  EXPECT_EQ(entry.type, artifact::DataType::f16);
  EXPECT_EQ(entry.keyHeads, 2);
  EXPECT_EQ(entry.scale, 0.25);
  EXPECT_TRUE(entry.causal);
  EXPECT_FALSE(entry.deterministic);
  EXPECT_EQ(entry.keyStrides, (std::vector<int64_t>{80, 8, 16}));
  EXPECT_TRUE(entry.keyGradStrides.empty());
  EXPECT_EQ(entry.maskType, artifact::DataType::f32);
  EXPECT_EQ(entry.maskStrides, (std::vector<int64_t>{0, 0, 8}));
}

TEST_F(MetadataTest, RefusesDamagedAttentions) {
  const std::pair<std::string, std::string> edits[] = {
      {"keys = 5", "locks = 5"},
      {"\"forward\"", "\"backward\""},
      {"\"forward\"", "\"sideways\""},
      {"query_strides = array<i64: 192, 8, 32>",
       "query_strides = array<i64: 192, 8>"},
      {"mask_dtype = f32, ", ""},
      {"causal = true", "causal = 1 : i64"}};
  for (const auto &[text, by] : edits) {
    std::string damaged = attention;
    damaged.replace(damaged.find(text), text.size(), by);
    SCOPED_TRACE(by);
    expectRefused(load(withTable("pipe.attentions", damaged)),
                  "error: entry 0 of 'pipe.attentions' does not describe a "
                  "call of attention: ");
  }
}

/// Leaving a product out would give those after it other numbers.
TEST_F(MetadataTest, RefusesDamagedProducts) {
  for (std::string damaged : {"{m = 4 : i64}", "1 : i64"})
    expectRefused(
        load(withTable("pipe.gemms", std::string(product) + ", " + damaged)),
        "error: entry 1 of 'pipe.gemms' does not describe a matrix product: " +
            damaged);
}
