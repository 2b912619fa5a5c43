//===- Numbers.cpp - numbers as text --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Numbers.h"

#include <charconv>
#include <cmath>
#include <cstdio>

std::optional<double> veeline::parseNumber(std::string_view text) {
  double value;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::string veeline::exactNumber(double value) {
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end);
}

std::string veeline::formatted(const char *format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string veeline::shortNumber(double value, int digits) {
  char text[64];
  bool isLarge = std::abs(value) >= 1e6 && std::abs(value) < 1e15;
  std::snprintf(text, sizeof text, "%.*g", isLarge ? 15 : digits,
                isLarge ? std::round(value) : value);
  return text;
}

double veeline::tickDistance(double length, int most) {
  double least = length / most;
  double power = std::pow(10, std::floor(std::log10(least)));
  for (double factor : {1.0, 2.0, 5.0})
    if (power * factor >= least * (1 - 1e-12))
      return power * factor;
  return power * 10;
}
