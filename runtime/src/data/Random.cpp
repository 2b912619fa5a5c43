//===- Random.cpp - counter-based random numbers --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"

#include "ElementAccess.h"
#include "veeline/Base/Checksum.h"

#include <cmath>
#include <numbers>

using namespace veeline;
using namespace veeline::data;
using artifact::DataType;
using artifact::Initializer;

std::array<uint32_t, 4> data::philox(std::array<uint32_t, 4> counter,
                                     std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xd2511f53) * counter[0];
    uint64_t second = uint64_t(0xcd9e8d57) * counter[2];
    counter = {uint32_t(second >> 32) ^ counter[1] ^ key[0], uint32_t(second),
               uint32_t(first >> 32) ^ counter[3] ^ key[1], uint32_t(first)};
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return counter;
}

/// The finaliser of splitmix64. Every bit of the input affects every bit of the
/// output.
static uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

RandomStream::RandomStream(uint64_t seed, std::string_view name) {
  Crc64 crc;
  crc.add(name);
  uint64_t mixed = mix(seed ^ mix(crc.value()));
  key = {uint32_t(mixed), uint32_t(mixed >> 32)};
}

std::array<uint64_t, 2> RandomStream::pair(uint64_t index) const {
  std::array<uint32_t, 4> words =
      philox({uint32_t(index), uint32_t(index >> 32), 0, 0}, key);
  return {(uint64_t(words[1]) << 32) | words[0],
          (uint64_t(words[3]) << 32) | words[2]};
}

uint64_t RandomStream::below(uint64_t bound, uint64_t index) const {
  return static_cast<uint64_t>(
      (static_cast<unsigned __int128>(at(index)) * bound) >> 64);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Returns a number in [0, 1) with 53 bits.
static double unit(uint64_t bits) { return double(bits >> 11) * 0x1p-53; }

/// Draws two values of `init` from 128 random bits.
static std::array<double, 2> drawPair(const Initializer &init,
                                      std::array<uint64_t, 2> bits) {
  double u0 = unit(bits[0]), u1 = unit(bits[1]);
  if (init.kind == Initializer::Kind::uniform) {
    double width = init.second - init.first;
    return {init.first + width * u0, init.first + width * u1};
  }
  // The Box-Muller transform. 1 - u0 is never 0.
  double radius = init.second * std::sqrt(-2 * std::log(1 - u0));
  double angle = 2 * std::numbers::pi * u1;
  return {init.first + radius * std::cos(angle),
          init.first + radius * std::sin(angle)};
}

std::array<double, 2> RandomStream::normalPair(uint64_t index) const {
  return drawPair({Initializer::Kind::normal, 0, 1}, pair(index));
}

template <typename T>
static void initializeTyped(const artifact::Parameter &param, uint64_t seed,
                            char *bytes) {
  const Initializer &init = param.init;
  auto count = static_cast<size_t>(artifact::numElements(param.shape));
  auto store = [&](size_t index, double value) {
    artifact::storeElement<T>(bytes, index, static_cast<T>(value));
  };
  bool isRandom = init.kind == Initializer::Kind::normal ||
                  init.kind == Initializer::Kind::uniform;
  if (!isRandom) {
    double value = init.kind == Initializer::Kind::zeros  ? 0
                   : init.kind == Initializer::Kind::ones ? 1
                                                          : init.first;
    for (size_t i = 0; i < count; ++i)
      store(i, value);
    return;
  }
  RandomStream stream(seed, "parameter " + param.name);
  for (size_t i = 0; i < count; i += 2) {
    std::array<double, 2> values = drawPair(init, stream.pair(i / 2));
    store(i, values[0]);
    if (i + 1 < count)
      store(i + 1, values[1]);
  }
}

void data::initialize(const artifact::Parameter &param, uint64_t seed,
                      char *bytes) {
  if (param.type == DataType::f64)
    initializeTyped<double>(param, seed, bytes);
  else
    initializeTyped<float>(param, seed, bytes);
}
