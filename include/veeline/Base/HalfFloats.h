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

} // namespace veeline

#endif // VEELINE_BASE_HALFFLOATS_H
