//===- Strides.h - tensors with strides ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_LIBRARY_STRIDES_H
#define VEELINE_RUNTIME_LIBRARY_STRIDES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace veeline::library {

/// A view: extents, and strides in elements; the last two dimensions are a
/// matrix.
struct View {
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;

  int64_t numElements() const;
  /// The same extents in row-major order without gaps.
  View packed() const;
};

/// Copies all elements of `source` to `target`, views of the same extents.
template <typename T>
void copyView(const T *source, const View &from, T *target, const View &to);

extern template void copyView(const float *, const View &, float *,
                              const View &);

} // namespace veeline::library

#endif // VEELINE_RUNTIME_LIBRARY_STRIDES_H
