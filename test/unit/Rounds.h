//===- Rounds.h - how often random tests go round ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_ROUNDS_H
#define VEELINE_TEST_UNIT_ROUNDS_H

#include <algorithm>
#include <cstdlib>

namespace veeline::test {

/// The number of rounds of a random test: one `part`th of `count` in the suite,
/// `count` in the long suite (docs/testing.md), which sets VEELINE_LONG=1, and
/// N times `count` if VEELINE_LONG is N.
inline int rounds(int count, int part = 10) noexcept {
  const char *times = std::getenv("VEELINE_LONG");
  if (!times)
    return std::max(1, count / part);
  return std::max(count,
                  count * static_cast<int>(std::strtol(times, nullptr, 10)));
}

/// Whether this is the long suite. Outside of it a test whose cases differ in
/// numbers alone takes some of them.
inline bool isLong() noexcept { return std::getenv("VEELINE_LONG"); }

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_ROUNDS_H
