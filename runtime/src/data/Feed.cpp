//===- Feed.cpp - values that the program provides ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "Source.h"
#include "veeline/Base/Suggest.h"

#include <cstring>

using namespace veeline;
using namespace veeline::data;

Status FedSource::fill(int64_t /*step*/, int64_t first, int64_t count,
                       char *target) {
  std::memcpy(target, values.data() + first * valueBytes,
              static_cast<size_t>(count * valueBytes));
  return Status::success();
}

/// Checks that `bytes` are `count` tensors like `input`, a batch argument or a
/// buffer, with values that the model accepts.
template <typename Input>
static Status checkValues(const Input &input, int64_t count, const char *kind,
                          std::string_view bytes) {
  Tensor tensor{input.type, input.shape, bytes};
  tensor.shape.insert(tensor.shape.begin(), count);
  std::string what = std::string(kind) + " '" + input.name + "'";
  std::optional<int64_t> expected = tensorBytes(tensor.type, tensor.shape);
  if (!expected || static_cast<int64_t>(bytes.size()) != *expected)
    return Status::error(what + " is given " + std::to_string(bytes.size()) +
                         " bytes; " + describe(tensor.type, tensor.shape) +
                         " has " + std::to_string(expected.value_or(0)));
  std::optional<std::pair<int64_t, int64_t>> range = input.range;
  if (input.type == artifact::DataType::i1)
    range = std::pair<int64_t, int64_t>(0, 2);
  return range ? checkRange(tensor, *range, what) : Status::success();
}

Status Inputs::feed(const std::string &name, std::string_view bytes) {
  std::vector<std::string> names;
  for (auto [index, source] : fedBatches) {
    const artifact::Batch &batch = metadata.batches[index];
    names.push_back(batch.name);
    if (batch.name != name)
      continue;
    VEELINE_TRY(checkValues(batch, microbatches, "batch argument", bytes));
    source->values = bytes;
    source->isFresh = true;
    return Status::success();
  }
  for (auto &[index, hasValues] : fedBuffers) {
    const artifact::Buffer &buffer = metadata.buffers[index];
    names.push_back(buffer.name);
    if (buffer.name != name)
      continue;
    VEELINE_TRY(checkValues(buffer, 1, "buffer", bytes));
    std::memcpy(buffers[index].data(), bytes.data(), bytes.size());
    hasValues = true;
    return Status::success();
  }
  return Status::error("no argument '" + name + "' is fed; these are: " +
                       joinNames(names) + suggestion(name, names));
}

Status Inputs::checkFed() const {
  std::vector<std::string> missing;
  for (auto [index, source] : fedBatches)
    if (!source->isFresh)
      missing.push_back(metadata.batches[index].name);
  for (auto [index, hasValues] : fedBuffers)
    if (!hasValues)
      missing.push_back(metadata.buffers[index].name);
  if (!missing.empty())
    return Status::error("the next step has no values of " +
                         joinNames(missing) +
                         "; feed batch arguments before each step, and "
                         "buffers before the first one");
  return Status::success();
}

void Inputs::takeFed() {
  for (auto [index, source] : fedBatches)
    source->isFresh = false;
}
