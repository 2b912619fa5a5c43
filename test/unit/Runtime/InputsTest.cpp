//===- InputsTest.cpp - what a step reads ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "SafeTensors.h"
#include "TempDir.h"

#include <algorithm>
#include <array>
#include <cmath>
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
  std::vector<T> values(2 * static_cast<size_t>(inputs.batchBytes(index)) /
                        sizeof(T));
  Status status =
      inputs.fill(index, step, 0, 2, reinterpret_cast<char *>(values.data()));
  EXPECT_TRUE(status.ok());
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

static artifact::Metadata makeRandomMetadata() {
  artifact::Metadata metadata = makeMetadata();
  metadata.batches = {
      {"x", {501, 3}, DataType::f32, {}},
      {"y", {501, 3}, DataType::f64, {}},
      {"labels", {501, 3}, DataType::i32, std::pair(-2L, 5L)},
      {"mask", {501, 3}, DataType::i1, {}},
      {"ids", {501, 3}, DataType::i64, {}},
      {"bytes", {501, 3}, DataType::i8, std::pair(-1000L, 1000L)},
      {"rows", {501, 3}, DataType::f32, std::pair(-2L, 5L)},
      {"places", {501, 3}, DataType::f64, std::pair(0L, 3L)}};
  metadata.buffers = {{"table", {7}, DataType::f32, {}}};
  return metadata;
}

template <typename T>
static std::pair<T, T> extremesOf(const std::vector<T> &values) {
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high};
}

TEST(Inputs, RandomValuesAreOfTheSeedTheNameAndTheStep) {
  artifact::Metadata metadata = makeRandomMetadata();
  auto open = [&](const std::string &otherwise, uint64_t seed) {
    InputOptions options;
    options.otherwise = otherwise;
    options.seed = seed;
    auto inputs = Inputs::open(metadata, options);
    EXPECT_TRUE(inputs.ok()) << inputs.message();
    return std::move(*inputs);
  };
  auto fresh = open("random", 1), again = open("random", 1),
       other = open("random", 2), fixed = open("random:fixed", 1);
  auto second = stepOf<float>(*fresh, 0, 2);
  EXPECT_EQ(stepOf<float>(*again, 0, 2), second);
  EXPECT_NE(stepOf<float>(*other, 0, 2), second);
  EXPECT_NE(stepOf<float>(*fresh, 0, 1), second);
  EXPECT_EQ(stepOf<float>(*fixed, 0, 1), stepOf<float>(*fresh, 0, 1));
  EXPECT_EQ(stepOf<float>(*fixed, 0, 2), stepOf<float>(*fixed, 0, 1));
  std::vector<double> wide = stepOf<double>(*fresh, 1, 2);
  EXPECT_NE(static_cast<float>(wide[0]), second[0]);
  double sum = 0, squares = 0;
  for (double value : wide)
    sum += value, squares += value * value;
  EXPECT_NEAR(sum / double(wide.size()), 0, 0.07);
  EXPECT_NEAR(squares / double(wide.size()), 1, 0.1);
  EXPECT_EQ(std::memcmp(fresh->buffer(0), again->buffer(0), 28), 0);
  EXPECT_NE(std::memcmp(fresh->buffer(0), other->buffer(0), 28), 0);
}

TEST(Inputs, RandomIntegersAreOnesThatTheModelTakes) {
  artifact::Metadata metadata = makeRandomMetadata();
  InputOptions options;
  options.otherwise = "random";
  auto inputs = Inputs::open(metadata, options);
  ASSERT_TRUE(inputs.ok()) << inputs.message();
  EXPECT_EQ(extremesOf(stepOf<int32_t>(**inputs, 2, 1)), std::pair(-2, 4));
  EXPECT_EQ(extremesOf(stepOf<int8_t>(**inputs, 3, 1)),
            (std::pair<int8_t, int8_t>(0, 1)));
  EXPECT_EQ(extremesOf(stepOf<int64_t>(**inputs, 4, 1)), std::pair(0L, 1L));
  EXPECT_EQ(extremesOf(stepOf<int8_t>(**inputs, 5, 1)),
            (std::pair<int8_t, int8_t>(-128, 127)));
  // Floats that become rows of a table.
  std::vector<float> rows = stepOf<float>(**inputs, 6, 1);
  EXPECT_EQ(extremesOf(rows), std::pair(-2.0F, 4.0F));
  for (float row : rows)
    EXPECT_EQ(row, std::floor(row));
  EXPECT_EQ(extremesOf(stepOf<double>(**inputs, 7, 1)), std::pair(0.0, 2.0));
  metadata.batches = {
      {"x", {2}, DataType::i64, std::pair(INT64_MIN, INT64_MAX)}};
  inputs = Inputs::open(metadata, options);
  ASSERT_TRUE(inputs.ok()) << inputs.message();
  EXPECT_NE(stepOf<int64_t>(**inputs, 0, 1), stepOf<int64_t>(**inputs, 0, 2));
}

