//===- JsonLine.h - a JSON object on one line -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_JSONLINE_H
#define VEELINE_RUNTIME_TRAIN_JSONLINE_H

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace veeline::train {

/// Builds lines of JSON (RFC 8259) in memory that is kept, so that lines of a
/// known length allocate nothing.
class JsonLine {
public:
  explicit JsonLine(size_t capacity) { text.reserve(capacity); }

  /// Begins an object whose first member is "event".
  void begin(std::string_view event);
  /// Adds the shortest text that reads back as `value`. Adds null if the value
  /// is infinite or NaN, because JSON has no number for it.
  void add(std::string_view name, double value);
  void add(std::string_view name, int64_t value);
  /// Adds a text. Bytes that are not UTF-8 become U+FFFD.
  void add(std::string_view name, std::string_view value);
  /// Adds true or false. Has a name of its own, because texts that are pointers
  /// would be taken for flags.
  void addFlag(std::string_view name, bool value);
  void beginObject(std::string_view name);
  void endObject();
  /// Returns the line, with its end.
  const std::string &end();
  /// Prints it to standard output.
  void print() { std::fputs(end().c_str(), stdout); }

private:
  void addName(std::string_view name);
  void addString(std::string_view value);

  std::string text;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_JSONLINE_H
