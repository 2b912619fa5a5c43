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

/// The number of rounds of a random test: a fifth of `count` in the suite,
/// `count` in the long suite (docs/testing.md), which sets VEELINE_LONG=1, and
/// N times `count` if VEELINE_LONG is N.
inline int rounds(int count) {
  const char *times = std::getenv("VEELINE_LONG");
  return times ? count * std::max(1, std::atoi(times)) : std::max(1, count / 5);
}

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_ROUNDS_H
