//===- Random.h - numbers that follow from a seed ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_RANDOM_H
#define VEELINE_TEST_FUZZ_RANDOM_H

#include <cstdint>
#include <random>
#include <vector>

namespace veeline::fuzz {

/// Random numbers that are the same for a seed with every standard library,
/// whose distributions are not used.
class Random {
public:
  explicit Random(uint64_t seed)
      : engine(seed * 0x9E3779B97F4A7C15ull + 0x2545F4914F6CDD1Dull) {}

  /// One of 0 to count - 1.
  int64_t below(int64_t count) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(count));
  }
  /// One of low to high, both included.
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }
  bool chance(double probability) { return unit() < probability; }
  double uniform(double low, double high) {
    return low + (high - low) * unit();
  }
  template <typename T> const T &oneOf(const std::vector<T> &choices) {
    return choices[static_cast<size_t>(
        below(static_cast<int64_t>(choices.size())))];
  }

private:
  double unit() { return static_cast<double>(engine() >> 11) * 0x1p-53; }

  std::mt19937_64 engine;
};

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_RANDOM_H
