//===- TokenFile.cpp - files of tokens ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokenFile.h"

#include "ElementAccess.h"
#include "Npy.h"
#include "veeline/Base/Numbers.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <type_traits>

using namespace veeline;
using namespace veeline::data;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
struct TypeRow {
  TokenType type;
  std::string_view name, npy;
  int64_t bytes;
};
} // namespace

static constexpr TypeRow typeRows[] = {
    {TokenType::u8, "uint8", "|u1", 1},   {TokenType::i8, "int8", "|i1", 1},
    {TokenType::u16, "uint16", "<u2", 2}, {TokenType::i16, "int16", "<i2", 2},
    {TokenType::u32, "uint32", "<u4", 4}, {TokenType::i32, "int32", "<i4", 4},
    {TokenType::u64, "uint64", "<u8", 8}, {TokenType::i64, "int64", "<i8", 8}};

static const TypeRow &rowOf(TokenType type) {
  return *std::ranges::find(typeRows, type, &TypeRow::type);
}

std::optional<TokenType> data::findTokenType(std::string_view name) {
  const auto *row = std::ranges::find(typeRows, name, &TypeRow::name);
  return row == std::end(typeRows) ? std::nullopt : std::optional(row->type);
}

std::string_view data::name(TokenType type) { return rowOf(type).name; }
int64_t data::byteSize(TokenType type) { return rowOf(type).bytes; }

std::string data::namesOfTokenTypes() {
  std::string names;
  for (const TypeRow &row : typeRows)
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

/// Calls `body` with a zero of the C++ type of `type`.
template <typename Body>
static auto withZeroOf(TokenType type, const Body &body) {
  switch (type) {
  case TokenType::u8:
    return body(uint8_t());
  case TokenType::i8:
    return body(int8_t());
  case TokenType::u16:
    return body(uint16_t());
  case TokenType::i16:
    return body(int16_t());
  case TokenType::u32:
    return body(uint32_t());
  case TokenType::i32:
    return body(int32_t());
  case TokenType::u64:
    return body(uint64_t());
  case TokenType::i64:
    break;
  }
  return body(int64_t());
}

template <typename T> static int64_t widened(T value) {
  if constexpr (std::is_same_v<T, uint64_t>)
    value = std::min(value, uint64_t(INT64_MAX));
  return static_cast<int64_t>(value);
}

std::pair<int64_t, int64_t> data::extremesOf(TokenType type) {
  return withZeroOf(type, [](auto zero) {
    using Limits = std::numeric_limits<decltype(zero)>;
    return std::pair(widened(Limits::min()), widened(Limits::max()));
  });
}

void Tokens::load(int64_t first, int64_t count, int64_t *target) const {
  withZeroOf(type, [&](auto zero) {
    using T = decltype(zero);
    const char *begin = bytes.data() + first * int64_t(sizeof(T));
    for (int64_t i = 0; i < count; ++i)
      target[i] =
          widened(artifact::loadElement<T>(begin, static_cast<size_t>(i)));
  });
}

std::string data::describe(const TokenView &view) {
  switch (view.kind) {
  case TokenView::Kind::tokens:
    return "";
  case TokenView::Kind::documents:
    return ":documents=" + std::to_string(view.separator);
  case TokenView::Kind::positions:
    return ":positions=" + std::to_string(view.separator);
  case TokenView::Kind::inside:
    break;
  }
  return ":inside=" + std::to_string(view.separator);
}

//===----------------------------------------------------------------------===//
// As the user writes it
//===----------------------------------------------------------------------===//

static Expected<double> parseWeight(const std::string &path,
                                    std::string_view text) {
  std::optional<double> weight = parseNumber(text);
  if (weight && *weight > 0)
    return *weight;
  return Status::error("the weight of '" + path + "', '" + std::string(text) +
                       "', is no finite number above 0; leave out a file that "
                       "is not to be read");
}

static Expected<TokenFileSpec> parseTokenFile(std::string_view text) {
  constexpr std::string_view option = ":weight=";
  TokenFileSpec spec;
  size_t at = text.rfind(option);
  std::string_view weight;
  if (at != std::string_view::npos) {
    weight = text.substr(at + option.size());
    text = text.substr(0, at);
  }
  bool isNpy = text.ends_with(".npy");
  size_t colon = isNpy ? std::string_view::npos : text.rfind(':');
  spec.path = text.substr(0, colon);
  if (at != std::string_view::npos) {
    VEELINE_TRY_VALUE(spec.weight, parseWeight(spec.path, weight));
  }
  if (isNpy)
    return spec;
  if (spec.path.empty() || colon == std::string_view::npos)
    return Status::error("'" + std::string(text) +
                         "' does not say of what type its tokens are, as in "
                         "FILE.bin:uint16");
  std::string_view type = text.substr(colon + 1);
  spec.type = findTokenType(type);
  if (!spec.type)
    return Status::error(
        "'" + std::string(type) + "', of '" + spec.path +
        "', is no type of tokens; these are: " + namesOfTokenTypes());
  return spec;
}

Expected<std::vector<TokenFileSpec>>
data::parseTokenFiles(std::string_view text) {
  std::vector<TokenFileSpec> files;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    VEELINE_TRY_VALUE(TokenFileSpec spec,
                      parseTokenFile(text.substr(begin, end - begin)));
    files.push_back(std::move(spec));
    begin = end + 1;
  }
  for (const TokenFileSpec &file : files)
    if (file.weight.has_value() != files[0].weight.has_value())
      return Status::error("'" + (file.weight ? files[0].path : file.path) +
                           "' has no weight, as '" +
                           (file.weight ? file.path : files[0].path) +
                           "' has; give one to all files, or to none");
  return files;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static Expected<Tokens> openNpy(std::string_view file) {
  Expected<NpyArray> array = parseNpyArray(file);
  if (!array.ok())
    return array.status();
  const auto *row = std::ranges::find(typeRows, array->descr, &TypeRow::npy);
  if (row == std::end(typeRows))
    return Status::error("its elements '" + array->descr +
                         "' are no little-endian integers, as tokens are");
  if (array->shape.size() != 1)
    return Status::error("its array has " +
                         std::to_string(array->shape.size()) +
                         " dimensions, and tokens have one; write it with "
                         "a.reshape(-1)");
  auto bytes = static_cast<int64_t>(array->content.size());
  if (bytes / row->bytes != array->shape[0] || bytes % row->bytes != 0)
    return Status::error("it has " + std::to_string(bytes) +
                         " bytes after its header, and its header says " +
                         std::to_string(array->shape[0]) + " of " +
                         std::string(row->name) +
                         ": the file is truncated or damaged");
  return Tokens{row->type, array->content};
}

Expected<Tokens> data::openTokens(const TokenFileSpec &spec,
                                  std::string_view file) {
  if (!spec.type) {
    Expected<Tokens> tokens = openNpy(file);
    return tokens.ok() ? tokens
                       : Status::error("cannot read '" + spec.path +
                                       "': " + tokens.message());
  }
  int64_t width = byteSize(*spec.type);
  if (static_cast<int64_t>(file.size()) % width != 0)
    return Status::error("'" + spec.path + "' has " +
                         std::to_string(file.size()) + " bytes, no multiple " +
                         "of the " + std::to_string(width) + " of a " +
                         std::string(name(*spec.type)) +
                         ": it is truncated, or of another type");
  if (file.starts_with("\x93NUMPY"))
    return Status::error("'" + spec.path +
                         "' begins as a .npy file does; its name has to end "
                         "in .npy, and its type is in it");
  return Tokens{*spec.type, file};
}
