//===- veeline-fuzz-readers.cpp - reads tensor files that are wrong -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes .npy and .safetensors files, and the indices of checkpoints and of
// sharded parameters, at random and reads them: what a reader accepts must lie
// within the file, and of indices be what was written. Every file is in a block
// of its own size, so that AddressSanitizer finds a read beyond its end.
//
//===----------------------------------------------------------------------===//

#include "CheckpointIndex.h"
#include "Npy.h"
#include "Random.h"
#include "SafeTensors.h"
#include "TensorFiles.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

using namespace veeline;
using veeline::fuzz::Random;

static std::string makeNpy() {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, "
                       "3), }";
  header.resize(53, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + char(header.size()) + '\0' +
         header + std::string(24, 'x');
}

static std::string makeSafeTensors() {
  std::string header =
      "{\"__metadata__\":{\"model\":\"net\"},\"w\":{\"dtype\":\"F32\","
      "\"shape\":[2,3],\"data_offsets\":[0,24]},\"n\":{\"dtype\":\"I32\","
      "\"shape\":[4],\"data_offsets\":[24,40]}}";
  uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof(length)) +
         header + std::string(40, '\1');
}

static std::string makeCheckpointIndex() {
  data::CheckpointIndex index;
  index.model = "net";
  index.optimizer = Optimizer::adamw;
  index.step = index.updates = 10;
  index.lossScale = {1024, 3, {{2048, true}, {1024, false}}};
  index.data = {{"tokens", 0, 160}, {"labels", 1, 8}};
  index.options = {"--lr 0.001", "replicas 2"};
  index.params = {{"w", artifact::DataType::f32, {2, 3}, 1},
                  {"b", artifact::DataType::f64, {3}, 0}};
  index.pieces = {{"rank-0.safetensors", 120, "0123456789abcdef"}};
  return toText(index);
}

static std::string makeShardIndex() {
  return "{\"metadata\": {\"total_size\": 24}, \"weight_map\": {\"w\": "
         "\"model-1.safetensors\", \"b\": \"model-2.safetensors\"}}";
}

static void mutate(std::string &file, Random &random) {
  static const std::vector<std::string> words = {"0",
                                                 "-1",
                                                 "9223372036854775807",
                                                 "4611686018427387904",
                                                 "1e9",
                                                 "[",
                                                 "]",
                                                 "{",
                                                 "}",
                                                 "(",
                                                 ")",
                                                 ",",
                                                 ":",
                                                 "\"",
                                                 "'",
                                                 "null",
                                                 "F64",
                                                 "BF16",
                                                 "I8",
                                                 "<f8",
                                                 ">f4",
                                                 "|b1",
                                                 "True",
                                                 "99999999999999999999",
                                                 "\xff\xff"};
  for (int64_t edits = random.between(1, 4); edits && !file.empty(); --edits) {
    size_t at =
        static_cast<size_t>(random.below(static_cast<int64_t>(file.size())));
    switch (random.below(6)) {
    case 0:
      file[at] = static_cast<char>(random.below(256));
      break;
    case 1:
      file[at] = static_cast<char>(file[at] ^ (1 << random.below(8)));
      break;
    case 2:
      file.resize(at);
      break;
    case 3:
      file.erase(at, static_cast<size_t>(random.between(1, 8)));
      break;
    default:
      file.insert(at, random.oneOf(words));
    }
  }
}

/// Reads every byte. Returns false if the tensor does not have the bytes of its
/// shape.
static bool touch(const data::Tensor &tensor) {
  static volatile unsigned sink;
  unsigned sum = 0;
  for (char byte : tensor.bytes)
    sum += static_cast<unsigned char>(byte);
  sink = sum + sink;
  (void)data::checkRange(tensor, {0, 100}, "values").ok();
  auto bytes = data::tensorBytes(tensor.type, tensor.shape);
  return bytes && static_cast<uint64_t>(*bytes) == tensor.bytes.size();
}

enum class Format { npy, safeTensors, checkpointIndex, shardIndex };

/// Whether what is read fits the file.
static bool readNpy(std::string_view bytes, int64_t &accepted) {
  Expected<data::Tensor> tensor = data::parseNpy(bytes);
  accepted += tensor.ok();
  return tensor.ok() ? touch(*tensor) : !tensor.message().empty();
}

static bool readSafeTensors(std::string_view bytes, int64_t &accepted) {
  Expected<data::NamedTensors> tensors = data::parseSafeTensors(bytes);
  accepted += tensors.ok();
  if (!tensors.ok())
    return !tensors.message().empty();
  bool good = true;
  for (const auto &[name, tensor] : *tensors)
    good &= touch(tensor);
  return good;
}

/// Members may have changed places, and blanks may have been added, but no
/// value: the checksum would be another.
static bool readCheckpointIndex(std::string_view bytes, int64_t &accepted) {
  Expected<data::CheckpointIndex> index = data::parseCheckpointIndex(bytes);
  accepted += index.ok();
  return index.ok() ? toText(*index) == makeCheckpointIndex()
                    : !index.message().empty();
}

static bool readShardIndex(std::string_view bytes, int64_t &accepted) {
  auto shards = data::parseShardIndex(bytes);
  accepted += shards.ok();
  if (!shards.ok())
    return !shards.message().empty();
  for (const auto &[tensor, file] : *shards)
    if (file.empty() || file.find('/') != std::string::npos)
      return false;
  return true;
}

static bool readOne(uint64_t seed, int64_t &accepted) {
  Random random(seed);
  auto format = static_cast<Format>(random.below(4));
  std::string file = format == Format::npy               ? makeNpy()
                     : format == Format::safeTensors     ? makeSafeTensors()
                     : format == Format::checkpointIndex ? makeCheckpointIndex()
                                                         : makeShardIndex();
  mutate(file, random);
  std::unique_ptr<char[]> block(new char[file.size()]);
  std::memcpy(block.get(), file.data(), file.size());
  std::string_view bytes(block.get(), file.size());
  switch (format) {
  case Format::npy:
    return readNpy(bytes, accepted);
  case Format::safeTensors:
    return readSafeTensors(bytes, accepted);
  case Format::checkpointIndex:
    return readCheckpointIndex(bytes, accepted);
  case Format::shardIndex:
    return readShardIndex(bytes, accepted);
  }
  return false;
}

int main(int argc, char **argv) {
  int64_t count = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 100000;
  uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  int64_t failed = 0, accepted = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t seed = first + static_cast<uint64_t>(i);
    if (readOne(seed, accepted))
      continue;
    ++failed;
    std::printf("file %llu: what is read does not fit the file\n",
                static_cast<unsigned long long>(seed));
  }
  std::printf("%lld files, %lld failed; %lld were accepted\n",
              static_cast<long long>(count), static_cast<long long>(failed),
              static_cast<long long>(accepted));
  return failed != 0;
}
