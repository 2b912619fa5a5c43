//===- Npy.cpp - arrays of NumPy ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "ElementNames.h"

#include <charconv>

using namespace veeline;
using namespace veeline::data;
using artifact::DataType;

namespace {
/// The content of a header.
struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<std::vector<int64_t>> shape;
};

/// Parses the header, a Python dict of three known keys.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  bool parse(Header &header) {
    if (!take('{'))
      return false;
    while (!take('}')) {
      if (!parseEntry(header))
        return false;
      if (!take(',') && peek() != '}')
        return false;
    }
    return peek() == '\0';
  }

private:
  bool parseEntry(Header &header) {
    std::optional<std::string> key = parseString();
    if (!key || !take(':'))
      return false;
    if (*key == "descr")
      return !header.descr && (header.descr = parseString()).has_value();
    if (*key == "fortran_order")
      return !header.fortranOrder &&
             (header.fortranOrder = parseBool()).has_value();
    if (*key == "shape")
      return !header.shape && (header.shape = parseTuple()).has_value();
    return false;
  }

  std::optional<std::string> parseString() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return std::nullopt;
    size_t end = text.find(quote, at + 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string value(text.substr(at + 1, end - at - 1));
    at = end + 1;
    return value;
  }

  std::optional<bool> parseBool() {
    peek();
    for (bool value : {true, false}) {
      std::string_view word = value ? "True" : "False";
      if (text.substr(at).starts_with(word)) {
        at += word.size();
        return value;
      }
    }
    return std::nullopt;
  }

  std::optional<std::vector<int64_t>> parseTuple() {
    if (!take('('))
      return std::nullopt;
    std::vector<int64_t> values;
    while (!take(')')) {
      peek();
      int64_t value;
      const char *end = text.data() + text.size();
      auto [next, error] = std::from_chars(text.data() + at, end, value);
      if (error != std::errc() || value < 0)
        return std::nullopt;
      values.push_back(value);
      at = static_cast<size_t>(next - text.data());
      if (!take(',') && peek() != ')')
        return std::nullopt;
    }
    return values;
  }

  /// Returns the next character that is not white space; '\0' at the end.
  char peek() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n'))
      ++at;
    return at < text.size() ? text[at] : '\0';
  }

  bool take(char expected) {
    if (peek() != expected)
      return false;
    ++at;
    return true;
  }

  std::string_view text;
  size_t at = 0;
};
} // namespace

static Expected<DataType> parseDescr(const std::string &descr) {
  if (const ElementNames *row = findElement(&ElementNames::npy, descr);
      row && !row->npy.empty())
    return row->type;
  if (descr.starts_with(">"))
    return Status::error("its elements '" + descr +
                         "' are big-endian; write the array with "
                         "a.astype(a.dtype.newbyteorder('<'))");
  std::string known;
  for (const ElementNames &row : elementNames)
    if (!row.npy.empty())
      known += (known.empty() ? "" : ", ") + std::string(row.npy);
  return Status::error("its element type '" + descr +
                       "' is none of those that are read: " + known);
}

/// Reads the little-endian number of `bytes` bytes at `offset`.
static size_t readLength(std::string_view file, size_t offset, size_t bytes) {
  size_t value = 0;
  for (size_t i = 0; i < bytes; ++i)
    value |= size_t(static_cast<unsigned char>(file[offset + i])) << (8 * i);
  return value;
}

Expected<Tensor> data::parseNpy(std::string_view file) {
  VEELINE_TRY_VALUE(NpyArray array, parseNpyArray(file));
  VEELINE_TRY_VALUE(DataType type, parseDescr(array.descr));
  if (array.isFortran && array.shape.size() > 1)
    return Status::error("the array is in Fortran order; write it with "
                         "numpy.ascontiguousarray(a)");
  std::optional<int64_t> bytes = tensorBytes(type, array.shape);
  if (!bytes)
    return Status::error("its shape is too large");
  size_t found = array.content.size();
  if (static_cast<uint64_t>(*bytes) != found)
    return Status::error(
        "it has " + std::to_string(found) + " bytes after its header, " +
        describe(type, array.shape) + " takes " + std::to_string(*bytes) +
        ": the file is " +
        (static_cast<uint64_t>(*bytes) > found ? "truncated" : "damaged"));
  return Tensor{type, std::move(array.shape), array.content};
}

Expected<NpyArray> data::parseNpyArray(std::string_view file) {
  constexpr std::string_view magic = "\x93NUMPY";
  if (!file.starts_with(magic))
    return Status::error("it does not begin as a .npy file does");
  if (file.size() < 10)
    return Status::error("the file is truncated inside of its header");
  char version = file[6];
  if (version < 1 || version > 3)
    return Status::error("its format has version " + std::to_string(version) +
                         "; 1 to 3 are read");
  size_t lengthBytes = version == 1 ? 2 : 4;
  size_t begin = 8 + lengthBytes;
  if (file.size() < begin ||
      file.size() - begin < readLength(file, 8, lengthBytes))
    return Status::error("the file is truncated inside of its header");
  size_t length = readLength(file, 8, lengthBytes);
  Header header;
  if (!HeaderParser(file.substr(begin, length)).parse(header))
    return Status::error("its header is malformed");
  if (!header.descr || !header.fortranOrder || !header.shape)
    return Status::error(
        "its header lacks one of 'descr', 'fortran_order', 'shape'");
  return NpyArray{*header.descr, *header.fortranOrder, *header.shape,
                  file.substr(begin + length)};
}

std::string data::npyHeader(DataType type, const std::vector<int64_t> &shape) {
  std::string text = "{'descr': '";
  text += findElement(&ElementNames::type, type)->npy;
  text += "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : shape)
    text += std::to_string(extent) + ", ";
  text += "), }";
  // The header and the ten bytes before it are a multiple of 64 bytes.
  constexpr size_t before = 10, alignment = 64;
  size_t length = text.size() + 1;
  length += (alignment - (length + before) % alignment) % alignment;
  text.resize(length - 1, ' ');
  text += '\n';
  std::string header = "\x93NUMPY";
  header += {'\1', '\0', static_cast<char>(length & 0xff),
             static_cast<char>(length >> 8)};
  return header + text;
}
