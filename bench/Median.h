//===- Median.h - what benchmarks print ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BENCH_MEDIAN_H
#define VEELINE_BENCH_MEDIAN_H

#include <algorithm>
#include <vector>

/// The median: of an even number of values, the greater one of the two in the
/// middle.
inline double medianOf(std::vector<double> values) {
  auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

#endif // VEELINE_BENCH_MEDIAN_H
