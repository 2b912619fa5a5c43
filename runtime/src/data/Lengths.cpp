//===- Lengths.cpp - lengths of microbatches ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lengths.h"

#include "ElementAccess.h"
#include "Npy.h"

#include <algorithm>
#include <cstring>

using namespace veeline;
using namespace veeline::data;
using artifact::Batch;
using artifact::DataType;

Expected<Tensor> Lengths::parse(const std::string &path, std::string_view file,
                                int64_t bound) {
  Expected<Tensor> tensor = parseNpy(file);
  if (!tensor.ok())
    return Status::error("cannot read '" + path + "': " + tensor.message());
  bool isKnown = tensor->type == DataType::i32 || tensor->type == DataType::i64;
  if (!isKnown || tensor->shape.size() != 1)
    return Status::error("'" + path + "' holds " +
                         describe(tensor->type, tensor->shape) +
                         ", and lengths are one i32 or i64 for each sample");
  if (Status status = checkRange(*tensor, {1, bound + 1}, "'" + path + "'");
      !status.ok())
    return Status::error(status.message() +
                         " (the bound is that of veeline compile "
                         "--length-bound)");
  return tensor;
}

static std::vector<int64_t> toIntegers(const Tensor &tensor) {
  std::vector<int64_t> values;
  artifact::withZeroOf(tensor.type, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < tensor.shape[0]; ++i)
      values.push_back(static_cast<int64_t>(artifact::loadElement<T>(
          tensor.bytes.data(), static_cast<size_t>(i))));
  });
  return values;
}

Lengths::Lengths(const artifact::Metadata &metadata, int64_t microbatches,
                 int64_t samples)
    : metadata(metadata), samples(samples),
      current(static_cast<size_t>(microbatches), metadata.lengths.back()) {}

Status Lengths::check(const std::string &path, int64_t count,
                      int64_t numSamples, bool dropLast) const {
  int64_t perStep = samples * static_cast<int64_t>(current.size());
  std::string says = "'" + path + "' has " + std::to_string(count) +
                     " lengths, a step takes " + std::to_string(perStep);
  if (numSamples != 0 && count != numSamples)
    return Status::error("'" + path + "' has " + std::to_string(count) +
                         " lengths, but there are " +
                         std::to_string(numSamples) + " samples");
  if (count < perStep)
    return Status::error(says);
  if (count % perStep != 0 && !dropLast)
    return Status::error(says +
                         ", which does not divide them; --drop-last leaves "
                         "out the last " +
                         std::to_string(count % perStep));
  return Status::success();
}

std::unique_ptr<Lengths> Lengths::greatest(const artifact::Metadata &metadata,
                                           int64_t microbatches) {
  return std::unique_ptr<Lengths>(
      new Lengths(metadata, microbatches, /*samples=*/1));
}

Expected<std::unique_ptr<Lengths>>
Lengths::open(const artifact::Metadata &metadata, int64_t microbatches,
              const std::string &path, const Tensor &file, int64_t samples,
              int64_t numSamples, bool shuffle, bool dropLast, uint64_t seed) {
  std::unique_ptr<Lengths> lengths(
      new Lengths(metadata, microbatches, samples));
  lengths->values = toIntegers(file);
  int64_t count = file.shape[0];
  VEELINE_TRY(lengths->check(path, count, numSamples, dropLast));
  Tensor tensor{DataType::i64,
                {count},
                {reinterpret_cast<const char *>(lengths->values.data()),
                 lengths->values.size() * sizeof(int64_t)}};
  int64_t perStep = lengths->samples * microbatches;
  lengths->lengthSource =
      std::make_unique<ArraySource>(tensor, perStep, shuffle, seed);
  lengths->stepSamples.resize(static_cast<size_t>(perStep));
  return lengths;
}

const std::vector<int64_t> &Lengths::ofStep(int64_t step) {
  if (!lengthSource || currentStep == step)
    return current;
  currentStep = step;
  // This cannot fail: an array's values were checked when it was opened.
  (void)lengthSource->fill(step, 0, static_cast<int64_t>(stepSamples.size()),
                           reinterpret_cast<char *>(stepSamples.data()));
  for (size_t i = 0; i < current.size(); ++i) {
    auto first = stepSamples.begin() + static_cast<int64_t>(i) * samples;
    int64_t longest = *std::max_element(first, first + samples);
    current[i] = *std::lower_bound(metadata.lengths.begin(),
                                   metadata.lengths.end(), longest);
  }
  return current;
}

void Lengths::pack(const Batch &batch, int64_t step, int64_t first,
                   int64_t count, char *data) {
  if (batch.lengthDim < 0 || !lengthSource)
    return;
  auto dim = batch.shape.begin() + batch.lengthDim;
  int64_t outer = 1, inner = artifact::byteSize(batch.type);
  for (auto it = batch.shape.begin(); it != dim; ++it)
    outer *= *it;
  for (auto it = dim + 1; it != batch.shape.end(); ++it)
    inner *= *it;
  const int64_t *lengths = ofStep(step).data() + first;
  for (int64_t i = 0; i < count; ++i) {
    char *begin = data + i * outer * *dim * inner;
    for (int64_t row = 1; row < outer; ++row)
      std::memmove(begin + row * lengths[i] * inner, begin + row * *dim * inner,
                   static_cast<size_t>(lengths[i] * inner));
  }
}
