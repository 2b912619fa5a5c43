//===- ElementAccess.h - elements of tensors in C++ -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ARTIFACT_ELEMENTACCESS_H
#define VEELINE_RUNTIME_ARTIFACT_ELEMENTACCESS_H

#include "veeline/artifact.h"

#include <cstring>

namespace veeline::artifact {

/// Calls `body` with a zero of the C++ type for numbers of `type`, which must
/// not be a 16-bit float.
template <typename Body> auto withZeroOf(DataType type, const Body &body) {
  switch (type) {
  case DataType::f64:
    return body(double());
  case DataType::f32:
    return body(float());
  case DataType::i64:
    return body(int64_t());
  case DataType::i32:
    return body(int32_t());
  case DataType::i16:
    return body(int16_t());
  default:
    return body(int8_t());
  }
}

/// Reads element `index` of an array with any alignment.
template <typename T> T loadElement(const void *array, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(array) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T> void storeElement(void *array, size_t index, T value) {
  std::memcpy(static_cast<char *>(array) + index * sizeof(T), &value,
              sizeof(T));
}

} // namespace veeline::artifact

#endif // VEELINE_RUNTIME_ARTIFACT_ELEMENTACCESS_H
