//===- Numbers.cpp - numbers in files -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace veeline;

std::string schedule::formatted(const char *format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string schedule::shortNumber(double value, int digits) {
  char text[64];
  bool isLarge = std::abs(value) >= 1e6 && std::abs(value) < 1e15;
  std::snprintf(text, sizeof text, "%.*g", isLarge ? 15 : digits,
                isLarge ? std::round(value) : value);
  return text;
}

std::string schedule::coordinate(double value) {
  char text[64];
  int length = std::snprintf(text, sizeof text, "%.2f", value);
  while (text[length - 1] == '0')
    --length;
  if (text[length - 1] == '.')
    --length;
  std::string result(text, length);
  return result == "-0" ? "0" : result;
}

std::string schedule::jsonString(std::string_view text) {
  std::string quoted =
      nlohmann::json(std::string(text))
          .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::string result;
  for (char c : quoted)
    result += c == '<' ? "\\u003c" : std::string(1, c);
  return result;
}

std::string schedule::escapedText(std::string_view text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      // Control characters and stray bytes are no XML.
      result += c >= ' ' && c <= '~' ? c : '?';
    }
  return result;
}

std::string schedule::printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    // In UTF-8, C2 80 to C2 9F are control characters too.
    bool isSecond =
        i > 0 && text[i - 1] == '\xC2' && byte >= 0x80 && byte < 0xA0;
    bool isControl = (byte < 0x20 && byte != '\n') || byte == 0x7F || isSecond;
    if (!isControl) {
      result += text[i];
      continue;
    }
    if (isSecond)
      result.pop_back();
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02X", byte);
    result += escaped;
  }
  return result;
}

double schedule::tickDistance(double length, int most) {
  double least = length / most;
  double power = std::pow(10, std::floor(std::log10(least)));
  for (double factor : {1.0, 2.0, 5.0})
    if (power * factor >= least * (1 - 1e-12))
      return power * factor;
  return power * 10;
}
