//===- Source.cpp - the source of a batch argument ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source.h"

#include "ElementAccess.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

using namespace veeline;
using namespace veeline::data;
using artifact::DataType;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

TextSource::TextSource(std::string_view text, const artifact::Batch &batch,
                       int64_t shift, int64_t numPlaces, int64_t windowsPerStep,
                       int64_t stride, uint64_t seed)
    : text(text), type(batch.type), window(batch.shape.back()), shift(shift),
      numPlaces(numPlaces), windowsPerStep(windowsPerStep), stride(stride),
      stream(seed, "windows of text") {}

static void widenTo(DataType type, std::string_view bytes, char *target) {
  artifact::withZeroOf(type, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < bytes.size(); ++i)
      artifact::storeElement<T>(
          target, i, static_cast<T>(static_cast<unsigned char>(bytes[i])));
  });
}

/// In order, an epoch has as many windows as fill whole steps.
uint64_t TextSource::placeOf(int64_t number) const {
  if (stride == 0)
    return stream.below(static_cast<uint64_t>(numPlaces),
                        static_cast<uint64_t>(number));
  int64_t inEpoch = windowsInOrder() / windowsPerStep * windowsPerStep;
  return static_cast<uint64_t>(number % inEpoch * stride);
}

Status TextSource::fill(int64_t step, int64_t first, int64_t count,
                        char *target) {
  int64_t windowBytes = window * artifact::byteSize(type);
  first += origin + (step - 1) * windowsPerStep;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t place = placeOf(first + i);
    widenTo(type,
            text.substr(place + static_cast<uint64_t>(shift),
                        static_cast<size_t>(window)),
            target + i * windowBytes);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

ArraySource::ArraySource(const Tensor &tensor, int64_t rowsPerStep,
                         bool shuffle, uint64_t seed)
    : bytes(tensor.bytes),
      rowBytes(static_cast<int64_t>(tensor.bytes.size()) / tensor.shape[0]),
      rowsPerStep(rowsPerStep), stepsPerEpoch(tensor.shape[0] / rowsPerStep),
      shuffle(shuffle), seed(seed), order(tensor.shape[0]) {
  std::iota(order.begin(), order.end(), 0);
}

/// A Fisher-Yates shuffle with the epoch's own stream.
void ArraySource::startEpoch(int64_t epoch) {
  currentEpoch = epoch;
  if (!shuffle)
    return;
  char name[48]; // Not a std::string, so that no step allocates.
  std::snprintf(name, sizeof(name), "samples of epoch %ld", long(epoch));
  RandomStream stream(seed, name);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[stream.below(i, i)]);
}

/// The number of steps that the rest of an epoch fills, from `row` on.
int64_t ArraySource::stepsFrom(int64_t row) const {
  return (static_cast<int64_t>(order.size()) - row) / rowsPerStep;
}

void ArraySource::setPosition(int64_t step, Position position) {
  firstStep = step;
  start = position;
  // The position may be that of other data, with more samples.
  start.sample = std::min(start.sample, static_cast<int64_t>(order.size()));
}

std::optional<Position> ArraySource::positionOf(int64_t step) const {
  int64_t number = step - firstStep, left = stepsFrom(start.sample);
  if (number < left)
    return Position{start.epoch, start.sample + number * rowsPerStep};
  number -= left;
  return Position{start.epoch + 1 + number / stepsPerEpoch,
                  number % stepsPerEpoch * rowsPerStep};
}

int64_t ArraySource::lastStepOf(int64_t epochs) const {
  return firstStep - 1 + stepsFrom(start.sample) +
         (epochs - start.epoch - 1) * stepsPerEpoch;
}

Status ArraySource::fill(int64_t step, int64_t first, int64_t count,
                         char *target) {
  Position position = *positionOf(step);
  if (position.epoch != currentEpoch)
    startEpoch(position.epoch);
  first += position.sample;
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(target + i * rowBytes,
                bytes.data() + order[first + i] * rowBytes,
                static_cast<size_t>(rowBytes));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Random values
//===----------------------------------------------------------------------===//

RandomSource::RandomSource(const std::string &name, DataType type,
                           int64_t count, std::optional<Range> range,
                           bool isFixed, uint64_t seed)
    : type(type), valuesPerStep(count), range(range),
      stream(seed, "data " + name) {
  if (!isFixed)
    return;
  std::string bytes(static_cast<size_t>(count * artifact::byteSize(type)), 0);
  draw(/*step=*/1, {0, count}, bytes.data());
  fixed = std::move(bytes);
}

template <typename T>
static void drawNormal(const RandomStream &stream, int64_t valuesPerStep,
                       int64_t step, RandomSource::Part part, char *target) {
  auto base = static_cast<uint64_t>((step - 1) * ((valuesPerStep + 1) / 2));
  std::array<double, 2> pair = {};
  for (int64_t i = part.first; i < part.first + part.count; ++i) {
    if (i % 2 == 0 || i == part.first)
      pair = stream.normalPair(base + static_cast<uint64_t>(i / 2));
    artifact::storeElement<T>(target, static_cast<size_t>(i - part.first),
                              static_cast<T>(pair[static_cast<size_t>(i % 2)]));
  }
}

template <typename T>
static void drawBelow(const RandomStream &stream, int64_t valuesPerStep,
                      int64_t step, RandomSource::Range range,
                      RandomSource::Part part, char *target) {
  auto first = static_cast<uint64_t>((step - 1) * valuesPerStep + part.first);
  // Unsigned, because the range may be that of i64.
  auto low = static_cast<uint64_t>(range.first);
  uint64_t width = static_cast<uint64_t>(range.second) - low;
  for (size_t i = 0; i < static_cast<size_t>(part.count); ++i)
    artifact::storeElement<T>(target, i,
                              static_cast<T>(static_cast<int64_t>(
                                  low + stream.below(width, first + i))));
}

void RandomSource::draw(int64_t step, Part part, char *target) const {
  artifact::withZeroOf(type, [&](auto zero) {
    using T = decltype(zero);
    if (range)
      drawBelow<T>(stream, valuesPerStep, step, *range, part, target);
    else
      drawNormal<T>(stream, valuesPerStep, step, part, target);
  });
}

Status RandomSource::fill(int64_t step, int64_t first, int64_t count,
                          char *target) {
  int64_t width = artifact::byteSize(type);
  if (fixed.empty())
    draw(step, {first, count}, target);
  else
    std::memcpy(target, fixed.data() + first * width,
                static_cast<size_t>(count * width));
  return Status::success();
}
