//===- Random.h - reproducible random numbers -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_AUTO_RANDOM_H
#define VEELINE_LIB_SCHEDULE_AUTO_RANDOM_H

#include <cstdint>

namespace veeline::schedule {

/// Marsaglia's xorshift with 64 bits of state, which must not be 0.
class Xorshift {
public:
  explicit Xorshift(std::uint64_t state) : state(state) {}

  std::uint64_t operator()() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
  /// A number in [0, 1).
  double unit() {
    return static_cast<double>((*this)() >> 11) /
           static_cast<double>(1ull << 53);
  }

private:
  std::uint64_t state;
};

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_AUTO_RANDOM_H
