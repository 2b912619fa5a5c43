//===- Numbers.h - numbers as text ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_NUMBERS_H
#define VEELINE_BASE_NUMBERS_H

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace veeline {

/// The least multiple of `multiple` that is not less than `value`. Neither may
/// be negative.
template <std::integral T>
constexpr T roundUp(T value, std::type_identity_t<T> multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Parses all of `text` as one finite number.
std::optional<double> parseNumber(std::string_view text);
/// The shortest text that reads back as the same number.
std::string exactNumber(double value);
/// `value` as printf prints it.
std::string formatted(const char *format, double value);
/// `value` with at most `digits` significant digits. Millions are whole
/// numbers, without an exponent.
std::string shortNumber(double value, int digits = 6);
/// The distance between ticks on an axis of this length, so that there are at
/// most `most` ticks: 1, 2 or 5 times a power of ten.
double tickDistance(double length, int most);

} // namespace veeline

#endif // VEELINE_BASE_NUMBERS_H
