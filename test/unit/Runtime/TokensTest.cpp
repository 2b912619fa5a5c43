//===- TokensTest.cpp - windows of files of tokens ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "Npy.h"
#include "SampleOrder.h"
#include "TempDir.h"
#include "TokenFile.h"
#include "veeline/Base/File.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

using namespace veeline;
using namespace veeline::data;
using artifact::DataType;
using veeline::test::TempDir;

/// Bytes of numbers that follow each other.
template <typename T>
static std::string countFrom(int64_t first, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), static_cast<T>(first));
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

/// Steps of so many microbatches of so many windows of 4 tokens, with labels.
static artifact::Metadata makeMetadata(int32_t microbatches = 2,
                                       int64_t windows = 3) {
  artifact::Metadata metadata;
  metadata.microbatches = microbatches;
  metadata.batches = {
      {"tokens", {windows, 4}, DataType::i32, std::pair(0L, 100000L)},
      {"labels", {windows, 4}, DataType::i64, std::pair(0L, 100000L)}};
  return metadata;
}

static InputOptions optionsFor(const std::string &files, uint64_t seed = 7) {
  return {{"tokens=tokens:" + files, "labels=tokens:" + files + ":shift=1"},
          seed};
}

template <typename T>
static std::vector<T> stepOf(Inputs &inputs, size_t index, int64_t step,
                             int64_t microbatches = 2) {
  std::vector<T> values(
      static_cast<size_t>(microbatches * inputs.batchBytes(index)) / sizeof(T));
  inputs.readAhead(step, 0, microbatches);
  Status status = inputs.fill(index, step, 0, microbatches,
                              reinterpret_cast<char *>(values.data()));
  EXPECT_TRUE(status.ok()) << status.message();
  return values;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

TEST(SampleOrder, PermutationsOfAllSizes) {
  RandomStream stream(1, "x"), other(2, "x");
  for (uint64_t size = 1; size <= 300; ++size) {
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < size; ++i)
      seen.insert(permuted(i, size, stream, /*epoch=*/3));
    EXPECT_EQ(seen.size(), size);
    EXPECT_LT(*seen.rbegin(), size);
  }
  auto all = [](const RandomStream &stream, uint64_t epoch) {
    std::vector<uint64_t> values;
    for (uint64_t i = 0; i < 100; ++i)
      values.push_back(permuted(i, 100, stream, epoch));
    return values;
  };
  EXPECT_NE(all(stream, 0), all(stream, 1));
  EXPECT_NE(all(stream, 0), all(other, 0));
}

/// Each element comes to each place about as often, over epochs.
TEST(SampleOrder, PermutationsAreUniform) {
  RandomStream stream(5, "x");
  constexpr uint64_t size = 10, epochs = 20000;
  std::map<std::pair<uint64_t, uint64_t>, double> counts;
  for (uint64_t epoch = 0; epoch < epochs; ++epoch)
    for (uint64_t i = 0; i < size; ++i)
      ++counts[{i, permuted(i, size, stream, epoch)}];
  double expected = double(epochs) / size, chiSquare = 0;
  for (const auto &[place, count] : counts)
    chiSquare += (count - expected) * (count - expected) / expected;
  EXPECT_EQ(counts.size(), size * size);
  // 81 degrees of freedom; 160 has a probability of 4e-7.
  EXPECT_LT(chiSquare, 160);
}

TEST(SampleOrder, SharesOfABlock) {
  EXPECT_EQ(sharesOf({3}), (std::vector<uint32_t>{65536}));
  EXPECT_EQ(sharesOf({1, 3}), (std::vector<uint32_t>{16384, 49152}));
  EXPECT_EQ(sharesOf({1, 1, 1}), (std::vector<uint32_t>{21846, 21845, 21845}));
  EXPECT_EQ(sharesOf({1e-300, 1, 1e-9}), (std::vector<uint32_t>{1, 65534, 1}));
  EXPECT_EQ(sharesOf({1.7e308, 1.7e308}),
            (std::vector<uint32_t>{32768, 32768}));
}

