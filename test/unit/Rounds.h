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

/// How often a random test goes round: `count` times in the long suite
/// (docs/testing.md) and wherever VEELINE_LONG is set, a fifth of that else.
inline int rounds(int count) {
  return std::getenv("VEELINE_LONG") ? count : std::max(1, count / 5);
}

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_ROUNDS_H
