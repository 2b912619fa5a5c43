//===- SafeTensorsTest.cpp - reading and writing .safetensors -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SafeTensors.h"
#include "TempDir.h"

#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>

using namespace veeline;
using namespace veeline::data;
using artifact::DataType;
using veeline::test::TempDir;

static std::string makeFile(const std::string &header, size_t contentBytes) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + header +
         std::string(contentBytes, 'x');
}

static Status writeTwo(const std::string &path, int64_t extent = 3) {
  return writeSafeTensors(
      path,
      {{"a \"quoted\"", DataType::f32, {extent, 2}}, {"b", DataType::f64, {}}},
      {{"model", "m"}}, [](size_t i, char *bytes) {
        std::memset(bytes, 'a' + int(i), 8);
        return Status::success();
      });
}

TEST(SafeTensors, RoundTrip) {
  TempDir directory;
  ASSERT_TRUE(writeTwo(directory.path("p")).ok());
  std::string file = directory.read("p");
  Expected<NamedTensors> tensors = parseSafeTensors(file);
  ASSERT_TRUE(tensors.ok()) << tensors.message();
  ASSERT_EQ(tensors->size(), 2u);
  const Tensor *a = findTensor(*tensors, "a \"quoted\"");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(a->bytes.substr(0, 8), "aaaaaaaa");
  const Tensor *b = findTensor(*tensors, "b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->type, DataType::f64);
  EXPECT_EQ(b->bytes, "bbbbbbbb");
  EXPECT_EQ(findTensor(*tensors, "c"), nullptr);
  uint64_t length;
  std::memcpy(&length, file.data(), 8);
  EXPECT_EQ(length % 8, 0u) << "arrays are aligned";
}

TEST(SafeTensors, FullDiskLeavesNothing) {
  TempDir directory;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit small = {4096, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status = writeTwo(directory.path("p"), 1000);
  setrlimit(RLIMIT_FSIZE, &old);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(),
            "cannot write '" + directory.path("p") + "': File too large");
  EXPECT_EQ(directory.size(), 0u);
}

TEST(SafeTensors, SkipsUnknownTypes) {
  Expected<NamedTensors> tensors = parseSafeTensors(
      makeFile(R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]},)"
               R"("b":{"dtype":"I8","shape":[4],"data_offsets":[4,8]}})",
               8));
  ASSERT_TRUE(tensors.ok()) << tensors.message();
  ASSERT_EQ(tensors->size(), 1u);
  EXPECT_EQ((*tensors)[0].first, "b");
}

TEST(SafeTensors, Refuses) {
  auto entry = [](const std::string &text) {
    return makeFile("{\"a\":" + text + "}", 8);
  };
  const std::pair<const char *, std::string> cases[] = {
      {"the file is truncated: it has 3 bytes", "abc"},
      {"does not begin as", std::string(20, '\xff')},
      {"truncated inside of its header", makeFile("{}", 0).substr(0, 9)},
      {"header is malformed", makeFile("[]", 0)},
      {"header is malformed", makeFile("{\"a\":", 0)},
      {"header is malformed", makeFile("{\"a\":1e999}", 0)},
      {"no valid dtype", entry("3")},
      {"no valid dtype", entry(R"({"dtype":"F32","shape":[2]})")},
      {"no valid dtype",
       entry(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})")},
      {"no valid dtype",
       entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8,9]})")},
      {"no valid dtype",
       entry(R"({"dtype":"F32","shape":[1e300],"data_offsets":[0,8]})")},
      {"lies outside",
       entry(R"({"dtype":"F32","shape":[3],"data_offsets":[0,12]})")},
      {"lies outside",
       entry(R"({"dtype":"F32","shape":[1],"data_offsets":[8,4]})")},
      {"has 8 bytes",
       entry(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})")},
      {"has 8 bytes",
       entry(
           R"({"dtype":"F32","shape":[4000000000,4000000000],"data_offsets":[0,8]})")}};
  for (const auto &[expected, file] : cases) {
    Expected<NamedTensors> tensors = parseSafeTensors(file);
    ASSERT_FALSE(tensors.ok()) << expected;
    EXPECT_NE(tensors.message().find(expected), std::string::npos)
        << tensors.message();
  }
}

TEST(SafeTensors, RandomDamageNeverReadsOutside) {
  TempDir directory;
  ASSERT_TRUE(writeTwo(directory.path("p")).ok());
  std::string good = directory.read("p");
  std::mt19937 random(6);
  for (int i = 0; i < 20000; ++i) {
    std::string file =
        good.substr(0, random() % 4 ? good.size() : random() % good.size());
    for (int edits = 1 + random() % 4; edits && !file.empty(); --edits)
      file[random() % file.size()] = random() % 2
                                         ? static_cast<char>(random())
                                         : "{}[],:\"0123456789"[random() % 17];
    Expected<NamedTensors> tensors = parseSafeTensors(file);
    if (!tensors.ok())
      continue;
    for (const auto &[name, tensor] : *tensors) {
      EXPECT_GE(tensor.bytes.data(), file.data());
      EXPECT_LE(tensor.bytes.data() + tensor.bytes.size(),
                file.data() + file.size());
    }
  }
}
