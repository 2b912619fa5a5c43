//===- Strides.cpp - tensors with strides ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Strides.h"

#include <algorithm>

using namespace veeline::library;

template <typename T>
static void copyFrom(size_t dimension, const T *source, const View &from,
                     T *target, const View &to) {
  int64_t fromStride = from.strides[dimension];
  int64_t toStride = to.strides[dimension];
  int64_t extent = from.extents[dimension];
  bool innermost = dimension + 1 == from.extents.size();
  if (innermost && fromStride == 1 && toStride == 1) {
    std::copy_n(source, extent, target);
    return;
  }
  for (int64_t i = 0; i < extent; ++i) {
    if (innermost)
      target[i * toStride] = source[i * fromStride];
    else
      copyFrom(dimension + 1, source + i * fromStride, from,
               target + i * toStride, to);
  }
}

template <typename T>
void veeline::library::copyView(const T *source, const View &from, T *target,
                                const View &to) {
  copyFrom(0, source, from, target, to);
}

template void veeline::library::copyView(const float *, const View &, float *,
                                         const View &);
