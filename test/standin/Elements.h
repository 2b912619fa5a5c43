//===- Elements.h - floats of the libraries' operands ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_STANDIN_ELEMENTS_H
#define VEELINE_TEST_STANDIN_ELEMENTS_H

#include "veeline/Base/HalfFloats.h"

#include <cmath>
#include <cstring>
#include <initializer_list>

namespace veeline::standin {

enum class Element { none, f64, f32, f16, bf16 };

inline int64_t bytesOf(Element type) {
  switch (type) {
  case Element::f64:
    return 8;
  case Element::f32:
    return 4;
  case Element::f16:
  case Element::bf16:
    return 2;
  case Element::none:
    break;
  }
  return 0;
}

inline uint16_t toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  // To the nearest, ties to even; NaNs stay.
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 64);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Rounds to 10 bits after the point, to the nearest, ties to even: what tensor
/// cores read of an f32. NaNs and infinities stay.
inline double roundToTf32(double number) {
  auto single = static_cast<float>(number);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof(bits));
  if (std::isfinite(single))
    bits = (bits + 0xfff + ((bits >> 13) & 1)) & ~0x1fffu;
  std::memcpy(&single, &bits, sizeof(bits));
  return single;
}

inline double elementAt(Element type, const char *place) {
  if (type == Element::f64) {
    double value;
    std::memcpy(&value, place, sizeof(value));
    return value;
  }
  if (type == Element::f32) {
    float value;
    std::memcpy(&value, place, sizeof(value));
    return value;
  }
  uint16_t value;
  std::memcpy(&value, place, sizeof(value));
  return type == Element::f16 ? fromF16(value) : fromBf16(value);
}

inline void store(Element type, char *place, double number) {
  if (type == Element::f64) {
    std::memcpy(place, &number, sizeof(number));
    return;
  }
  auto single = static_cast<float>(number);
  if (type == Element::f32) {
    std::memcpy(place, &single, sizeof(single));
    return;
  }
  uint16_t half = toBf16(single);
  if (type == Element::f16) {
    _Float16 value = static_cast<_Float16>(single);
    std::memcpy(&half, &value, sizeof(half));
  }
  std::memcpy(place, &half, sizeof(half));
}

/// The order in which a library adds up, which may depend on all that it is
/// told of a call. Here a sum begins with a number between 1/256 and 1/128,
/// which depends on the choices, and has it subtracted in the end. So equal
/// computations in f32 by different calls have different bits.
///
/// Other types are added up in f64. Otherwise a model that is not cut, whose
/// calls are different ones, would now and then be off by a rounding to f16,
/// which is more than `--verify` allows.
class SumOrder {
public:
  SumOrder(Element operands, std::initializer_list<int64_t> choices)
      : isDouble(operands != Element::f32) {
    for (int64_t choice : choices)
      add(choice);
  }

  void add(int64_t choice) {
    hash = (hash ^ static_cast<uint64_t>(choice)) * 1099511628211u;
  }

  /// Has few bits, so that sums of small whole numbers are exact in any order.
  double begin() const {
    return (1 + static_cast<double>(hash >> 56) / 256) / 256;
  }
  double plus(double sum, double product) const {
    return isDouble ? sum + product : static_cast<float>(sum + product);
  }
  double end(double sum) const { return sum - begin(); }

private:
  bool isDouble;
  uint64_t hash = 1469598103934665603u;
};

} // namespace veeline::standin

#endif // VEELINE_TEST_STANDIN_ELEMENTS_H
