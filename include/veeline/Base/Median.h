//===- Median.h - the median of measurements --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_MEDIAN_H
#define VEELINE_BASE_MEDIAN_H

#include <algorithm>
#include <vector>

namespace veeline {

/// The median. For an even number of values it is the greater of the two in the
/// middle.
inline double medianOf(std::vector<double> values) {
  auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace veeline

#endif // VEELINE_BASE_MEDIAN_H