TEST(Inputs, RandomValuesThatNoTypeHolds) {
  artifact::Metadata metadata = makeMetadata();
  InputOptions options;
  options.specs = {"x=random"};
  metadata.batches = {{"x", {2}, DataType::bf16, {}}};
  EXPECT_EQ(Inputs::open(metadata, options).message(),
            "--data x=random gives f32, f64 and integers, 'x' has bf16");
  metadata.batches = {{"x", {2}, DataType::i8, std::pair(200L, 300L)}};
  EXPECT_EQ(Inputs::open(metadata, options).message(),
            "'x' takes no value that i8 has");
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

/// An argument that is one sample, and a scalar one that is its label.
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

/// Replicas read their own microbatches: together they are those of the step.
TEST(Inputs, PartsOfAStep) {
  TempDir directory;
  artifact::Metadata metadata = makeMetadata();
  metadata.batches = {{"x", {2, 3}, artifact::DataType::f32, {}},
                      {"y", {3}, artifact::DataType::f64, {}},
                      {"z", {3}, artifact::DataType::i8, std::pair(2L, 90L)},
                      {"w", {3}, artifact::DataType::f32, {}}};
  std::string rows = writeRows(directory, 12);
  auto inputs = Inputs::open(
      metadata, {{"x=" + rows, "y=random", "z=random", "w=random:fixed"}, 1},
      /*replicas=*/3);
  ASSERT_TRUE(inputs.ok()) << inputs.message();
  for (size_t index = 0; index < metadata.batches.size(); ++index) {
    auto bytes = static_cast<size_t>((*inputs)->batchBytes(index));
    std::vector<char> whole(6 * bytes), parts(6 * bytes);
    for (int64_t step = 1; step <= 2; ++step) {
      ASSERT_TRUE((*inputs)->fill(index, step, 0, 6, whole.data()).ok());
      for (int64_t i = 0; i < 6; i += i == 0 ? 1 : 5)
        ASSERT_TRUE((*inputs)
                        ->fill(index, step, i, i == 0 ? 1 : 5,
                               parts.data() + static_cast<size_t>(i) * bytes)
                        .ok());
      EXPECT_EQ(whole, parts) << "argument " << index << ", step " << step;
    }
  }
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

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// A .npy file of little-endian integers of one dimension.
static std::string writeIntegers(const TempDir &directory,
                                 const std::vector<int32_t> &values) {
  std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (" +
                       std::to_string(values.size()) + ",), }";
  header.resize(117, ' ');
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  bytes += header + "\n";
  bytes.append(reinterpret_cast<const char *>(values.data()),
               values.size() * sizeof(int32_t));
  return directory.write("lengths.npy", bytes);
}

/// Two microbatches of 2 rows of 3, of which up to 3 count.
static artifact::Metadata makeLengthMetadata() {
  artifact::Metadata metadata = makeMetadata();
  metadata.lengths = {1, 3};
  metadata.batches = {{"x", {2, 3}, DataType::f32, {}}};
  metadata.batches[0].lengthDim = 1;
  return metadata;
}

static InputOptions lengthOptions(const TempDir &directory, int64_t rows,
                                  const std::string &lengths) {
  InputOptions options;
  options.specs = {"x=" + writeRows(directory, rows)};
  options.lengths = lengths;
  return options;
}

TEST(Lengths, AMicrobatchIsAsLongAsItsLongestSample) {
  TempDir directory;
  artifact::Metadata metadata = makeLengthMetadata();
  std::string lengths = writeIntegers(directory, {1, 2, 1, 1, 3, 1, 1, 1});
  auto inputs = Inputs::open(metadata, lengthOptions(directory, 8, lengths));
  ASSERT_TRUE(inputs.ok()) << inputs.message();
  auto rows = stepOf<float>(**inputs, 0, 1);
  int64_t found[2];
  (*inputs)->fillLengths(1, 0, 2, found);
  // 2 is rounded up to 3; rows of 1 stand without gaps.
  EXPECT_EQ(found[0], 3);
  EXPECT_EQ(found[1], 1);
  auto whole = Inputs::open(metadata, lengthOptions(directory, 8, ""));
  auto full = stepOf<float>(**whole, 0, 1);
  (*whole)->fillLengths(1, 0, 2, found);
  EXPECT_EQ(found[0], 3);
  EXPECT_EQ(found[1], 3);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(rows[i], full[i]);
  EXPECT_EQ(rows[6], full[6]);
  EXPECT_EQ(rows[7], full[9]);
}

static std::string errorOfLengths(const TempDir &directory, int64_t rows,
                                  const std::vector<int32_t> &lengths) {
  auto inputs = Inputs::open(
      makeLengthMetadata(),
      lengthOptions(directory, rows, writeIntegers(directory, lengths)));
  return inputs.ok() ? "" : inputs.message();
}

TEST(Lengths, Errors) {
  TempDir directory;
  std::string name = "'" + directory.path("lengths.npy") + "'";
  EXPECT_EQ(errorOfLengths(directory, 4, {1, 2, 4, 1}),
            name + ": the value at [2] is 4, valid are 1 to 3 (the bound is "
                   "that of veeline compile --length-bound)");
  EXPECT_EQ(errorOfLengths(directory, 4, {1, 0, 3, 1}),
            name + ": the value at [1] is 0, valid are 1 to 3 (the bound is "
                   "that of veeline compile --length-bound)");
  EXPECT_EQ(errorOfLengths(directory, 4, {1, 2, 3}),
            name + " has 3 lengths, but there are 4 samples");
  artifact::Metadata fixed = makeLengthMetadata();
  fixed.lengths.clear();
  fixed.batches[0].lengthDim = -1;
  std::string path = writeIntegers(directory, {1, 2, 3, 1});
  auto inputs = Inputs::open(fixed, lengthOptions(directory, 4, path));
  ASSERT_FALSE(inputs.ok());
  EXPECT_EQ(inputs.message(),
            "--lengths " + path +
                ": all microbatches of the model have one length; others need "
                "a model with a dynamic dimension, and veeline compile "
                "--length-bound");
}

#define EXPECT_THAT_MESSAGE(status, part)                                      \
  do {                                                                         \
    Status given = (status);                                                   \
    ASSERT_FALSE(given.ok());                                                  \
    EXPECT_NE(given.message().find(part), std::string::npos)                   \
        << given.message();                                                    \
  } while (false)

TEST(Inputs, FedValuesAreOfTheNextStepAlone) {
  artifact::Metadata metadata = makeMetadata();
  metadata.batches = {{"x", {2, 1}, DataType::f32, {}},
                      {"labels", {2}, DataType::i32, std::pair(0L, 3L)},
                      {"mask", {1}, DataType::i1, {}},
                      {"noise", {3}, DataType::f32, {}}};
  metadata.buffers = {{"table", {2}, DataType::f64, {}}};
  InputOptions options;
  options.specs = {"noise=random"};
  options.otherwise = "fed";
  auto opened = Inputs::open(metadata, options);
  ASSERT_TRUE(opened.ok()) << opened.message();
  Inputs &inputs = **opened;
  EXPECT_TRUE(inputs.isFed());
  auto feed = [&](const std::string &name, const auto &values) {
    return inputs.feed(
        name, {reinterpret_cast<const char *>(values.data()), sizeof(values)});
  };
  std::array<float, 4> x{1, 2, 3, 4};
  std::array<int32_t, 4> labels{0, 2, 1, 2}, wrong{0, 2, 3, 2};
  std::array<char, 2> mask{0, 1}, noMask{0, 2};
  std::array<double, 2> table{5, 6};
  EXPECT_TRUE(feed("x", x).ok());
  EXPECT_TRUE(feed("labels", labels).ok());
  EXPECT_TRUE(feed("mask", mask).ok());
  EXPECT_THAT_MESSAGE(inputs.checkFed(), "no values of table;");
  EXPECT_TRUE(feed("table", table).ok());
  EXPECT_THAT_MESSAGE(feed("labels", wrong), "batch argument 'labels'");
  EXPECT_THAT_MESSAGE(feed("mask", noMask), "batch argument 'mask'");
  EXPECT_THAT_MESSAGE(feed("x", mask), "2 bytes; f32[2x2x1] has 16");
  EXPECT_THAT_MESSAGE(feed("noise", x), "no argument 'noise' is fed");
  ASSERT_TRUE(inputs.checkFed().ok());
  inputs.takeFed();
  EXPECT_EQ(stepOf<float>(inputs, 0, 1), std::vector<float>({1, 2, 3, 4}));
  EXPECT_EQ(stepOf<int32_t>(inputs, 1, 1), std::vector<int32_t>({0, 2, 1, 2}));
  EXPECT_EQ(std::memcmp(inputs.buffer(0), table.data(), sizeof(table)), 0);
  // A part of the microbatches.
  std::array<float, 2> second{};
  ASSERT_TRUE(
      inputs.fill(0, 1, 1, 1, reinterpret_cast<char *>(second.data())).ok());
  EXPECT_EQ(second, (std::array<float, 2>{3, 4}));
  EXPECT_THAT_MESSAGE(inputs.checkFed(), "no values of x, labels, mask;");
}
