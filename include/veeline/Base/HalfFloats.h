//===- HalfFloats.h - 16-bit floating-point types ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_HALFFLOATS_H
#define VEELINE_BASE_HALFFLOATS_H

#include <bit>
#include <cstdint>

namespace veeline {

inline float fromBf16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

inline float fromF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0) // Zeros, and multiples of the smallest number, 2^-24.
    return std::bit_cast<float>(
        sign |
        std::bit_cast<uint32_t>(static_cast<float>(fraction) * 0x1p-24f));
  // Infinities and NaNs keep an exponent of ones.
  exponent += exponent == 0x1f ? 255 - 0x1f : 127 - 15;
  return std::bit_cast<float>(sign | exponent << 23 | fraction << 13);
}

/// Rounds to the nearest number, of two to the even one. NaNs stay NaNs.
inline uint16_t toBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) { // The fraction must not become 0.
    uint32_t quiet = (bits & 0x7f0000) == 0 ? 0x40 : 0;
    return static_cast<uint16_t>((bits >> 16) | quiet);
  }
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// The same.
inline uint16_t toF16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000, rest = bits & 0x7fffffff;
  if (rest > 0x7f800000) {
    uint32_t fraction = (rest >> 13) & 0x3ff;
    return static_cast<uint16_t>(sign | 0x7c00 |
                                 (fraction == 0 ? 0x200 : fraction));
  }
  if (rest >= 0x477ff000) // 65520 and more, halfway to 2^16.
    return static_cast<uint16_t>(sign | 0x7c00);
  if (rest < 0x38800000) // A sum with 1/2 has multiples of 2^-24 as last bits.
    return static_cast<uint16_t>(
        sign | (std::bit_cast<uint32_t>(std::bit_cast<float>(rest) + 0.5f) -
                std::bit_cast<uint32_t>(0.5f)));
  rest -= (127 - 15) << 23;
  return static_cast<uint16_t>(sign |
                               ((rest + 0xfff + ((rest >> 13) & 1)) >> 13));
}

/// A float of which `toBf16` and `toF16` give what `value` rounds to: unless it
/// is exact, its last bit is 1.
inline float roundToOdd(double value) {
  auto nearest = static_cast<float>(value);
  auto bits = std::bit_cast<uint32_t>(nearest);
  bool isFinite = (bits & 0x7fffffff) < 0x7f800000;
  if (!isFinite || static_cast<double>(nearest) == value)
    return nearest;
  bool isFarther = value < 0 ? nearest < value : nearest > value;
  return std::bit_cast<float>((bits - (isFarther ? 1 : 0)) | 1);
}

} // namespace veeline

#endif // VEELINE_BASE_HALFFLOATS_H
