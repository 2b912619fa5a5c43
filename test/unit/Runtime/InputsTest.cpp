//===- InputsTest.cpp - what a step reads ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "SafeTensors.h"
#include "TempDir.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace veeline;
using namespace veeline::data;
using artifact::DataType;
using veeline::test::TempDir;

/// Steps of 2 microbatches of 2 windows of 5, or of 2 rows of 3.
static artifact::Metadata makeMetadata() {
  artifact::Metadata metadata;
  metadata.microbatches = 2;
  return metadata;
}

template <typename T>
static std::vector<T> stepOf(Inputs &inputs, size_t index, int64_t step) {
  std::vector<T> values(static_cast<size_t>(inputs.batchBytes(index)) /
                        sizeof(T));
  inputs.fill(index, step, reinterpret_cast<char *>(values.data()));
  return values;
}

TEST(Inputs, LabelsAreTheTokensThatFollow) {
  TempDir directory;
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += static_cast<char>(i);
  std::string file = directory.write("text", text);
  artifact::Metadata metadata = makeMetadata();
  metadata.batches = {{"tokens", {2, 5}, DataType::i64, std::pair(0L, 256L)},
                      {"labels", {2, 5}, DataType::i32, {}}};
  auto inputs = Inputs::open(
      metadata,
      {{"tokens=text:" + file, "labels=text:" + file + ":shift=1"}, 7});
  ASSERT_TRUE(inputs.ok()) << inputs.message();
  std::vector<int64_t> starts;
  for (int64_t step = 1; step <= 50; ++step) {
    auto tokens = stepOf<int64_t>(**inputs, 0, step);
    auto labels = stepOf<int32_t>(**inputs, 1, step);
    ASSERT_EQ(tokens.size(), 20u);
    for (size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_EQ(labels[i], tokens[i] + 1);
      EXPECT_EQ(tokens[i], tokens[i / 5 * 5] + int64_t(i % 5));
    }
    for (size_t i = 0; i < tokens.size(); i += 5)
      starts.push_back(tokens[i]);
  }
  // 195 places; 200 draws come near both ends and are not all the same.
  EXPECT_LT(*std::min_element(starts.begin(), starts.end()), 10);
  EXPECT_GT(*std::max_element(starts.begin(), starts.end()), 185);
  EXPECT_LE(*std::max_element(starts.begin(), starts.end()), 194);
}

static std::string writeRows(const TempDir &directory, int64_t rows) {
  std::string path = directory.path("x.safetensors");
  Status status = writeSafeTensors(path, {{"rows", DataType::f32, {rows, 3}}},
                                   {}, [&](size_t, char *bytes) {
                                     for (int64_t i = 0; i < rows * 3; ++i) {
                                       float value = static_cast<float>(i);
                                       std::memcpy(bytes + 4 * i, &value, 4);
                                     }
                                     return Status::success();
                                   });
  EXPECT_TRUE(status.ok());
  return path + ":rows";
}

TEST(Inputs, RowsInOrderStartAgain) {
  TempDir directory;
  artifact::Metadata metadata = makeMetadata();
  metadata.batches = {{"x", {2, 3}, DataType::f32, {}}};
  auto inputs = Inputs::open(metadata, {{"x=" + writeRows(directory, 8)}, 1});
  ASSERT_TRUE(inputs.ok()) << inputs.message();
  for (int64_t step = 1; step <= 5; ++step)
    EXPECT_EQ(stepOf<float>(**inputs, 0, step)[0], step % 2 ? 0 : 12);
}

