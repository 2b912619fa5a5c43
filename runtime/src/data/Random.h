//===- Random.h - counter-based random numbers ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_RANDOM_H
#define VEELINE_RUNTIME_DATA_RANDOM_H

#include "veeline/artifact.h"

#include <array>

namespace veeline::data {

/// Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2,
/// 3", SC 2011: 128 bits that depend only on the key and the counter.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key);

/// A stream of 64-bit numbers, two per counter. The seed and the name select
/// the stream.
class RandomStream {
public:
  RandomStream(uint64_t seed, std::string_view name);

  std::array<uint64_t, 2> pair(uint64_t index) const;
  uint64_t at(uint64_t index) const { return pair(index / 2)[index % 2]; }
  /// A uniformly distributed number in [0, bound), computed by multiplication.
  /// `bound` is at least 1.
  uint64_t below(uint64_t bound, uint64_t index) const;
  /// Two values of a normal distribution with mean 0 and variance 1.
  std::array<double, 2> normalPair(uint64_t index) const;

private:
  std::array<uint32_t, 2> key;
};

/// Writes the initial values of all elements of `param` to `bytes`. They depend
/// only on the seed, the parameter's name and the element's index.
void initialize(const artifact::Parameter &param, uint64_t seed, char *bytes);

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_RANDOM_H
