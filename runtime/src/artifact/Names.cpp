//===- Names.cpp - names of an artifact's enums ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Names.h"

#include <algorithm>
#include <iterator>

using namespace veeline;
using namespace veeline::artifact;

namespace {
struct DataTypeRow {
  std::string_view name;
  int64_t bytes;
};
} // namespace

/// One row for each DataType, in the order of the enum.
static constexpr DataTypeRow dataTypes[] = {{"f32", 4}, {"f64", 8}, {"bf16", 2},
                                            {"f16", 2}, {"i1", 1},  {"i8", 1},
                                            {"i16", 2}, {"i32", 4}, {"i64", 8}};

std::string_view artifact::name(DataType type) {
  return dataTypes[static_cast<size_t>(type)].name;
}

int64_t artifact::byteSize(DataType type) {
  return dataTypes[static_cast<size_t>(type)].bytes;
}

std::optional<DataType> artifact::parseDataType(std::string_view text) {
  for (size_t i = 0; i < std::size(dataTypes); ++i)
    if (dataTypes[i].name == text)
      return static_cast<DataType>(i);
  return std::nullopt;
}

int64_t artifact::numElements(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

int64_t artifact::bytesOf(DataType type, const std::vector<int64_t> &shape) {
  return numElements(shape) * byteSize(type);
}

int64_t artifact::countSamples(const std::vector<Batch> &batches) {
  int64_t samples = 1;
  std::ptrdiff_t most = 0;
  for (const Batch &batch : batches) {
    if (batch.shape.empty() || batch.lengthDim == 0)
      continue;
    int64_t extent = batch.shape[0];
    std::ptrdiff_t count =
        std::ranges::count_if(batches, [&](const Batch &other) {
          return std::ranges::count(other.shape, extent) > 0;
        });
    if (count > most)
      samples = extent;
    most = std::max(most, count);
  }
  return samples;
}

ComputeType artifact::computeTypeOf(DataType type) {
  return type == DataType::f64 ? ComputeType::f64 : ComputeType::f32;
}

std::string_view artifact::name(OpKind kind) { return enumName(kind); }

const Program *Metadata::findProgram(std::string_view programName) const {
  for (const Program &program : programs)
    if (program.name == programName)
      return &program;
  return nullptr;
}

bool Metadata::scalesLoss() const {
  return std::any_of(buffers.begin(), buffers.end(),
                     [](const Buffer &buffer) { return buffer.lossScale; });
}
