//===- Strides.h - tensors with strides -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_LIBRARY_STRIDES_H
#define VEELINE_RUNTIME_LIBRARY_STRIDES_H

#include "veeline/artifact.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace veeline::library {

/// The alignment of operands in the scratch memory of a call.
inline constexpr int64_t scratchAlignment = 64;

/// The strides of a dense tensor in row-major order or, with `isChannelsLast`,
/// with dimension 1 as the innermost one.
inline std::vector<int64_t> denseStrides(const std::vector<int64_t> &extents,
                                         bool isChannelsLast = false) {
  std::vector<int64_t> strides(extents.size());
  int64_t stride = 1;
  auto place = [&](size_t i) {
    strides[i] = stride;
    stride *= extents[i];
  };
  if (isChannelsLast)
    place(1);
  for (size_t i = extents.size(); i-- > 0;)
    if (!isChannelsLast || i != 1)
      place(i);
  return strides;
}

/// A view: extents, and strides in elements. The last two dimensions are a
/// matrix.
struct View {
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;

  int64_t numElements() const { return artifact::numElements(extents); }
  /// A dense view with the same extents in row-major order.
  View packed() const { return {extents, denseStrides(extents)}; }
};

/// Copies all elements of `source` to `target`. Both views have the same
/// extents.
template <typename T>
void copyView(const T *source, const View &from, T *target, const View &to);

extern template void copyView(const float *, const View &, float *,
                              const View &);

} // namespace veeline::library

#endif // VEELINE_RUNTIME_LIBRARY_STRIDES_H
