//===- NameMap.cpp - mapping names of parameters --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NameMap.h"

#include "veeline/Base/Checksum.h"
#include "veeline/Base/File.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

using namespace veeline;
using namespace veeline::data;

std::vector<int64_t> NameInFile::shapeOf(std::vector<int64_t> shape) const {
  if (isTransposed)
    std::ranges::reverse(shape);
  return shape;
}

Status NameMap::failure(int64_t line, const std::string &what) const {
  return Status::error(path + ":" + std::to_string(line) + ": " + what);
}

/// Splits a line into words.
static std::vector<std::string> split(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string> words;
  for (size_t begin = text.find_first_not_of(blanks);
       begin != std::string_view::npos;) {
    size_t end = std::min(text.find_first_of(blanks, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blanks, end);
  }
  return words;
}

Status NameMap::parseLine(int64_t number, std::string_view text) {
  std::vector<std::string> words = split(text);
  if (words.empty() || words[0].starts_with('#'))
    return Status::success();
  bool isTransposed = words.size() == 3 && words[2] == "transposed";
  if (words.size() != 2 && !isTransposed)
    return failure(number, "expected a parameter, its name in the file and, "
                           "where its dimensions are exchanged, 'transposed'");
  auto stars = std::ranges::count(words[0], '*');
  if (stars > 1 || std::ranges::count(words[1], '*') != stars)
    return failure(number, "expected as many '*' in both names, none or one");
  lines.push_back({number, words[0], words[1], isTransposed});
  return Status::success();
}

Expected<NameMap> NameMap::open(const std::string &path) {
  VEELINE_TRY_VALUE(MappedFile file, MappedFile::open(path));
  NameMap map;
  map.path = path;
  map.description = describeContent(file.bytes());
  std::string_view text = file.bytes();
  for (int64_t number = 1; !text.empty(); ++number) {
    size_t end = std::min(text.find('\n'), text.size());
    VEELINE_TRY(map.parseLine(number, text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return map;
}

/// Returns the text for which the `*` of `pattern` stands in `text`; none if
/// the pattern does not match.
static std::optional<std::string> match(const std::string &pattern,
                                        const std::string &text) {
  size_t star = pattern.find('*');
  if (star == std::string::npos)
    return pattern == text ? std::optional(std::string()) : std::nullopt;
  size_t after = pattern.size() - star - 1;
  bool fits = text.size() >= star + after &&
              text.compare(0, star, pattern, 0, star) == 0 &&
              text.compare(text.size() - after, after, pattern, star + 1) == 0;
  return fits ? std::optional(text.substr(star, text.size() - star - after))
              : std::nullopt;
}

const NameMap::Line *NameMap::find(const std::string &param) const {
  auto it = std::ranges::find_if(lines, [&](const Line &line) {
    return match(line.param, param).has_value();
  });
  return it == lines.end() ? nullptr : &*it;
}

NameInFile NameMap::of(const std::string &param) const {
  const Line *line = find(param);
  if (!line)
    return {param};
  std::string name = line->name;
  if (size_t star = name.find('*'); star != std::string::npos)
    name.replace(star, 1, *match(line->param, param));
  return {name, line->isTransposed};
}

Status NameMap::check(const std::vector<std::string> &params,
                      const std::vector<std::vector<int64_t>> &shapes) const {
  std::map<std::string, std::string> known;
  std::set<int64_t> used;
  for (size_t i = 0; i < params.size(); ++i) {
    const Line *line = find(params[i]);
    NameInFile found = of(params[i]);
    auto [other, isNew] = known.try_emplace(found.name, params[i]);
    if (!isNew)
      return Status::error("by '" + path + "', parameters '" + other->second +
                           "' and '" + params[i] + "' would both be '" +
                           found.name + "'");
    if (!line)
      continue;
    used.insert(line->number);
    if (line->isTransposed && shapes[i].size() != 2)
      return failure(line->number,
                     "'" + params[i] + "' has " +
                         std::to_string(shapes[i].size()) +
                         " dimensions; only two can be exchanged");
  }
  for (const Line &line : lines)
    if (!used.contains(line.number))
      return failure(line.number, "no parameter is '" + line.param +
                                      "', or lines above are for it");
  return Status::success();
}

void data::transpose(artifact::DataType type, const std::vector<int64_t> &shape,
                     const char *source, char *target) {
  auto width = static_cast<size_t>(artifact::byteSize(type));
  auto rows = static_cast<size_t>(shape[0]);
  auto columns = static_cast<size_t>(shape[1]);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      std::memcpy(target + (j * rows + i) * width,
                  source + (i * columns + j) * width, width);
}
