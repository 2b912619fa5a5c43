//===- NpyTest.cpp - reading .npy -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include <gtest/gtest.h>
#include <random>

using namespace veeline;
using namespace veeline::data;
using artifact::DataType;

static std::string makeNpy(const std::string &header, size_t contentBytes,
                           char version = 1) {
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  for (size_t i = 0; i < (version == 1 ? 2u : 4u); ++i)
    file += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return file + header + std::string(contentBytes, 'x');
}

static std::string dict(const std::string &descr, const std::string &shape,
                        const std::string &fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran +
         ", 'shape': " + shape + ", }   \n";
}

static std::string errorOf(const std::string &file) {
  Expected<Tensor> tensor = parseNpy(file);
  return tensor.ok() ? "" : tensor.message();
}

TEST(Npy, ReadsEveryTypeAndVersion) {
  const std::pair<const char *, DataType> types[] = {
      {"<f4", DataType::f32}, {"<f8", DataType::f64}, {"<f2", DataType::f16},
      {"|b1", DataType::i1},  {"|i1", DataType::i8},  {"<i2", DataType::i16},
      {"<i4", DataType::i32}, {"<i8", DataType::i64}};
  for (char version : {1, 2, 3})
    for (const auto &[descr, type] : types) {
      std::string file =
          makeNpy(dict(descr, "(2, 3)"),
                  static_cast<size_t>(6 * artifact::byteSize(type)), version);
      Expected<Tensor> tensor = parseNpy(file);
      ASSERT_TRUE(tensor.ok()) << tensor.message();
      EXPECT_EQ(tensor->type, type);
      EXPECT_EQ(tensor->shape, (std::vector<int64_t>{2, 3}));
      EXPECT_EQ(tensor->bytes.data() + tensor->bytes.size(),
                file.data() + file.size());
    }
}

TEST(Npy, ScalarsVectorsAndEmpty) {
  EXPECT_EQ(parseNpy(makeNpy(dict("<f4", "()"), 4))->shape.size(), 0u);
  EXPECT_EQ(parseNpy(makeNpy(dict("<f4", "(3,)"), 12))->shape,
            std::vector<int64_t>{3});
  EXPECT_EQ(parseNpy(makeNpy(dict("<f4", "(0, 5)"), 0))->bytes.size(), 0u);
  // A vector is in both orders at once.
  EXPECT_TRUE(parseNpy(makeNpy(dict("<f4", "(3,)", "True"), 12)).ok());
}

TEST(Npy, Refuses) {
  const std::pair<const char *, std::string> cases[] = {
      {"it does not begin", "NUMPY"},
      {"truncated inside of its header", "\x93NUMPY\x01"},
      {"truncated inside of its header",
       makeNpy(dict("<f4", "(2,)"), 0).substr(0, 30)},
      {"version 9", makeNpy(dict("<f4", "(2,)"), 8, 9)},
      {"big-endian", makeNpy(dict(">f4", "(2,)"), 8)},
      {"element type '<c8' is none", makeNpy(dict("<c8", "(2,)"), 16)},
      {"Fortran order", makeNpy(dict("<f4", "(2, 2)", "True"), 16)},
      {"the file is truncated", makeNpy(dict("<f4", "(2, 2)"), 15)},
      {"the file is damaged", makeNpy(dict("<f4", "(2, 2)"), 17)},
      {"too large",
       makeNpy(dict("<f4", "(4611686018427387904, 4611686018427387904)"), 8)},
      {"malformed", makeNpy(dict("<f4", "(-2,)"), 8)},
      {"malformed", makeNpy(dict("<f4", "(99999999999999999999,)"), 8)},
      {"malformed", makeNpy("{'descr': '<f4', 'descr': '<f4'}", 8)},
      {"malformed", makeNpy("{'descr': '<f4', 'other': True}", 8)},
      {"malformed", makeNpy("{'descr': '<f4'", 8)},
      {"malformed", makeNpy(dict("<f4", "(2,)") + "junk", 8)},
      {"lacks one of", makeNpy("{'descr': '<f4', 'shape': (2,)}", 8)},
      {"malformed", makeNpy("", 8)}};
  for (const auto &[expected, file] : cases)
    EXPECT_NE(errorOf(file).find(expected), std::string::npos)
        << expected << ": " << errorOf(file);
}

TEST(Npy, RandomDamageNeverReadsOutside) {
  std::string good = makeNpy(dict("<i4", "(4, 4)"), 64);
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string file = good.substr(0, random() % (good.size() + 1));
    for (int edits = random() % 4; edits && !file.empty(); --edits)
      file[random() % file.size()] = static_cast<char>(random());
    Expected<Tensor> tensor = parseNpy(file);
    if (!tensor.ok())
      continue;
    EXPECT_EQ(static_cast<int64_t>(tensor->bytes.size()),
              tensorBytes(tensor->type, tensor->shape));
    EXPECT_LE(tensor->bytes.size(), file.size());
  }
}
