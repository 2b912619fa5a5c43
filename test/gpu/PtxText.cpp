//===- PtxText.cpp - words of PTX -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxText.h"

#include <algorithm>

using namespace veeline::gpu;

std::string_view veeline::gpu::trim(std::string_view text) {
  size_t begin = text.find_first_not_of(whitespace);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(whitespace) - begin + 1);
}

std::string_view veeline::gpu::takeUntil(std::string_view &text,
                                         std::string_view ends) {
  size_t end = std::min(text.find_first_of(ends), text.size());
  std::string_view part = trim(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string_view veeline::gpu::takeLine(std::string_view &text) {
  size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trim(line.substr(0, line.find("//")));
}

std::vector<std::string_view> veeline::gpu::takeGroup(std::string_view &text) {
  if (!text.starts_with("("))
    return {};
  std::string_view group = takeUntil(text, ")");
  text = trim(text);
  if (text.starts_with(","))
    text = trim(text.substr(1));
  return splitOperands(group.substr(1));
}

std::vector<std::string_view>
veeline::gpu::splitOperands(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    depth += (c == '{') - (c == '}');
    if (c != ',' || (depth && i < text.size()))
      continue;
    if (std::string_view part = trim(text.substr(begin, i - begin));
        !part.empty())
      parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

std::optional<uint64_t> veeline::gpu::parseNumber(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0f") ||
      text.starts_with("0d"))
    return parseWhole<uint64_t>(text.substr(2), 16);
  if (text.starts_with("-")) {
    auto value = parseWhole<int64_t>(text);
    return value ? std::optional(static_cast<uint64_t>(*value)) : std::nullopt;
  }
  return parseWhole<uint64_t>(text);
}

/// The bytes of `.b8`, `.f32` and the like; 0 for other words.
static int64_t getTypeBytes(std::string_view type) {
  size_t digits = type.find_first_of("0123456789");
  if (!type.starts_with(".") || digits != 2)
    return 0;
  return parseWhole<int64_t>(type.substr(digits)).value_or(0) / 8;
}

std::optional<Variable> veeline::gpu::parseVariable(std::string_view line,
                                                    std::string_view space) {
  size_t begin = line.find(space);
  if (begin == std::string_view::npos)
    return std::nullopt;
  Variable variable;
  std::string_view rest = trim(line.substr(begin + space.size()));
  std::string_view type = takeUntil(rest, whitespace);
  if (type == ".align") {
    variable.alignment = parseWhole<int64_t>(takeUntil(rest, " ")).value_or(1);
    type = takeUntil(rest, whitespace);
  }
  int64_t elementBytes = getTypeBytes(type);
  variable.alignment = std::max(variable.alignment, elementBytes);
  bool isArray = rest.find('[') != std::string_view::npos;
  variable.name = takeUntil(rest, "[;,");
  int64_t count =
      isArray ? parseWhole<int64_t>(takeUntil(rest, "]")).value_or(-1) : 1;
  variable.bytes = count < 0 ? -1 : count * elementBytes;
  return elementBytes ? std::optional(variable) : std::nullopt;
}
