//===- Text.cpp - text for where it goes ----------------------------------===//
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

std::string veeline::escapedText(std::string_view text) {
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

std::string veeline::printable(std::string_view text) {
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