TEST(SampleOrder, AMixtureHasItsSharesInEachBlock) {
  std::vector<int64_t> samples = {5, 1000, 70000};
  SampleOrder order = SampleOrder::mixed(samples, {1, 2, 5}, /*seed=*/3);
  std::vector<uint32_t> shares = sharesOf({1, 2, 5});
  std::vector<std::map<int64_t, int>> seen(3);
  for (int64_t block = 0; block < 3; ++block) {
    std::vector<uint32_t> counts(3);
    for (int64_t i = 0; i < samplesInBlock; ++i) {
      SampleOrder::Place place = order.at(block * samplesInBlock + i);
      ++counts[place.file];
      ++seen[place.file][place.sample];
    }
    EXPECT_EQ(counts, shares);
  }
  // No sample of a file comes again before all others have come.
  for (size_t file = 0; file < 3; ++file) {
    auto [least, most] = std::ranges::minmax_element(
        seen[file], {}, [](const auto &entry) { return entry.second; });
    EXPECT_EQ(seen[file].size(), size_t(samples[file]));
    EXPECT_LE(most->second - least->second, 1);
  }
  // A function of the number: another order of calls has the same places.
  SampleOrder again = SampleOrder::mixed(samples, {1, 2, 5}, /*seed=*/3);
  SampleOrder other = SampleOrder::mixed(samples, {1, 2, 5}, /*seed=*/4);
  int differences = 0;
  for (int64_t number = 3 * samplesInBlock - 1; number >= 0; number -= 977) {
    SampleOrder::Place a = order.at(number), b = again.at(number),
                       c = other.at(number);
    EXPECT_TRUE(a.file == b.file && a.sample == b.sample) << number;
    differences += a.file != c.file || a.sample != c.sample;
  }
  EXPECT_GT(differences, 100);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

TEST(Tokens, EachWindowOnceAnEpoch) {
  TempDir directory;
  // 49 tokens have room for 12 windows of 4 and a label: two steps.
  std::string file =
      directory.write("a.bin", countFrom<uint16_t>(1000, 49)) + ":uint16";
  artifact::Metadata metadata = makeMetadata();
  auto inputs = Inputs::open(metadata, optionsFor(file));
  ASSERT_TRUE(inputs.ok()) << inputs.message();
  EXPECT_EQ((*inputs)->lastStepOf(3), 6);
  std::vector<std::vector<int32_t>> epochs(3);
  for (int64_t step = 1; step <= 6; ++step) {
    auto tokens = stepOf<int32_t>(**inputs, 0, step);
    auto labels = stepOf<int64_t>(**inputs, 1, step);
    for (size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_EQ(labels[i], tokens[i] + 1);
      EXPECT_EQ(tokens[i], tokens[i / 4 * 4] + int32_t(i % 4));
    }
    for (size_t i = 0; i < tokens.size(); i += 4)
      epochs[size_t(step - 1) / 2].push_back(tokens[i]);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
  for (std::vector<int32_t> &epoch : epochs) {
    std::ranges::sort(epoch);
    for (int32_t i = 0; i < 12; ++i)
      EXPECT_EQ(epoch[size_t(i)], 1000 + 4 * i);
  }
}

/// A step's data do not depend on how the step is cut into microbatches, nor on
/// what was read before.
TEST(Tokens, StepsAreAFunctionOfTheirNumber) {
  TempDir directory;
  std::string files =
      directory.write("a.bin", countFrom<uint16_t>(0, 2000)) +
      ":uint16:weight=1," +
      directory.write("b.bin", countFrom<uint32_t>(50000, 3000)) +
      ":uint32:weight=2";
  artifact::Metadata two = makeMetadata(2, 3), one = makeMetadata(1, 6);
  auto inputs = Inputs::open(two, optionsFor(files)),
       joined = Inputs::open(one, optionsFor(files)),
       again = Inputs::open(two, optionsFor(files)),
       other = Inputs::open(two, optionsFor(files, 8));
  ASSERT_TRUE(inputs.ok()) << inputs.message();
  int64_t ofSecond = 0;
  for (int64_t step = 1; step <= 300; ++step) {
    auto tokens = stepOf<int32_t>(**inputs, 0, step);
    EXPECT_EQ(tokens, stepOf<int32_t>(**joined, 0, step, 1));
    for (size_t i = 0; i < tokens.size(); i += 4)
      ofSecond += tokens[i] >= 50000;
  }
  EXPECT_NEAR(double(ofSecond) / 1800, 2.0 / 3, 0.03);
  EXPECT_EQ(stepOf<int64_t>(**again, 1, 200),
            stepOf<int64_t>(**inputs, 1, 200));
  EXPECT_NE(stepOf<int64_t>(**other, 1, 200),
            stepOf<int64_t>(**inputs, 1, 200));
  // Going on with steps of another size, at the next window.
  artifact::Metadata half = makeMetadata(1, 3);
  auto resumed = Inputs::open(half, optionsFor(files));
  (*resumed)->setPositions(101, (*inputs)->positionsOf(101));
  auto whole = stepOf<int32_t>(**inputs, 0, 101);
  auto first = stepOf<int32_t>(**resumed, 0, 101, 1),
       second = stepOf<int32_t>(**resumed, 0, 102, 1);
  first.insert(first.end(), second.begin(), second.end());
  EXPECT_EQ(first, whole);
}

TEST(Tokens, HeldOutTokensInOrder) {
  TempDir directory;
  std::string files =
      directory.write("a.bin", countFrom<int16_t>(0, 100)) + ":int16," +
      directory.write("b.bin", countFrom<int64_t>(500, 200)) + ":int64";
  artifact::Metadata metadata = makeMetadata(1, 3);
  InputOptions options = optionsFor(files);
  options.heldOut = 0.2;
  auto training = Inputs::open(metadata, options);
  ASSERT_TRUE(training.ok()) << training.message();
  options.part = InputOptions::Part::heldOut;
  options.inOrder = true;
  auto heldOut = Inputs::open(metadata, options);
  ASSERT_TRUE(heldOut.ok()) << heldOut.message();
  for (int64_t step = 1; step <= 100; ++step)
    for (int64_t label : stepOf<int64_t>(**training, 1, step, 1))
      EXPECT_TRUE(label < 80 || (label >= 500 && label < 660)) << label;
  // 20 and 40 tokens have room for 4 and 9 windows: four whole steps.
  EXPECT_EQ((*heldOut)->lastStepOf(1), 4);
  std::vector<int32_t> starts;
  for (int64_t step = 1; step <= 4; ++step) {
    auto tokens = stepOf<int32_t>(**heldOut, 0, step, 1);
    for (size_t i = 0; i < tokens.size(); i += 4)
      starts.push_back(tokens[i]);
  }
  EXPECT_EQ(starts, (std::vector<int32_t>{80, 84, 88, 92, 660, 664, 668, 672,
                                          676, 680, 684, 688}));
}

TEST(Tokens, OfAllTypes) {
  TempDir directory;
  artifact::Metadata metadata = makeMetadata(1, 2);
  metadata.batches[0].type = DataType::f32;
  InputOptions options;
  options.inOrder = true;
  auto check = [&](const std::string &file) {
    options.specs = optionsFor(file).specs;
    auto inputs = Inputs::open(metadata, options);
    ASSERT_TRUE(inputs.ok()) << inputs.message();
    EXPECT_EQ(stepOf<float>(**inputs, 0, 1, 1),
              (std::vector<float>{3, 4, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(stepOf<int64_t>(**inputs, 1, 1, 1),
              (std::vector<int64_t>{4, 5, 6, 7, 8, 9, 10, 11}));
  };
  auto checkType = [&](auto zero, const std::string &name,
                       const std::string &descr) {
    using T = decltype(zero);
    std::string bytes = countFrom<T>(3, 9);
    check(directory.write("x.bin", bytes) + ":" + name);
    std::string header = npyHeader(DataType::i64, {9});
    header.replace(header.find("<i8"), 3, descr);
    check(directory.write("x.npy", header + bytes));
  };
  checkType(uint8_t(), "uint8", "|u1");
  checkType(int8_t(), "int8", "|i1");
  checkType(uint16_t(), "uint16", "<u2");
  checkType(int16_t(), "int16", "<i2");
  checkType(uint32_t(), "uint32", "<u4");
  checkType(int32_t(), "int32", "<i4");
  checkType(uint64_t(), "uint64", "<u8");
  checkType(int64_t(), "int64", "<i8");
}

/// Where token 9 ends a document.
TEST(Tokens, Documents) {
  TempDir directory;
  std::string file =
      directory.write("a.bin", {5, 6, 9, 7, 9, 9, 1, 2, 3}) + ":uint8";
  artifact::Metadata metadata = makeMetadata(1, 2);
  auto valuesOf = [&](const std::string &view) {
    InputOptions options = optionsFor(file);
    options.inOrder = true;
    options.specs[1] = "labels=tokens:" + file + view;
    auto inputs = Inputs::open(metadata, options);
    EXPECT_TRUE(inputs.ok()) << inputs.message();
    return stepOf<int64_t>(**inputs, 1, 1, 1);
  };
  using Values = std::vector<int64_t>;
  EXPECT_EQ(valuesOf(":documents=9"), (Values{0, 0, 0, 1, 0, 1, 2, 2}));
  EXPECT_EQ(valuesOf(":positions=9"), (Values{0, 1, 2, 0, 0, 0, 0, 1}));
  EXPECT_EQ(valuesOf(":inside=9"), (Values{1, 1, 0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(valuesOf(":inside=9:shift=1"), (Values{1, 0, 1, 0, 0, 1, 1, 1}));
  EXPECT_EQ(valuesOf(":shift=1:documents=9"), (Values{0, 0, 1, 1, 0, 1, 1, 1}));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Of a file that is too large to be looked at before the first step.
TEST(Tokens, WrongTokensOfLargeFilesAreFoundWhenTheyAreRead) {
  TempDir directory;
  std::string path = directory.write("a.bin", countFrom<uint32_t>(0, 1000));
  std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
  uint32_t wrong = 100000;
  stream.seekp(4 * 500).write(reinterpret_cast<const char *>(&wrong), 4);
  stream.close();
  artifact::Metadata metadata = makeMetadata(1, 5);
  InputOptions options = optionsFor(path + ":uint32");
  options.inOrder = true;
  std::string message = "'" + path +
                        "': token 500 is 100000, valid for batch argument "
                        "'tokens' are 0 to 99999";
  EXPECT_EQ(Inputs::open(metadata, options).message(), message);
  std::filesystem::resize_file(path, (size_t(64) << 20) + 4);
  auto inputs = Inputs::open(metadata, options);
  ASSERT_TRUE(inputs.ok()) << inputs.message();
  (void)stepOf<int32_t>(**inputs, 0, 25, 1);
  std::vector<char> bytes(80);
  EXPECT_EQ((*inputs)->fill(0, 26, 0, 1, bytes.data()).message(), message);
  (void)stepOf<int32_t>(**inputs, 0, 27, 1);
}

static std::string errorOf(const std::string &files,
                           const artifact::Metadata &metadata = makeMetadata(),
                           const std::string &view = "") {
  InputOptions options = optionsFor(files);
  options.specs[0] += view;
  auto inputs = Inputs::open(metadata, options);
  return inputs.ok() ? "" : inputs.message();
}

TEST(Tokens, FilesThatAreNoTokens) {
  TempDir directory;
  auto in = [&](const std::string &name, const std::string &bytes) {
    return directory.write(name, bytes);
  };
  std::string odd = in("odd.bin", std::string(101, 'x'));
  EXPECT_EQ(errorOf(odd + ":uint16"),
            "'" + odd +
                "' has 101 bytes, no multiple of the 2 of a uint16: it "
                "is truncated, or of another type");
  std::string brief = in("brief.bin", countFrom<uint16_t>(0, 4));
  EXPECT_EQ(errorOf(brief + ":uint16"),
            "'" + brief + "' has 4 tokens, one window takes 5");
  std::string empty = in("empty.bin", "");
  EXPECT_EQ(errorOf(empty + ":uint16"),
            "'" + empty + "' has 0 tokens, one window takes 5");
  std::string array = in("a.npy", npyHeader(DataType::i32, {10}));
  EXPECT_EQ(
      errorOf(array),
      "cannot read '" + array +
          "': it has 0 bytes after its header, and "
          "its header says 10 of int32: the file is truncated or damaged");
  std::string floats = in("f.npy", npyHeader(DataType::f32, {10}));
  EXPECT_EQ(errorOf(floats), "cannot read '" + floats +
                                 "': its elements '<f4' are no little-endian "
                                 "integers, as tokens are");
  std::string rows = in("r.npy", npyHeader(DataType::i32, {2, 5}));
  EXPECT_EQ(errorOf(rows), "cannot read '" + rows +
                               "': its array has 2 dimensions, and tokens have "
                               "one; write it with a.reshape(-1)");
  std::string hidden = in("h.bin", npyHeader(DataType::i16, {4}));
  EXPECT_EQ(errorOf(hidden + ":int16"),
            "'" + hidden +
                "' begins as a .npy file does; its name has to end "
                "in .npy, and its type is in it");
  // The wrong type makes other numbers of it.
  std::string wide = in("w.bin", countFrom<uint16_t>(65500, 30));
  EXPECT_EQ(errorOf(wide + ":int16"),
            "'" + wide +
                "': token 0 is -36, valid for batch argument 'tokens' "
                "are 0 to 99999");
  std::string greatest = in("g.bin", std::string(80, '\xff'));
  EXPECT_EQ(errorOf(greatest + ":uint64"),
            "'" + greatest +
                "': token 0 is 9223372036854775807, valid for "
                "batch argument 'tokens' are 0 to 99999");
}

TEST(Tokens, SourcesThatAreNone) {
  auto is = [](const std::string &files, const std::string &expected) {
    std::string error = errorOf(files);
    std::string prefix = "--data tokens=tokens:" + files + ": ";
    ASSERT_TRUE(error.starts_with(prefix)) << error;
    EXPECT_EQ(error.substr(prefix.size(), expected.size()), expected);
  };
  is("a.bin", "'a.bin' does not say of what type its tokens are, as in "
              "FILE.bin:uint16");
  is("", "'' does not say of what type");
  is("a.npy,", "'' does not say of what type");
  is("a.bin:u16", "'u16', of 'a.bin', is no type of tokens; these are: uint8, "
                  "int8, uint16, int16, uint32, int32, uint64, int64");
  for (const char *weight : {"0", "-1", "nan", "inf", "1e999", "", "1x"})
    is("a.npy:weight=" + std::string(weight),
       "the weight of 'a.npy', '" + std::string(weight) +
           "', is no finite number above 0; leave out a file that is not to "
           "be read");
  is("a.npy,b.npy:weight=1", "'a.npy' has no weight, as 'b.npy' has; give one "
                             "to all files, or to none");
  is("a.npy:weight=1,b.npy", "'b.npy' has no weight, as 'a.npy' has;");
  is("a.npy:shift=-1", "the shift is no number of tokens; write");
  is("a.npy:shift=9223372036854775807", "the shift is no number of tokens;");
  is("a.npy:shift=3:shift=1", "it is shifted twice; write");
  is("a.npy:documents=x", "the token that ends a document is no number");
  is("a.npy:documents=1:inside=2", "it gives two things of its tokens; write");
}

TEST(Tokens, ArgumentsThatDoNotTakeThem) {
  TempDir directory;
  std::string file =
      directory.write("a.bin", countFrom<uint16_t>(0, 100)) + ":uint16";
  artifact::Metadata metadata = makeMetadata();
  metadata.batches[0].type = DataType::bf16;
  EXPECT_EQ(errorOf(file, metadata),
            "--data tokens: files of tokens give numbers of f32, f64 or "
            "integers, batch argument 'tokens' has bf16");
  metadata.batches[0] = {"tokens", {}, DataType::i32, {}};
  EXPECT_EQ(errorOf(file, metadata),
            "--data tokens: files of tokens give windows, batch argument "
            "'tokens' is a scalar");
  metadata.batches[0] = {"tokens", {3, 4}, DataType::i32, std::pair(0L, 3L)};
  EXPECT_EQ(errorOf(file, metadata, ":positions=0"),
            "--data tokens: positions=0 gives numbers from 0 to 3, valid for "
            "batch argument 'tokens' are 0 to 2");
  metadata.batches[0] = {"tokens", {3, 4}, DataType::i8, {}};
  std::string error = errorOf(
      directory.write("b.bin", countFrom<uint16_t>(100, 100)) + ":uint16",
      metadata);
  EXPECT_NE(error.find("token 28 is 128, valid for batch argument 'tokens' are "
                       "-128 to 127"),
            std::string::npos)
      << error;
  metadata = makeMetadata();
  metadata.buffers = {{"table", {4}, DataType::i32, {}}};
  InputOptions options = optionsFor(file);
  options.specs.push_back("table=tokens:" + file);
  EXPECT_EQ(Inputs::open(metadata, options).message(),
            "--data table: 'table' is a buffer, which is no text");
}

/// What a checkpoint and other processes compare.
TEST(Tokens, AreDescribedByContent) {
  TempDir directory;
  std::string a = directory.write("a.bin", countFrom<uint16_t>(0, 100)),
              b = directory.write("b.bin", countFrom<uint16_t>(0, 100));
  artifact::Metadata metadata = makeMetadata();
  auto described = [&](const std::string &files) {
    auto inputs = Inputs::open(metadata, optionsFor(files));
    EXPECT_TRUE(inputs.ok()) << inputs.message();
    return (*inputs)->describe();
  };
  EXPECT_EQ(described(a + ":uint16"), described(b + ":uint16"));
  EXPECT_NE(described(a + ":uint16"), described(a + ":int16"));
  EXPECT_NE(described(a + ":uint16:weight=2"), described(a + ":uint16"));
  std::string text = described(a + ":uint16:weight=2")[1];
  EXPECT_TRUE(text.starts_with("--data tokens=tokens:200 bytes (checksum "))
      << text;
  EXPECT_TRUE(text.ends_with("):uint16:weight=2")) << text;
  EXPECT_TRUE(described(a + ":uint16")[0].ends_with(":uint16:shift=1"));
  auto before = described(b + ":uint16");
  directory.write("b.bin", countFrom<uint16_t>(1, 100));
  EXPECT_NE(described(b + ":uint16"), before);
}

//===----------------------------------------------------------------------===//
// Reading ahead
//===----------------------------------------------------------------------===//

/// For each page of a mapping, 1 if it is in memory, else 0.
static std::vector<unsigned char> pagesInMemory(std::string_view mapped) {
  auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((mapped.size() + page - 1) / page);
  EXPECT_EQ(
      ::mincore(const_cast<char *>(mapped.data()), mapped.size(), pages.data()),
      0);
  for (unsigned char &state : pages)
    state &= 1;
  return pages;
}

/// Writes a file and drops what the system keeps of it in memory.
static void writeCold(const std::string &path, size_t bytes) {
  std::ofstream(path, std::ios::binary) << std::string(bytes, 'x');
  int descriptor = ::open(path.c_str(), O_RDONLY);
  EXPECT_EQ(::fsync(descriptor), 0);
  EXPECT_EQ(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED), 0);
  ::close(descriptor);
}

TEST(ReadAhead, BringsPagesIntoMemory) {
  TempDir directory;
  std::string path = directory.path("cold.bin");
  constexpr size_t pages = 2048, page = 4096;
  writeCold(path, pages * page);
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok()) << file.message();
  std::string_view bytes = file->bytes();
  if (std::ranges::count(pagesInMemory(bytes), 1) > 0)
    GTEST_SKIP() << "the system keeps files of this folder in memory";
  // Neither begins nor ends where a page does.
  readAhead(bytes.substr(1000 * page - 100, 5 * page));
  std::vector<unsigned char> state;
  for (int tries = 0; tries < 500; ++tries) {
    state = pagesInMemory(bytes);
    if (std::ranges::count(state, 1) >= 6)
      break;
    ::usleep(10'000);
  }
  for (size_t i = 999; i < 1005; ++i)
    EXPECT_TRUE(state[i]) << "page " << i;
  EXPECT_FALSE(state[0]);
  EXPECT_FALSE(state[pages - 1]);
}
