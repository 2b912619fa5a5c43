//===- NameMap.cpp - mapping names of parameters --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NameMap.h"

#include "veeline/Base/Checksum.h"
#include "veeline/Base/File.h"
#include "veeline/Base/Text.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

using namespace veeline;
using namespace veeline::data;

std::vector<int64_t>
NameInFile::shapeOf(const std::vector<int64_t> &shape) const {
  std::vector<int64_t> there;
  for (int64_t dim : order)
    there.push_back(shape[static_cast<size_t>(dim)]);
  return order.empty() ? shape : there;
}

bool data::isOrderOf(const std::vector<int64_t> &order, size_t rank) {
  if (order.empty())
    return true;
  std::vector<int64_t> sorted = order;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i))
      return false;
  return sorted.size() == rank;
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

/// The order that the third word of a line means; none if it means nothing.
static std::optional<std::vector<int64_t>> parseOrder(std::string_view word) {
  constexpr std::string_view prefix = "permuted=";
  if (word == "transposed")
    return std::vector<int64_t>{1, 0};
  if (!word.starts_with(prefix))
    return std::nullopt;
  std::vector<int64_t> order;
  for (word.remove_prefix(prefix.size() - 1); !word.empty();) {
    int64_t dim = 0;
    const char *end = word.data() + word.size();
    auto [rest, error] = std::from_chars(word.data() + 1, end, dim);
    if (error != std::errc() || (rest != end && *rest != ','))
      return std::nullopt;
    order.push_back(dim);
    word.remove_prefix(static_cast<size_t>(rest - word.data()));
  }
  return isOrderOf(order, order.size()) ? std::optional(order) : std::nullopt;
}

Status NameMap::parseLine(int64_t number, std::string_view text) {
  std::vector<std::string> words = split(text);
  if (words.empty() || words[0].starts_with('#'))
    return Status::success();
  std::optional<std::vector<int64_t>> order;
  if (words.size() == 2)
    order.emplace();
  else if (words.size() == 3)
    order = parseOrder(words[2]);
  if (!order)
    return failure(number, "expected a parameter, its name in the file and, "
                           "where its dimensions are exchanged, 'transposed' "
                           "or their order there, as in 'permuted=3,2,0,1'");
  auto stars = std::ranges::count(words[0], '*');
  if (stars > 1 || std::ranges::count(words[1], '*') != stars)
    return failure(number, "expected as many '*' in both names, none or one");
  lines.push_back({number, words[0], words[1], *order});
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
    return {param, {}};
  std::string name = line->name;
  if (size_t star = name.find('*'); star != std::string::npos)
    name.replace(star, 1, *match(line->param, param));
  return {name, line->order};
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
    if (!isOrderOf(line->order, shapes[i].size()))
      return failure(line->number, "'" + params[i] + "' has " +
                                       counted(shapes[i].size(), "dimension") +
                                       "; the order is one of " +
                                       std::to_string(line->order.size()));
  }
  for (const Line &line : lines)
    if (!used.contains(line.number))
      return failure(line.number, "no parameter is '" + line.param +
                                      "', or lines above are for it");
  return Status::success();
}

std::vector<int64_t> data::inverse(const std::vector<int64_t> &order) {
  std::vector<int64_t> result(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return result;
}

void data::permute(artifact::DataType type, const std::vector<int64_t> &shape,
                   const std::vector<int64_t> &order, std::string_view elements,
                   char *target) {
  const char *source = elements.data();
  auto width = artifact::byteSize(type);
  // By how much a step in each dimension of the target advances the source.
  std::vector<int64_t> strides(shape.size(), width), extents, steps;
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  for (int64_t dim : order) {
    extents.push_back(shape[static_cast<size_t>(dim)]);
    steps.push_back(strides[static_cast<size_t>(dim)]);
  }
  std::vector<int64_t> index(order.size());
  for (int64_t i = 0, count = artifact::numElements(shape); i < count; ++i) {
    std::memcpy(target + i * width, source, static_cast<size_t>(width));
    for (size_t d = order.size(); d-- > 0;) {
      source += steps[d];
      if (++index[d] < extents[d])
        break;
      source -= std::exchange(index[d], 0) * steps[d];
    }
  }
}