/// An argument that is one sample, and a scalar one, as its label is.
TEST(Inputs, MicrobatchesMayHaveTheirOwnDimension) {
  TempDir directory;
  artifact::Metadata metadata = makeMetadata();
  metadata.batches = {{"x", {3}, DataType::f32, {}},
                      {"y", {}, DataType::f32, {}}};
  std::string labels = directory.path("y.safetensors");
  Status status = writeSafeTensors(labels, {{"y", DataType::f32, {8}}}, {},
                                   [&](size_t, char *bytes) {
                                     for (int i = 0; i < 8; ++i) {
                                       float value = static_cast<float>(10 * i);
                                       std::memcpy(bytes + 4 * i, &value, 4);
                                     }
                                     return Status::success();
                                   });
  ASSERT_TRUE(status.ok());
  std::string x = "x=" + writeRows(directory, 8), y = "y=" + labels + ":y";
  auto inputs = Inputs::open(metadata, {{x, y}, 1});
  ASSERT_TRUE(inputs.ok()) << inputs.message();
  for (int64_t step = 1; step <= 5; ++step) {
    float first = static_cast<float>((step - 1) % 4 * 2);
    EXPECT_EQ(
        stepOf<float>(**inputs, 0, step),
        (std::vector<float>{3 * first, 3 * first + 1, 3 * first + 2,
                            3 * first + 3, 3 * first + 4, 3 * first + 5}));
    EXPECT_EQ(stepOf<float>(**inputs, 1, step),
              (std::vector<float>{10 * first, 10 * first + 10}));
  }
  metadata.batches[1].shape = {3};
  metadata.batches[0].shape = {};
  auto wrong = Inputs::open(metadata, {{x, y}, 1});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.message().find("holds f32[8x3], batch argument 'x' is f32[] "
                                 "a microbatch; a file has one dimension"),
            std::string::npos)
      << wrong.message();
}

TEST(Inputs, ShuffledEpochsAreWholeAndDiffer) {
  TempDir directory;
  artifact::Metadata metadata = makeMetadata();
  metadata.batches = {{"x", {2, 3}, DataType::f32, {}},
                      {"y", {2, 3}, DataType::f32, {}}};
  std::string rows = writeRows(directory, 40);
  auto inputs =
      Inputs::open(metadata, {{"x=" + rows, "y=" + rows}, 1, /*shuffle=*/true});
  ASSERT_TRUE(inputs.ok()) << inputs.message();
  std::vector<std::vector<float>> epochs(2);
  for (int64_t step = 1; step <= 20; ++step) {
    auto x = stepOf<float>(**inputs, 0, step);
    EXPECT_EQ(x, stepOf<float>(**inputs, 1, step));
    for (size_t i = 0; i < x.size(); i += 3)
      epochs[(step - 1) / 10].push_back(x[i]);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  for (std::vector<float> &epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    for (size_t i = 0; i < epoch.size(); ++i)
      EXPECT_EQ(epoch[i], float(3 * i));
  }
}

TEST(Inputs, BuffersAreCheckedAndAligned) {
  TempDir directory;
  artifact::Metadata metadata = makeMetadata();
  metadata.buffers = {{"cos", {8, 3}, DataType::f32, {}}};
  auto inputs = Inputs::open(metadata, {{"cos=" + writeRows(directory, 8)}, 1});
  ASSERT_TRUE(inputs.ok()) << inputs.message();
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*inputs)->buffer(0)) % 64, 0u);
  metadata.buffers[0].shape = {8, 4};
  auto wrong = Inputs::open(metadata, {{"cos=" + writeRows(directory, 8)}, 1});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.message().find("holds f32[8x3], buffer 'cos' is f32[8x4]"),
            std::string::npos)
      << wrong.message();
}

TEST(Inputs, TextNeedsIntegers) {
  TempDir directory;
  std::string file = directory.write("text", "0123456789");
  artifact::Metadata metadata = makeMetadata();
  metadata.batches = {{"x", {2, 3}, DataType::f32, {}}};
  auto inputs = Inputs::open(metadata, {{"x=text:" + file}, 1});
  ASSERT_FALSE(inputs.ok());
  EXPECT_EQ(inputs.message(), "--data x: text gives integers, batch argument "
                              "'x' has f32");
}
