//===- DevicePlan.h - how a model is run on a GPU ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_DEVICEPLAN_H
#define VEELINE_TEST_FUZZ_DEVICEPLAN_H

#include <cstdint>
#include <string>
#include <vector>

namespace veeline::fuzz {

/// Options of `veeline compile` and `veeline train` that go together.
struct DevicePlan {
  std::vector<std::string> compile, train;
  /// Whether the sequential program has the same bits: not where a GPU updates
  /// by other products than the host does.
  bool isComparable = true;
  /// Whether the library has no algorithm for half of the products with
  /// epilogues.
  bool refusesEpilogues = false;
};

/// Those that `seed` chooses for a model of so many pieces. A model that
/// shrinks keeps them as far as it still has the pieces.
DevicePlan chooseDevicePlan(uint64_t seed, int64_t microbatches,
                            int64_t pieces);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_DEVICEPLAN_H
