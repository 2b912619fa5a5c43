//===- JsonLine.cpp - a JSON object on one line ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonLine.h"

#include <charconv>
#include <cmath>
#include <cstdio>

using namespace veeline::train;

/// Returns the number of bytes at the beginning of `text` that are one
/// character of UTF-8 (RFC 3629); 0: none.
static size_t lengthOfCharacter(std::string_view text) {
  auto at = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  unsigned lead = at(0);
  if (lead < 0x80)
    return 1;
  size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if (at(i) < 0x80 || at(i) > 0xbf)
      return 0;
  // These are encodings that are longer than needed, surrogates, and numbers
  // beyond the last character.
  bool isWrong =
      (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xed && at(1) > 0x9f) ||
      (lead == 0xf0 && at(1) < 0x90) || (lead == 0xf4 && at(1) > 0x8f);
  return isWrong ? 0 : length;
}

void JsonLine::addString(std::string_view value) {
  text += '"';
  while (!value.empty()) {
    size_t length = lengthOfCharacter(value);
    auto first = static_cast<unsigned char>(value[0]);
    if (length == 0) {
      text += "\\ufffd";
    } else if (first == '"' || first == '\\') {
      text += '\\';
      text += value[0];
    } else if (first < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", first);
      text += escape;
    } else {
      text += value.substr(0, length);
    }
    value.remove_prefix(length == 0 ? 1 : length);
  }
  text += '"';
}

void JsonLine::addName(std::string_view name) {
  if (text.back() != '{')
    text += ',';
  addString(name);
  text += ':';
}

void JsonLine::begin(std::string_view event) {
  text = '{';
  add("event", event);
}

void JsonLine::add(std::string_view name, double value) {
  addName(name);
  if (!std::isfinite(value)) {
    text += "null";
    return;
  }
  char number[32];
  auto [end, error] = std::to_chars(number, number + sizeof(number), value);
  text.append(number, end);
}

void JsonLine::add(std::string_view name, int64_t value) {
  addName(name);
  char number[32];
  auto [end, error] = std::to_chars(number, number + sizeof(number), value);
  text.append(number, end);
}

void JsonLine::add(std::string_view name, std::string_view value) {
  addName(name);
  addString(value);
}

void JsonLine::addFlag(std::string_view name, bool value) {
  addName(name);
  text += value ? "true" : "false";
}

void JsonLine::beginObject(std::string_view name) {
  addName(name);
  text += '{';
}

void JsonLine::endObject() { text += '}'; }

const std::string &JsonLine::end() {
  text += "}\n";
  return text;
}
