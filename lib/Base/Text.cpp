//===- Text.cpp - escaping and splitting of text --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Text.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

std::string veeline::jsonString(std::string_view text) {
  std::string quoted =
      nlohmann::json(std::string(text))
          .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::string result;
  for (char c : quoted)
    result += c == '<' ? "\\u003c" : std::string(1, c);
  return result;
}

/// The length of the UTF-8 character at the begin of `text`, if XML allows it
/// and it is not ASCII. Otherwise 0.
static std::size_t lengthBeyondAscii(std::string_view text) {
  auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  std::size_t length = byte(0) >= 0xF0   ? 4
                       : byte(0) >= 0xE0 ? 3
                       : byte(0) >= 0xC0 ? 2
                                         : 0;
  if (length == 0)
    return 0;
  char32_t code = byte(0) & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2)
      return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  static constexpr char32_t least[] = {0, 0, 0xA0, 0x800, 0x10000};
  bool isSurrogate = code >= 0xD800 && code < 0xE000;
  bool isCharacter = code >= least[length] && code <= 0x10FFFF &&
                     !isSurrogate && code != 0xFFFE && code != 0xFFFF;
  return isCharacter ? length : 0;
}

/// How XML writes an ASCII character. It has no form for control characters.
static std::string escapedAscii(char c) {
  switch (c) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return "&quot;";
  default:
    return {c >= ' ' && c <= '~' ? c : '?'};
  }
}

std::string veeline::escapedText(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    std::size_t length = lengthBeyondAscii(text);
    if (length > 0)
      result += text.substr(0, length);
    else
      result += escapedAscii(text.front());
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string veeline::printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    // The bytes C2 80 to C2 9F are control characters in UTF-8.
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

std::vector<std::string_view> veeline::splitAt(std::string_view text,
                                               char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(separator)) != text.npos;) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::string_view veeline::strip(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

std::string veeline::counted(std::int64_t count, std::string_view one) {
  const char *ending = count == 1 ? "" : one.ends_with("ch") ? "es" : "s";
  return std::to_string(count) + " " + std::string(one) + ending;
}
