//===- JsonLine.h - a JSON object on one line -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_JSONLINE_H
#define VEELINE_RUNTIME_TRAIN_JSONLINE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace veeline::train {

/// Builds lines of JSON (RFC 8259) in memory that it keeps, so that lines of a
/// known length allocate nothing.
class JsonLine {
public:
  explicit JsonLine(size_t capacity) { text.reserve(capacity); }

  /// Begins an object whose first member is "event".
  void begin(std::string_view event);
  /// The shortest text that reads back as `value`; null where it is infinite or
  /// NaN, which JSON has no number for.
  void add(std::string_view name, double value);
  void add(std::string_view name, int64_t value);
  /// Bytes that are no UTF-8 become U+FFFD.
  void add(std::string_view name, std::string_view value);
  void beginObject(std::string_view name);
  void endObject();
  /// The line, with its end.
  const std::string &end();

private:
  void addName(std::string_view name);
  void addString(std::string_view value);

  std::string text;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_JSONLINE_H
