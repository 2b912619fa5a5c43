//===- KernelArguments.cpp - random data of a kernel ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace veeline::gpu;

Arguments::Arguments(const std::vector<KernelParam> &params, int64_t alignment)
    : params(params) {
  buffers.reserve(params.size());
  for (const KernelParam &param : params)
    buffers.emplace_back(*param.kind, param.count, alignment);
  for (Buffer &buffer : buffers)
    addresses.push_back(buffer.data());
}

static double draw(std::mt19937_64 &engine, double low, double high) {
  return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
}

static double drawFloat(std::mt19937_64 &engine, Style style) {
  if (style == Style::positive)
    return draw(engine, 0.1, 2);
  static const double special[] = {0.0,
                                   -0.0,
                                   1e-42,
                                   -1e-42,
                                   1e30,
                                   -1e30,
                                   88.0,
                                   -100.0,
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()};
  // An outlier shows a wrong maximum even where the maximum cancels, as in a
  // softmax.
  if (style == Style::outliers && engine() % 256 == 0)
    return draw(engine, -2, 2) * std::pow(10, draw(engine, 0, 3));
  if (style == Style::special && engine() % 8 == 0)
    return special[engine() % std::size(special)];
  return draw(engine, -2, 2);
}

void Arguments::fill(Style style, int64_t bound, uint64_t seed) {
  // Integers are the same in every style.
  std::mt19937_64 engine(seed), integers(seed + 1);
  for (Buffer &buffer : buffers) {
    auto below = static_cast<uint64_t>(bound);
    if (buffer.kind() == ElementKind::i1)
      below = 2;
    if (buffer.kind() == ElementKind::i8)
      below = std::min<uint64_t>(below, 100);
    for (int64_t i = 0; i < buffer.count(); ++i)
      buffer.set(i, isFloat(buffer.kind())
                        ? drawFloat(engine, style)
                        : static_cast<double>(integers() % below));
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    double shift =
        style == Style::positive ? params[i].positiveShift : params[i].shift;
    for (int64_t j = 0; shift != 0 && j < buffers[i].count(); ++j)
      buffers[i].set(j, buffers[i].get(j) + shift);
  }
  for (size_t i = 0; i < buffers.size(); ++i)
    if (params[i].value)
      buffers[i].set(0, static_cast<double>(*params[i].value));
}

void Arguments::copyFrom(const Arguments &other) {
  for (size_t i = 0; i < buffers.size(); ++i)
    buffers[i].copyFrom(other.buffers[i]);
}

void Arguments::perturb(double part, uint64_t seed) {
  std::mt19937_64 engine(seed);
  for (Buffer &buffer : buffers)
    if (isFloat(buffer.kind()) && epsilonOf(buffer.kind()) <= part)
      for (int64_t i = 0; i < buffer.count(); ++i)
        buffer.set(i, buffer.get(i) * (1 + draw(engine, -part, part)));
}

double Arguments::perturbNarrow(double part, uint64_t seed) {
  std::mt19937_64 engine(seed);
  double most = 0;
  for (const Buffer &buffer : buffers)
    if (epsilonOf(buffer.kind()) > part)
      most = std::max(most, 2 * epsilonOf(buffer.kind()));
  for (Buffer &buffer : buffers)
    if (epsilonOf(buffer.kind()) > part)
      for (int64_t i = 0; i < buffer.count(); ++i)
        buffer.set(i, buffer.get(i) * (1 + draw(engine, -most, most)));
  return most;
}

std::vector<const void *> Arguments::getParams() {
  std::vector<const void *> places;
  for (size_t i = 0; i < buffers.size(); ++i)
    places.push_back(params[i].isBuffer
                         ? static_cast<const void *>(&addresses[i])
                         : buffers[i].data());
  return places;
}

std::vector<BufferRange> Arguments::getRanges() const {
  std::vector<BufferRange> ranges;
  for (size_t i = 0; i < buffers.size(); ++i)
    ranges.push_back({"argument " + std::to_string(i), buffers[i].data(),
                      buffers[i].bytes(), bytesOf(buffers[i].kind()),
                      params[i].isWritten});
  return ranges;
}

std::string Arguments::checkGuards() const {
  for (size_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i].areGuardsWhole())
      return "memory beside argument " + std::to_string(i) + " is written";
  return {};
}
